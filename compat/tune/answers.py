"""The comparison of a workload's configs: the best by release, and the cost to keep another one.

Two latencies are as good as each other if they differ by no more than their spreads, or by 1 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from attrs import frozen

from compat.model import Latency, Result, Specialization, Status
from compat.text import group_by_key
from compat.tune.configs import Config, Workload

SLOWER = 1.1
"""A release is slower than the one before if its best config takes longer by this factor."""
ALIKE = 0.01
"""The relative difference that two runs of the same code may always have."""


@frozen(kw_only=True)
class Timing:
    """The result of one config on one release."""

    status: Status
    """The status of its numbers on the GPU, or of its compile if that failed."""
    latency: Latency | None = None
    """The latency, if the config gave right numbers and was timed."""


@frozen(kw_only=True)
class Stretch:
    """Neighbouring releases on which one config is as good as the best."""

    config: int
    first: int
    last: int
    """Indices of the config, and of the first and the last release."""


@frozen(kw_only=True)
class TuningAnswer:
    """The comparison of the configs of one workload on one GPU."""

    workload: Workload
    target: str
    device: str
    """The name that the GPU reports."""
    releases: tuple[str, ...]
    """The releases on which a config was timed, in order. If two envs have the same release, these
    are the names of the envs.
    """
    envs: tuple[str, ...]
    """The names of their envs."""
    timings: Mapping[tuple[int, int], Timing]
    """Index of a config, index of a release → the result."""

    @property
    def configs(self) -> tuple[Config, ...]:
        """The configs, in the order of their indices."""
        return self.workload.configs

    @property
    def subject(self) -> str:
        """``kernel/variant/workload/target``."""
        spec = self.workload.example
        return f"{spec.kernel}/{spec.variant}/{self.workload.name}/{self.target}"

    @property
    def timed_configs(self) -> tuple[int, ...]:
        """The configs that were timed on some release."""
        return tuple(
            config
            for config in range(len(self.configs))
            if any(self.latency(config, place) for place in range(len(self.releases)))
        )

    def latency(self, config: int, release: int) -> Latency | None:
        """The latency of a config on a release, if it was timed there."""
        timing = self.timings.get((config, release))
        return timing.latency if timing else None

    def best(self, release: int) -> int:
        """The fastest config of a release."""
        timed = {
            config: latency.us
            for config in range(len(self.configs))
            if (latency := self.latency(config, release)) is not None
        }
        return min(timed, key=lambda config: timed[config])

    def is_as_good(self, config: int, release: int) -> bool:
        """Whether a config is as good as the best one of a release."""
        own, best = self.latency(config, release), self.latency(self.best(release), release)
        return own is not None and best is not None and _is_equally_fast(own, best)

    def cost(self, config: int, release: int) -> float | None:
        """The latency of a config on a release, divided by that of the best config there.

        ``None`` if the config was not timed on that release.
        """
        own, best = self.latency(config, release), self.latency(self.best(release), release)
        return own.us / best.us if own is not None and best is not None else None

    def staying(self, old: int, new: int) -> float | None:
        """The cost of the best config of the release ``old`` on the release ``new``."""
        return self.cost(self.best(old), new)

    def stretches(self) -> tuple[Stretch, ...]:
        """All releases, in as few stretches as possible."""
        stretches: list[Stretch] = []
        first, good = 0, self._as_good(0)
        for release in range(1, len(self.releases)):
            still = good & self._as_good(release)
            if not still:
                stretches.append(self._stretch(good, first, release - 1))
                first, still = release, self._as_good(release)
            good = still
        return (*stretches, self._stretch(good, first, len(self.releases) - 1))

    def _as_good(self, release: int) -> set[int]:
        configs = range(len(self.configs))
        return {config for config in configs if self.is_as_good(config, release)}

    def _stretch(self, configs: set[int], first: int, last: int) -> Stretch:
        def total(config: int) -> float:
            return sum(self.cost(config, release) or 0.0 for release in range(first, last + 1))

        return Stretch(config=min(sorted(configs), key=total), first=first, last=last)

    def inversions(self) -> Iterator[tuple[Stretch, Stretch]]:
        """Neighbouring stretches, each of whose configs is slower in the other stretch."""
        for old, new in pairwise(self.stretches()):
            if not self.is_as_good(old.config, new.first) and not self.is_as_good(
                new.config, old.last
            ):
                yield old, new

    def slower(self) -> Iterator[tuple[int, float]]:
        """Releases whose best config is clearly slower than the best of the previous release.

        Each has its latency divided by that of the previous release.
        """
        for release in range(1, len(self.releases)):
            old, new = (self.latency(self.best(place), place) for place in (release - 1, release))
            if old is not None and new is not None and new.us > SLOWER * old.us:
                yield release, new.us / old.us

    def steadiest(self) -> tuple[int, float] | None:
        """The config whose highest cost over all releases is lowest, and this cost.

        ``None`` if no config was timed on every release.
        """
        costs: dict[int, float] = {}
        for config in range(len(self.configs)):
            own = [self.cost(config, release) for release in range(len(self.releases))]
            known_costs = [cost for cost in own if cost is not None]
            if len(known_costs) == len(own):
                costs[config] = max(known_costs)
        return min(costs.items(), key=lambda item: item[1], default=None)

    def dearest(self) -> tuple[int, int, float] | None:
        """The old and the new release between which staying costs the most, and this cost.

        Of several such pairs, it is the one whose releases are nearest to each other.
        """
        pairs = [
            (cost, old, new)
            for new in range(len(self.releases))
            for old in range(new)
            if (cost := self.staying(old, new)) is not None
        ]
        if not pairs:
            return None
        cost, old, new = max(pairs, key=lambda pair: (round(pair[0], 2), pair[1] - pair[2]))
        return old, new, cost


def _is_equally_fast(one: Latency, other: Latency) -> bool:
    usual = max(one.spread, other.spread, ALIKE * min(one.us, other.us))
    return abs(one.us - other.us) <= usual


def answers_of(
    workloads: Sequence[Workload], results: Sequence[Result]
) -> tuple[TuningAnswer, ...]:
    """An answer for each workload, target and GPU on which a config was timed.

    Results are those of the cells of all configs, with their launches on every GPU.
    """
    by_spec = group_by_key(
        ((result.cell.spec, result.cell.target.name), result) for result in results
    )
    targets = dict.fromkeys(result.cell.target.name for result in results)
    devices = sorted({result.latency.device for result in results if result.latency is not None})
    answers = (
        _answer(workload, target, device, by_spec)
        for workload in workloads
        for target in targets
        for device in devices
    )
    return tuple(answer for answer in answers if answer is not None)


def _answer(
    workload: Workload,
    target: str,
    device: str,
    by_spec: Mapping[tuple[Specialization, str], Sequence[Result]],
) -> TuningAnswer | None:
    by_env: dict[str, dict[int, Result]] = {}
    for index, config in enumerate(workload.configs):
        for result in by_spec.get((config.spec, target), ()):
            if _counts_on(device, result):
                by_env.setdefault(result.cell.env.name, {})[index] = result
    timed = {
        env: results
        for env, results in by_env.items()
        if any(_timing(result).latency is not None for result in results.values())
    }
    if not timed:
        return None
    envs = sorted(timed, key=lambda env: _place(next(iter(timed[env].values()))))
    releases = [str(next(iter(timed[env].values())).cell.env.release) for env in envs]
    return TuningAnswer(
        workload=workload,
        target=target,
        device=device,
        releases=tuple(
            releases if len(set(releases)) == len(releases) and "None" not in releases else envs
        ),
        envs=tuple(envs),
        timings={
            (config, place): _timing(result)
            for place, env in enumerate(envs)
            for config, result in timed[env].items()
        },
    )


def _counts_on(device: str, result: Result) -> bool:
    """Whether a result was launched on a GPU, or is one that nothing can launch."""
    check = result.numbers.gpu
    return check.device == device if check else result.outcome.status is not Status.OK


def _place(result: Result) -> tuple[bool, object, str]:
    release = result.cell.env.release
    return release is None, release or 0, result.cell.env.name


def _timing(result: Result) -> Timing:
    launched = result.numbers.gpu
    if not result.outcome.has_code or launched is None:
        return Timing(status=result.outcome.status)
    right = launched.status is Status.OK
    return Timing(status=launched.status, latency=result.latency if right else None)
