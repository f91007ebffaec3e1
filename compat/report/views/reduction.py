"""The result of a reduction, line by line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from compat.cell_document import cell_document
from compat.json_text import JsonObject
from compat.launch.behaviour import Behaviour
from compat.model import arguments, constexprs, signatures
from compat.reduce import output
from compat.reduce.candidate import Candidate
from compat.reduce.differing import DifferenceKind
from compat.reduce.goal import newest_first
from compat.reduce.reduction import Reduction
from compat.text import printable

_NO_NUMBER = 1e9
"""What is farther off than this is no number, or was written in one release alone."""


def reduction_lines(reduction: Reduction, matrix: Path, options: Sequence[str] = (), limits: Sequence[str] = ()) -> Iterator[str]:
    """The reduced kernel, what is known about it, what was written, and commands to continue with.

    ``matrix`` is the file that declares the envs, if it is there, and ``options`` are those with which a command in this folder
    reads it; ``limits`` are those that say how long a cell and a judge may take.
    """
    path = reduction.path
    start, best, seconds = reduction.start, reduction.history[-1], reduction.seconds
    yield printable(best.text)
    rate = reduction.tests / max(seconds, 0.1)
    yield f"{reduction.ended}; {reduction.tests:,} candidates in {seconds:.1f} s, {rate:.1f} per second"
    yield f"  kernel: {start.kernel_lines} lines are now {best.kernel_lines}, {len(start.text):,} bytes are now {len(best.text):,}"
    for name, text in _specialization(best).items():
        yield f"  {name}: {printable(text)}"
    yield from (f"  {line}" for line in _releases(reduction))
    yield from (f"  {line}" for line in _launches(reduction))
    yield f"wrote {path} and {path.with_suffix('.toml')}"
    for written in reduction.reproducers:
        yield f"wrote {written}: the IR just before the failing pass, and that pass alone (not run: wheels have no triton-opt)"
    cell = _cell(reduction)
    again = [*options, "--spec", str(path.with_suffix(".toml"))]
    if reduction.question is not None:
        yield f"to launch it again: {_launching(reduction, reduction.question.compare.kind, again)}"
        return
    yield f"for the issue: {shlex.join(['compat', 'repro', *again, cell])}"
    yield f"to shorten its text further: {_polish(reduction, cell, matrix, limits)}"


def reduction_document(reduction: Reduction) -> JsonObject:
    """The same as JSON values."""
    start, best, path = reduction.start, reduction.history[-1], reduction.path
    return {
        "cell": _cell(reduction),
        "ended": str(reduction.ended),
        "confirmed": reduction.confirmed,
        "text": best.text,
        "lines": {"before": start.kernel_lines, "after": best.kernel_lines},
        "bytes": {"before": len(start.text), "after": len(best.text)},
        "candidates": reduction.tests,
        "seconds": round(reduction.seconds, 1),
        "files": [str(path), str(path.with_suffix(".toml")), *map(str, reduction.reproducers)],
        "differences": [difference.text for difference in reduction.differences],
        "not_compared": list(reduction.not_compared),
        "results": [cell_document(result) for result in reduction.results],
        "compared": [
            {
                "env": name,
                "good": behaviour.good,
                "launches": behaviour.launches,
                "differing": behaviour.differing,
                "off": behaviour.off,
            }
            for name, behaviour in _behaviours(reduction)
        ],
    }


def _cell(reduction: Reduction) -> str:
    """The id that the reduced kernel has where it fails."""
    subject, env = reduction.subject, reduction.original.bad[0].cell.env
    return f"{reduction.path.stem}/{output.VARIANT}/{subject.spec.case}/{subject.target.name}/{env.name}"


def _specialization(best: Candidate) -> Mapping[str, str]:
    facts = {
        "signature": signatures.shown_all(best.compile.signature),
        "launch": arguments.shown_all(best.compile.launch),
        "constexprs": ", ".join(f"{name}={constexprs.shown(value)}" for name, value in best.compile.constexprs.items()),
        "divisible by 16": ", ".join(best.compile.divisible_by_16),
        "equal to 1": ", ".join(best.compile.equal_to_1),
        "pointer range 32": ", ".join(best.compile.pointer_range_32),
        "options": ", ".join(f"{name}={value}" for name, value in best.compile.options.items()),
    }
    return {name: text for name, text in facts.items() if text}


def _releases(reduction: Reduction) -> Iterator[str]:
    """In which releases it is the same as the original, in which it differs, and for which that is unknown."""
    budget = reduction.budget
    if not reduction.confirmed:
        yield "not confirmed: no time was left to compile it again; each outcome below was seen once"
    elif reduction.confirm_deadline < reduction.runs.context.limits.deadline:
        yield f"confirmed with a deadline of {reduction.confirm_deadline:.0f} s, all that a budget of {budget.seconds:g} s allows"
    others = [item.before.cell.env.name for item in reduction.differences]
    compared = [result for result in reduction.results if result.cell.env.name in reduction.original.results]
    names = [item.cell.env.name for item in reversed(newest_first(compared))]
    alike = [name for name in names if name not in others]
    if len(names) > 1:
        yield f"same as the original: {', '.join(alike)}"
    for difference in reduction.differences:
        yield f"differs from the original: {difference.text}"
    if reduction.confirmed and reduction.not_compared:
        yield f"not compared with the original: {', '.join(reduction.not_compared)}"
    for built, why in reduction.goal.dropped:
        yield f"not preserved: {built.env.name}, {why}"


def _behaviours(reduction: Reduction) -> Iterator[tuple[str, Behaviour]]:
    """Env → how launches of the result behaved there, of a reduction by numbers."""
    if reduction.question is not None and reduction.behaved is not None:
        compare = reduction.question.compare
        names = [result.cell.env.name for result in (*compare.good, *compare.bad)]
        yield from zip(names, reduction.behaved.behaviours, strict=True)


def _launches(reduction: Reduction) -> Iterator[str]:
    if reduction.question is not None and reduction.behaved is None:
        yield "not confirmed: no time was left to launch it more often; its launches were compared once"
    for name, behaviour in _behaviours(reduction):
        steady = "all {:,} launches are the same" if not behaviour.differing else "{1:,} of {0:,} launches differ from the first"
        yield f"{name}: {steady.format(behaviour.launches, behaviour.differing)}{_off(behaviour)}"


def _off(behaviour: Behaviour) -> str:
    """How far off the good release it is."""
    if behaviour.good or not behaviour.off:
        return ""
    if behaviour.off > _NO_NUMBER:
        return "; it writes what is no number, or elements that the good release does not"
    return f"; off by {behaviour.off:.3g} of the largest number"


def _launching(reduction: Reduction, kind: DifferenceKind, again: Sequence[str]) -> str:
    """The command that launches it on every release: what nobody knows to be right can be unstable, and be compared."""
    target = ["--target", reduction.subject.target.name, "--launch"]
    command = ["bisect", "--judge", "unstable"] if kind is DifferenceKind.UNSTABLE else ["matrix"]
    return shlex.join(["compat", *command, "--envs", "releases", *again, *target])


def _polish(reduction: Reduction, cell: str, matrix: Path, limits: Sequence[str]) -> str:
    """A command line that has ``shrinkray`` reduce the text further, with its interestingness script."""
    path, failure = reduction.path, reduction.original.bad[0].outcome.failure
    kernel = path.with_suffix(".toml")
    declared = ["--matrix", str(matrix)] if matrix.exists() else []
    check = ["compat", "check", cell, *declared, "--target", reduction.subject.target.name]
    judge = reduction.goal.named[0].criterion.text
    if judge == "same-failure" and failure:  # as far as one cell alone can be asked for it
        judge = f"class={failure.failure_class}"
    check += ["--envs", reduction.original.bad[0].cell.env.name, "--judge", judge, *limits]
    script = f'd=$(mktemp -d); cp "$1" $d/{path.name}; cp {shlex.quote(str(kernel.absolute()))} $d; '
    script += f"{shlex.join(check)} --spec $d/{kernel.name}; [ $? = 1 ]"
    return f"uvx 'shrinkray<26.9' {shlex.join(['sh', '-c', script, '-'])} {path}"
