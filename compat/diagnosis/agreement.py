"""Kernels that have no reference, held to each other: what they changed in the interpreter, and on a GPU in other releases. Pure.

Where some release's launch agrees with what an interpreter makes of the same kernel, two implementations that have little in common
came to the same numbers. The newest such release is the reference of the others. Else nothing is said to be right or wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve, frozen
from packaging.version import Version

from compat.model import Check, Result, Sample, Status
from compat.model.json_text import read_json
from compat.text import printable

_TOLERANCES = {"float64": 1e-6, "float32": 2e-3, "float16": 2e-2, "bfloat16": 5e-2}
"""By element type, as a part of the largest magnitude; float32 as that of dots in TF32."""
_ROUGH = 0.15
"""Of types with fewer bits."""
_MOST = 4096


def samples_of(said: object) -> tuple[Sample, ...]:
    """What :func:`compat.toolchains.pytorch.numerics.storages.changes` told, as far as it has the form of that."""
    found = [_sample(each) for each in said] if isinstance(said, list) else []
    return tuple(each for each in found if each is not None)


def samples_in(text: object) -> tuple[Sample, ...]:
    """The same from JSON."""
    try:
        return samples_of(read_json(text)) if isinstance(text, str) else ()
    except ValueError:
        return ()


def _sample(said: object) -> Sample | None:
    if not isinstance(said, Mapping):
        return None
    name, kind, elements, values, written = (said.get(key) for key in ("name", "type", "elements", "sample", "written"))
    if not (isinstance(name, str) and isinstance(kind, str) and isinstance(elements, int) and isinstance(values, list)):
        return None
    if not isinstance(written, str) or not len(written) == len(values) <= _MOST:
        return None
    try:
        numbers = tuple(float(value) if kind.startswith(("float", "bfloat")) else int(value) for value in values)
    except (TypeError, ValueError):
        return None
    return Sample(
        name=printable(name),
        type=printable(kind),
        elements=elements,
        values=numbers,
        written=tuple(each == "1" for each in written),
    )


@frozen(kw_only=True)
class _Difference:
    """How far two are apart."""

    words: str
    """Why they do not agree; empty where they do."""
    where: str = ""
    max_abs: float | None = None


def with_agreement(results: Sequence[Result]) -> tuple[Result, ...]:
    """Results, of which those that have no reference say what they agree with."""
    series: dict[tuple[object, ...], list[int]] = {}
    for index, result in enumerate(results):
        if any(check.samples for check in result.numbers.checks):
            spec = result.cell.spec
            key = (spec.kernel, spec.variant, spec.case, spec.closure, spec.problem and spec.problem.closure)
            series.setdefault(key, []).append(index)
    found = list(results)
    for those in series.values():
        for index, result in zip(those, _agreeing([results[each] for each in those]), strict=True):
            found[index] = result
    return tuple(found)


def _agreeing(results: Sequence[Result]) -> list[Result]:
    interpreted = sorted((result for result in results if _has_samples(result.numbers.interpreter)), key=_release, reverse=True)
    told = [_with_interpreters(result, interpreted) for result in results]
    by_place: dict[tuple[str, str | None], list[Result]] = {}
    for result in results:
        if _has_samples(result.numbers.gpu):
            assert result.numbers.gpu is not None
            by_place.setdefault((result.cell.target.name, result.numbers.gpu.device), []).append(result)
    references = {place: _reference(those, interpreted) for place, those in by_place.items()}
    return [_with_reference(each, references) for each in told]


def _has_samples(check: Check | None) -> bool:
    return check is not None and bool(check.samples)


def _release(result: Result) -> Version:
    return result.cell.env.release or Version("0")


def _with_interpreters(result: Result, interpreted: Iterable[Result]) -> Result:
    """What other interpreters make of the same: said, and nothing concluded from it."""
    check = result.numbers.interpreter
    others = [each for each in interpreted if each.cell.env != result.cell.env]
    if check is None or not check.samples or not others:
        return result
    same, apart = [], []
    for env, other in {each.cell.env.name: each.numbers.interpreter for each in others}.items():
        assert other is not None
        difference = _difference(check.samples, other.samples)
        same += [env] if not difference.words else []
        apart += [f"other ones in {env}: {difference.words}"] if difference.words else []
    words = [f"the same in the interpreters of {', '.join(same)}"] if same else []
    return _saying(result, evolve(check, reason="; ".join([check.reason, *words, *apart])), gpu=False)


def _reference(launched: Iterable[Result], interpreted: Sequence[Result]) -> tuple[Result, Result] | None:
    """The newest release whose launch agrees with an interpreter, and that of which release it agrees with."""
    for each in sorted(launched, key=_release, reverse=True):
        for other in interpreted:
            assert each.numbers.gpu is not None
            assert other.numbers.interpreter is not None
            if not _difference(each.numbers.gpu.samples, other.numbers.interpreter.samples).words:
                return each, other
    return None


def _with_reference(result: Result, references: Mapping[tuple[str, str | None], tuple[Result, Result] | None]) -> Result:
    check = result.numbers.gpu
    if check is None or not check.samples:
        return result
    found = references[result.cell.target.name, check.device]
    if found is None:
        return result
    reference, interpreted = found
    assert reference.numbers.gpu is not None
    difference = _difference(check.samples, reference.numbers.gpu.samples)
    of = f"{_title(reference)}, which agrees with the interpreter of {_title(interpreted)}"
    if reference.cell == result.cell:
        of = f"the interpreter of {_title(interpreted)}"
    words = f"compared with {of}, in {sum(len(sample.values) for sample in check.samples):,} elements"
    status = Status.WRONG if difference.words else Status.OK
    reason = f"{difference.words}; {words}" if difference.words else words
    told = evolve(check, status=status, where=difference.where, max_abs=difference.max_abs, reason=reason)
    return _saying(result, told, gpu=True)


def _title(result: Result) -> str:
    return str(result.cell.env.release) if result.cell.env.release else result.cell.env.name


def _saying(result: Result, check: Check, *, gpu: bool) -> Result:
    numbers = evolve(result.numbers, gpu=check) if gpu else evolve(result.numbers, interpreter=check)
    return evolve(result, numbers=numbers)


# --- two of them --------------------------------------------------------------------------------------------------------------


def _difference(got: Sequence[Sample], wanted: Sequence[Sample]) -> _Difference:
    """Whether samples agree: floating point numbers within what their type allows, whole numbers exactly."""
    ours, theirs = ({each.name: each for each in samples} for samples in (got, wanted))
    if ours.keys() != theirs.keys():
        changed = " and ".join(" ".join(sorted(each)) or "nothing" for each in (ours, theirs))
        return _Difference(words=f"it changed other tensors ({changed})")
    worst: float | None = None
    for name, sample in ours.items():
        found = _apart(sample, theirs[name])
        if found.words:
            return found
        worst = max(filter(None, (worst, found.max_abs)), default=worst)
    return _Difference(words="", max_abs=worst)


def _apart(got: Sample, wanted: Sample) -> _Difference:
    if (got.type, got.elements, len(got.values)) != (wanted.type, wanted.elements, len(wanted.values)):
        return _Difference(words=f"{got.name} is another tensor", where=got.name)
    either = [ours or theirs for ours, theirs in zip(got.written, wanted.written, strict=True)]
    largest = max(
        (abs(each) for each, is_new in zip(wanted.values, either, strict=True) if is_new and math.isfinite(each)), default=0.0
    )
    is_real = got.type.startswith(("float", "bfloat"))
    allowed = _TOLERANCES.get(got.type, _ROUGH) * largest if is_real else 0.0
    worst = 0.0
    for ours, theirs in zip(got.values, wanted.values, strict=True):
        if ours == theirs or (math.isnan(ours) and math.isnan(theirs)):
            continue
        off = abs(ours - theirs)
        if not off <= allowed:
            words = f"{got.name} has {ours:.6g} where that has {theirs:.6g}, and {allowed:.3g} is allowed"
            return _Difference(words=words, where=got.name, max_abs=off if math.isfinite(off) else None)
        worst = max(worst, off)
    return _Difference(words="", where=got.name, max_abs=worst)
