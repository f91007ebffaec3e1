"""Foreseen slowdowns against measured ones: ``python -m bench.foresight FOLDER...``.

Each folder is one of ``compat build`` or ``compat tune --build``, with a ``results.jsonl`` of a GPU
host. A pair is one series of cells on two neighbouring releases, both launched and right. Without a
reference, both are right if their numbers agree. The rules were tuned on the kernels of
:data:`TUNED`. Two tables are for the other kernels: this repository's, and those of
:data:`LIBRARIES`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import click
from packaging.version import Version

from compat.diagnosis.numbers import difference_of, samples_of
from compat.history.foresight import LIKELY, PACE, Suspicion, pace_ratio, suspicion
from compat.toolchains.cute.inside.adapter import built
from compat.toolchains.nvidia.pace import pace_of
from compat.toolchains.triton.inside.adapter.metrics import occupancy

TUNED = ("layer_norm", "sel_dense")
"""The kernels on which rules and numbers were chosen."""
LIBRARIES = ("liger", "fla", "tutorials")
"""The part before the dot in the names of kernels that were captured from libraries."""
HALVES = ("tuned", "held", "libraries")
SLOW, SLOWER = 1.25, 1.1
"""The least slowdown that needs a warning, and the least that makes a warning right."""


class Pair(NamedTuple):
    """A series on two neighbouring releases."""

    series: str
    releases: tuple[str, str]
    measured: float
    """Latency on the newer release ÷ latency on the older one."""
    is_same: bool
    """Whether both releases made the same binary."""
    ratio: float
    """The estimate of ``measured`` from the metrics of both compiles."""
    suspicion: Suspicion | None
    registers: float
    """Registers on the newer release ÷ those on the older one."""

    @property
    def kernel(self) -> str:
        return self.series.split("/")[0]

    @property
    def half(self) -> str:
        """The table that the pair belongs to, one of :data:`HALVES`."""
        if self.kernel.split(".")[0] in LIBRARIES:
            return "libraries"
        return "tuned" if self.kernel in TUNED else "held"


def pairs_in(folder: Path) -> Iterator[Pair]:
    """The pairs of a folder that a GPU host measured."""
    index = json.loads((folder / "index.json").read_text())
    lines = (folder / "results.jsonl").read_text().splitlines()
    measured = {line["cell"]: line for line in map(json.loads, lines) if line.get("latency")}
    builds: dict[tuple[object, ...], dict[str, object]] = {}
    series: dict[str, dict[str, Any]] = {}
    for cell in index["cells"]:
        name, env = cell["cell"].rsplit("/", 1)
        line = measured.get(cell["cell"])
        if line and line["check"]["status"] in ("ok", "unsupported"):
            series.setdefault(name, {})[env.removeprefix("triton-")] = cell
    for name, cells in series.items():
        releases = sorted(cells, key=Version)
        for old, new in pairwise(releases):
            was, is_ = cells[old], cells[new]
            if not are_right(measured[was["cell"]]["check"], measured[is_["cell"]]["check"]):
                continue
            yield Pair(
                name,
                (old, new),
                _us(measured[is_["cell"]]) / _us(measured[was["cell"]]),
                was["object"] == is_["object"],
                *_foreseen(_metrics(folder, was, builds), _metrics(folder, is_, builds)),
            )


def are_right(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether both results are right, or equal if there is no reference."""
    if "ok" in (old["status"], new["status"]):
        return bool(old["status"] == new["status"])
    samples = samples_of(old["values"])
    return bool(samples) and not difference_of(samples_of(new["values"]), samples).reason


def _us(line: dict[str, Any]) -> float:
    return float(line["latency"]["us"])


def _foreseen(old: dict[str, Any], new: dict[str, Any]) -> tuple[float, Suspicion | None, float]:
    ratio = pace_ratio(old, new)
    assert ratio is not None
    return ratio, suspicion(old, new), new["registers"] / old["registers"]


def _metrics(
    folder: Path, cell: dict[str, Any], builds: dict[tuple[object, ...], dict[str, object]]
) -> dict[str, object]:
    """The metrics of a compile that a suspicion needs, as in a run of the matrix."""
    launch = cell["launch"]
    threads = math.prod(launch["block"])
    key = cell["object"], threads, launch["shared"]
    if key not in builds:
        cubin = (folder / "objects" / cell["object"]).read_bytes()
        registers = built.facts_of(cubin)["registers"]
        builds[key] = {
            "registers": registers,
            "occupancy": occupancy(90, threads, registers, launch["shared"]),
            PACE: pace_of(cubin, threads),
        }
    return builds[key]


def table(pairs: Sequence[Pair]) -> Iterator[str]:
    """The lines of a table: which slowdowns got a warning, and which warnings were right."""
    ranked = sorted(pairs, key=lambda pair: -pair.ratio)
    upper = ranked[: len(ranked) // 10]
    slow = [pair for pair in pairs if pair.measured >= SLOW]
    warned = [pair for pair in slow if pair.suspicion]
    by_registers = sorted(pairs, key=lambda pair: -pair.registers)[: len(upper)]
    alone = [pair for pair in slow if pair in by_registers]
    moved = sum(pair.is_same and abs(math.log(pair.measured)) > math.log(SLOWER) for pair in pairs)
    likely = [pair for pair in pairs if pair.suspicion]
    right = [pair for pair in likely if pair.measured >= SLOWER]
    named = [pair for pair in slow if pair in upper]
    kernels = sorted({pair.kernel for pair in pairs})
    equal = sum(pair.is_same for pair in pairs)
    yield f"{len(pairs)} pairs, {equal} of equal binaries, {moved} of them 1.1 times apart"
    yield f"kernels: {', '.join(kernels)}"
    yield f"slowdowns of 25 % and more: {len(slow)}, in the upper tenth: {_of(named, slow)}"
    yield f"  with a warning: {_of(warned, slow)}; by registers alone: {_of(alone, slow)}"
    yield f"called likely: {len(likely)}, at least 1.1 times slower: {_of(right, likely)}"
    for kernel in kernels:
        mine = [pair for pair in pairs if pair.kernel == kernel]
        yield (
            f"  {kernel}: {len(mine)} pairs; slow {_count(slow, kernel)}, named"
            f" {_count(named, kernel)}; likely {_count(likely, kernel)}, right"
            f" {_count(right, kernel)}"
        )


def _of(some: Sequence[Pair], all_: Sequence[Pair]) -> str:
    return f"{len(some)} ({len(some) / len(all_):.0%})" if all_ else "0"


def _count(pairs: Iterable[Pair], kernel: str) -> int:
    return sum(pair.kernel == kernel for pair in pairs)


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--half", type=click.Choice(HALVES), help="Show the pairs of one half.")
def main(folders: tuple[Path, ...], half: str | None) -> None:
    """Print a table for each half, and with --half all pairs of one that are slow or likely."""
    pairs = [pair for folder in folders for pair in pairs_in(folder)]
    halves = {name: [pair for pair in pairs if pair.half == name] for name in HALVES}
    for name, members in halves.items():
        if not members:
            continue
        click.echo(f"== {name}")
        for line in table(members):
            click.echo(line)
    if half:
        for pair in sorted(halves[half], key=lambda pair: -pair.measured):
            if pair.measured >= SLOWER or pair.ratio >= LIKELY:
                why = pair.suspicion.reasons if pair.suspicion else ["no suspicion"]
                click.echo(
                    f"{pair.measured:.2f} {pair.ratio:.2f} {pair.series}"
                    f" {' → '.join(pair.releases)}: {'; '.join(why)}"
                )


if __name__ == "__main__":
    main()
