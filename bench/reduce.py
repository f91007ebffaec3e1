"""Candidates judged per second, beside a predicate script that is run per candidate: ``python -m bench.reduce``.

Both judge the same candidates, those that a reduction of the historical kernel comes to, with as many processes at a time. The
script is what an external reducer is given: it imports Triton, compiles one file, and its exit code says whether it failed as the
kernel does. (An abort tells by the signal, so the script does not even look for the words.)
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

from compat.axes.reducing import Jury, wish_to_keep
from compat.config.kernel_files import load_kernels
from compat.config.matrix import load_matrix
from compat.engine.flight import Flight, Limits
from compat.engine.launch import WORKER
from compat.envs.env import read_env
from compat.model import BuiltEnv, Cell
from compat.reduce import Candidate, extracted, reduce
from compat.run import Bench, available_cores, run
from compat.search.judge import parse_judge
from compat.source.bundle import bundle
from compat.store import Store

ROOT = Path(__file__).parent.parent
PLAIN = Path(__file__).parent / "plain.py"
LIMITS = Limits(deadline=120, memory=8 << 30)


@click.command()
@click.option("--env", "name", default="triton-3.9.0", show_default=True, help="Env to compile in.")
@click.option("--sample", default=40, show_default=True, help="Candidates that the script judges, evenly taken from all.")
@click.option("--slots", default=available_cores(), show_default=True, help="Processes that compile at the same time.")
def main(name: str, sample: int, slots: int) -> None:
    """Measure a reduction of sel_varlen/as_written, and a script on a sample of its candidates."""
    config = load_matrix(ROOT / "matrix.toml")
    built = read_env(config.env(name), ROOT)
    spec = next(
        s
        for s in load_kernels(config.kernels, config.base)
        if (s.variant, s.case) == ("as_written", "few") and "varlen" in s.kernel
    )
    cell = Cell(env=built.env, target=config.choose_targets(("sm_90",))[0], spec=spec)
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        (before,) = run([cell], Bench(envs={name: built}, store=store, limits=LIMITS))
    start = Candidate.of(spec, extracted(bundle(spec).text, spec.function))
    seen: list[tuple[Candidate, bool]] = []
    with Jury(spec, cell.target, [wish_to_keep(before, parse_judge("same-failure"), LIMITS)], slots=slots) as jury:
        jury([start])

        def judge(candidates: Sequence[Candidate]) -> list[bool]:
            answers = jury(candidates)
            seen.extend(zip(candidates, answers, strict=True))
            return answers

        began = time.perf_counter()
        last = list(reduce(start, judge))[-1].candidate
        search = time.perf_counter() - began
        began = time.perf_counter()
        jury([candidate for candidate, _ in seen])
        ours = len(seen) / (time.perf_counter() - began)
    script = _script([candidate for candidate, _ in seen[:: max(1, len(seen) // sample)]], cell, built, slots)
    click.echo(f"{start.kernel_lines} lines of kernel → {last.kernel_lines} in {search:.1f} s, {len(seen)} candidates")
    click.echo(f"  judged by the jury         {ours:7.1f} per second, {len(seen) / search:.1f} with the search itself")
    click.echo(f"  judged by a script each    {script:7.1f} per second   jury/script {ours / script:5.1f}")


def _script(candidates: Sequence[Candidate], cell: Cell, built: BuiltEnv, slots: int) -> float:
    """Candidates per second, one process each."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(slots) as executor:
        commands = []
        for number, candidate in enumerate(candidates):
            source, job = Path(folder, f"c{number}.py"), Path(folder, f"c{number}.json")
            source.write_text(candidate.text)
            of = Cell(env=cell.env, target=cell.target, spec=candidate.specialize(cell.spec, str(source)))
            job.write_text(json.dumps([Flight(cell=of, nonce="").job()]))
            commands.append([str(built.python), "-I", str(PLAIN), str(WORKER), str(job)])
        began = time.perf_counter()
        list(executor.map(lambda command: subprocess.run(command, capture_output=True), commands))
        return len(commands) / (time.perf_counter() - began)


main()
