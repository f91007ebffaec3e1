"""Accounts of a kernel's numbers and of its speed over all releases.

Both are accounts (:mod:`compat.history.account`) of the releases on which the kernel ran. A release
on which it did not run is inconclusive, even if the kernel compiles there.

- A release is *right* if every check says so, in the interpreter or on a GPU. A check that says
  ``wrong``, ``unstable``, ``faulted``, ``launch_refused`` or that it was stopped makes it bad.
- A release is *fast* if a launch takes at most :data:`SLOWER` times as long as on the release with
  the shortest launch, on the same GPU. "Regressed" then means that later releases are slower.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import fields, frozen

from compat.history.account import Account, Entry, Judgement, Word, account, spans
from compat.model import Check, Latency, Result
from compat.text import JsonObject

INTERPRETER = "interpreter"
SLOWER = 1.2
"""A release is slow if a launch takes longer than this multiple of the shortest one on any release.

Separate runs of one cubin were within 10 % of each other, 99 of 100 times (one H200).
"""

_RIGHT = {
    Word.WORKS: "right",
    Word.NEVER: "never right",
    Word.UNKNOWN: "unknown",
    Word.REGRESSED: "wrong since {after}",
    Word.FIXED: "right since {after}",
}
_FAST = {
    Word.WORKS: "steady",
    Word.UNKNOWN: "not measured",
    Word.REGRESSED: "slower since {after}",
    Word.FIXED: "faster since {after}",
}
_OPEN = {
    "wrong since {after}": "wrong after {before}, by {after}",
    "right since {after}": "right after {before}, by {after}",
    "slower since {after}": "slower after {before}, by {after}",
    "faster since {after}": "faster after {before}, by {after}",
}
"""The phrases if releases between the two are unknown. Each of them may be the first."""


class _RunAccount(Account):
    """An account of the releases on which a kernel ran."""

    def _phrase_in(self, phrases: Mapping[Word, str], otherwise: str) -> str:
        """Return the account in the words of ``phrases``.

        If they lack the account's word, the phrase lists the bad releases after ``otherwise``.
        """
        if self.word not in phrases:
            return f"{otherwise} in {spans(self.bad, self.line)}"
        phrase = phrases[self.word]
        if self.bracket is None:
            return phrase
        phrase = _OPEN.get(phrase, phrase) if self.bracket.between else phrase
        return phrase.format(before=self.bracket.before, after=self.bracket.after)

    @property
    def good(self) -> tuple[str, ...]:
        """The releases that are known to be good."""
        return tuple(entry.release for entry in self.known_entries if entry.good)

    @property
    def bad(self) -> tuple[str, ...]:
        """The releases that are known to be bad."""
        return tuple(entry.release for entry in self.known_entries if not entry.good)


@frozen(kw_only=True)
class RightReleases(_RunAccount):
    """The releases with right numbers."""

    by: tuple[str, ...]
    """The devices of the runs: ``interpreter``, and GPUs by name."""

    @property
    def phrase(self) -> str:
        """The account in a few words: ``right``, ``right since 3.2.0``."""
        return self._phrase_in(_RIGHT, "wrong")


@frozen(kw_only=True)
class FastReleases(_RunAccount):
    """The releases that are about as fast as the fastest one."""

    device: str
    """The GPU of the measurements."""
    best: str
    """The release with the shortest launch."""
    best_us: float
    """Microseconds of that launch."""

    @property
    def phrase(self) -> str:
        """The account in a few words: ``steady``, ``slower since 3.8.0``."""
        return self._phrase_in(_FAST, "slower")


def right(
    results: Mapping[str, Sequence[Result]], line: Sequence[Entry], device: str | None = None
) -> RightReleases | None:
    """Return the account of the numbers; ``None`` if nothing ran.

    ``results`` maps the label of a release to its results. ``line`` has every release. With
    ``device`` (:func:`ran_on`), only runs on that device count.
    """
    checks = {
        release: [
            check
            for result in release_results
            for check in result.numbers.checks
            if device in (None, ran_on(check))
        ]
        for release, release_results in results.items()
    }
    by = dict.fromkeys(
        ran_on(check) for release_checks in checks.values() for check in release_checks
    )
    if not by:
        return None
    return RightReleases(
        by=tuple(by),
        **_facts(
            {release: _all_right(release_checks) for release, release_checks in checks.items()},
            line,
        ),
    )


def ran_on(check: Check) -> str:
    """Return the device of a check: ``interpreter``, or the name of a GPU."""
    return check.device or INTERPRETER


def _all_right(checks: Sequence[Check]) -> bool | None:
    verdicts = [check.right for check in checks if check.right is not None]
    return all(verdicts) if verdicts else None


def fast(results: Mapping[str, Sequence[Result]], line: Sequence[Entry]) -> FastReleases | None:
    """Return the account of the latency on the GPU with the most measurements.

    Returns ``None`` if nothing was measured.
    """
    measured = {
        release: [r.latency for r in release_results if r.latency]
        for release, release_results in results.items()
    }
    devices = [latency.device for latencies in measured.values() for latency in latencies]
    if not devices:
        return None
    device = max(dict.fromkeys(devices), key=devices.count)
    us_by_release = {
        release: least
        for release, latencies in measured.items()
        if (least := _least(latencies, device)) is not None
    }
    best = min(us_by_release, key=us_by_release.__getitem__)
    good_by_release = {
        release: us_by_release[release] <= SLOWER * us_by_release[best]
        if release in us_by_release
        else None
        for release in results
    }
    return FastReleases(
        device=device, best=best, best_us=us_by_release[best], **_facts(good_by_release, line)
    )


def _least(latencies: Sequence[Latency], device: str) -> float | None:
    return min((latency.us for latency in latencies if latency.device == device), default=None)


def _facts(good_by_release: Mapping[str, bool | None], line: Sequence[Entry]) -> JsonObject:
    """Return the fields of an account of all releases in ``line``.

    ``good_by_release`` says whether a release is good; ``None`` means that it is unknown.
    """
    summary = account(
        (_entry(entry.release, good_by_release.get(entry.release)) for entry in line),
        by_class=False,
    )
    return {field.name: getattr(summary, field.name) for field in fields(Account)}


def _entry(release: str, good: bool | None) -> Entry:
    judgement = Judgement.UNKNOWN if good is None else Judgement.GOOD if good else Judgement.BAD
    return Entry(release=release, judgement=judgement, tested=good is not None)
