"""The coverage of generated programs: ``python -m bench.hunt [--programs N]``.

The benchmark generates programs from seeds and compiles them on the newest release, one after the
other, with the IR before every pass. It prints the programs per second that the generator makes,
the share that compiles, the programs with each operation and each element type, the encodings of
their tensors, and the passes that change the IR of some program.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import click

from compat import project
from compat.bisect.attempts import Attempts
from compat.bisect.passes import TracedCompile, trace_compile
from compat.engine import plan
from compat.hunt.kernels import write_program
from compat.toolchains.triton.programs.language import PROGRAMS
from compat.toolchains.triton.programs.operations import OPERATIONS
from compat.toolchains.triton.programs.program import BlockProgram

_ENCODING = re.compile(r"^#\w+ = #([\w.]+)<", re.MULTILINE)
"""An attribute that describes the layout of tensors, at the beginning of a module."""


@click.command()
@click.option("--programs", "count", default=100, show_default=True)
@click.option("--seed", "first", default=0, show_default=True, help="The first seed.")
@click.option("--envs", default="newest", show_default=True, help="One env.")
@click.option("--target", default="sm_90", show_default=True)
def main(count: int, first: int, envs: str, target: str) -> None:
    """Measure what generated programs reach."""
    began = time.perf_counter()
    programs = [PROGRAMS.generate(seed, ()) for seed in range(first, first + count)]
    rate = count / (time.perf_counter() - began)
    click.echo(f"{count} programs from seed {first}, {rate:.0f} generated per second")
    show("operation", count_of(programs, lambda program: program.operations), len(OPERATIONS))
    show("element type", count_of(programs, dtypes_of))
    encodings, changed, ran, failed = Counter[str](), Counter[str](), Counter[str](), 0
    selection = project.select_places(envs=(envs,), targets=(target,))
    (env,) = selection.envs
    assert env.release is not None
    subset = [program for program in programs if PROGRAMS.is_for(program, env.release)]
    for seen in traced(subset, selection):
        failed += seen.failed
        steps = seen.pipeline.steps
        encodings.update({name for step in steps for name in _ENCODING.findall(step.ir)})
        ran.update({step.pass_ for step in steps})
        changed.update({step.pass_ for step, after in pairwise(steps) if step.ir != after.ir})
    share = (len(subset) - failed) / len(subset)
    click.echo(f"\n{len(subset) - failed} of {len(subset)} compile with {env.name} ({share:.1%})")
    show("encoding", encodings)
    show("pass that changes the IR", changed, len(ran))


def count_of(
    programs: Sequence[BlockProgram], facts: Callable[[BlockProgram], Collection[str]]
) -> Counter[str]:
    """Fact → the number of programs that it is true of."""
    return Counter(fact for program in programs for fact in facts(program))


def dtypes_of(program: BlockProgram) -> set[str]:
    """The element types of a program's values."""
    values = [result for statement in program.all_statements for result in statement.results]
    return {value.dtype for value in values}


def show(what: str, counts: Counter[str], total: int | None = None) -> None:
    """Print the counts of programs by feature, the most frequent feature first."""
    of = "" if total is None else f" of {total}"
    click.echo(f"\n{what}: {len(counts)}{of}")
    click.echo("  " + ", ".join(f"{name} {count}" for name, count in counts.most_common()))


def traced(
    programs: Sequence[BlockProgram], selection: project.Selection
) -> Iterator[TracedCompile]:
    """Compile programs with the IR before every pass."""
    built = selection.build_envs(selection.config.path, selection.envs)
    with tempfile.TemporaryDirectory() as folder, selection.open_store() as store:
        context = selection.context(store).with_envs(built)
        with Attempts(context) as attempts:
            for program in programs:
                kernel = write_program(program, PROGRAMS, "triton", Path(folder))
                (cell,) = plan.cross(selection.envs, selection.targets, [kernel.spec])
                yield trace_compile(cell, attempts, str(program.seed))


if __name__ == "__main__":
    main()
