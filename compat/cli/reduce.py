"""``compat reduce``: the smallest kernel that still fails in the same way."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
from packaging.version import Version

from compat.cli.invocation import INTERRUPTED
from compat.cli.judging import read_judge
from compat.cli.obtaining import Obtainer
from compat.cli.reduction import Ended, Reduction, Subject
from compat.cli.selecting import select, selection_options
from compat.config.matrix import MatrixConfig
from compat.config.selection import nothing_matches
from compat.errors import SelectionError
from compat.model import Cell, Env
from compat.reduce import Candidate, kernel_file, passes
from compat.store import Store

_LISTED = 12
"""Kernels that a hint lists at most."""


@click.command("reduce")
@click.argument("what", metavar="CELL|FILE.py")
@selection_options
@click.option("--bad", multiple=True, metavar="ENV|RELEASE", help="Where the failure is to stay (default: where the cells are).")
@click.option(
    "--good", multiple=True, metavar="ENV|RELEASE", help="Where the kernel is to stay ok, so that a regression stays one."
)
@click.option("--judge", "judge_text", default="same-failure", show_default=True, help="What is to stay, as in compat bisect.")
@click.option("--budget", type=click.FloatRange(min=0, min_open=True), help="Seconds after which the best so far will do.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The .py file to write [reduced/NAME.py].")
@click.option(
    "--jobs", "-j", type=click.IntRange(min=1), help="Candidates compiled at the same time (default: the cores there are)."
)
@click.option("--deadline", type=click.FloatRange(min=0, min_open=True), help="Seconds one cell may take.")
@click.option("--no-build", is_flag=True, help="Do not build envs that are missing.")
def reduce(
    *,
    what: str,
    bad: tuple[str, ...],
    good: tuple[str, ...],
    judge_text: str,
    budget: float | None,
    output: Path | None,
    jobs: int | None,
    deadline: float | None,
    no_build: bool,
    **chosen: Any,
) -> None:
    """Shrink a kernel as long as it fails in the same way, and write what is left beside a kernel file for it.

    CELL is an id as `compat list cells` prints it, a glob, or an id without the env; FILE.py is a kernel with a kernel file of the
    same name beside it, such as this command writes. What is left can be given to every command: --spec reduced/NAME.toml.
    """
    judge = read_judge(judge_text)
    subject = _subject(what, bad, good, chosen)
    obtain = Obtainer(root=subject.selection.root, matrix=subject.selection.config.path, build=not no_build)
    obtain([*subject.bad, *subject.good])
    with Store(subject.selection.state) as store:
        bench = subject.selection.bench(store, obtain.envs, deadline=deadline, jobs=jobs)
        reduction = Reduction(subject, bench, judge, output)
        reduction.run(budget)
        _tell(reduction)
    sys.exit(INTERRUPTED if reduction.ended is Ended.INTERRUPTED else 0)


# --- what is meant -----------------------------------------------------------------------------------------------------------


def _of_file(path: Path, chosen: Mapping[str, Any]) -> list[Cell]:
    """The cells of which the kernel file beside a kernel says that they fail, if it says so of any; else those that are chosen."""
    asked = {**chosen, "spec": (str(path.with_suffix(".toml")),)}
    selection = select(**{**asked, "envs": chosen["envs"] or ("*",), "target": chosen["target"] or ("*",)})
    declared = [cell for cell in selection.cells if cell.env.triton and _is_declared(cell, cell.env.triton)]
    if not chosen["envs"]:
        declared = [cell for cell in declared if cell.env.torch is None] or declared  # the same toolchain without its pair
    return declared or list(select(**asked).cells)


def _is_declared(cell: Cell, release: Version) -> bool:
    return any(e.covers(release=release, target=cell.target.name, case=cell.spec.case) for e in cell.spec.expectations)


def _subject(what: str, bad: Sequence[str], good: Sequence[str], chosen: dict[str, Any]) -> Subject:
    selection = select(**{**chosen, "envs": chosen["envs"] or ("*",), "target": chosen["target"] or ("*",)})
    if what.endswith((".py", ".toml")):
        cells = _of_file(Path(what), chosen)
    else:
        cells = [cell for cell in selection.cells if what in (cell.id, _without_env(cell)) or fnmatchcase(cell.id, what)]
    kernels = {_without_env(cell): cell for cell in cells}
    if not kernels:
        raise nothing_matches("cell", what, [cell.id for cell in selection.cells])
    if len(kernels) > 1:
        listed = "\n    ".join(list(kernels)[:_LISTED])
        raise SelectionError(f"{what!r} matches {len(kernels):,} kernels and targets", hint=f"Say which:\n    {listed}")
    (cell,), config = kernels.values(), selection.config
    envs = tuple(each.env for each in cells)
    if what == _without_env(cell) and not chosen["envs"]:
        envs = config.choose_envs(())
    named = [tuple(env for text in texts for env in _named_envs(config, text)) for texts in (bad, good)]
    return Subject(selection=selection, spec=cell.spec, target=cell.target, bad=named[0] or envs, good=named[1])


def _without_env(cell: Cell) -> str:
    return cell.id.removesuffix(f"/{cell.env.name}")


def _named_envs(config: MatrixConfig, text: str) -> tuple[Env, ...]:
    """Envs by name, group or glob; ``3.9.0`` is short for ``triton-3.9.0``."""
    names = {env.name for env in config.envs}
    return config.choose_envs((f"triton-{text}" if f"triton-{text}" in names else text,))


# --- telling of it -----------------------------------------------------------------------------------------------------------


def _tell(reduction: Reduction) -> None:
    path, subject = reduction.path, reduction.subject
    start, best, seconds = reduction.start, reduction.history[-1], reduction.seconds
    click.echo(best.text)
    rate = reduction.tests / max(seconds, 0.1)
    click.echo(f"{reduction.ended}; {reduction.tests:,} candidates in {seconds:.1f} s, {rate:.1f} per second")
    click.echo(
        f"  kernel: {start.kernel_lines} lines are now {best.kernel_lines}, {len(start.text):,} bytes are now {len(best.text):,}"
    )
    for name, text in _specialization(best).items():
        click.echo(f"  {name}: {text}")
    click.echo(f"wrote {path} and {path.with_suffix('.toml')}")
    for written in _one_pass_reproducers(reduction):
        click.echo(
            f"wrote {written}: the IR just before the failing pass, and that pass alone (not run: wheels have no triton-opt)"
        )
    cell = f"{path.stem}/{kernel_file.VARIANT}/{subject.spec.case}/{subject.target.name}/{reduction.bad[0].cell.env.name}"
    click.echo(f"for the issue: {shlex.join(['compat', 'repro', '--spec', str(path.with_suffix('.toml')), cell])}")
    click.echo(f"to polish its text: {_polish(reduction, cell)}")


def _specialization(best: Candidate) -> Mapping[str, str]:
    told = {
        "signature": ", ".join(f"{name}: {kind}" for name, kind in best.signature.items()),
        "constexprs": ", ".join(f"{name}={value}" for name, value in best.constexprs.items()),
        "divisible by 16": ", ".join(best.divisible_by_16),
        "equal to 1": ", ".join(best.equal_to_1),
        "options": ", ".join(f"{name}={value}" for name, value in best.options.items()),
    }
    return {name: text for name, text in told.items() if text}


def _one_pass_reproducers(reduction: Reduction) -> Iterator[Path]:
    """Writes, for each env where a pass fails, MLIR's reproducer cut down to it."""
    for result in reduction.results:
        failure, artifacts = result.outcome.failure, reduction.bench.store.artifacts
        if failure and failure.pass_ and failure.reproducer and failure.ir:
            whole, ir = ((artifacts / name).read_text(errors="replace") for name in (failure.reproducer, failure.ir))
            text = passes.one_pass(whole, ir, failure.pass_)
            if text is not None:
                path = reduction.path.with_suffix(f".{result.cell.env.name}.mlir")
                path.write_text(text, encoding="utf-8")
                yield path


def _polish(reduction: Reduction, cell: str) -> str:
    """A command line that has ``shrinkray`` go on with the text alone, and the script that tells it what counts."""
    path, failure = reduction.path, reduction.bad[0].outcome.failure
    matrix, kernel = reduction.subject.selection.config.path, path.with_suffix(".toml")
    check = ["compat", "check", cell, "--matrix", str(matrix), "--target", reduction.subject.target.name]
    judge = reduction.wishes[0].judge.text
    if judge == "same-failure" and failure:  # as far as one cell alone can be asked for it
        judge = f"class={failure.kind}"
    check += ["--envs", reduction.bad[0].cell.env.name, "--judge", judge]
    script = f'd=$(mktemp -d); cp "$1" $d/{path.name}; cp {shlex.quote(str(kernel.absolute()))} $d; '
    script += f"{shlex.join(check)} --spec $d/{kernel.name}; [ $? = 1 ]"
    return f"uvx 'shrinkray<26.9' {shlex.join(['sh', '-c', script, '-'])} {path}"
