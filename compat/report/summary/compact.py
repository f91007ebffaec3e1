"""Compact phrases: runs of releases, products of targets and cases, lists, counts, and commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from attrs import frozen

from compat.history.account import Account, Bracket, extent_of, spans
from compat.model import Cell, Failure
from compat.text import group_by_key, in_bytes, in_time, lazy_pattern, name_first, shorten

NAMED_CASES = 8
"""The most cases that a phrase or a row names. It counts the others; ``matrix.json`` has them."""


@frozen(kw_only=True)
class FailurePlace:
    """The place of some results: one kernel variant, with its cases, targets and releases."""

    kernel: str
    variant: str
    cases: tuple[str, ...]
    """Empty for all cases."""
    targets: tuple[str, ...]
    releases: str
    """Compact: ``3.0.0–3.2.0, 3.4.0 (all)``."""

    @property
    def subject(self) -> str:
        """``kernel/variant``, followed by the first cases unless all are meant."""
        return f"{self.kernel}/{self.variant}" + (
            f" ({', '.join(name_first(self.cases, NAMED_CASES))})" if self.cases else ""
        )

    def __str__(self) -> str:
        return f"{self.subject}: {self.releases}, {' '.join(self.targets)}"


@lru_cache(maxsize=4096)
def natural(text: str) -> tuple[tuple[tuple[bool, int, str], ...], str]:
    """A key that sorts ``sm_90`` before ``sm_100``. Only equal texts have equal keys."""
    parts = re.split(r"([0-9]+)", text)
    return tuple(
        (False, len(number := part.lstrip("0")), number) if at % 2 else (True, 0, part)
        for at, part in enumerate(parts)
        if part
    ), text


def rectangles(pairs: Iterable[tuple[str, str]]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """``pairs`` of (case, target) as products of cases and targets, in natural order.

    Cases with the same targets are in one product. Each pair is in exactly one product.
    """
    targets = group_by_key(sorted(set(pairs), key=lambda pair: natural(pair[1])))
    cases = group_by_key((targets[case], case) for case in sorted(targets, key=natural))
    return [(names, group) for group, names in cases.items()]


def on_two_lines(release: str) -> str:
    """A release with its last part below the others, for a narrow column."""
    major_minor, _, patch = release.rpartition(".")
    return f"{major_minor}\n.{patch}"


def at_most(most: int, lines: Iterable[str]) -> Iterator[str]:
    """The first ``most`` lines, and a line with the number of further lines."""
    every = list(lines)
    yield from every[:most]
    if len(every) > most:
        yield f"… and {len(every) - most:,} more"


def one_line(text: str, width: int = 160) -> str:
    """The most informative line of ``text``, cut to ``width`` characters.

    It is the first line that names an error and does not announce others with a colon, or else the
    first line that names one, or else the last line. The lines of a kernel that a diagnostic quotes
    before its message, down to the caret, are skipped, because they may contain such a name too.
    """
    lines = [flat for raw in _QUOTED.sub("", text).splitlines() if (flat := " ".join(raw.split()))]
    errors = [line for line in lines if _ERROR.search(line)] or lines[-1:] or [""]
    line = next((line for line in errors if not line.endswith(":")), errors[0])
    return shorten(line, width)


def place_text(failure: Failure, quote: Callable[[str], str] = str) -> str:
    """``stage ttir, pass Canonicalizer, op tt.load, kernel.py:12``: where a failure comes from.

    ``quote`` marks the names in it.
    """
    parts = {"stage ": failure.stage, "pass ": failure.pass_, "op ": failure.op}
    places = {**parts, "": failure.location}
    return ", ".join(f"{kind}{quote(name)}" for kind, name in places.items() if name)


_ERROR = lazy_pattern(r"error|assert|fatal|fail", re.IGNORECASE)
_QUOTED = lazy_pattern(r"\A(?:(?!.*\berror:).*\n)+?[ \t]*\^[ \t]*\n")


# --- the releases behind an account ---------------------------------------------------------------


def tested_spans(releases: Sequence[str], line: Sequence[str]) -> str:
    """The tested releases: ``3.0.0 to 3.9.0`` or ``3.0.0–3.1.0, 3.5.1``.

    The first form is for all releases in ``line`` from the first to the last.
    """
    if len(releases) == 1:
        return releases[0]
    run = line[line.index(releases[0]) : line.index(releases[-1]) + 1]
    return (
        f"{releases[0]} to {releases[-1]}"
        if tuple(run) == tuple(releases)
        else spans(releases, line)
    )


def counted_releases(
    releases: Sequence[str], line: Sequence[str], which: str, quantity: str = "all"
) -> str:
    """Releases with their number: ``all 13 releases tested (3.0.0 to 3.9.0)``.

    ``which`` says which releases these are, such as ``tested``.
    """
    if len(releases) == 1:
        return f"the only release {which}, {releases[0]}"
    is_both = quantity == "all" and len(releases) == 2
    count = "both" if is_both else f"{quantity} {len(releases):,}"
    return f"{count} releases {which} ({tested_spans(releases, line)})"


def open_between(account: Account, bracket: Bracket) -> str:
    """The reasons why releases between the two ends of a change have no answer.

    It is empty if the ends are neighbours.
    """
    return unknown(account, bracket.between)


def unknown(account: Account, releases: Collection[str]) -> str:
    """The reasons why releases have no answer; empty if all have one.

    An example is ``not tested: 3.2.0–3.5.0; inconclusive: 3.6.0``.
    """
    not_tried = [release for release in account.not_tried if release in releases]
    unsure = [
        release for release in (*account.untested_releases, *account.flaky) if release in releases
    ]
    parts = [f"not tested: {spans(not_tried, account.line)}"] if not_tried else []
    parts += [f"inconclusive: {spans(unsure, account.line)}"] if unsure else []
    return "; ".join(parts)


def in_full(account: Account) -> Iterator[str]:
    """The account line by line: the phrase, the intervals, and the releases without an answer."""
    yield account.phrase
    yield from (
        f"{extent_of(interval)} {interval.failure_class or interval.status}"
        for interval in account.intervals
    )
    if open_ := unknown(account, account.line):
        yield open_


def earlier_runs(account: Account) -> str:
    """The releases whose results come from earlier runs; empty if there are none.

    An example is ``tested in earlier runs: 3.2.0–3.8.0``.
    """
    remembered = spans(account.remembered_releases, account.line)
    return f"tested in earlier runs: {remembered}" if remembered else ""


# --- metrics --------------------------------------------------------------------------------------


def numbers_of(metrics: Mapping[str, object], within: str = "") -> Iterator[tuple[str, float]]:
    """The name and the value of each number among metrics.

    The name of a number in a table has a dot: ``artifacts.ptx``.
    """
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from numbers_of(value, f"{within}{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{within}{name}", value


def cost_words(seconds: float, to_install: int) -> str:
    """The estimated cost of a run: ``about 9.0 GB of envs to install; about 3 min``.

    ``to_install`` is in bytes.
    """
    installed = f"about {in_bytes(to_install)} of envs to install; " if to_install else ""
    return f"{installed}about {in_time(seconds)}"


# --- commands that show a result again; ``options`` make them read the same files -----------------


def coordinate_options(kernel: str, variant: str, case: str, target: str) -> tuple[str, ...]:
    """The options that choose one kernel in one variant and case, for one target."""
    return "--kernel", kernel, "--variant", variant, "--case", case, "--target", target


def cell_options(cell: Cell) -> tuple[str, ...]:
    """The options that choose one cell."""
    spec = cell.spec
    which = coordinate_options(spec.kernel, spec.variant, spec.case, cell.target.name)
    return (*which, "--envs", cell.env.name)


def matrix_command(cell: Cell, options: Sequence[str]) -> str:
    """The command that compiles all cases of a variant in one env, for one target."""
    run = ["compat", "matrix", "--kernel", cell.spec.kernel, "--variant", cell.spec.variant]
    return shlex.join([*run, "--target", cell.target.name, "--envs", cell.env.name, *options])


def explain_command(cell: Cell, options: Sequence[str]) -> str:
    """The command that shows all known facts about a cell."""
    return shlex.join(["compat", "explain", cell.id, *options])


def fix_command(cell: Cell, options: Sequence[str]) -> str:
    """The command that looks for an edit for a cell's failure.

    ``options`` make it read the same files.
    """
    return shlex.join(["compat", "fix", cell.id, *options])
