"""The time of launches: events around each, a flushed second-level cache, and calls in turn."""

from __future__ import annotations

import math
import time
from types import ModuleType
from typing import TYPE_CHECKING, Callable, Dict, List, Optional, Sequence, Set, Tuple

from .cuda import CudaDriver, CudaError

if TYPE_CHECKING:
    from ...inside.foreign import Document

ROUNDS = 25
"""Timed launches of each kernel."""
_AGAIN = 20
"""Further launches of each kernel that is timed a second time."""
_WARM_UP = 3
_FLUSHES_BEFORE_BASELINE = 4
"""PyTorch takes longer to launch, so flushes keep the GPU busy meanwhile, and the time is that of
the GPU.
"""
_LEAST_FLUSH = 1 << 20

_LEAST = 0.01
"""The relative difference that two launches of the same code may always have."""
_NARROWING = (3, 5)
"""Timed launches of each config before the slower half of them is left out, twice."""
_CLOSE = 1.05
"""A config stays if it is slower than the best by at most this factor, on one release at least."""
_FEWEST = 5
"""Timed launches of each remaining config, however short the time is."""

Call = Callable[[], None]


class Entrant:
    """A launch to time, and the groups in which it is compared."""

    def __init__(self, launch: Call, cell: Document) -> None:
        self.launch = launch
        self.series: str = cell["series"]
        """The group of all releases of one config."""
        self.contest: Optional[str] = cell.get("contest")
        """The group of all configs of one workload; ``None`` without tuning."""
        self.release: str = cell["cell"].rpartition("/")[2]


class Clock:
    """Times calls on the default stream."""

    def __init__(self, driver: CudaDriver, torch: ModuleType, device: str) -> None:
        self._driver = driver
        self._size = max(_LEAST_FLUSH, 2 * driver.l2_bytes)
        self._memory = torch.empty(self._size, dtype=torch.uint8, device=device)
        self._start, self._end = [driver.event()], [driver.event()]

    def rounds(
        self, calls: Sequence[Tuple[Call, bool]], count: int, alive: Callable[[int], None]
    ) -> List[List[float]]:
        """Return the microseconds of each call, ``count`` times, in turn.

        Each call comes with whether it is a call of PyTorch. Raises CudaError.
        """
        while len(self._start) < len(calls):
            self._start.append(self._driver.event())
            self._end.append(self._driver.event())
        samples: List[List[float]] = [[] for _ in calls]
        for number in range(count):
            for index, (call, is_torch) in enumerate(calls):
                if number == 0:
                    alive(index)
                for _ in range(_FLUSHES_BEFORE_BASELINE if is_torch else 1):
                    self._driver.call(
                        "cuMemsetD8Async", self._memory.data_ptr(), number & 1, self._size, None
                    )
                self._driver.call("cuEventRecord", self._start[index], None)
                call()
                self._driver.call("cuEventRecord", self._end[index], None)
            self._driver.synchronize()
            for index in range(len(calls)):
                samples[index].append(
                    self._driver.microseconds(self._start[index], self._end[index])
                )
            alive(-1)
        return samples

    def warm_up(self, calls: Sequence[Tuple[Call, bool]], alive: Callable[[int], None]) -> None:
        """Call each a few times, and wait for it. Raises CudaError."""
        for index, (call, _) in enumerate(calls):
            alive(index)
            for _ in range(_WARM_UP):
                call()
            self._driver.synchronize()


def time_launches(
    clock: Clock,
    entrants: Sequence[Entrant],
    baseline: Optional[Call],
    alive: Callable[[int], None],
    until: float = math.inf,
) -> Tuple[List[Document], Optional[float]]:
    """Return the latency of each launch, and that of the baseline in microseconds.

    Configs of a contest that are slow on every release are timed only a few times
    (:func:`remaining`). Neighbours of one series that differ by more than their spread are timed a
    second time. ``alive`` gets the number of the next launch, and -1 at the end of a round. After
    ``until``, a time on the monotonic clock, launches are timed as few times as possible.
    """
    calls: List[Tuple[Call, bool]] = [(entrant.launch, False) for entrant in entrants]
    if baseline is not None:
        try:
            clock.warm_up([(baseline, True)], lambda _: None)
            calls.append((baseline, True))
        except CudaError:
            raise
        except Exception:  # this PyTorch or this GPU cannot run the baseline
            baseline = None
    telling = len(entrants)
    timings: List[List[float]] = [[] for _ in calls]

    def time_again(indices: Sequence[int], count: int) -> None:
        """Time some of the calls ``count`` more times."""

        def tell(place: int) -> None:
            index = indices[place] if place >= 0 else -1
            alive(index if index < telling else -1)

        for index, samples in zip(
            indices, clock.rounds([calls[index] for index in indices], count, tell)
        ):
            timings[index] += samples

    clock.warm_up(calls, lambda index: alive(index if index < telling else -1))
    active_indices, count = list(range(len(calls))), ROUNDS
    if any(entrant.contest for entrant in entrants):
        for rounds in _NARROWING:
            began = time.monotonic()
            time_again(active_indices, rounds)
            seconds = (time.monotonic() - began) / rounds / len(active_indices)
            staying = remaining(entrants, timings, active_indices)
            active_indices = [
                index for index in active_indices if index >= telling or index in staying
            ]
        rounds_left = (until - time.monotonic()) / max(seconds * len(active_indices), 1e-9)
        count = ROUNDS if rounds_left >= ROUNDS else max(_FEWEST, int(rounds_left))
    time_again(active_indices, count)
    first = [median(samples) for samples in timings]
    again = differing([timings[i] for i in range(telling)], entrants, active_indices)
    if again and time.monotonic() < until:
        time_again(again, _AGAIN)
    latencies = [
        {
            "us": round(median(samples), 3),
            "spread": round(spread(samples), 3),
            "samples": len(samples),
            "first_us": round(first[index], 3) if index in again else None,
        }
        for index, samples in enumerate(timings[:telling])
    ]
    return latencies, round(median(timings[-1]), 3) if baseline is not None else None


def remaining(
    entrants: Sequence[Entrant], timings: Sequence[List[float]], active_indices: Sequence[int]
) -> Set[int]:
    """Return the indices of the kept launches that are timed further.

    Of each contest, these are the faster half of the configs, and all that come close to the best
    on some release. All releases of such a config stay, so that each config can be compared on
    every release. A launch that is in no contest stays.
    """
    staying: Set[int] = set()
    contests: Dict[Optional[str], List[int]] = {}
    for index in active_indices:
        if index < len(entrants):
            contests.setdefault(entrants[index].contest, []).append(index)
    for contest, indices in contests.items():
        if contest is None:
            staying |= set(indices)
            continue
        best: Dict[str, float] = {}
        for index in indices:
            release, us = entrants[index].release, median(timings[index])
            best[release] = min(us, best.get(release, us))
        ratios: Dict[str, float] = {}
        for index in indices:
            ratio = median(timings[index]) / max(best[entrants[index].release], 1e-9)
            series = entrants[index].series
            ratios[series] = min(ratio, ratios.get(series, ratio))
        ranked = sorted(ratios, key=lambda series: ratios[series])
        chosen = {series for series in ranked if ratios[series] <= _CLOSE}
        chosen |= set(ranked[: (len(ranked) + 1) // 2])
        staying |= {index for index in indices if entrants[index].series in chosen}
    return staying


def differing(
    timings: Sequence[List[float]], entrants: Sequence[Entrant], active_indices: Sequence[int]
) -> List[int]:
    """Return the indices of kept builds that differ from a neighbour of their series.

    The difference is larger than the spread of either, and than the usual difference between runs
    of the same code.
    """
    indices = set()
    for index in range(1, len(timings)):
        before, here = timings[index - 1], timings[index]
        usual = max(spread(before), spread(here), _LEAST * median(before))
        together = entrants[index - 1].series == entrants[index].series
        if together and abs(median(before) - median(here)) > usual:
            indices |= {index - 1, index}
    return sorted(indices & set(active_indices))


def median(samples: Sequence[float]) -> float:
    """Return the median of samples."""
    return _quantile(samples, 0.5)


def spread(samples: Sequence[float]) -> float:
    """Return half of the interquartile range of samples."""
    return (_quantile(samples, 0.75) - _quantile(samples, 0.25)) / 2


def _quantile(samples: Sequence[float], part: float) -> float:
    ordered = sorted(samples)
    place = part * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
