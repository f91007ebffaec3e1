"""``compat explain``: all that is known of one cell."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import attrs
import click

from compat.cli.selecting import Selection, select, selection_options
from compat.config.selection import nothing_matches
from compat.engine.launch import WORKER
from compat.envs.env import read_env
from compat.errors import SelectionError
from compat.evidence import classify, taxonomy
from compat.model import BuiltEnv, Cell, Env, Evidence, Result
from compat.run import expectation_of
from compat.store import Store, cell_key, folder_digest

_SHOWN = 12


@click.command()
@click.argument("cell")
@selection_options
@click.option("--json", "as_json", is_flag=True, help="The evidence and the outcome as JSON.")
def explain(*, cell: str, as_json: bool, **chosen: Any) -> None:
    """Tell all that is known of CELL, an id as `compat list cells` prints it, or a glob that matches one.

    Nothing is compiled: what is told is what the last run found.
    """
    chosen["envs"], chosen["target"] = chosen["envs"] or ("*",), chosen["target"] or ("*",)
    selection = select(**chosen)
    with Store(selection.state) as store:
        known = _Known(selection, store)
        found = _one_cell(selection.cells, cell, known)
        built, attempts = known.env(found.env), known.attempts([found]).get(found.id, ())
        if as_json:
            click.echo(json.dumps(_document(found, built, attempts), indent=2, default=str))
        else:
            click.echo("\n".join(_lines(found, built, attempts, str(store.artifacts))))


class _Known:
    """What the store knows of cells, whatever limits it was found under."""

    def __init__(self, selection: Selection, store: Store) -> None:
        self.root, self.store = selection.root, store
        self._envs: dict[str, BuiltEnv] = {}

    def env(self, env: Env) -> BuiltEnv:
        if env.name not in self._envs:
            self._envs[env.name] = read_env(env, self.root)
        return self._envs[env.name]

    def attempts(self, cells: Iterable[Cell]) -> dict[str, tuple[Evidence, ...]]:
        """Cell id → evidence, of the cells that have any."""
        usable = [(cell, built) for cell in cells if (built := self.env(cell.env)).error is None]
        keys = {cell_key(cell, built, folder_digest(WORKER)): cell.id for cell, built in usable}
        return {keys[key]: found for key, found in self.store.read(keys, deadline=0, memory=0).items()}


def _one_cell(cells: Iterable[Cell], pattern: str, known: _Known) -> Cell:
    """The cell that is meant: by its id, else the only one that the glob matches, else the only one of those with a result."""
    by_id = {cell.id: cell for cell in cells}
    if pattern in by_id:
        return by_id[pattern]
    matching = [cell for name, cell in by_id.items() if fnmatchcase(name, pattern)]
    if not matching:
        raise nothing_matches("cell", pattern, by_id)
    if len(matching) > 1:
        with_results = known.attempts(matching)
        tried = [cell for cell in matching if cell.id in with_results]
        if len(tried) != 1:
            raise _several(pattern, tried or matching)
        matching = tried
    return matching[0]


def _several(pattern: str, cells: Sequence[Cell]) -> SelectionError:
    shown = "\n    ".join(cell.id for cell in cells[:_SHOWN])
    more = f"\n    … and {len(cells) - _SHOWN:,} more" if len(cells) > _SHOWN else ""
    return SelectionError(f"{pattern!r} matches {len(cells):,} cells", hint=f"Say which:\n    {shown}{more}")


def _result(cell: Cell, built: BuiltEnv, attempts: tuple[Evidence, ...]) -> Result | None:
    if built.error is not None:
        outcome = classify.broken_env(built.error)
    elif attempts:
        outcome = classify.classify(attempts, target=cell.target)
    else:
        return None
    return Result(cell=cell, built=built, outcome=outcome, expectation=expectation_of(cell, built), cached=True)


# --- as text -----------------------------------------------------------------------------------------------------------------


def _lines(cell: Cell, built: BuiltEnv, attempts: tuple[Evidence, ...], artifacts: str) -> Iterator[str]:
    yield click.style(cell.id, bold=True)
    result = _result(cell, built, attempts)
    if result is None:
        yield "  not compiled yet, or something it depends on has changed since"
    else:
        yield from _outcome(result, artifacts)
    yield from _section("attempts", _attempt_lines(attempts))
    yield from _section("specialization", _specialization(cell))
    yield from _section("env", _env(built))
    yield from _section("again", [_command(cell)])


def _outcome(result: Result, artifacts: str) -> Iterator[str]:
    outcome, failure = result.outcome, result.outcome.failure
    yield f"  {outcome.status}{' (flaky)' if outcome.flaky else ''}, {'as declared' if result.expected else 'NOT AS DECLARED'}"
    if result.expectation:
        declared = result.expectation
        yield f"  declared: {declared.status} {declared.kind or ''} for releases {declared.releases or 'all'}: {declared.reason}"
    if failure:
        kind = taxonomy.KINDS[failure.kind]
        facts = {
            "class": f"{failure.kind} ({kind.title})",
            "stage": failure.stage,
            "pass": failure.pass_,
            "op": failure.op,
            "at": failure.location,
            "fingerprint": failure.fingerprint,
            "reproducer": failure.reproducer and f"{artifacts}/{failure.reproducer}",
            "IR before it": failure.ir and f"{artifacts}/{failure.ir}",
        }
        yield from _section("failure", (f"{name}: {value}" for name, value in facts.items() if value))
        yield from _section("evidence", failure.excerpt.splitlines())
        yield from _section("advice", failure.advice.splitlines())
    yield from _section("warnings", (f"{noticed.type}: {noticed.message}" for noticed in outcome.warnings))
    yield from _section("seconds", (f"{stage:<8} {seconds:.3f}" for stage, seconds in outcome.stages.items()))
    yield from _section("metrics", (f"{name}: {_value(value)}" for name, value in outcome.metrics.items()))


def _attempt_lines(attempts: tuple[Evidence, ...]) -> Iterator[str]:
    for number, evidence in enumerate(attempts, 1):
        how = "alone, diagnostics on" if evidence.alone else "in a batch"
        ending = next(
            (
                words
                for words, true in (
                    ("built", evidence.built),
                    (f"stopped after {evidence.deadline} s", evidence.deadline is not None),
                    (f"stopped at {evidence.memory} bytes", evidence.memory is not None),
                    (f"ended by {evidence.signal}", evidence.signal is not None),
                    ("answered with an exception", evidence.answered),
                )
                if true
            ),
            f"no answer, exit code {evidence.exit_code}",
        )
        yield f"{number}. {how}: {ending} in stage {evidence.stage}, {evidence.seconds:.2f} s"
        yield from (f"   worker: {note}" for note in evidence.protocol)


def _specialization(cell: Cell) -> Iterator[str]:
    spec = cell.spec
    yield f"{spec.function} in {spec.source} (declared in {spec.origin})"
    yield f"signature: {', '.join(f'{name}: {kind}' for name, kind in spec.signature.items())}"
    yield f"constexprs: {', '.join(f'{name}={value}' for name, value in spec.constexprs.items()) or 'none'}"
    yield f"divisible by 16: {', '.join(spec.divisible_by_16) or 'none'}; equal to 1: {', '.join(spec.equal_to_1) or 'none'}"
    yield f"options: {', '.join(f'{name}={value}' for name, value in spec.options.items()) or 'none'}"


def _env(built: BuiltEnv) -> Iterator[str]:
    yield f"triton {built.triton}, torch {built.torch or 'none'}, Python {built.python_version or 'none'}"
    if built.error:
        yield from built.error.splitlines()
    yield from (f"{p.name} {p.version} ({p.digest[:12]})" for p in built.packages)


def _command(cell: Cell) -> str:
    spec = cell.spec
    which = ["--kernel", spec.kernel, "--variant", spec.variant, "--case", spec.case, "--target", cell.target.name]
    return shlex.join(["compat", "matrix", *which, "--envs", cell.env.name, "--again"])


def _section(title: str, lines: Any) -> Iterator[str]:
    found = list(lines)
    if found:
        yield f"  {title}:"
        yield from (f"    {line}" for line in found)


def _value(value: object) -> str:
    return ", ".join(f"{key} {number}" for key, number in value.items()) if isinstance(value, Mapping) else str(value)


# --- as JSON -----------------------------------------------------------------------------------------------------------------


def _document(cell: Cell, built: BuiltEnv, attempts: tuple[Evidence, ...]) -> dict[str, Any]:
    result = _result(cell, built, attempts)
    return {
        "id": cell.id,
        "expected": result.expected if result else None,
        "outcome": attrs.asdict(result.outcome) if result else None,
        "attempts": [attrs.asdict(evidence) for evidence in attempts],
        "env": {"name": built.env.name, "triton": built.triton, "torch": built.torch, "error": built.error},
    }
