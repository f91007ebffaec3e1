"""The available toolchains: those in this package, and those that installed packages add.

A package adds one by an entry point of the group ``triton_compat.toolchains`` that names a
:class:`Toolchain`::

    [project.entry-points."triton_compat.toolchains"]
    toy = "toy_compat:TOY"

In: a name, an env, or a kernel's backend. Out: the toolchain's record
(:mod:`compat.toolchains.base`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from packaging.version import Version

from compat.bundle.bundle import Bundle, bundle
from compat.diagnosis import pipeline
from compat.diagnosis.failure_class import FailureClass
from compat.errors import ConfigError
from compat.model import Cell, Env, Failure, Specialization, Target
from compat.toolchains.base import Toolchain
from compat.toolchains.cute import CUTE
from compat.toolchains.language import KnownEdit
from compat.toolchains.triton import TRITON

DEFAULT = TRITON
"""The default toolchain."""
_BUILT_IN = (DEFAULT, CUTE)
GROUP = "triton_compat.toolchains"


@cache
def every() -> tuple[Toolchain, ...]:
    """All toolchains, those of this package first.

    Raises ConfigError if an installed package provides another object, or one that cannot be
    loaded, or if two toolchains have the same name.
    """
    by_name = {toolchain.name: toolchain for toolchain in _BUILT_IN}
    for entry in entry_points(group=GROUP):
        toolchain, where = _load_entry(entry), _where(entry)
        if not isinstance(toolchain, Toolchain):
            raise ConfigError(
                "this is not a Toolchain",
                where=where,
                hint="Uninstall the package that provides it, or fix it.",
            )
        if by_name.setdefault(toolchain.name, toolchain) is not toolchain:
            raise ConfigError(f"there are two toolchains called {toolchain.name!r}", where=where)
    return tuple(by_name.values())


def _where(entry: EntryPoint) -> str:
    return f"{GROUP}: {entry.name} = {entry.value}"


def _load_entry(entry: EntryPoint) -> object:
    """Return the object that an entry point names.

    Raises ConfigError if a foreign package raises anything while it is imported.
    """
    try:
        return entry.load()
    except Exception as error:
        package = (
            f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an installed package"
        )
        raise ConfigError(
            f"the toolchain of {package} cannot be loaded: {type(error).__name__}: {error}",
            where=_where(entry),
            hint=f"Uninstall {package}, or fix it.",
        ) from error


@cache
def look_up(name: str) -> Toolchain:
    """The toolchain of that name. Raises KeyError if there is none."""
    return {toolchain.name: toolchain for toolchain in every()}[name]


def find(name: object) -> Toolchain | None:
    """Return the toolchain with a name that another version or another machine recorded.

    Returns ``None`` if this version has no such toolchain.
    """
    return next((toolchain for toolchain in every() if toolchain.name == name), None)


def of(env: Env) -> Toolchain:
    """The toolchain of an env."""
    return look_up(env.toolchain)


def bundle_of(spec: Specialization, *, decorated: bool = False) -> Bundle:
    """Make the bundle of a kernel, as its language asks. Raises ConfigError.

    ``decorated`` keeps all decorators of the kernel.
    """
    language = look_up(spec.toolchain).language
    return bundle(
        spec,
        decorators=language.decorators,
        constant=language.constant,
        package=language.package,
        decorated=decorated,
    )


def cells(env: Env, spec: Specialization, targets: Iterable[Target]) -> Iterator[Cell]:
    """The cells of a specialization in an env, for those of the targets that it is for.

    There are none if the env has another toolchain.
    """
    if env.toolchain == spec.toolchain:
        yield from (
            Cell(env=env, target=target, spec=spec) for target in targets if spec.is_for(target)
        )


def is_release(env: Env) -> bool:
    """Return whether an env has a release that its toolchain has published.

    Forks, wheels from elsewhere and local versions are not releases.
    """
    own = env.distribution == of(env).distribution and env.wheel is None
    return own and env.release is not None and env.release.local is None


def is_fork(env: Env, release: str | None) -> bool:
    """Return whether an env has a ``release`` that its toolchain has not published.

    That is a release of another distribution, a local one, or ``None``.
    """
    return (
        env.distribution != of(env).distribution
        or release is None
        or Version(release).local is not None
    )


def failure_class(failure: Failure) -> FailureClass | None:
    """Return the class of a failure, among those of its toolchain.

    Returns ``None`` if this version of the toolchain has no class of that name.
    """
    return look_up(failure.toolchain).failures.by_name.get(failure.failure_class)


def known_class(failure: Failure) -> FailureClass:
    """The class of a failure that this version classified. Raises KeyError for other failures."""
    return look_up(failure.toolchain).failures.by_name[failure.failure_class]


def class_names() -> tuple[str, ...]:
    """The names of the failure classes of all toolchains, in the order of precedence."""
    return tuple(
        dict.fromkeys(name for toolchain in every() for name in toolchain.failures.by_name)
    )


def reading_version(toolchain: Toolchain) -> str:
    """The version of a toolchain's reader. Evidence that another version read is read again."""
    return pipeline.version(toolchain.reader)


def targets() -> tuple[Target, ...]:
    """Return the targets of all toolchains in the order of listings.

    Targets of two toolchains may have the same name.
    """
    return tuple(target for toolchain in every() for target in toolchain.device.targets)


def gpus() -> dict[str, tuple[str, ...]]:
    """Name of a GPU → the names of its targets, one for each toolchain that knows it."""
    names: dict[str, tuple[str, ...]] = {}
    for toolchain in every():
        for gpu, target in toolchain.device.gpus.items():
            names[gpu] = tuple(dict.fromkeys((*names.get(gpu, ()), target)))
    return names


def targets_of_gpu(name: str) -> tuple[str, ...]:
    """Return the names of a GPU's targets, for any spelling: ``H100``, ``RTX-4090``.

    The result is empty if the GPU is unknown.
    """
    return gpus().get(_plain(name), ())


def is_of_gpu(target: Target, name: str) -> bool:
    """Whether the GPU of this name, in any spelling, has the target."""
    return look_up(target.toolchain).device.gpus.get(_plain(name)) == target.name


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


def can_launch(cell: Cell) -> bool:
    """Whether the compiled code of a cell can be launched on a host without its toolchain."""
    launching = of(cell.env).launching
    return launching is not None and cell.target.backend in launching.backends


def known_edits(failure: Failure | None, toolchain: str) -> tuple[KnownEdit, ...]:
    """Return the known edits for a failure's class, smallest first.

    Args:
        failure: The failure. ``None``: no edits.
        toolchain: Name of the toolchain.
    """
    if failure is None or failure.prediction:
        return ()
    return tuple(
        edit for edit in look_up(toolchain).language.edits if failure.failure_class in edit.classes
    )
