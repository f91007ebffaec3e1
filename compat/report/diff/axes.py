"""What two reports have of cells, and what is called the same in both and is not: envs, and what compiles are told."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from compat.model import BuiltEnv
from compat.report.compact import natural
from compat.report.summary import Report


@frozen(kw_only=True)
class ChangedEnv:
    """An env that is called the same in both reports and is not the same."""

    name: str
    before: str
    after: str


def axes_of(report: Report) -> dict[str, tuple[str, ...]]:
    """Axis → its values, in natural order."""
    cells = [result.cell for result in report.ordered]
    values = {
        "kernels": {cell.spec.kernel for cell in cells},
        "variants": {f"{cell.spec.kernel}/{cell.spec.variant}" for cell in cells},
        "cases": {f"{cell.spec.kernel}/{cell.spec.variant}/{cell.spec.case}" for cell in cells},
        "targets": {cell.target.name for cell in cells},
        "envs": {cell.env.name for cell in cells},
    }
    return {axis: tuple(sorted(found, key=natural)) for axis, found in values.items()}


def without(these: Mapping[str, tuple[str, ...]], those: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """What is on these axes and not on those. A variant of a kernel that is not there either is not told again, nor is its case."""
    lacking = {axis: [value for value in values if value not in those[axis]] for axis, values in these.items()}
    for axis, above in (("cases", "variants"), ("variants", "kernels")):
        lacking[axis] = [value for value in lacking[axis] if value.rpartition("/")[0] not in lacking[above]]
    return {axis: tuple(values) for axis, values in lacking.items() if values}


def changed_envs(old: Report, new: Report) -> tuple[ChangedEnv, ...]:
    """The envs that both have by name, with another toolchain, Python or package in the new one."""
    before = {built.env.name: built for built in old.envs}
    pairs = [(before[built.env.name], built) for built in new.envs if built.env.name in before]
    return tuple(
        ChangedEnv(name=other.env.name, before=_env(one), after=_env(other) + _packages(one, other))
        for one, other in sorted(pairs, key=lambda pair: natural(pair[1].env.name))
        if _env(one) != _env(other) or _packages(one, other)
    )


def changed_arguments(old: Report, new: Report) -> tuple[str, ...]:
    """``kernel/variant/case`` of those that both have with other arguments or options, where both reports say what these are."""
    before = {f"{spec.kernel}/{spec.variant}/{spec.case}": spec for spec in old.specs}
    pairs = [(name, before[name], spec) for spec in new.specs if (name := f"{spec.kernel}/{spec.variant}/{spec.case}") in before]
    return tuple(name for name, one, other in pairs if one.function and other.function and one.compile != other.compile)


def _env(built: BuiltEnv) -> str:
    """What of an env decides what it does, in words; nothing is told of one that could not be built."""
    if built.error is not None:
        return "broken"
    torch = [f"torch {built.torch}"] if built.torch else []
    return ", ".join((f"{built.env.distribution} {built.release}", *torch, f"Python {built.python_version}"))


def _packages(one: BuiltEnv, other: BuiltEnv) -> str:
    """Which other packages changed."""
    if one.error is not None or other.error is not None:
        return ""
    known = {one.env.distribution, other.env.distribution, "torch"}
    before, after = ({p.name: p.version for p in built.packages if p.name not in known} for built in (one, other))
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    said = [f"{name} {before.get(name, 'none')} → {after.get(name, 'none')}" for name in changed]
    return f" ({', '.join(said)})" if said else ""
