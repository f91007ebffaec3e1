"""``compat bisect``: since which release, in which part of the toolchain, in which pass, from which setting on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from compat.bisect import bisecting, candidates
from compat.bisect.bisecting import Bisection
from compat.bisect.candidates import CandidateQuery
from compat.bisect.request import ASSEMBLER_OPTION, FEW, Axis, BisectRequest
from compat.cli.answer import Answer, answer_options, write_file
from compat.cli.bisect_progress import BisectProgress
from compat.cli.invocation import command_line, deadline_words
from compat.cli.judging import judge_options, judge_words, read_criterion
from compat.cli.opening import executor_option, launched_option, obtaining, opened, python_option, use_gpu
from compat.cli.selecting import SECONDS, kernel_arguments, select, selection_options
from compat.launch import merging

_AXES = [str(each) for each in Axis]
_ASKED = ("patches", "pre", "find_links", "index_url", "distribution")
"""The options that say which releases are candidates, beside ``--releases``."""
_REQUEST = ("fixed", "every", "against", "budget")
"""The options that are passed on as they are."""


@click.command
@kernel_arguments
@selection_options
@executor_option
@click.option("--axis", type=click.Choice(_AXES), default=_AXES[0], show_default=True, help="What to search along.")
@click.option("--good", metavar="RELEASE", help="A release that is good; tested first, like --bad.")
@click.option("--bad", metavar="RELEASE", help="A release that is bad.")
@click.option("--fixed", is_flag=True, help="Find where it was fixed, not where it broke.")
@click.option(
    "--judge", "judge_text", default="ok", show_default=True, metavar="JUDGE", help="What counts as good; the forms are above."
)
@judge_options
@click.option("--releases", "specifier", metavar="SPECIFIER", help="Only these releases, such as '>=3.1,<3.6'.")
@click.option("--patches", is_flag=True, help="Patch releases too, not only the first of each minor series.")
@click.option("--pre", is_flag=True, help="Pre-releases too.")
@click.option("--find-links", type=click.Path(exists=True, file_okay=False), help="A folder of wheels to bisect over.")
@click.option("--index-url", metavar="URL", help="A package index to bisect over, such as one of nightly builds.")
@click.option("--distribution", metavar="NAME", help="The name it is published under there (default: the toolchain's own).")
@click.option("--all/--search", "every", default=None, help=f"Test every release (default up to {FEW}), or search with few.")
@click.option("--against", metavar="CASE", help="With --axis pass: the case to compare with, instead of another release.")
@click.option(
    *("--ptxas", "assemblers"), multiple=True, metavar="CUDA|PATH", help="With --axis part: another assembler to try, such as 12.9."
)
@click.option("--budget", type=SECONDS, help="With --axis config: stop after this many seconds, and tell what is known by then.")
@launched_option("judged")
@click.option("--launch", "is_launching", is_flag=True, help="Launch on the GPU of this machine what the judge has to know of.")
@python_option
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="A file for an issue tracker, in Markdown.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Cells compiled at the same time (default: number of cores).")
@click.option("--deadline", type=SECONDS, help="Seconds one cell may take.")
@click.option("--again", is_flag=True, help="Compile cells even if nothing has changed since their last result.")
@click.option("--no-build", is_flag=True, help="Do not build missing envs; they count as inconclusive.")
@answer_options(file=False, json_help="A JSON array, one object per kernel, variant, case and target.")
def bisect(
    *,
    answer: Answer,
    output: Path | None,
    launched: tuple[Path, ...],
    no_build: bool,
    deadline: float | None,
    jobs: int | None,
    again: bool,
    judge_text: str,
    executor: str | None,
    **chosen: Any,
) -> None:
    """Find the release that broke a kernel, and the part of the toolchain; or the pass, or the setting that the failure needs.

    Without --good and --bad, the oldest and the newest release are tested first. A judge is `ok`, `class=NAME`, `same-failure`,
    `unexpected`, a metric such as `registers>128` or `compile_seconds>10`, `run=COMMAND`, or one of what launches showed, brought
    back by --launched or made by --launch: `wrong`, `unstable`, `latency>80`, `latency>1.2*baseline`, `latency>1.2*previous`.
    """
    request = _request(judge_text, chosen)
    selection = request.selection
    options = (*_options(request, deadline, build=not no_build), *judge_words(judge_text, "ok"))
    inside = (*options, *_ends(request), *_inside_options(request))
    listener = BisectProgress(request.axis, inside, answer, several=len(selection.kernels) > 1)
    with listener.interruptible(), opened(selection, executor, jobs) as (store, where):
        for path in launched:
            merging.merge(path, store)
        context = selection.context(store, deadline=deadline, jobs=jobs, again=again, executor=where)
        found = bisecting.bisect(request, context, obtaining(selection, build=not no_build), listener)
    if request.axis is Axis.RELEASES:
        _show(found, options, tuple(_ends(request)), answer, output)
    else:
        _write_cells(found, inside, answer, output)
    sys.exit(0 if found.conclusive else 1)


def _request(judge_text: str, chosen: dict[str, Any]) -> BisectRequest:
    """The request that the options make. Raises SelectionError for invalid ones."""
    ends = {end: chosen.pop(end) for end in ("good", "bad")}
    criterion = read_criterion(judge_text)
    specifier = candidates.parse_specifier(chosen.pop("specifier"))
    query = CandidateQuery(releases=specifier, **{name: chosen.pop(name) for name in _ASKED})
    axis, assemblers = Axis(chosen.pop("axis")), chosen.pop("assemblers")
    plain = {name: chosen.pop(name) for name in _REQUEST}
    launching = (chosen.pop("is_launching"), chosen.pop("python"))
    selection, gpu = use_gpu(select(**chosen), *launching)
    good, bad = (candidates.named_release(ends[end], f"--{end}", selection, query) for end in ("good", "bad"))
    facts = {**plain, "good": good, "bad": bad, "query": query, "assemblers": assemblers, "gpu": gpu}
    return BisectRequest(selection=selection, axis=axis, criterion=criterion, **facts)


def _options(request: BisectRequest, deadline: float | None, *, build: bool) -> Iterator[str]:
    """The options on which the answer for one kernel depends, besides those that name it, the ends and the judge."""
    query = request.query
    yield from request.selection.options
    yield from (word for env in request.selection.patterns.envs for word in ("--envs", env))
    valued = {"--releases": query.releases, "--find-links": query.find_links, "--index-url": query.index_url}
    valued |= {"--distribution": query.distribution}
    yield from (word for option, value in valued.items() if value for word in (option, str(value)))
    flags = {"--patches": query.patches, "--pre": query.pre, "--all": request.every, "--search": request.every is False}
    flags |= {"--launch": request.gpu is not None}
    yield from (option for option, on in {**flags, "--no-build": not build}.items() if on)
    yield from deadline_words(deadline)


def _ends(request: BisectRequest) -> Iterator[str]:
    """The ends of the range as they were asked for."""
    yield from (word for end in ("good", "bad") if (release := getattr(request, end)) for word in (f"--{end}", str(release)))
    yield from ("--fixed",) if request.fixed else ()


def _inside_options(request: BisectRequest) -> Iterator[str]:
    """Those that a search inside a failure needs besides."""
    yield from ("--against", request.against) if request.against else ()
    yield from (word for assembler in request.assemblers for word in (ASSEMBLER_OPTION, assembler))
    yield from ("--budget", f"{request.budget:g}") if request.budget else ()


# --- saying it, with imports where they are needed: none is, until the cells are compiled -------------------------------------


def _show(found: Bisection, options: tuple[str, ...], ends: tuple[str, ...], answer: Answer, output: Path | None) -> None:
    from compat.report.views.bisect import BisectReport, bisect_blocks, bisect_document

    report = BisectReport.of(found, command=command_line(), options=options, ends=ends)
    answer.draw(lambda: bisect_blocks(report), lambda: bisect_document(report))
    if output:
        from compat.report.views.bisect import bisect_markdown

        write_file(output, bisect_markdown(report), "--output")
        answer.add(f"wrote {output}")


def _write_cells(found: Bisection, options: tuple[str, ...], answer: Answer, output: Path | None) -> None:
    """Give what programs read, and write the file; people have been told of each cell as it was known."""
    from compat.report.views.bisect import cell_answer_document, cell_answers_markdown

    if answer.as_json:
        answer.give(list, lambda: [cell_answer_document(cell, found.axis, options) for cell in found.cells])
    if output:
        write_file(output, cell_answers_markdown(found.cells, found.axis, options), "--output")
        answer.add(f"wrote {output}")
