"""The interface of an adapter, and the loading of the folders beside the worker's own.

One of these folders is the adapter. Others are packages, such as stand-ins and numerics.

An adapter is a folder with an ``__init__.py`` that defines ``Adapter``, a class whose constructor
has no arguments. It is loaded as a package under a private name, beside the worker's own modules.
Like the worker, it needs only the standard library and its toolchain, and no module of the driver.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Callable

from . import exceptions

if TYPE_CHECKING:
    from typing import Protocol

    from ..toolchains.inside.foreign import Document, Function
    from .beacon import Beacon

    class InterpretingAdapter(Protocol):
        """A toolchain's interpreter, which runs kernels on the CPU."""

        def prepare(
            self, function: object, job: Document, problem: Document
        ) -> Callable[[tuple[int, ...]], None]:
            """Return a function that launches a job's function with a checked problem's arguments.

            The returned function takes the grid. Raises ValueError with a sentence if the arguments
            are not those of the job's function.
            """

        def uses(self, function: object) -> list[str]:
            """Return the features that a kernel used so far, as words.

            A toolchain's probes compare these words with their own to see whether they apply to the
            kernel.
            """

    class Adapter(Protocol):
        """A toolchain, imported once in a server and used in the children that it forks."""

        name: str
        """The toolchain's name in the matrix: ``triton``."""
        version: str
        interpreting: InterpretingAdapter | None
        """Its interpreter, once :meth:`begin_interpreting` has been called."""

        def begin_interpreting(self) -> None:
            """Prepare to run kernels instead of compiling them; raise if that is not possible.

            The process must have only one thread afterwards.
            """

        def files(self) -> list[str]:
            """Return the files that it has loaded, besides those of modules in ``sys.modules``."""

        def use_cache_dir(self, directory: str, diagnose: bool) -> None:
            """Use this private folder for caches.

            With ``diagnose``, print the compiler's diagnostics, and leave files about a failure in
            the folder.
            """

        def reload_env(self) -> None:
            """Forget what was read from environment variables, since they have changed."""

        def observe(self, beacon: Beacon, passes: bool) -> None:
            """Keep the current line of the kernel in flight on the beacon.

            With ``passes``, the beacon also shows whether the compiler's passes run.

            If one call goes through several stages, the beacon names the file whose presence shows
            that the next stage has begun.
            """

        def remap_paths(self, places: list[list[str]]) -> None:
            """Replace paths of this machine in compiled code by those of the requesting machine.

            ``places`` are pairs of a folder on this machine and its name on the requesting machine,
            inner folders first.
            """

        def set_target(self, target: Document) -> None:
            """Report this target from now on to code that asks for the target of the compile.

            Forget all answers that were computed for another target.
            """

        def knows_target(self, target: Document) -> bool | None:
            """Return whether a program that the toolchain brings knows a target.

            Returns ``None`` if the program cannot be asked.
            """

        def compile(
            self,
            job: dict[str, object],
            function: object,
            on_stage: Callable[..., None],
            on_made: Callable[..., None],
        ) -> tuple[Document, Document]:
            """Compile a job and return its metrics, and stage → what it made.

            Raise whatever the toolchain raises.

            ``function`` is the object in the job's source that has the job's name. It is ``None``
            if the job has an IR file instead. ``on_stage(name)`` is called when a stage begins, and
            ``on_made(name, result)`` when it ends. ``on_stage(name, cpu)`` is called afterwards for
            a stage that began when this process had used ``cpu`` CPU seconds. ``on_stage(None)`` is
            called before work that belongs to no stage. A compile that made no binary must raise.
            """

        def kernel_line(
            self, error: BaseException, job: Document, function: Function
        ) -> tuple[str, int] | None:
            """Return the path and the line of the kernel's file that a failure is about.

            Returns ``None`` if the toolchain cannot tell.
            """


PYTORCH = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "toolchains", "pytorch"
)
"""The folder of the code that imports kernels which take PyTorch's tensors."""
NUMERICS = os.path.join(PYTORCH, "numerics")
"""The folder of the code that compares kernels with their references."""


def load(folder: str) -> Adapter:
    """Load the adapter in a folder. Raises whatever the import of its toolchain raises."""
    adapter: Adapter = _load_package("_compat_adapter", folder).Adapter()
    return adapter


def load_standin() -> ModuleType:
    """Return the module that imports kernels, with stand-ins for packages that are missing."""
    return importlib.import_module(_load_package("_compat_pytorch", PYTORCH).__name__ + ".standin")


def load_numerics() -> tuple[ModuleType, ModuleType]:
    """Return the modules that make problems and compare outputs.

    Raises ImportError if the env has no PyTorch.
    """
    name = _load_package("_compat_numerics", NUMERICS).__name__
    return importlib.import_module(name + ".problems"), importlib.import_module(name + ".outputs")


def _load_package(name: str, folder: str) -> ModuleType:
    """Return the package in a folder, loaded once in a server under this name.

    Children of the server start with the package in the state that it has at the fork.
    """
    if name not in sys.modules:
        exceptions.hide(folder)
        spec = importlib.util.spec_from_file_location(
            name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        assert spec is not None
        assert spec.loader is not None
        package = importlib.util.module_from_spec(spec)
        sys.modules[name] = package
        spec.loader.exec_module(package)
    return sys.modules[name]
