"""Workloads, and the configs that each can be compiled with.

A workload is what one variant of a kernel computes for one problem. A config is a set of values for
the constexprs that ``[tune]`` names, and for compile options. Cases that differ only in these are
configs of one workload, and ``[tune]`` can add others.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from attrs import evolve, field, frozen

from compat.model import Problem, Specialization
from compat.text import JsonMapping, JsonObject, write_json

_UNNAMEABLE = re.compile(r"[^\w.+-]+")
_SHORT = {"num_warps": "w", "num_stages": "s"}
"""Option → the letter before its value in the name of a config."""


def label_of(settings: JsonMapping) -> str:
    """The settings of a config in words: ``BLOCK=64, num_warps=8``."""
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "as written"


@frozen(kw_only=True)
class Config:
    """One config of a workload."""

    settings: JsonMapping = field(eq=write_json)
    """Constexprs that are tuned and options → values."""
    spec: Specialization
    """The kernel with this config. Its case has a name of the config's own."""

    @property
    def label(self) -> str:
        """``BLOCK=64, num_warps=8``."""
        return label_of(self.settings)


@frozen(kw_only=True)
class Workload:
    """One variant of a kernel on one problem, with all its configs."""

    name: str
    """The name of its first case."""
    cases: tuple[Specialization, ...]
    """The kernel with each of its cases."""
    configs: tuple[Config, ...]

    @property
    def example(self) -> Specialization:
        """The kernel with the first config."""
        return self.configs[0].spec

    @property
    def problem(self) -> Problem:
        """The problem that all configs run on."""
        assert self.example.problem is not None
        return self.example.problem


def workloads_of(specs: Sequence[Specialization]) -> tuple[Workload, ...]:
    """The workloads of specializations with a problem, in their order."""
    groups: dict[str, list[Specialization]] = {}
    for spec in specs:
        if spec.problem is not None and not spec.problem.is_recorded:
            groups.setdefault(_identity(spec), []).append(spec)
    return tuple(
        Workload(name=group[0].case, cases=tuple(group), configs=tuple(_configs(group)))
        for group in groups.values()
    )


def _identity(spec: Specialization) -> str:
    """Return everything in a specialization that a config does not change, as JSON."""
    tuned = spec.tuning.constexprs
    compile_ = evolve(spec.compile, options={}, constexprs=_without(spec.compile.constexprs, tuned))
    problem = spec.problem
    assert problem is not None
    parameters = _without(problem.parameters, tuned)
    return write_json(
        [
            [spec.kernel, spec.variant, spec.function, spec.source, sorted(tuned)],
            compile_.document(),
            problem.document() | {"parameters": parameters},
        ]
    )


def _configs(specs: Sequence[Specialization]) -> Iterator[Config]:
    """Yield the configs of a workload's cases, then those of the cases' ranges, each once."""
    first, seen, used_cases = specs[0], set[str](), {spec.case for spec in specs}
    own = [(spec.case, _settings(spec)) for spec in specs]
    further = (("", settings) for spec in specs for settings in _in_ranges(spec))
    for case, settings in itertools.chain(own, further):
        identity = write_json(dict(sorted(settings.items())))
        if identity not in seen:
            seen.add(identity)
            spec = _apply_settings(first, settings, case)
            while not case and spec.case in used_cases:
                spec = evolve(spec, case=f"{spec.case}+")
            used_cases.add(spec.case)
            yield Config(settings=settings, spec=spec)


def _settings(spec: Specialization) -> JsonObject:
    tuned: JsonObject = {name: spec.compile.constexprs[name] for name in spec.tuning.constexprs}
    return tuned | dict(spec.compile.options)


def _in_ranges(spec: Specialization) -> Iterator[JsonObject]:
    tuned = {**spec.tuning.constexprs, **spec.tuning.options}
    ranges = {name: values for name, values in tuned.items() if values}
    for values in itertools.product(*ranges.values()):
        yield _settings(spec) | dict(zip(ranges, values, strict=True))


def _apply_settings(spec: Specialization, settings: JsonMapping, case: str) -> Specialization:
    """Return a specialization with other settings, on the same problem."""
    problem = spec.problem
    assert problem is not None
    tuned = {name: value for name, value in settings.items() if name in spec.tuning.constexprs}
    options = {name: value for name, value in settings.items() if name not in tuned}
    return evolve(
        spec,
        case=case or f"{spec.case}_{_config_name(tuned, options)}",
        compile=evolve(
            spec.compile, constexprs={**spec.compile.constexprs, **tuned}, options=options
        ),
        varied=tuple(
            name for name, value in tuned.items() if problem.parameters.get(name) != value
        ),
        expectations=(),
    )


def _config_name(tuned: JsonMapping, options: JsonMapping) -> str:
    sizes = "x".join(str(value) for value in tuned.values())
    flags = [f"{_SHORT.get(name, name)}{value}" for name, value in options.items()]
    return _nameable("_".join([*([sizes] if sizes else []), *flags])) or "as_written"


def _nameable(text: str) -> str:
    return _UNNAMEABLE.sub("-", text).strip("-")


def _without(values: JsonMapping, names: JsonMapping) -> dict[str, object]:
    return {name: value for name, value in values.items() if name not in names}
