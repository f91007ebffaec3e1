"""Candidates per second, against one predicate script per candidate: ``python -m bench.reduce``.

Both judge candidates of one reduction, that of the historical kernel, with the same number of
processes at a time. External reducers take such a script: it imports Triton, compiles one file, and
its exit code says whether the file fails as the kernel does. An abort shows in the signal, so the
script does not look for the message.

Then the same reduction runs in three ways. The first keeps only the failure. The second also keeps
the outcome on every other release, and tests this for a candidate that it is about to accept, as
the command does. The third tests this for every candidate.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from compat.bisect.criterion import parse_criterion
from compat.bundle.bundle import bundle
from compat.config.kernel_files import load_kernels
from compat.config.matrix import MatrixConfig, load_matrix
from compat.engine.run import RunContext, run
from compat.envs.record import read_env
from compat.model import BuiltEnv, Cell, Result
from compat.processes.supervisor import AVAILABLE_CORES
from compat.reduce import Candidate, extract_functions, shrink
from compat.reduce.interestingness import CandidateRequirement, InterestingnessTest, requirement_of
from compat.reduce.original import Goal
from compat.store.store import Store
from compat.toolchains import DEFAULT
from compat.workers.attempt import InFlightCell, Limits

ROOT = Path(__file__).parent.parent
PLAIN = Path(__file__).parent / "plain.py"
LIMITS = Limits(deadline=120, memory=8 << 30)


@click.command()
@click.option("--env", "name", default="triton-3.9.0", show_default=True, help="Env to compile in.")
@click.option(
    "--sample",
    default=40,
    show_default=True,
    help="Candidates that the script judges, evenly taken from all.",
)
@click.option(
    "--slots",
    default=AVAILABLE_CORES,
    show_default=True,
    help="Processes that compile at the same time.",
)
@click.option("--spec", "file", help="Kernel file instead of those of matrix.toml.")
@click.option(
    "--kernel",
    "which",
    default="sel_varlen/as_written/few",
    show_default=True,
    help="Kernel, variant and case.",
)
def main(name: str, sample: int, slots: int, file: str | None, which: str) -> None:
    """Measure a reduction, and a script on a sample of its candidates."""
    config = load_matrix(ROOT / "matrix.toml")
    built = read_env(config.env(name), config.env_cache())
    kernel, variant, case = which.split("/")
    specs = load_kernels([file] if file else config.kernels, config.base)
    spec = next(s for s in specs if (s.kernel, s.variant, s.case) == (kernel, variant, case))
    cell = Cell(env=built.env, target=config.choose_targets(("sm_90",))[0], spec=spec)
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        (before,) = run([cell], RunContext(envs={name: built}, store=store, limits=LIMITS))
    start = Candidate.of(spec, extract_functions(bundle(spec).text, spec.function))
    seen: list[tuple[Candidate, bool]] = []
    requirement = requirement_of(before, parse_criterion("same-failure"), LIMITS)
    with InterestingnessTest(spec, cell.target, [requirement], slots=slots) as interesting:
        interesting([start])

        def judge(candidates: Sequence[Candidate]) -> list[bool]:
            answers = interesting(candidates)
            seen.extend(zip(candidates, answers, strict=True))
            return answers

        began = time.perf_counter()
        last = list(shrink(start, judge))[-1]
        search = time.perf_counter() - began
        began = time.perf_counter()
        interesting([candidate for candidate, _ in seen])
        ours = len(seen) / (time.perf_counter() - began)
    script = _script(
        [candidate for candidate, _ in seen[:: max(1, len(seen) // sample)]], cell, built, slots
    )
    click.echo(
        f"{start.kernel_lines} lines of kernel → {last.kernel_lines} in {search:.1f} s, {len(seen)}"
        " candidates"
    )
    click.echo(
        f"  judged in warm workers     {ours:7.1f} per second, {len(seen) / search:.1f} with the"
        " search itself"
    )
    click.echo(
        f"  judged by a script each    {script:7.1f} per second   workers/script"
        f" {ours / script:5.1f}"
    )
    _compare_requirements(config, cell, before, start, slots)


def _compare_requirements(
    config: MatrixConfig, cell: Cell, before: Result, start: Candidate, slots: int
) -> None:
    """Run the same reduction with more and more requirements, and print the cost of each."""
    others = [
        read_env(env, config.env_cache())
        for env in config.envs
        if "releases" in env.groups and env.name != cell.env.name
    ]
    envs = {built.env.name: built for built in others if built.error is None}
    cells = [Cell(env=built.env, target=cell.target, spec=cell.spec) for built in envs.values()]
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        rest = run(cells, RunContext(envs=envs, store=store, limits=LIMITS, slots=slots))
    goal = Goal.of([before], [], rest, parse_criterion("same-failure"), LIMITS)
    first, later = goal.tiers(1.0, LIMITS.deadline)
    click.echo(
        f"held in {len(goal.requirements)} releases, {len(later)} of them of what is about to be"
        " accepted"
    )
    ways = {
        "the failure alone": (first[:1], []),
        "every release, in the end": (first, later),
        "every release, each time": ([*first, *later], []),
    }
    alone = None
    for name, (requirements, in_the_end) in ways.items():
        seconds, compiled, last = _measure_search(cell, start, requirements, in_the_end, slots)
        alone = alone or (seconds, compiled)
        ratios = f"{seconds / alone[0]:5.1f} {compiled / alone[1]:5.1f}"
        click.echo(
            f"  {name:26} {seconds:7.1f} s {compiled:6} compiles   ratios {ratios}  "
            f" {len(last.text)} bytes"
        )


def _measure_search(
    cell: Cell,
    start: Candidate,
    requirements: Sequence[CandidateRequirement],
    later: Sequence[CandidateRequirement],
    slots: int,
) -> tuple[float, int, Candidate]:
    """Seconds, compiles and the smallest candidate of a search with warm workers."""
    with InterestingnessTest(
        cell.spec, cell.target, requirements, later=later, slots=slots
    ) as interesting:
        interesting([start])
        interesting.verify(start)
        began, before = time.perf_counter(), interesting.compiled
        steps = list(shrink(start, interesting, verify=interesting.verify))
        return time.perf_counter() - began, interesting.compiled - before, steps[-1]


def _script(candidates: Sequence[Candidate], cell: Cell, built: BuiltEnv, slots: int) -> float:
    """Candidates per second, with one process per candidate."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(slots) as executor:
        commands = []
        for number, candidate in enumerate(candidates):
            source, job = Path(folder, f"c{number}.py"), Path(folder, f"c{number}.json")
            source.write_text(candidate.text)
            of = Cell(
                env=cell.env, target=cell.target, spec=candidate.specialize(cell.spec, str(source))
            )
            job.write_text(json.dumps([InFlightCell(cell=of, nonce="").job()]))
            commands.append([str(built.python), "-I", str(PLAIN), str(DEFAULT.adapter), str(job)])
        began = time.perf_counter()
        list(
            executor.map(
                lambda command: subprocess.run(command, check=False, capture_output=True), commands
            )
        )
        return len(commands) / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
