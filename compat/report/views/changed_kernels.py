"""Changed kernels as text and as data: the reduced kernel, and the edit for a cell."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from compat import toolchains
from compat.history.account import class_of, failure_of, is_good
from compat.history.verdict import releases_of, runs_of
from compat.launch.hosting import Behaviour
from compat.model import Result, arguments, constexprs
from compat.model.cell import signature_text
from compat.model.outcome import cell_document
from compat.reduce import output
from compat.reduce.candidate import Candidate
from compat.reduce.numbers import DifferenceKind
from compat.reduce.reduction import Reduction
from compat.text import JsonObject, amount, group_by_key, printable

if TYPE_CHECKING:
    from compat.config.matrix import MatrixConfig
    from compat.fix.fixing import EditTrial, Fix

# --- a reduced kernel -----------------------------------------------------------------------------


_NO_NUMBER = 1e9
"""A larger error means that a value is not a number, or that only one release wrote it."""


def reduction_lines(
    reduction: Reduction,
    config: MatrixConfig,
    options: Sequence[str] = (),
    limits: Sequence[str] = (),
) -> Iterator[str]:
    """The reduced kernel, its facts, the written files, and commands to continue with.

    ``config`` declares the envs; its file need not exist. ``options`` make a command in this folder
    read it. ``limits`` are the options that limit the time of a cell and of a judge.
    """
    path = reduction.path
    start, best, seconds = reduction.start, reduction.history[-1], reduction.seconds
    yield printable(best.text)
    rate = reduction.tests / max(seconds, 0.1)
    yield (
        f"{reduction.search_end}; {amount(reduction.tests, 'candidate')} in {seconds:.1f} s,"
        f" {rate:.1f} per second"
    )
    yield (
        f"  kernel: {start.kernel_lines} lines reduced to {best.kernel_lines}, {len(start.text):,}"
        f" bytes to {len(best.text):,}"
    )
    for name, text in _specialization(best).items():
        yield f"  {name}: {printable(text)}"
    yield from (f"  {line}" for line in _comparison_lines(reduction))
    yield from (f"  {line}" for line in _launches(reduction))
    yield f"wrote {path} and {path.with_suffix('.toml')}"
    for written in reduction.reproducers:
        yield (
            f"wrote {written}: the IR before the failing pass, and that pass (not run, because"
            " wheels have no triton-opt)"
        )
    cell = _cell(reduction)
    again = [*options, "--spec", str(path.with_suffix(".toml"))]
    if reduction.question is not None:
        yield f"to launch it again: {_launching(reduction, reduction.question.compare.kind, again)}"
        return
    if toolchains.look_up(reduction.subject.spec.toolchain).language.script is not None:
        yield f"for the issue: {shlex.join(['compat', 'repro', *again, cell])}"
    yield f"to shorten its text further: {_polish(reduction, cell, config.path, limits)}"


def reduction_document(reduction: Reduction) -> JsonObject:
    """The reduced kernel and its facts as JSON values."""
    start, best, path = reduction.start, reduction.history[-1], reduction.path
    return {
        "cell": _cell(reduction),
        "ended": str(reduction.search_end),
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
    """The id of the reduced kernel's cell in the first env in which it fails."""
    subject, env = reduction.subject, reduction.original.bad[0].cell.env
    kernel = f"{reduction.path.stem}/{output.VARIANT}/{subject.spec.case}"
    return f"{kernel}/{subject.target.name}/{env.name}"


def _specialization(best: Candidate) -> Mapping[str, str]:
    facts = {
        "signature": signature_text(best.compile.signature),
        "launch": arguments.launch_arguments_text(best.compile.launch),
        "constexprs": ", ".join(
            f"{name}={constexprs.constexpr_text(value)}"
            for name, value in best.compile.constexprs.items()
        ),
        "divisible by 16": ", ".join(best.compile.divisible_by_16),
        "equal to 1": ", ".join(best.compile.equal_to_1),
        "pointer range 32": ", ".join(best.compile.pointer_range_32),
        "options": ", ".join(f"{name}={value}" for name, value in best.compile.options.items()),
    }
    return {name: text for name, text in facts.items() if text}


def _comparison_lines(reduction: Reduction) -> Iterator[str]:
    """The envs in which the reduced kernel behaves like the original, and those in which not.

    Envs in which they were not compared, or that the reduction dropped, are named too.
    """
    budget = reduction.budget
    if not reduction.confirmed:
        yield (
            "not confirmed: no time was left to compile it again; each outcome below was seen once"
        )
    elif reduction.confirm_deadline < reduction.runs.context.limits.deadline:
        yield (
            f"confirmed with a deadline of {reduction.confirm_deadline:.0f} s, all that a budget of"
            f" {budget.seconds:g} s allows"
        )
    differing = {item.before.cell.env.name for item in reduction.differences}
    names = (result.cell.env.name for result in reduction.results)
    compared = [name for name in names if name in reduction.original.results]
    alike = [name for name in compared if name not in differing]
    if len(compared) > 1:
        yield f"same as the original: {reduction.releases(alike) or 'none'}"
    for difference in reduction.differences:
        yield f"differs from the original: {difference.text}"
    if reduction.confirmed and reduction.not_compared:
        yield f"not compared with the original: {reduction.releases(reduction.not_compared)}"
    dropped: dict[str, list[str]] = defaultdict(list)
    for built, why in reduction.goal.dropped_outcomes:
        dropped[why].append(built.env.name)
    for why, envs in dropped.items():
        yield f"not preserved: {reduction.releases(envs)}, {why}"


def _behaviours(reduction: Reduction) -> Iterator[tuple[str, Behaviour]]:
    """The behaviour of the reduced kernel's launches in each env, for a reduction by numbers."""
    if reduction.question is not None and reduction.behaviour is not None:
        compare = reduction.question.compare
        names = [result.cell.env.name for result in (*compare.good, *compare.bad)]
        yield from zip(names, reduction.behaviour.behaviours, strict=True)


def _launches(reduction: Reduction) -> Iterator[str]:
    if reduction.question is not None and reduction.behaviour is None:
        yield (
            "not confirmed: no time was left to launch it more often; its launches were compared"
            " once"
        )
    for name, behaviour in _behaviours(reduction):
        steady = (
            "all {:,} launches are the same"
            if not behaviour.differing
            else "{1:,} of {0:,} launches differ from the first"
        )
        yield f"{name}: {steady.format(behaviour.launches, behaviour.differing)}{_off(behaviour)}"


def _off(behaviour: Behaviour) -> str:
    """The error of the numbers relative to the good release, in words; empty if there is none."""
    if behaviour.good or not behaviour.off:
        return ""
    if behaviour.off > _NO_NUMBER:
        return "; it writes NaN or infinity, or elements that the good release does not write"
    return f"; off by {behaviour.off:.3g} times the largest number"


def _launching(reduction: Reduction, kind: DifferenceKind, again: Sequence[str]) -> str:
    """The command that launches the reduced kernel on every release.

    Its right numbers are unknown, but it can be unstable, and its numbers can be compared.
    """
    target = ["--target", reduction.subject.target.name, "--launch"]
    command = ["bisect", "--judge", "unstable"] if kind is DifferenceKind.UNSTABLE else ["matrix"]
    return shlex.join(["compat", *command, "--envs", "releases", *again, *target])


def _polish(reduction: Reduction, cell: str, matrix: Path, limits: Sequence[str]) -> str:
    """A command line with which ``shrinkray`` reduces the text further.

    ``compat check`` is its interestingness test.
    """
    path, failure = reduction.path, reduction.original.bad[0].outcome.failure
    kernel = path.with_suffix(".toml")
    declared = ["--matrix", str(matrix)] if matrix.exists() else []
    check = ["compat", "check", cell, *declared, "--target", reduction.subject.target.name]
    judge = reduction.goal.named_requirements[0].criterion.text
    if judge == "same-failure" and failure:  # the nearest judge for a single cell
        judge = f"class={failure.failure_class}"
    check += ["--envs", reduction.original.bad[0].cell.env.name, "--judge", judge, *limits]
    source, beside = shlex.quote(path.name), shlex.quote(str(kernel.absolute()))
    script = f'd=$(mktemp -d); cp "$1" $d/{source}; cp {beside} $d; '
    script += f"{shlex.join(check)} --spec $d/{shlex.quote(kernel.name)}; [ $? = 1 ]"
    return f"uvx 'shrinkray<26.9' {shlex.join(['sh', '-c', script, '-', str(path)])}"


# --- an edit --------------------------------------------------------------------------------------


SCHEMA = 1
"""The version of the JSON of an edit."""


def fix_lines(fix: Fix, command: str = "compat fix") -> Iterator[str]:
    """The result as lines that are safe to print: the failure, the diff, and the edit's results.

    ``command`` is the command line of the user.
    """
    yield from map(_printable_line, _lines(fix, command))


def _printable_line(line: str) -> str:
    """Make a line safe to print. ``patch`` needs the CR at the end of a line of a diff."""
    text = line.removesuffix("\r")
    return printable(text) + line[len(text) :]


def _lines(fix: Fix, command: str) -> Iterator[str]:
    failure = fix.failure.outcome.failure
    yield f"{fix.cell.id}: {fix.failure.outcome.status} ({class_of(fix.failure.outcome)})"
    if failure is not None:
        yield from (f"  {line}" for line in failure.excerpt.splitlines()[:3])
    if fix.best is None:
        yield from _not_found(fix)
        return
    yield f"edit: {', '.join(fix.best.candidate.edits)}"
    for changed in fix.changes:
        yield ""
        yield from changed.diff.split("\n")
    yield ""
    yield f"before: {_results_text(fix.before, fix.existing)}"
    yield f"after:  {_results_text(fix.best.results, fix.existing)}"
    yield from (f"note: {note}" for note in fix.best.candidate.notes)
    yield from (f"not edited: {reason}" for reason in fix.refused)
    for other in fix.others:
        results = _results_text(other.results, fix.existing)
        yield f"also tried: {', '.join(other.candidate.edits)}: {results}"
    yield "The edit was compiled. Its numbers were not checked."
    if fix.breaks:
        broken = _releases(fix.breaks, fix.best.results, fix.existing)
        yield (
            f"not written: on {broken} the kernel compiles without this edit, but not with it;"
            " choose other releases with --envs"
        )
    elif "--write" not in command:
        yield f"write it: {command} --write"


def _not_found(fix: Fix) -> Iterator[str]:
    name = class_of(fix.failure.outcome)
    if not fix.edit_names:
        yield f"no edit is known for {name}"
    else:
        yield f"no edit helped: {amount(fix.compiled, 'edited kernel')} tried"
        yield f"edits known for {name}: {', '.join(fix.edit_names)}"
    yield from (f"not edited: {reason}" for reason in fix.refused)
    failure = fix.failure.outcome.failure
    if failure is not None and failure.advice:
        yield f"advice: {' '.join(failure.advice.split())}"


def _results_text(results: Sequence[Result], existing: Iterable[Version]) -> str:
    """Results in words: ``compiles on 3.4.0, 3.9.0; fails on 3.0.0 (api-missing)``."""
    good = [result for result in results if is_good(result.outcome)]
    parts = (
        [f"compiles on {_releases(good, results, existing)}"]
        if good
        else ["compiles on none of the releases tried"]
    )
    classes = group_by_key(
        (class_of(result.outcome), result) for result in results if not is_good(result.outcome)
    )
    for name, some in classes.items():
        answered = all(result.outcome.status.is_answer for result in some)
        parts.append(
            f"{'fails' if answered else 'unknown'} on {_releases(some, results, existing)} ({name})"
        )
    return "; ".join(parts)


def _releases(
    some: Sequence[Result], results: Sequence[Result], existing: Iterable[Version]
) -> str:
    """The releases of ``some`` results, as :func:`~compat.history.verdict.runs_of` names them."""
    return runs_of(
        {result.cell.env.name for result in some},
        releases_of(result.built for result in results),
        existing,
    )


_STYLES = {"+": {"fg": "green"}, "-": {"fg": "red"}, "@": {"fg": "cyan"}}
_HEADERS = ("+++", "---")


def diff_style(line: str) -> JsonObject:
    """The style of a line of a diff on a terminal; empty for all other lines.

    Colours only repeat what the line says.
    """
    return {"bold": True} if line.startswith(_HEADERS) else _STYLES.get(line[:1], {})


# --- as JSON --------------------------------------------------------------------------------------


def fix_document(fix: Fix, written: Sequence[Path] = ()) -> JsonObject:
    """The result as JSON values."""
    return {
        "schema": SCHEMA,
        "id": fix.cell.id,
        "class": class_of(fix.failure.outcome),
        "known": list(fix.edit_names),
        "compiled": fix.compiled,
        "before": [cell_document(result) for result in fix.before],
        "breaks": [result.cell.env.name for result in fix.breaks],
        "edit": None if fix.best is None else _edit(fix, fix.best),
        "others": [_trial_document(other) for other in fix.others],
        "not_edited": list(fix.refused),
        "written": [str(path) for path in written],
    }


def _edit(fix: Fix, trial: EditTrial) -> JsonObject:
    files = [{"path": str(change.path), "diff": change.diff} for change in fix.changes]
    return {
        **_trial_document(trial),
        "files": files,
        "everywhere": not trial.not_even_so and not trial.unknown,
    }


def _trial_document(trial: EditTrial) -> JsonObject:
    return {
        "edits": list(trial.candidate.edits),
        "notes": list(trial.candidate.notes),
        "after": [
            {
                "env": result.cell.env.name,
                "status": str(result.outcome.status),
                "class": failure_of(result.outcome)[0],
            }
            for result in trial.results
        ],
    }
