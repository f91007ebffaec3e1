"""10,000 cells, a tenth of them hostile, and 100 kills: ``nox -s hostile``.

``python -m bench.hostile`` does the same.

1. Honest and hostile kernels (:mod:`bench.behaviours`) in the same files, processes and batches,
   over every release: each cell must have the outcome of its behaviour, and no process and no file
   may be left.
2. Drivers are killed with SIGKILL at random moments, and workers under them: no cell that was
   reported as finished may be lost, none may have another outcome in the end, and nothing may be
   left.

Its figures go into docs/reliability.md. It ends with exit code 1 if anything was wrong.
"""

from __future__ import annotations

import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import click
from attrs import evolve, frozen

from bench.behaviours import HONEST, HOSTILE, KERNELS, TAKEN, Behaviour
from compat.config.matrix import load_matrix
from compat.engine.run import RunContext, run, stored_results
from compat.envs.listing import INDEX
from compat.envs.provider import Builder, build_envs
from compat.envs.record import missing_envs, read_env
from compat.model import BuiltEnv, Cell, CompileSpec, Result, Specialization
from compat.processes import supervisor
from compat.source.closure import read_source
from compat.store.store import Store
from compat.workers.attempt import Limits
from tests.execution.half_imports import half_imports
from tests.targets import TARGETS

ROOT = Path(__file__).parent.parent
LIMITS = Limits(deadline=10, memory=2 << 30, import_deadline=20)
_FILES = 12
"""Files that the honest kernels are spread over."""
_TARGETS = ("sm_80", "sm_89", "sm_90")
_NEXT = "from compat.files import TemporaryFolder; TemporaryFolder('compat-next-').close()"
"""The first action of every command. A killed command leaves its temporary files, so the next
command removes them.
"""
_LEFT = 10.0
"""Seconds that processes may take to end after a driver was killed."""


@frozen(kw_only=True)
class Expected:
    """A cell and its allowed statuses."""

    cell: Cell
    behaviour: str
    statuses: tuple[str, ...]


@click.command()
@click.option("--cells", default=10_000, show_default=True, help="Cells of the first part.")
@click.option(
    "--kills",
    default=100,
    show_default=True,
    help="Kills of the second part; half of drivers, half of workers.",
)
@click.option("--envs", multiple=True, default=("releases",), show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    hidden=True,
    help="Run what this folder holds, telling each result.",
)
def main(cells: int, kills: int, envs: tuple[str, ...], seed: int, resume: Path | None) -> None:
    """See what hostile kernels and kills do to a run."""
    if resume is not None:
        _run_and_tell(resume)
        return
    rng = random.Random(seed)
    config = load_matrix(ROOT / "matrix.toml")
    chosen, cache = config.choose_envs(envs), config.env_cache()
    build_envs(
        Builder(cache=cache, index_cache=ROOT / INDEX, say=click.echo), missing_envs(chosen, cache)
    )
    built = {env.name: read_env(env, cache) for env in chosen}
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        wrong = _run_mixed_cells(Path(folder), built, cells, rng) + _kill_runs(
            Path(folder), built, kills, rng
        )
    sys.exit(1 if wrong else 0)


# --- the cells ------------------------------------------------------------------------------------


def expected_cells(
    folder: Path, built: Mapping[str, BuiltEnv], count: int, rng: random.Random
) -> list[Expected]:
    """``count`` cells over all envs, a tenth of them hostile, in a random order."""
    behaviours = [kind for kind in HOSTILE if not kind.at_import]
    sources = [_source(folder / f"file_{number}.py", behaviours) for number in range(_FILES)]
    on_import = {
        kind.name: _source(folder / f"{kind.name}.py", behaviours, on_import=kind)
        for kind in HOSTILE
        if kind.at_import
    }
    weighted = [kind for kind in HOSTILE for _ in range(kind.weight)]
    halves = half_imports(folder / "half_imports")
    envs, expected = list(built.values()), []
    for number in range(count):
        env, target = rng.choice(envs), rng.choice(_TARGETS)
        if number % 10:
            function = rng.choice(list(HONEST))
            spec, behaviour, statuses = (
                _spec(rng.choice(sources), function, number),
                function,
                HONEST[function],
            )
        elif number % 50:
            hostile = rng.choice(weighted)
            source = on_import.get(hostile.name) or rng.choice(sources)
            function = "scale" if hostile.at_import else hostile.name
            spec, behaviour, statuses = (
                _spec(source, function, number),
                hostile.name,
                hostile.statuses,
            )
        else:
            half, status = rng.choice(halves)
            compiled = evolve(half.compile, options={"num_warps": 1 << number % 4})
            spec = evolve(half, case=str(number), compile=compiled)
            behaviour, statuses = f"half an import, {half.kernel}", (status,)
        expected.append(
            Expected(
                cell=Cell(env=env.env, target=TARGETS[target], spec=spec),
                behaviour=behaviour,
                statuses=statuses,
            )
        )
    rng.shuffle(expected)
    return expected


def _source(
    path: Path, behaviours: Sequence[Behaviour], on_import: Behaviour | None = None
) -> tuple[Path, str]:
    """Write a file with every kernel, and return its path and its closure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    functions = (
        f"\n\ndef _{kind.name}():\n{_indented(kind.code)}\n\n\n{kind.name} = Taken(_{kind.name})\n"
        for kind in behaviours
    )
    path.write_text(
        "".join([KERNELS, TAKEN, *functions, on_import.code if on_import else "", "\n"]),
        encoding="utf-8",
    )
    return path, read_source(path).closure


def _indented(code: str) -> str:
    return "\n".join(f"    {line}" for line in code.strip("\n").splitlines())


def _spec(source: tuple[Path, str], function: str, number: int) -> Specialization:
    path, closure = source
    return Specialization(
        kernel=path.stem,
        variant=function,
        case=str(number),
        source=str(path),
        function=function,
        compile=CompileSpec(
            signature={"source": "*fp32", "result": "*fp32", "size": "i32"},
            constexprs={"BLOCK": 64 << number % 5},
            divisible_by_16=("source", "result"),
            options={"num_warps": 1 << number % 4},
        ),
        closure=closure,
    )


# --- the first part -------------------------------------------------------------------------------


def _run_mixed_cells(
    folder: Path, built: Mapping[str, BuiltEnv], count: int, rng: random.Random
) -> int:
    """Run honest and hostile cells together; return the number of faults.

    A fault is a wrong status, or a process or a file that is left.
    """
    expected = expected_cells(folder / "sources", built, count, rng)
    hostile = sum(expectation.behaviour not in HONEST for expectation in expected)
    click.echo(f"{len(expected):,} cells of {len(built)} envs, {hostile:,} of them hostile")
    scratch, began = _scratch(folder, "mixed"), time.monotonic()
    with Store(folder / "store") as store:
        results = run(
            [expectation.cell for expectation in expected],
            RunContext(envs=built, store=store, limits=LIMITS),
        )
    seconds = time.monotonic() - began
    wrong = _count_wrong(expected, results)
    leftovers = _count_leftovers(scratch)
    slowest = max(result.outcome.seconds for result in results)
    click.echo(
        f"  {seconds:.0f} s, {len(expected) / seconds:.1f} cells/s, the slowest attempt"
        f" {slowest:.1f} s"
    )
    click.echo(
        f"  statuses: {dict(Counter(str(entry.outcome.status) for entry in results).most_common())}"
    )
    return wrong + leftovers


def _count_wrong(expected: Sequence[Expected], results: Sequence[Result]) -> int:
    wrong = [
        (one, result)
        for one, result in zip(expected, results, strict=True)
        if str(result.outcome.status) not in one.statuses
    ]
    flaky = [result for result in results if result.outcome.flaky]
    for one, actual in wrong[:20]:
        click.echo(
            f"  WRONG {actual.cell.id}: {one.behaviour} must be {' or '.join(one.statuses)}, is"
            f" {actual.outcome.status}"
        )
    click.echo(f"  wrong statuses: {len(wrong)}; flaky: {len(flaky)}")
    return len(wrong)


def _scratch(folder: Path, name: str) -> Path:
    """Make a folder for all later temporary files of this process and its child processes."""
    scratch = folder / name
    scratch.mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)
    return scratch


def _count_leftovers(scratch: Path) -> int:
    """The number of processes and files that are left.

    Processes have :data:`_LEFT` seconds to end.
    """
    until = time.monotonic() + _LEFT
    while (processes := list(_processes_of(scratch))) and time.monotonic() < until:
        time.sleep(0.2)
    files = [path.name for path in scratch.iterdir()]
    click.echo(f"  left: {len(processes)} processes, {len(files)} files {files[:3] or ''}")
    return len(processes) + len(files)


def _processes_of(scratch: Path) -> Iterator[int]:
    """The other processes whose environment or working folder names ``scratch``."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                process_data = (entry / "environ").read_bytes() + bytes((entry / "cwd").readlink())
            except OSError:
                continue
            if os.fsencode(scratch) in process_data:
                yield int(entry.name)


# --- the second part ------------------------------------------------------------------------------


def _kill_runs(folder: Path, built: Mapping[str, BuiltEnv], kills: int, rng: random.Random) -> int:
    """Kill drivers and workers of runs; return the number of faults.

    A fault is a wrong status, a lost cell, or a process or a file that is left.
    """
    scratch = _scratch(folder, "killed")
    done, lost, wrong, rounds = Counter[str](), 0, 0, 0
    click.echo(f"{kills} kills")
    while done.total() < kills:
        rounds += 1
        home = folder / f"round-{rounds}"
        expected = expected_cells(home / "sources", built, 300, rng)
        lost += _round(home, expected, built, kills, done, rng)
        with Store(home / "store") as store:
            results = run(
                [expectation.cell for expectation in expected],
                RunContext(envs=built, store=store, limits=LIMITS),
            )
        wrong += _count_wrong(expected, results)
    subprocess.run([sys.executable, "-c", _NEXT], cwd=ROOT, check=True)
    click.echo(
        f"  killed: {done['driver']} drivers, {done['worker']} workers, in {rounds} rounds;"
        f" finished cells lost: {lost}"
    )
    return wrong + lost + _count_leftovers(scratch)


def _round(
    home: Path,
    expected: Sequence[Expected],
    built: Mapping[str, BuiltEnv],
    kills: int,
    done: Counter[str],
    rng: random.Random,
) -> int:
    """Start two to four drivers over the same cells, until one finishes after the first.

    Returns the number of cells that a driver reported and that are missing from the store.
    """
    (home / "cells").write_bytes(pickle.dumps([expectation.cell for expectation in expected]))
    lost, reported_ids = 0, set[str]()
    for attempt in range(4):
        driver = subprocess.Popen(
            [sys.executable, "-m", "bench.hostile", "--resume", str(home)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert driver.stdout is not None
        if done.total() < kills:
            for victim in ("worker", "driver"):
                time.sleep(rng.uniform(0.5, 4.0))
                done[victim] += _kill(victim, driver, rng)
        reported_ids |= {line.strip() for line in driver.stdout if line.endswith("\n")}
        driver.wait()
        with Store(home / "store") as store:
            stored_ids = {
                result.cell.id
                for result in stored_results(
                    [one.cell for one in expected],
                    RunContext(envs=built, store=store, limits=LIMITS),
                )
            }
        missing_ids = reported_ids - stored_ids
        lost = max(lost, len(missing_ids))
        if missing_ids:
            click.echo(f"  LOST {sorted(missing_ids)[:3]}")
        if driver.returncode == 0 and attempt:
            break
    return lost


def _kill(victim: str, driver: subprocess.Popen[str], rng: random.Random) -> int:
    """Kill the driver, or one of its workers' processes; return the number of killed processes."""
    if driver.poll() is not None:
        return 0
    below = list(supervisor.family(driver.pid))[1:]
    for pid in [driver.pid] if victim == "driver" else rng.sample(below, min(1, len(below))):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            return 1
    return 0


def _run_and_tell(home: Path) -> None:
    """Run the cells of a folder, as a driver of the second part.

    Prints the id of each cell with an answer. The store has these cells.
    """
    config = load_matrix(ROOT / "matrix.toml")
    cells: list[Cell] = pickle.loads((home / "cells").read_bytes())
    envs = {env.name: read_env(env, config.env_cache()) for env in {cell.env for cell in cells}}
    with Store(home / "store") as store:
        run(cells, RunContext(envs=envs, store=store, limits=LIMITS), _tell)


def _tell(result: Result) -> None:
    if result.outcome.status.is_answer:
        # One write per line: results come from several threads.
        os.write(1, f"{result.cell.id}\n".encode())


if __name__ == "__main__":
    main()
