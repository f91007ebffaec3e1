"""The time of launches: events around each, a flushed second-level cache, and calls in turn."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Callable, List, Optional, Sequence, Tuple

from .cuda import CudaDriver, CudaError

if TYPE_CHECKING:
    from ...inside.foreign import Document

ROUNDS = 25
"""Timed launches of each."""
_AGAIN = 20
"""The same for the kernels that are timed a second time."""
_WARM_UP = 3
_FLUSHES_BEFORE_BASELINE = 4
"""PyTorch takes longer to launch, so flushes keep the GPU busy meanwhile, and the time is that of
the GPU.
"""
_LEAST_FLUSH = 1 << 20

_LEAST = 0.01
"""The relative difference that two launches of the same code may always have."""

Call = Callable[[], None]


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

        Calls of PyTorch are marked. Raises CudaError.
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


def timed(
    clock: Clock,
    launches: Sequence[Call],
    series: Sequence[str],
    baseline: Optional[Call],
    alive: Callable[[int], None],
) -> Tuple[List[Document], Optional[float]]:
    """The latency of each launch, and that of the baseline in microseconds.

    Neighbours in ``launches`` that are of one series and differ by more than they spread are timed
    a second time. ``alive`` hears the number of the launch that is next, and -1 where one round has
    ended.
    """
    calls: List[Tuple[Call, bool]] = [(launch, False) for launch in launches]
    if baseline is not None:
        try:
            clock.warm_up([(baseline, True)], lambda _: None)
            calls.append((baseline, True))
        except CudaError:
            raise
        except Exception:  # a baseline that this PyTorch or this GPU does not have is none
            baseline = None
    telling = len(launches)

    def tell(index: int) -> None:
        alive(index if index < telling else -1)

    clock.warm_up(calls, tell)
    timings = clock.rounds(calls, ROUNDS, tell)
    first = [median(samples) for samples in timings]
    again = differing(timings[:telling], series)
    if again:
        for index, samples in zip(
            again,
            clock.rounds(
                [calls[index] for index in again], _AGAIN, lambda i: tell(again[i] if i >= 0 else i)
            ),
        ):
            timings[index] += samples
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


def differing(taken: Sequence[List[float]], series: Sequence[str]) -> List[int]:
    """Return the indices of builds that differ from a neighbour of their series.

    The difference is larger than the spread of either, and than the usual difference between runs
    of the same code.
    """
    indices = set()
    for index in range(1, len(taken)):
        before, here = taken[index - 1], taken[index]
        usual = max(spread(before), spread(here), _LEAST * median(before))
        if series[index - 1] == series[index] and abs(median(before) - median(here)) > usual:
            indices |= {index - 1, index}
    return sorted(indices)


def median(samples: Sequence[float]) -> float:
    """The middle one."""
    return _quantile(samples, 0.5)


def spread(samples: Sequence[float]) -> float:
    """Half of the range that the middle half lies in."""
    return (_quantile(samples, 0.75) - _quantile(samples, 0.25)) / 2


def _quantile(samples: Sequence[float], part: float) -> float:
    ordered = sorted(samples)
    place = part * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
