"""``python -m tests.fuzz [--inputs N] [--seed N] [PLACE …]``: tries inputs for every place.

It prints figures of the results.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from compat.errors import CompatError
from tests.fuzz.canary import watched
from tests.fuzz.places import Place, shown
from tests.fuzz.strangers import ALL_PLACES

_QUIETLY: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "database": None,
    "phases": [Phase.generate],
}
_ROUND = 500
"""Inputs of one run of hypothesis, which slows down with the inputs that it remembers."""
_SLOW = 5.0
"""Seconds after which an input counts as a failure."""


def main() -> int:
    arguments = _arguments()
    chosen = {
        name: place
        for name, place in ALL_PLACES.items()
        if not arguments.places or name in arguments.places
    }
    shares, failed = sum(place.share for place in chosen.values()), 0
    print(
        f"{'place':<20} {'inputs':>8} {'taken':>8} {'refused':>8} {'failures':>8} {'seconds':>8}"
        f" {'slowest':>8}"
    )
    total = Counter[str]()
    started = time.monotonic()
    for name, place in chosen.items():
        campaign = _Tried(
            place, max(1, round(arguments.inputs * place.share / shares)), arguments.seed
        )
        counts = campaign.counts
        total += counts
        failed += counts["failures"]
        numbers = (
            f"{counts['inputs']:>8,} {counts['taken']:>8,} {counts['refused']:>8,}"
            f" {counts['failures']:>8,}"
        )
        print(f"{name:<20} {numbers} {campaign.seconds:>8.1f} {campaign.slowest:>8.2f}", flush=True)
        for failure, times in campaign.failures.most_common(5):
            print(f"    {times} times: {failure}", flush=True)
    numbers = (
        f"{total['inputs']:>8,} {total['taken']:>8,} {total['refused']:>8,} {total['failures']:>8,}"
    )
    print(f"{'all':<20} {numbers} {time.monotonic() - started:>8.1f}")
    return 1 if failed else 0


class _Tried:
    """Tries inputs for one place, and counts the results."""

    def __init__(self, place: Place, inputs: int, start: int) -> None:
        self.place = place
        self.counts, self.failures = Counter[str](), Counter[str]()
        self.seconds = self.slowest = 0.0
        began = time.monotonic()
        for number in range(0, inputs, _ROUND):
            self._some(min(_ROUND, inputs - number), start + number)
        self.seconds = time.monotonic() - began

    def _some(self, inputs: int, start: int) -> None:
        @seed(start)
        @settings(**_QUIETLY, max_examples=inputs)
        @given(self.place.inputs)
        def run(example: object) -> None:
            self._one(example)

        run()

    def _one(self, example: object) -> None:
        self.counts["inputs"] += 1
        began = time.process_time()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            try:
                with watched(Path(folder)) as inside:
                    self.place.act(example, inside)
                self.counts["taken"] += 1
            except CompatError as error:
                self.counts["refused"] += 1
                try:
                    shown(f"{error}{error.hint or ''}")
                except AssertionError as raw:
                    self._failed(raw, example)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                self._failed(error, example)
        seconds = time.process_time() - began
        self.slowest = max(self.slowest, seconds)
        if seconds > _SLOW:
            self._failed(TimeoutError(f"took {seconds:.1f} s"), example)

    def _failed(self, error: BaseException, example: object) -> None:
        self.counts["failures"] += 1
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if "/compat/" in frame.filename
        ]
        at = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "the check"
        key = f"{at} {type(error).__name__}: {str(error)[:150]!r}"
        if key not in self.failures:
            print(f"    {key}\n      for {repr(example)[:600]}", file=sys.stderr, flush=True)
        self.failures[key] += 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "--inputs", type=int, default=100_000, help="how many, over all places [100000]"
    )
    parser.add_argument("--seed", type=int, default=0, help="another one gives other inputs [0]")
    parser.add_argument(
        "places", nargs="*", metavar="PLACE", help=f"one of: {', '.join(ALL_PLACES)}"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
