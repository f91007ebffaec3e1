"""What changed in the pairs of a PyTorch and a release, pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

from compat.pairs.records import Pair, Program


@frozen(kw_only=True)
class PairChange:
    """A pair that both reports have, and that came out differently."""

    name: str
    """``pair/2.9.1+3.6.0``"""
    before: str
    """``ok``, ``env broken``, or what fails: ``user_kernel (kernel-dropped)``."""
    after: str
    broken: tuple[str, ...]
    """Programs that worked, and do not; all of them where the env does not work any more."""
    fixed: tuple[str, ...]
    """The other way round."""
    says: str
    """What is said of the first one that is broken, or of the env."""


def changed_pairs(old: Iterable[Pair], new: Iterable[Pair]) -> tuple[PairChange, ...]:
    """The pairs that came out differently, in the order of the new report."""
    before = {pair.name: pair for pair in old}
    both = ((before[pair.name], pair) for pair in new if pair.name in before)
    return tuple(_change(was, is_) for was, is_ in both if _differ(was, is_))


def _change(was: Pair, is_: Pair) -> PairChange:
    worked, works = _works(was), _works(is_)
    names = list(dict.fromkeys((*worked, *works)))
    broken = tuple(name for name in names if worked.get(name) and not works.get(name, is_.error is None))
    said = next((program.message for program in is_.failed if program.name in broken), "")
    return PairChange(
        name=is_.name,
        before=_words(was),
        after=_words(is_),
        broken=broken,
        fixed=tuple(name for name in names if works.get(name) and not worked.get(name, was.error is None)),
        says=is_.error or said,
    )


def _works(pair: Pair) -> Mapping[str, bool]:
    return {program.name: program.ok for program in pair.programs}


def _differ(was: Pair, is_: Pair) -> bool:
    """Whether a program that was run both times, or the env, came out differently."""
    if was.error is not None or is_.error is not None:
        return (was.error is None) is not (is_.error is None)
    before = {program.name: (program.status, program.failure_class) for program in was.programs}
    return any(
        before.get(each.name, (each.status, each.failure_class)) != (each.status, each.failure_class) for each in is_.programs
    )


def _words(pair: Pair) -> str:
    if pair.error is not None:
        return "env broken"
    return ", ".join(_failing(pair.failed)) or ("ok" if pair.programs else "not tried")


def _failing(programs: Iterable[Program]) -> Iterator[str]:
    for program in programs:
        yield f"{program.name} ({program.failure_class or program.status})"
