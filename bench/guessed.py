"""The guesses of `compat init` about a library: ``python -m bench.guessed FOLDER``.

The folder has an unpacked library, for example from

    uv pip install --no-deps --target FOLDER liger-kernel==0.8.5

It prints the numbers of jit functions, kernels, kernels whose kernel file reads back, and cases.
With ``--compile N`` it takes the first case of N kernels, spread evenly over the sources. It
compiles each as it was guessed, on the newest release for sm_90, and lists the failures by their
messages. Nothing here is a test.
"""

from __future__ import annotations

import ast
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from compat import project
from compat.config.kernel_files import kernels_of
from compat.config.toml import parse_toml
from compat.engine.run import run
from compat.errors import CompatError
from compat.guess import GuessedSource, guess_sources, kernel_file_text
from compat.guess.finding import sources
from compat.model import Cell, Result, Specialization
from compat.report.summary.compact import one_line
from compat.toolchains.language import GuessedKernel


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--compile", "sample_size", default=0, help="Kernels to compile.")
@click.option("--deadline", default=30.0, show_default=True, help="Seconds that one may take.")
@click.option("--release", default="newest", show_default=True)
@click.option(
    "--skip", default=0, help="Leave out this many kernels at the beginning, for another sample."
)
def main(folder: Path, sample_size: int, deadline: float, release: str, skip: int) -> None:
    """Count what is guessed of a library, and compile some of it."""
    began = time.monotonic()
    guessed = guess_sources(_readable(sources(".", folder)))
    kernels = [kernel for source in guessed for kernel in source.kernels]
    jitted = len(kernels) + sum(len(source.helpers) + len(source.unreachable) for source in guessed)
    with tempfile.TemporaryDirectory() as place:
        read_back = sum(
            _reads_back(source, Path(place, str(number))) for number, source in enumerate(guessed)
        )
    cases = sum(kernel.cases for kernel in kernels)
    click.echo(
        f"{jitted:,} jit functions, {len(kernels):,} kernels, {read_back:,} read back, {cases:,}"
        " cases"
    )
    click.echo(f"{time.monotonic() - began:.1f} s")
    if sample_size:
        every = [(source, kernel) for source in guessed for kernel in source.kernels]
        chosen = every[skip :: max(1, len(every) // sample_size)][:sample_size]
        _tell(
            list(
                _compile_for_release(
                    [_first_case(source.path, kernel) for source, kernel in chosen],
                    release,
                    deadline,
                )
            )
        )


def _readable(paths: Sequence[Path]) -> list[Path]:
    """The paths of files that Python can parse. Prints the other ones."""
    readable_paths = []
    for path in paths:
        try:
            ast.parse(path.read_bytes())
        except SyntaxError as error:
            click.echo(f"not read: {path}: {error.msg}")
        else:
            readable_paths.append(path)
    return readable_paths


def _reads_back(source: GuessedSource, folder: Path) -> int:
    """The number of a source's kernels whose kernel file reads back.

    The source is copied into a folder by itself, because a search for all imports of a package
    takes far longer.
    """
    folder.mkdir()
    alone, count = folder / source.path.name, 0
    shutil.copy(source.path, alone)
    for kernel in source.kernels:
        try:
            _first_case(alone, kernel)
            count += 1
        except CompatError as error:
            click.echo(f"does not read back: {source.path}:{kernel.line} {kernel.name}: {error}")
    return count


def _first_case(path: Path, kernel: GuessedKernel) -> Specialization:
    (read,) = kernels_of(parse_toml(kernel_file_text([kernel], path.name), str(path)), path)
    return next(iter(read.specializations()))


def _compile_for_release(
    specs: Sequence[Specialization], release: str, deadline: float
) -> Iterator[Result]:
    places = project.select_places(envs=[release], targets=["sm_90"])
    cells = [
        Cell(env=env, target=target, spec=spec)
        for env in places.envs
        for target in places.targets
        for spec in specs
    ]
    with places.open_store() as store:
        context = places.context(store, deadline=deadline).with_envs(
            places.build_envs(places.config.path, places.envs)
        )
        yield from run(cells, context, lambda result: None)


def _tell(results: Sequence[Result]) -> None:
    statuses = Counter(str(result.outcome.status) for result in results)
    click.echo(", ".join(f"{count} {status}" for status, count in statuses.most_common()))
    for result in results:
        if failure := result.outcome.failure:
            place = f"{result.cell.spec.source}::{result.cell.spec.function}"
            click.echo(
                f"  {place}: {failure.failure_class} {failure.location or ''}:"
                f" {one_line(failure.excerpt, 140)}"
            )


if __name__ == "__main__":
    main()
