"""Records → kernels with their cases, by pure functions.

Kernels with equal content are one kernel. Launches that are equal in everything that a compile can
depend on are one launch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from attrs import define, field, frozen

from compat.capturing.makers import MADE
from compat.capturing.origins import ImportQuestion, LiveKernel
from compat.capturing.records import ProgramRecords, RecordedLaunch
from compat.model import arguments
from compat.model.constexprs import FIELDS
from compat.text import JsonObject, group_by_key, lazy_pattern


class Configs(StrEnum):
    """The configurations of an autotuner that become cases."""

    ALL = "all"
    CHOSEN = "chosen"
    FIRST = "first"


@frozen(kw_only=True)
class Case:
    """A case of a kernel, and the launches that it stands for."""

    name: str
    launches: tuple[RecordedLaunch, ...]

    @property
    def first(self) -> RecordedLaunch:
        """The launch whose arguments the case has."""
        return self.launches[0]

    @property
    def count(self) -> int:
        """How many launches the case stands for."""
        return sum(launch.launches for launch in self.launches)


@define(kw_only=True)
class CapturedKernel:
    """A kernel that was launched."""

    name: str
    """A unique name."""
    function: str
    module: str
    """The module that defines the function."""
    text: str
    """Its bundle; empty if the kernel file refers to its source."""
    live: LiveKernel | None = None
    """The place of its source, if the kernel file refers to it."""
    ids: set[str] = field(factory=set)
    """The ids of its recorded functions, from all processes."""
    cases: tuple[Case, ...] = ()
    graph: tuple[str, ...] = ()
    """The part of a graph that it was generated for, in the framework's terms."""
    questions: tuple[ImportQuestion, ...] = ()
    """The questions of its modules during their import that the kernel depends on."""

    @property
    def is_launched(self) -> bool:
        """Whether it was launched, and not only compiled."""
        return any(launch.launches for case in self.cases for launch in case.launches)


def given_functions(launch: RecordedLaunch, recorded: ProgramRecords) -> dict[str, str]:
    """The jit functions that a launch passes: name → id."""
    ids = _ids([*launch.constexprs.values(), *launch.arguments.values()])
    return {
        recorded.functions[function_id].name: function_id
        for function_id in ids
        if function_id in recorded.functions
    }


def _ids(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _ids(item)
    elif arguments.is_named(value):
        yield from _ids(list(value[FIELDS].values()))
    elif isinstance(value, Mapping) and isinstance(value.get("function"), str):
        yield value["function"]
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _ids(inner)


def constexprs_of(launch: RecordedLaunch, recorded: ProgramRecords) -> JsonObject:
    """The constexprs of a launch, in the forms of kernel files."""
    return {name: _plain(value, recorded) for name, value in launch.constexprs.items()}


def arguments_of(launch: RecordedLaunch, recorded: ProgramRecords) -> JsonObject:
    """The other arguments of a launch, in the forms of kernel files."""
    return {name: _plain(value, recorded) for name, value in launch.arguments.items()}


def _plain(value: object, recorded: ProgramRecords) -> Any:
    if isinstance(value, list):
        return [_plain(item, recorded) for item in value]
    if arguments.is_named(value):
        return {FIELDS: {name: _plain(item, recorded) for name, item in value[FIELDS].items()}}
    if isinstance(value, Mapping) and "constexpr" in value:
        return {"constexpr": _plain(value["constexpr"], recorded)}
    if isinstance(value, Mapping) and "function" in value:
        return {"function": recorded.functions[value["function"]].name}
    if isinstance(value, Mapping) and MADE in value:
        return {MADE: _replace_ids(value[MADE], recorded)}
    return float(value["float"]) if isinstance(value, Mapping) and "float" in value else value


def _replace_ids(tree: object, recorded: ProgramRecords) -> Any:
    """A tree with the names of functions and classes instead of their ids."""
    if isinstance(tree, list):
        return [_replace_ids(subtree, recorded) for subtree in tree]
    if not isinstance(tree, Mapping):
        return tree
    return {
        key: recorded.functions[subtree].name
        if key == "function"
        else _replace_ids(subtree, recorded)
        for key, subtree in tree.items()
    }


def needed_launches(launches: Sequence[RecordedLaunch], configs: Configs) -> list[RecordedLaunch]:
    """The launches of a kernel that become cases.

    All do if nothing was tuned. Otherwise ``configs`` says which.
    """
    tuned = [launch for launch in launches if "candidate" in launch.roles]
    if configs is Configs.ALL or not tuned:
        return list(launches)
    if configs is Configs.CHOSEN:
        return [launch for launch in launches if launch not in tuned or "chosen" in launch.roles]
    firsts = {_untuned(launch_): launch_ for launch_ in reversed(tuned)}
    return [
        launch
        for launch in launches
        if "candidate" not in launch.roles or any(launch is first for first in firsts.values())
    ]


def _untuned(launch: RecordedLaunch) -> str:
    """The facts of a launch that are the same for all configurations of an autotuner."""
    constexprs = {
        name: value for name, value in launch.constexprs.items() if name not in launch.tunes
    }
    # It is not known which constexprs of a generated kernel are tuned.
    return json.dumps([_kind(launch.arguments), {} if launch.signature else constexprs])


def cases(launches: Sequence[RecordedLaunch], recorded: ProgramRecords) -> tuple[Case, ...]:
    """Group launches with equal content into cases, and name the cases by their differences."""
    alike = group_by_key((content(launch, recorded), launch) for launch in launches)
    groups = [*alike.values()]
    names = _names([group[0] for group in groups], recorded)
    return tuple(Case(name=name, launches=group) for name, group in zip(names, groups, strict=True))


def content(launch: RecordedLaunch, recorded: ProgramRecords) -> str:
    """The facts of a launch that a compile can depend on, as text."""
    return json.dumps(
        [
            _kind(arguments_of(launch, recorded)),
            dict(launch.signature),
            dict(launch.hints),
            constexprs_of(launch, recorded),
            launch.options,
        ],
        sort_keys=True,
        default=repr,
    )


def _kind(arguments: Mapping[str, object]) -> str:
    """The facts of run-time arguments that a compile can depend on.

    Of a number, only the properties that releases look at count.
    """
    return json.dumps({name: _class_of(value) for name, value in arguments.items()})


def _class_of(value: object) -> object:
    if arguments.is_named(value):
        return {name: _class_of(item) for name, item in value[FIELDS].items()}
    if isinstance(value, bool) or not isinstance(value, int | float | list):
        return value
    if isinstance(value, list):
        return [_class_of(item) for item in value]
    if isinstance(value, float):
        return "float"
    return ["int", value == 1, value % 16 == 0, -(2**31) <= value < 2**31, value < 2**63]


# --- names ----------------------------------------------------------------------------------------

_LONGEST = 48
_SHORT = {"num_warps": "w", "num_stages": "s", "num_ctas": "ctas"}
NOT_IN_NAMES = lazy_pattern(r"[^A-Za-z0-9_.+-]+")
ONLY = "default"


def _names(launches: Sequence[RecordedLaunch], recorded: ProgramRecords) -> list[str]:
    """A unique name for each launch, of the parts that not all launches share.

    It is ``case``, with a number if needed, if those parts are too long or there are none.
    """
    if len(launches) == 1:
        return [ONLY]
    parts = [_parts(launch, recorded) for launch in launches]
    differing = [
        key
        for key in dict.fromkeys(key for part in parts for key in part)
        if len({part.get(key) for part in parts}) > 1
    ]
    names: list[str] = []
    for part in parts:
        name = "-".join(part[key] for key in differing if key in part)
        names.append(_free(name if 0 < len(name) <= _LONGEST else "case", names))
    return names


def _parts(launch: RecordedLaunch, recorded: ProgramRecords) -> dict[str, str]:
    types = dict.fromkeys(
        NOT_IN_NAMES.sub("", _type(value))
        for value in (launch.signature or launch.arguments).values()
        if _type(value)
    )
    parts = {"types": "_".join(types)}
    for name, value in constexprs_of(launch, recorded).items():
        plain = next(iter(value.values())) if isinstance(value, Mapping) else value
        plain = "none" if value == {"none": True} else plain
        parts[name] = NOT_IN_NAMES.sub(
            "_", f"{name}{'_' if isinstance(plain, bool | str) else ''}{plain}"
        )
    for name, value in launch.options.items():
        parts[f"option {name}"] = NOT_IN_NAMES.sub("_", f"{_SHORT.get(name, name)}{value}")
    return parts


def _type(value: object) -> str:
    if isinstance(value, Mapping):
        return str(value.get("tensor", ""))
    if isinstance(value, str) and "[" in value:
        return value.partition("[")[0]
    return value if isinstance(value, str) and value.startswith("*") else ""


def _free(name: str, used_names: Sequence[str]) -> str:
    return next(
        candidate
        for candidate in (name, *(f"{name}-{number}" for number in range(2, len(used_names) + 3)))
        if candidate not in used_names
    )
