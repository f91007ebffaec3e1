"""Environments: PyTorch with releases, as text, as Markdown and as data; and the cache of envs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from attrs import frozen

from compat.envs.record import KeptEnv, PrunedEnv, size_of
from compat.model import BuiltEnv
from compat.model.codec import unstructure
from compat.model.fields import DIGITS
from compat.new_releases import NewRelease
from compat.pairs.records import Grid, Pair, in_order
from compat.report.render.blocks import Block, DataTable, Heading, StyledText, TableColumn, TextLine
from compat.text import JsonObject, amount, in_bytes, join_words, name_first

UNTRIED = "-"
_EVERY = "all programs"


@frozen(kw_only=True)
class Note:
    """A footnote: one way in which programs of pairs fail."""

    number: int
    failure_class: str
    message: str
    status: str
    pairs: tuple[str, ...]
    """The pairs in which they fail: ``2.9.1+3.6.0``."""
    programs: tuple[str, ...]
    """The programs that fail in this way in any of these pairs."""
    every: bool
    """Whether these are all programs that ran in these pairs."""

    @property
    def which(self) -> str:
        """The programs in words."""
        return _EVERY if self.every else join_words(list(self.programs))


@frozen(kw_only=True)
class PairsTable:
    """The table of some pairs, as every form of a report shows it."""

    releases: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """Each PyTorch with its columns: a release, and the text of the pair."""
    own: frozenset[tuple[str, str]]
    """Each PyTorch with the release that was installed with it."""
    notes: tuple[Note, ...]
    """The footnotes, numbered from 1 in the order of the cells that need them."""
    failing: bool
    """Whether any pair is not ``ok``."""
    untried: tuple[Pair, ...]
    """The pairs that could not be tried."""


def pairs_table(pairs: Sequence[Pair]) -> PairsTable:
    """The table of some pairs: a row for each PyTorch, a column for each release."""
    notes, releases = notes_of(pairs), tuple(in_order(pair.release for pair in pairs))
    by_place = {(pair.framework_release, pair.release): pair for pair in pairs}
    return PairsTable(
        releases=releases,
        rows=tuple(
            (
                version,
                tuple(
                    (release, cell_of(by_place.get((version, release)), notes))
                    for release in releases
                ),
            )
            for version in in_order(pair.framework_release for pair in pairs)
        ),
        own=frozenset(place for place, pair in by_place.items() if pair.own),
        notes=notes,
        failing=any(not pair.ok for pair in pairs),
        untried=tuple(pair for pair in pairs if pair.error is not None),
    )


def pairs_sentence(pairs: Sequence[Pair]) -> str:
    """A sentence with the number of pairs that are ok."""
    good = sum(pair.ok for pair in pairs)
    return (
        f"{good:,} of {amount(len(pairs), 'pair')} of PyTorch and a release"
        f" {'is' if good == 1 else 'are'} ok."
    )


def notes_of(pairs: Sequence[Pair]) -> tuple[Note, ...]:
    """The footnotes, numbered from 1 in the order in which the cells need them."""
    groups: dict[tuple[str, str, str], list[tuple[Pair, str]]] = {}
    for pair in pairs:
        for program in pair.failed_programs:
            key = (program.failure_class or "", program.message, str(program.status))
            groups.setdefault(key, []).append((pair, program.name))
    return tuple(
        Note(
            number=number,
            failure_class=failure_class,
            message=message,
            status=status,
            pairs=tuple(dict.fromkeys(_label(pair) for pair, _ in group)),
            programs=tuple(dict.fromkeys(name for _, name in group)),
            every={name for _, name in group}
            == {program.name for pair, _ in group for program in pair.programs},
        )
        for number, ((failure_class, message, status), group) in enumerate(groups.items(), 1)
    )


def cell_of(pair: Pair | None, notes: Sequence[Note]) -> str:
    """The text of a pair in the table: ``ok``, or the number of failing programs and the footnotes.

    It is ``-`` for a pair that was not tried, and ``env`` for one that could not be tried.
    """
    if pair is None:
        return UNTRIED
    if pair.error is not None:
        return "env"
    if pair.ok:
        return "ok"
    numbers = [str(note.number) for note in notes if _label(pair) in note.pairs]
    return f"{len(pair.failed_programs)} ({', '.join(numbers)})"


def _label(pair: Pair) -> str:
    return f"{pair.framework_release}+{pair.release}"


# --- for a terminal -------------------------------------------------------------------------------


def pairs_grid_blocks(grid: Grid) -> Iterator[Block]:
    """The results of ``compat pairs``."""
    yield from pairs_blocks(grid.pairs, grid.title, grid.pins)
    yield from (TextLine(f"note: {note}") for note in grid.notes)
    yield Heading(_total(grid.pairs), style="bold" if grid.ok else "bold red")


def pairs_blocks(
    pairs: Sequence[Pair], title: str, pins: Mapping[str, str | None]
) -> Iterator[Block]:
    """The table and its footnotes.

    ``pins`` maps a version of PyTorch to the release that it requires; ``None`` if that is unknown.
    """
    table, pinned = pairs_table(pairs), any(pins.values())
    headings = ("PyTorch", *(["asks for"] if pinned else []), *table.releases)
    yield TextLine(
        f"PyTorch with {title}: ok, or the number of programs that fail, and why", style="bold"
    )
    yield DataTable(
        columns=tuple(TableColumn(heading, wrap=False) for heading in headings),
        rows=tuple(
            (
                version,
                *([pins.get(version) or "?"] if pinned else []),
                *(StyledText(text, _STYLES.get(text, "red")) for _, text in cells),
            )
            for version, cells in table.rows
        ),
    )
    for note in table.notes:
        yield TextLine(
            (
                StyledText(f"({note.number}) {note.failure_class}", "bold"),
                f" {note.status}: {note.which}",
            )
        )
        yield TextLine(note.message, indent=3)
        yield TextLine(", ".join(note.pairs), style="dim", indent=3)
    for pair in table.untried:
        yield TextLine(f"{_label(pair)} could not be tried", style="bold red")
        yield TextLine((pair.error or "").strip(), indent=3)


_STYLES = {"ok": "green", UNTRIED: "dim"}


def _total(pairs: Sequence[Pair]) -> str:
    good = sum(pair.ok for pair in pairs)
    cached = sum(pair.cached for pair in pairs)
    return (
        f"{amount(len(pairs), 'pair')} ({cached:,} from earlier runs): {good:,} ok,"
        f" {len(pairs) - good:,} failed"
    )


# --- as Markdown ----------------------------------------------------------------------------------


def pairs_markdown(grid: Grid, version: str) -> str:
    """The results of ``compat pairs``."""
    from compat.report.render.markdown import code, escape  # see section()

    lines = [
        f"# Which PyTorch works with which {grid.title}",
        "",
        *section(grid.pairs, grid.title, grid.pins, grid.classes),
    ]
    if grid.notes:
        lines += ["", *(f"Note: {escape(note)}" for note in grid.notes)]
    cached = sum(pair.cached for pair in grid.pairs)
    origin = f"Made by triton-compat {version} with {code(grid.command)} in {grid.seconds:.1f} s"
    lines += [
        "",
        "---",
        "",
        f"{origin}, {cached:,} of {amount(len(grid.pairs), 'pair')} from earlier runs.",
    ]
    return "\n".join(lines) + "\n"


def section(
    pairs: Sequence[Pair], title: str, pins: Mapping[str, str | None], classes: Mapping[str, str]
) -> Iterator[str]:
    """The sentence, the table and its footnotes, line by line."""
    # The import of Jinja takes longer than many commands run.
    from compat.report.render.markdown import code, escape, table

    shown, pinned = pairs_table(pairs), any(pins.values())
    programs = max((len(pair.programs) for pair in pairs), default=0)
    yield (
        f"{pairs_sentence(pairs)} In one that is ok, every one of {programs} programs that"
        " `torch.compile` makes launches the kernels that it must. No GPU is needed: the launches"
        " end in a library that stands in for the driver and executes nothing, so no numbers are"
        " computed."
    )
    yield ""
    headings = ("PyTorch", *([f"asks for {title}"] if pinned else []), *map(escape, shown.releases))
    rows = []
    for version, cells in shown.rows:
        texts = (
            f"**{text}**" if (version, release) in shown.own else text for release, text in cells
        )
        rows.append((escape(version), *([pins.get(version) or "?"] if pinned else []), *texts))
    yield from table(headings, rows)
    yield ""
    yield (
        "A number is how many programs fail, with the footnotes that say how. **Bold**: the release"
        " that came with that PyTorch."
    )
    if shown.notes:
        yield ""
    for note in shown.notes:
        meaning = f" ({classes[note.failure_class]})" if note.failure_class in classes else ""
        yield (
            f"- **{note.number}** {code(note.failure_class)}{meaning}: {code(note.message)}."
            f" {escape(note.which)}; {escape(', '.join(note.pairs))}"
        )
    for pair in shown.untried:
        yield f"- {escape(_label(pair))} could not be tried: {code(pair.error or '')}"


# --- as JSON --------------------------------------------------------------------------------------


def grid_document(grid: Grid) -> JsonObject:
    """The results of ``compat pairs``."""
    return {
        "schema": 1,
        "command": grid.command,
        "seconds": round(grid.seconds, DIGITS),
        "ok": grid.ok,
        "pins": dict(grid.pins),
        "notes": list(grid.notes),
        "classes": dict(grid.classes),
        "pairs": unstructure(grid.pairs),
    }


# --- the environments in the cache ----------------------------------------------------------------


_DAY = 86400.0
_REQUIREMENTS = 2
"""Requirements that the table names; the JSON has all of them."""


def env_document(env: KeptEnv) -> dict[str, object]:
    """One env, as ``compat envs list --json`` prints it."""
    return {
        "name": env.folder.path.name,
        "folder": str(env.folder.path),
        "requirements": env.requirements,
        "specifier": env.specifier or None,
        "python": env.python,
        "backend": env.backend,
        "state": env.state,
        "error": env.error,
        "size": size_of(env.folder.path),
        "last_used": datetime.fromtimestamp(env.last_use, UTC).isoformat(timespec="seconds"),
    }


def env_row(env: KeptEnv, now: float) -> dict[str, str]:
    """One env in a table; ``now`` in seconds since 1970."""
    return {
        "name": env.folder.path.name,
        "requirements": " ".join(name_first(env.requirements, _REQUIREMENTS)),
        "python": env.python or "-",
        "state": env.state,
        "size": in_bytes(size_of(env.folder.path)),
        "last used": _ago(now - env.last_use),
    }


def built_env_line(built: BuiltEnv) -> str:
    """The result of building an env."""
    return f"{built.env.name}: {built.error or f'Python {built.python_version}, {built.python}'}"


def built_env_document(built: BuiltEnv) -> dict[str, object]:
    """The result of building an env, as JSON values."""
    return {
        "name": built.env.name,
        "python": built.python,
        "version": built.python_version,
        "error": built.error,
    }


def pruned_env_lines(
    pruned: Iterable[PrunedEnv], folder: Path, now: float, *, dry_run: bool
) -> Iterator[str]:
    """A line for each removed or kept env of the cache in ``folder``, as it comes, and a sum."""
    freed: list[int] = []
    for env in pruned:
        freed += [] if env.reason else [env.size]
        yield _pruned_env_line(env, now, dry_run=dry_run)
    done = "would remove" if dry_run else "removed"
    yield f"{done} {len(freed)} of the environments in {folder}, {in_bytes(sum(freed))}"


def pruned_env_document(pruned: PrunedEnv, *, dry_run: bool) -> dict[str, object]:
    """The removal of an env from the cache, as JSON values.

    With ``dry_run``, ``removed`` says what would be removed.
    """
    return {
        "name": pruned.env.folder.path.name,
        "folder": str(pruned.env.folder.path),
        "size": pruned.size,
        "removed": pruned.reason is None,
        "dry_run": dry_run,
        "kept": pruned.reason,
    }


def _pruned_env_line(pruned: PrunedEnv, now: float, *, dry_run: bool) -> str:
    name = pruned.env.folder.path.name
    if pruned.reason:
        return f"left {name}: {pruned.reason}"
    done = "would remove" if dry_run else "removed"
    return f"{done} {name}: {in_bytes(pruned.size)}, last used {_ago(now - pruned.env.last_use)}"


def _ago(seconds: float) -> str:
    if seconds < _DAY:
        return "today"
    return "1 day ago" if seconds < 2 * _DAY else f"{seconds / _DAY:.0f} days ago"


def new_release_document(new_release: NewRelease) -> JsonObject:
    """A release without a declared env, as JSON values."""
    env = new_release.env
    return {
        "name": env.name,
        "toolchain": env.toolchain,
        "release": str(env.release),
        "framework_release": str(env.framework_release) if env.has_framework else None,
        "published": new_release.published.isoformat() if new_release.published else None,
        "after": new_release.after.name if new_release.after else None,
    }
