"""The toolchains there are: those in this package, and those that installed packages add.

A package adds one by an entry point of the group ``triton_compat.toolchains`` that names a :class:`Toolchain`::

    [project.entry-points."triton_compat.toolchains"]
    toy = "toy_compat:TOY"

In: a name, an env, or a kernel's backend. Out: the toolchain's record (:mod:`compat.toolchains.base`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType

from compat.diagnosis.common import EVERYWHERE, UNCLASSIFIED
from compat.diagnosis.failure_class import FailureClass
from compat.errors import ConfigError
from compat.model import Env, Specialization, Target
from compat.toolchains.base import (
    PREDICTIONS,
    Assembler,
    Judged,
    Launching,
    Names,
    Pairing,
    Parts,
    ScriptForm,
    Toolchain,
    Types,
    Unlaunchable,
    Variables,
    Wheels,
)
from compat.toolchains.triton import TRITON

__all__ = [
    "DEFAULT",
    "GROUP",
    "PREDICTIONS",
    "Assembler",
    "Judged",
    "Launching",
    "Names",
    "Pairing",
    "Parts",
    "ScriptForm",
    "Toolchain",
    "Types",
    "Unlaunchable",
    "Variables",
    "Wheels",
    "every",
    "failure_classes",
    "go_together",
    "gpus",
    "is_release",
    "named",
    "of",
    "stages",
    "suits",
    "targets",
    "targets_of_gpu",
]

DEFAULT = TRITON
"""The default toolchain."""
GROUP = "triton_compat.toolchains"
_SHARED = frozenset(each.name for each in (*EVERYWHERE, UNCLASSIFIED))
"""The failure classes that every toolchain may have, perhaps with signs and advice of its own."""


@cache
def every() -> tuple[Toolchain, ...]:
    """All toolchains, those of this package first.

    Raises ConfigError where an installed package offers something else, or something that cannot be loaded.
    """
    found = {DEFAULT.name: DEFAULT}
    for entry in entry_points(group=GROUP):
        toolchain, where = _loaded(entry), _where(entry)
        if not isinstance(toolchain, Toolchain):
            raise ConfigError("this is not a Toolchain", where=where, hint="Uninstall the package that provides it, or fix it.")
        if found.setdefault(toolchain.name, toolchain) is not toolchain:
            raise ConfigError(f"there are two toolchains called {toolchain.name!r}", where=where)
    return tuple(found.values())


def _where(entry: EntryPoint) -> str:
    return f"{GROUP}: {entry.name} = {entry.value}"


def _loaded(entry: EntryPoint) -> object:
    """What an entry point names. Raises ConfigError with whatever a foreign package raises while it is imported."""
    try:
        return entry.load()
    except Exception as error:
        package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an installed package"
        raise ConfigError(
            f"the toolchain of {package} cannot be loaded: {type(error).__name__}: {error}",
            where=_where(entry),
            hint=f"Uninstall {package}, or fix it.",
        ) from error


def named(name: str) -> Toolchain:
    """The toolchain of that name. Raises KeyError where there is none."""
    return {each.name: each for each in every()}[name]


def of(env: Env) -> Toolchain:
    """The toolchain of an env."""
    return named(env.toolchain)


def suits(target: Target, spec: Specialization) -> bool:
    """Whether a kernel is meant for a target, and its toolchain can compile for such targets at all."""
    return spec.is_for(target) and target.backend in named(spec.toolchain).backends


def go_together(env: Env, target: Target, spec: Specialization) -> bool:
    """Whether an env has the toolchain that a kernel is for, and the target suits that."""
    return env.toolchain == spec.toolchain and suits(target, spec)


def is_release(env: Env) -> bool:
    """Whether an env has a release as its toolchain publishes it: no fork, no wheel from elsewhere, nothing local."""
    own = env.distribution == of(env).distribution and env.wheel is None
    return own and env.release is not None and env.release.local is None


def stages() -> frozenset[str]:
    """Every stage of every toolchain."""
    return frozenset(stage for each in every() for stage in each.every_stage)


@cache
def failure_classes() -> Mapping[str, FailureClass]:
    """Name → failure class, of all toolchains; of those that every toolchain may have, the first one's.

    Raises ConfigError where two toolchains give one name to classes of their own: results tell a class by its name alone.
    """
    found: dict[str, FailureClass] = {}
    for each in every():
        for name, failure_class in each.knowledge.by_name.items():
            if found.setdefault(name, failure_class) is not failure_class and name not in _SHARED:
                raise ConfigError(
                    f"the toolchain {each.name!r} has a failure class called {name!r}, and so has another toolchain",
                    where=GROUP,
                    hint="Rename it there; only the classes of compat.diagnosis.common may be in several toolchains.",
                )
    return MappingProxyType(found)


def targets() -> dict[str, Target]:
    """Name → target, of all toolchains, in the order in which they are listed."""
    return {target.name: target for each in every() for target in each.targets}


def gpus() -> dict[str, tuple[str, ...]]:
    """What a GPU is called → the names of its targets, one for each toolchain that knows it."""
    found: dict[str, tuple[str, ...]] = {}
    for each in every():
        for gpu, target in each.gpus.items():
            found[gpu] = tuple(dict.fromkeys((*found.get(gpu, ()), target)))
    return found


def targets_of_gpu(name: str) -> tuple[str, ...]:
    """The names of the targets of a GPU, however its name is spelled: ``H100``, ``RTX-4090``; none where it is not known."""
    return gpus().get(re.sub(r"[\W_]", "", name.lower()), ())
