"""Compact lists: runs of releases, and products of targets and cases."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from attrs import frozen

from compat.patterns import lazy_pattern


@frozen(kw_only=True)
class Where:
    """A place failures occur at: one kernel variant, on every one of the cases, targets and releases named."""

    kernel: str
    variant: str
    cases: tuple[str, ...]
    """Empty for all of them."""
    targets: tuple[str, ...]
    releases: str
    """Compact: ``3.0.0–3.2.0, 3.4.0 (all)``."""

    @property
    def subject(self) -> str:
        """``kernel/variant``, followed by the cases where not all are meant."""
        return f"{self.kernel}/{self.variant}" + (f" ({', '.join(self.cases)})" if self.cases else "")

    def __str__(self) -> str:
        return f"{self.subject}: {self.releases}, {' '.join(self.targets)}"


@lru_cache(maxsize=4096)
def natural(text: str) -> tuple[tuple[bool, int, str], ...]:
    """A key that sorts ``sm_90`` before ``sm_100``."""
    parts = re.split(r"([0-9]+)", text)
    return tuple(
        (False, len(number := part.lstrip("0")), number) if at % 2 else (True, 0, part) for at, part in enumerate(parts) if part
    )


def spans(chosen: Collection[str], line: Sequence[str]) -> str:
    """``chosen`` releases as runs of ``line``, the releases there are, in order.

    A run never crosses a release that was not chosen: ``3.0.0–3.1.0, 3.3.0``.
    """
    runs: list[list[str]] = []
    for before, release in zip((None, *line), line, strict=False):
        if release not in chosen:
            continue
        if runs and runs[-1][-1] == before:
            runs[-1].append(release)
        else:
            runs.append([release])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def rectangles(pairs: Iterable[tuple[str, str]]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """``pairs`` of (case, target) as few products of cases and targets, in natural order; together they cover each pair once."""
    targets: dict[str, set[str]] = defaultdict(set)
    for case, target in pairs:
        targets[case].add(target)
    cases: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for case in sorted(targets, key=natural):
        cases[tuple(sorted(targets[case], key=natural))].append(case)
    return [(tuple(names), group) for group, names in cases.items()]


def listed(words: Sequence[str], last: str = "and") -> str:
    """``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}" if words else ""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """``1 cell``, ``1,200 cells``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def at_most(most: int, lines: Iterable[str]) -> Iterator[str]:
    """The first ``most`` lines, and one that says how many more there are."""
    every = list(lines)
    yield from every[:most]
    if len(every) > most:
        yield f"… and {len(every) - most:,} more"


def one_line(text: str, width: int = 160) -> str:
    """The line of ``text`` that says most, cut to ``width``: the first that names an error, else the last.

    The lines of a kernel that a diagnostic quotes before its message, down to the caret, are passed over: they may name one too.
    """
    lines = [flat for raw in _QUOTED.sub("", text).splitlines() if (flat := " ".join(raw.split()))]
    line = next((line for line in lines if _ERROR.search(line)), lines[-1] if lines else "")
    return line if len(line) <= width else line[: width - 1] + "…"


_ERROR = lazy_pattern(r"error|assert|fatal|fail", re.IGNORECASE)
_QUOTED = lazy_pattern(r"\A(?:(?!.*\berror:).*\n)+?[ \t]*\^[ \t]*\n")
