"""The histories of all names that are meant for users, small enough for a report to carry. Pure.

Releases are numbers: places in :attr:`Packed.releases`. What is known of some of them is written as runs, ``0-4 7`` for the first
five and the eighth, and what that is as the number of a text, ``0-4:12 5-9:13``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import Factory, define, frozen

from compat.api.finding import shown_names
from compat.api.histories import NameHistory, State, history
from compat.api.records import Looked
from compat.history.runs import Run
from compat.patterns import lazy_pattern

_RUN = lazy_pattern(r"\b(\d{1,6})(?:-(\d{1,6}))?\b")


@frozen(kw_only=True)
class PackedName:
    """A name over the releases. Each field is written as runs."""

    kind: str = ""
    there: str = ""
    """Where it is, and does not only raise."""
    refuses: str = ""
    """Where all that it does is raise, and what it says."""
    unknown: str = ""
    """Where its module cannot be imported."""
    signatures: str = ""
    deprecated: str = ""
    warns: str = ""
    parameters: str = ""
    """Where a parameter is deprecated, and what is said of it: ``name: words``."""


@frozen(kw_only=True)
class Packed:
    """The names of a toolchain."""

    toolchain: str
    releases: tuple[str, ...]
    """All that there are, oldest first."""
    looked_at: str
    """Those that something is known of, as runs."""
    names: Mapping[str, PackedName]
    """By what people write; of several names of one object only one is there."""
    texts: tuple[str, ...]
    same: Mapping[str, str] = Factory(dict)
    """Another name of an object → the name that is there."""

    @property
    def seen(self) -> tuple[str, ...]:
        """The releases that were looked at; a file may hold anything."""
        spans = [(int(found[1]), int(found[2] or found[1])) for found in _RUN.finditer(self.looked_at)]
        return tuple(release for place, release in enumerate(self.releases) if any(first <= place <= last for first, last in spans))


def pack(looked: Looked) -> Packed:
    """All names that are meant for users, of the releases that were looked at; forks are left out."""
    line = tuple(place.label for place in looked.places if not place.fork)
    packing = _Packing(line=line)
    names: dict[str, PackedName] = {}
    same: dict[str, str] = {}
    for shown, full in shown_names(looked).items():
        found = history(looked, full)
        if found.internal or not found.line:
            continue
        if first := _only_another(looked, full):
            same[shown] = looked.shown(first)
        else:
            names[shown] = packing.name(found)
    known = [place.label for place in looked.known if not place.fork]
    return Packed(
        toolchain=looked.toolchain,
        releases=line,
        looked_at=packing.runs([known]),
        names=names,
        texts=tuple(packing.texts),
        same={name: first for name, first in same.items() if first in names},
    )


def _only_another(looked: Looked, full: str) -> str:
    """The name of an object that this is another name of, in every release that has it; empty where it is not."""
    entries = [entry for place in looked.known if place.namespace and (entry := place.namespace.names.get(full))]
    firsts = {entry.same_as for entry in entries}
    return firsts.pop() if len(firsts) == 1 else ""


@define(kw_only=True)
class _Packing:
    """Numbers of releases and texts."""

    line: tuple[str, ...]
    texts: dict[str, int] = Factory(dict)

    def name(self, found: NameHistory) -> PackedName:
        """The history of a name."""
        return PackedName(
            kind=found.kind,
            there=self.runs(run.releases for run in found.states if run.value is State.THERE),
            refuses=self.told(found.refuses),
            unknown=self.told(found.unknown),
            signatures=self.told(found.signatures),
            deprecated=self.told(found.deprecated),
            warns=self.told(found.warns),
            parameters=" ".join(
                f"{self._span(run.releases)}:{self._text(f'{each.name}: {run.value.deprecated}')}"
                for each in found.parameters
                for run in each.runs
                if run.value.deprecated
            ),
        )

    def runs(self, groups: Iterable[Sequence[str]]) -> str:
        """Releases as runs."""
        spans = []
        for group in groups:
            places = sorted(map(self.line.index, group))
            starts = [place for place in places if place - 1 not in places]
            ends = [place for place in places if place + 1 not in places]
            spans += [f"{start}" if start == end else f"{start}-{end}" for start, end in zip(starts, ends, strict=True)]
        return " ".join(spans)

    def told(self, found: Iterable[Run[str]]) -> str:
        """Runs, and the texts that are known of them."""
        return " ".join(f"{self._span(run.releases)}:{self._text(run.value)}" for run in found)

    def _span(self, releases: Sequence[str]) -> str:
        first, last = self.line.index(releases[0]), self.line.index(releases[-1])
        return f"{first}" if first == last else f"{first}-{last}"

    def _text(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))
