"""What the worker asks of a toolchain, and how the folders beside the worker's own are loaded: the
one that answers, and others.

An adapter is a folder with an ``__init__.py`` that defines ``Adapter``, a class of no arguments. It
is loaded as a package beside the worker's own modules, under a name of its own; like the worker it
needs the standard library and its toolchain, and nothing of the driver's.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable

from . import raised

if TYPE_CHECKING:
    from typing import Protocol

    from .beacon import Beacon

    class InterpretingAdapter(Protocol):
        """A toolchain's interpreter, which runs kernels on the CPU."""

        def prepare(
            self, function: Any, job: dict[str, Any], arguments: dict[str, Any]
        ) -> Callable[[tuple[int, ...]], None]:
            """What launches a job's function with these arguments, by name, on a grid.

            Raises ValueError, in a sentence, where they are not those of the function.
            """

        def uses(self, function: Any) -> list[str]:
            """What running a kernel needed so far: words by which a toolchain's probes know whether
            they are about it.
            """

    class Adapter(Protocol):
        """A toolchain, imported once in a server and used in the children that are forked from
        it.
        """

        name: str
        """What it is called in the matrix: ``triton``."""
        version: str
        interpreting: InterpretingAdapter | None
        """Its interpreter, once :meth:`begin_interpreting` has been called."""

        def begin_interpreting(self) -> None:
            """Make ready to run kernels instead of compiling them; raise where that cannot be.

            One thread has to be left.
            """

        def files(self) -> list[str]:
            """Files that it has loaded and that are not those of modules in ``sys.modules``."""

        def use_cache_dir(self, directory: str, diagnose: bool) -> None:
            """Use this private folder for caches.

            With ``diagnose``, print and leave behind there what tells of a failure.
            """

        def reload_env(self) -> None:
            """Forget what was read from environment variables, since they have changed."""

        def observe(self, beacon: Beacon, passes: bool) -> None:
            """Keep on the beacon the line of the kernel in flight.

            With ``passes`` also whether the compiler's passes run.

            Where one call goes through several stages, the beacon has the file whose presence says
            that the next has begun.
            """

        def remap_paths(self, places: list[list[str]]) -> None:
            """Write paths in folders of this machine into what is compiled as they are called
            elsewhere: pairs, inner first.
            """

        def set_target(self, target: dict[str, Any]) -> None:
            """Answer for this target from now on, whoever asks what is compiled for.

            Forget what was found out for others.
            """

        def knows_target(self, target: dict[str, Any]) -> bool | None:
            """Whether a program that the toolchain brings has heard of a target.

            ``None`` where that cannot be looked up.
            """

        def compile(
            self,
            job: dict[str, Any],
            function: Any,
            on_stage: Callable[..., None],
            on_made: Callable[..., None],
        ) -> tuple[dict[str, Any], dict[str, Any]]:
            """Compile a job and return its metrics, and stage → what it made.

            Raise whatever the toolchain raises.

            ``function`` is what the job's source calls so; ``None`` where the job has an IR file in
            its place. ``on_stage(name)`` is called as each stage is entered, ``on_made(name,
            result)`` as it is left; ``on_stage(name, cpu)`` afterwards, of a stage that began when
            this process had used so many CPU seconds, ``on_stage(None)`` before what is of none. A
            compile that made no binary has to raise.
            """

        def kernel_line(
            self, error: BaseException, job: dict[str, Any], function: Any
        ) -> tuple[str, int] | None:
            """The path and the line of the kernel's file that a failure is about.

            ``None`` where the toolchain cannot tell.
            """


PYTORCH = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "toolchains", "pytorch"
)
"""The folder of the code that imports kernels which take PyTorch's tensors."""
NUMERICS = os.path.join(PYTORCH, "numerics")
"""That of the code which holds what kernels computed to their references."""


def load(folder: str) -> Adapter:
    """The toolchain of the adapter in a folder. Raises whatever importing it raises."""
    adapter: Adapter = _load_package("_compat_adapter", folder).Adapter()
    return adapter


def load_standin() -> ModuleType:
    """What imports kernels, and stands in for packages that they lack."""
    return importlib.import_module(_load_package("_compat_pytorch", PYTORCH).__name__ + ".standin")


def load_numerics() -> tuple[ModuleType, ModuleType]:
    """The modules that make problems and compare outputs.

    Raises ImportError where the env has no PyTorch.
    """
    name = _load_package("_compat_numerics", NUMERICS).__name__
    return importlib.import_module(name + ".problems"), importlib.import_module(name + ".outputs")


def _load_package(name: str, folder: str) -> ModuleType:
    """The package in a folder, loaded once in a server under this name: its children start with it
    as it is then.
    """
    if name not in sys.modules:
        raised.hide(folder)
        spec = importlib.util.spec_from_file_location(
            name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        assert spec is not None
        assert spec.loader is not None
        package = importlib.util.module_from_spec(spec)
        sys.modules[name] = package
        spec.loader.exec_module(package)
    return sys.modules[name]
