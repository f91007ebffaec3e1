"""What folders of this machine are called on the machine that asked: paths in evidence are the asker's own.

A batch that comes from another machine is compiled in copies of the kernels' trees, and in an env that may lie somewhere else. What
a compiler writes down of paths decides the size of what it makes, so it is told the asker's paths (by the adapter); into all else,
such as tracebacks and what was printed, they are put when an attempt has ended.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Self

from attrs import define, evolve, field

from compat.model import Evidence, Noticed, Raised, StoodIn

_MORE = r"(?![\w.+@=~-])"
"""What must not follow a folder's name, since the name would be another one."""


@define(kw_only=True, slots=False, frozen=True)
class Places:
    """Pairs of folders: as they are called here, and by whoever asked."""

    pairs: tuple[tuple[str, str], ...] = field(default=())

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Self:
        """Those of these pairs in which the names differ; inner folders come before those that they lie in."""
        different = dict.fromkeys((here, there) for here, there in pairs if here != there)
        return cls(pairs=tuple(sorted(different, key=lambda pair: -len(pair[0]))))

    def told(self, text: str) -> str:
        """A text with the asker's paths."""
        if not self.pairs or not any(here in text for here, _ in self.pairs):
            return text
        return self._here.sub(lambda found: self._there[found[0]], text)

    def told_data(self, data: bytes) -> bytes:
        """The same of a file; one that is no text is left as it is, since lengths matter there."""
        if not self.pairs or not any(os.fsencode(here) in data for here, _ in self.pairs):
            return data
        try:
            return self.told(data.decode("utf-8")).encode("utf-8")
        except UnicodeDecodeError:
            return data

    def evidence(self, evidence: Evidence) -> Evidence:
        """Evidence with the asker's paths."""
        if not self.pairs:
            return evidence
        told = self.told
        stood_in = evidence.stood_in
        return evolve(
            evidence,
            raised=tuple(_raised(each, self) for each in evidence.raised),
            printed=told(evidence.printed),
            stderr=told(evidence.stderr),
            in_flight=evidence.in_flight and told(evidence.in_flight),
            at=evidence.at and told(evidence.at),
            quoted={told(place): line for place, line in evidence.quoted.items()},
            source=told(evidence.source),
            optional={name: told(place) for name, place in evidence.optional.items()},
            metrics=_plain(evidence.metrics, self),
            warnings=tuple(Noticed(type=warning.type, message=told(warning.message)) for warning in evidence.warnings),
            imported=tuple(map(told, evidence.imported)),
            stood_in=stood_in and _stood_in(stood_in, self),
            protocol=tuple(map(told, evidence.protocol)),
            refused=evidence.refused and told(evidence.refused),
        )

    @cached_property
    def _here(self) -> re.Pattern[str]:
        return re.compile(f"(?:{'|'.join(re.escape(here) for here, _ in self.pairs)}){_MORE}")

    @cached_property
    def _there(self) -> Mapping[str, str]:
        return dict(reversed(self.pairs))


NOWHERE_ELSE = Places()
"""Where whoever asks is on this machine."""


def _raised(raised: Raised, places: Places) -> Raised:
    return evolve(raised, message=places.told(raised.message), traceback=places.told(raised.traceback))


def _stood_in(stood_in: StoodIn, places: Places) -> StoodIn:
    return evolve(stood_in, answers=tuple(map(places.told, stood_in.answers)), skipped=tuple(map(places.told, stood_in.skipped)))


def _plain(value: Any, places: Places) -> Any:
    """Texts in what came as JSON."""
    if isinstance(value, str):
        return places.told(value)
    if isinstance(value, Mapping):
        return {name: _plain(each, places) for name, each in value.items()}
    return [_plain(each, places) for each in value] if isinstance(value, list) else value


def folders_of(python: str) -> tuple[str, str]:
    """The folder of the virtual environment with this interpreter, and that of the Python it was made from; empty if unknown."""
    folder = os.path.dirname(os.path.dirname(python))
    try:
        with open(os.path.join(folder, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
            said = dict(line.partition("=")[::2] for line in file)
    except OSError:
        return folder, ""
    home = next((value.strip() for name, value in said.items() if name.strip() == "home"), "")
    return folder, os.path.dirname(home)
