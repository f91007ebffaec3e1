"""``compat bisect``: since which release, in which part of the toolchain, in which pass, from which setting on."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
from attrs import evolve

from compat.answers import Part
from compat.axes import assemblers as assemblers_of
from compat.axes import releases
from compat.axes.assemblers import Assembler
from compat.axes.history import Answer, ReleaseAnswer
from compat.axes.releases import Search
from compat.cli import last_bisect
from compat.cli.bisect_axes import AXES, Subject
from compat.cli.bisect_request import Request, read_request
from compat.cli.invocation import INTERRUPTED, command_line
from compat.cli.obtaining import Obtainer
from compat.cli.progress import Progress
from compat.cli.selecting import select, selection_options
from compat.errors import SelectionError, StoreError
from compat.files import replace_file
from compat.model import BuiltEnv, Cell, Env, Specialization
from compat.report.bisect import BisectReport, groups
from compat.run import Bench, Interrupted
from compat.search.bisect import Judgement
from compat.store import Store


@click.command()
@selection_options
@click.option("--axis", type=click.Choice(["releases", *AXES]), default="releases", show_default=True, help="What to search along.")
@click.option("--good", metavar="RELEASE", help="A release in which it is good; tested first, like --bad.")
@click.option("--bad", metavar="RELEASE", help="A release in which it is bad.")
@click.option("--fixed", is_flag=True, help="Find where it was fixed, not where it broke.")
@click.option("--judge", "judge_text", default="ok", show_default=True, metavar="JUDGE", help="What is good: see below.")
@click.option("--releases", "specifier", metavar="SPECIFIER", help="Only these releases, such as '>=3.1,<3.6'.")
@click.option("--patches", is_flag=True, help="Patch releases too, not only the first of each minor series.")
@click.option("--pre", is_flag=True, help="Pre-releases too.")
@click.option("--find-links", type=click.Path(exists=True, file_okay=False), help="A folder of wheels to bisect over.")
@click.option("--index-url", metavar="URL", help="A package index to bisect over, such as one of nightly builds.")
@click.option("--distribution", default="triton", show_default=True, help="The name the toolchain has there.")
@click.option("--all/--search", "every", default=None, help=f"Try all releases (default up to {releases.FEW}), or few.")
@click.option("--against", metavar="CASE", help="With --axis pass: the case to compare with, in place of another release.")
@click.option("--ptxas", multiple=True, metavar="CUDA|PATH", help="With --axis part: another assembler to try, such as 12.9.")
@click.option("--json", "as_json", is_flag=True, help="A JSON array, one object per kernel, variant, case and target.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="A Markdown file for an issue tracker.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Cells compiled at the same time (default: the cores there are).")
@click.option("--deadline", type=click.FloatRange(min=0, min_open=True), help="Seconds one cell may take.")
@click.option("--again", is_flag=True, help="Compile cells even where nothing has changed since their last result.")
@click.option("--no-build", is_flag=True, help="Do not build envs that are missing; they cannot be told then.")
def bisect(*, axis: str, as_json: bool, output: Path | None, against: str | None, ptxas: tuple[str, ...], **chosen: Any) -> None:
    """Say since which release a kernel fails, and in which part of the toolchain; or in which pass, or from which setting on.

    Without --good and --bad both ends of the line of releases are looked at first. A judge is `ok`, `class=NAME`, `same-failure`,
    `unexpected`, a metric such as `registers>128` or `compile_seconds>10`, or `run=COMMAND`.
    """
    if ptxas and axis != "part":
        raise SelectionError("only --axis part tries other assemblers", where="--ptxas")
    request = read_request(**chosen)
    assemblers = tuple(_assembler(each, request) for each in ptxas)
    with _interruptible(), Store(request.selection.state) as store:
        if axis == "releases":
            report = _bisected(request, store)
            last_bisect.remember(report.answers, _specs(request), request.selection.state)
            _show(report, as_json=as_json, output=output)
            unsure = any(answer.answer in (Answer.UNKNOWN, Answer.FLAKY) for answer in report.answers)
            sys.exit(1 if unsure else 0)
        if output:
            raise SelectionError("only --axis releases writes Markdown", where="--output")
        subjects = (evolve(each, assemblers=assemblers) for each in _subjects(request, store, axis, against))
        sys.exit(AXES[axis](subjects, as_json=as_json))


# --- along releases ------------------------------------------------------------------------------------------------------


def _bisected(request: Request, store: Store) -> BisectReport:
    line = request.candidates.chosen
    span = releases.in_range(line, request.good, request.bad, fixed=request.fixed)
    chosen = tuple(line[at] for at in span)
    if not chosen:
        raise SelectionError("no release lies between the given ends", where="--good and --bad")
    every = request.every if request.every is not None else len(chosen) <= releases.FEW
    asked = Search(
        candidates=chosen,
        judge=request.judge,
        good=None if request.good is None else request.good - span.start,
        bad=None if request.bad is None else request.bad - span.start,
        fixed=request.fixed,
        every=every,
    )
    obtain = Obtainer(root=request.selection.root, matrix=request.candidates.matrix, build=request.build)
    bench = request.bench(store)
    kernels = request.kernels
    with Progress(len(kernels) * len(chosen)) as progress:
        answers = releases.find(kernels, asked, bench, obtain, progress.note)
    answers = _with_parts(answers, evolve(bench, envs=obtain.envs), request)
    return BisectReport(
        answers=answers,
        command=command_line(),
        options=request.options,
        left_out=request.candidates.left_out,
        notes=request.candidates.notes,
        seconds=time.monotonic() - request.started,
        fixed=request.fixed,
    )


def _with_parts(answers: Sequence[ReleaseAnswer], bench: Bench, request: Request) -> tuple[ReleaseAnswer, ...]:
    """The answers with the part of the toolchain that changed, found for one of each group."""
    parts: dict[int, Part] = {}
    for group in groups(answers):
        change = group.example.bracket
        if change is None or request.judge.asks_metric:
            continue
        ends = sorted((change.before, change.after), key=lambda probe: probe.judgement is Judgement.BAD)
        if ends[1].result.outcome.failure is None:  # it compiles, and the judge finds fault with something else
            continue
        from compat.axes import part

        found = part.find(ends[0].result.cell, ends[1].result.cell, bench)
        parts |= {id(answer): found for answer in group.answers}
    return tuple(evolve(answer, part=parts.get(id(answer))) for answer in answers)


def _assembler(asked: str, request: Request) -> Assembler:
    def obtain(matrix: Path, envs: Sequence[Env]) -> Sequence[BuiltEnv]:
        return Obtainer(root=request.selection.root, matrix=matrix, build=request.build)(envs)

    return assemblers_of.find(asked, request.selection.state, request.selection.root, obtain)


# --- along the others ----------------------------------------------------------------------------------------------------


def _subjects(request: Request, store: Store, axis: str, against: str | None) -> Iterator[Subject]:
    """Each kernel with the cells that its search starts from."""
    if axis == "part" and (request.good is None or request.bad is None):
        for answer in _bisected(request, store).answers:
            yield _changed(answer, request, store)
        return
    obtain = Obtainer(root=request.selection.root, matrix=request.candidates.matrix, build=request.build)
    at = len(request.candidates.chosen) - 1 if request.bad is None else request.bad
    env = request.candidates.chosen[at].env
    envs = [env] if request.good is None else [env, request.candidates.chosen[request.good].env]
    obtain(envs)
    bench = evolve(request.bench(store), envs=obtain.envs)
    for spec, target in request.kernels:
        other = Cell(env=envs[-1], target=target, spec=_case(request, spec, against)) if len(envs) > 1 or against else None
        yield Subject(cell=Cell(env=env, target=target, spec=spec), other=other, bench=bench, folder=request.selection.state)


def _changed(answer: ReleaseAnswer, request: Request, store: Store) -> Subject:
    change = answer.bracket
    probes = (change.before, change.after) if change else (answer.probes[-1],)
    bad, *rest = sorted(probes, key=lambda probe: probe.judgement is not Judgement.BAD)
    envs = {probe.result.cell.env.name: probe.result.built for probe in probes}
    return Subject(
        cell=bad.result.cell,
        other=rest[0].result.cell if rest else None,
        bench=evolve(request.bench(store), envs=envs),
        folder=request.selection.state,
    )


def _case(request: Request, spec: Specialization, against: str | None) -> Specialization:
    if against is None:
        return spec
    every = select(matrix_path=request.selection.config.path, spec=_specs(request), kernel=[spec.kernel], variant=[spec.variant])
    for other in every.specs:
        if other.case == against:
            return other
    cases = ", ".join(dict.fromkeys(other.case for other in every.specs))
    raise SelectionError(f"{spec.kernel}/{spec.variant} has no case {against!r}", where="--against", hint=f"There are: {cases}.")


def _specs(request: Request) -> list[str]:
    return [value for name, value in pairwise(request.options) if name == "--spec"]


# --- saying it, with imports where they are needed: none is, until the cells are compiled -------------------------------------


def _show(report: BisectReport, *, as_json: bool, output: Path | None) -> None:
    if as_json:
        click.echo(dump_all(report), nl=False)
    else:
        from rich.console import Console

        from compat.report.bisect.terminal import TerminalAnswer

        Console(highlight=False, soft_wrap=False).print(TerminalAnswer(report=report), crop=False)
    if output:
        from compat.report.bisect import markdown

        try:
            replace_file(output, markdown.render(report))
        except OSError as error:
            hint = "All probes are kept: run the same command with another --output; nothing is compiled again."
            raise StoreError(f"the report could not be written: {error}", where=str(output), hint=hint) from error
        click.echo(f"wrote {output}", err=as_json)


def dump_all(report: BisectReport) -> str:
    """The report as a JSON array."""
    from compat.report.bisect.document import bisect_document
    from compat.report.document import dump

    return dump(bisect_document(report))  # type: ignore[arg-type]


@contextmanager
def _interruptible() -> Iterator[None]:
    """Whoever interrupts is told that nothing is lost."""
    try:
        yield
    except (Interrupted, KeyboardInterrupt) as interrupted:
        done = "what was probed is done"
        if isinstance(interrupted, Interrupted):
            done = f"{interrupted.done:,} of {interrupted.total:,} probes of this run are done"
        click.echo(f"interrupted: {done} and kept; the same command goes on from there", err=True)
        sys.exit(INTERRUPTED)
