"""Answers of ``compat tune`` as data, for ``--json`` and for reports."""

from __future__ import annotations

from typing import Annotated

from attrs import field, frozen

from compat.model import Status
from compat.model.fields import Amount, Count, Releases, Text, rules
from compat.text import JsonMapping
from compat.tune.answers import TuningAnswer
from compat.tune.configs import label_of


@frozen(kw_only=True)
class ConfigRecord:
    """A config, and the name of its case."""

    case: Text
    settings: Annotated[
        JsonMapping, rules(description="Open: constexprs and options of the kernel.")
    ] = field(hash=False)

    @property
    def label(self) -> str:
        """``BLOCK=64, num_warps=8``."""
        return label_of(self.settings)


@frozen(kw_only=True)
class TimingRecord:
    """One config on one release; a config without right numbers has no latency."""

    status: Status
    us: Amount | None
    spread: Amount | None
    cost: Annotated[Amount | None, rules(description="By the latency of the best there.")]


@frozen(kw_only=True)
class ReleaseRecord:
    """One release: its best config, and the result of each config."""

    release: Text
    best: Count
    timings: tuple[TimingRecord | None, ...]


@frozen(kw_only=True)
class StretchRecord:
    """Neighbouring releases on which one config is as good as the best."""

    config: Count
    first: Text
    last: Text


@frozen(kw_only=True)
class SteadiestRecord:
    """The config whose highest cost over all releases is lowest."""

    config: Count
    cost: Amount


@frozen(kw_only=True)
class TunedRecord:
    """The configs of one workload, compared on one GPU. Records refer to configs by index."""

    kernel: Text
    variant: Text
    workload: Text
    target: Text
    device: str
    configs: tuple[ConfigRecord, ...]
    releases: tuple[ReleaseRecord, ...]
    staying: Annotated[
        tuple[tuple[Amount | None, ...], ...],
        rules(description="Old release, new release: the cost of the old one's best config there."),
    ]
    stretches: tuple[StretchRecord, ...]
    inversions: tuple[Releases, ...]
    steadiest: SteadiestRecord | None
    sentences: tuple[Text, ...]

    @property
    def phrase(self) -> str:
        """``best since 3.6.0: num_warps=8``, or without a release if one config always is."""
        last = self.stretches[-1]
        since = f" since {last.first}" if len(self.stretches) > 1 else ""
        return f"best{since}: {self.configs[last.config].label}"

    @property
    def is_sound(self) -> bool:
        """Whether all indices of configs exist, and all tables have the right sizes."""
        configs, releases = len(self.configs), len(self.releases)
        places = [release.best for release in self.releases]
        places += [stretch.config for stretch in self.stretches]
        return (
            bool(places)
            and bool(self.stretches)
            and max(places) < configs
            and all(len(release.timings) == configs for release in self.releases)
            and [len(costs) for costs in self.staying] == [releases] * releases
        )

    def latency(self, config: int, place: int) -> float | None:
        """The latency of a config on a release, in microseconds."""
        timing = self.releases[place].timings[config]
        return timing.us if timing else None


def tuned_record(answer: TuningAnswer, sentences: tuple[str, ...]) -> TunedRecord:
    """The record of an answer, with its sentences."""
    places = range(len(answer.releases))
    spec, steadiest = answer.workload.example, answer.steadiest()
    return TunedRecord(
        kernel=spec.kernel,
        variant=spec.variant,
        workload=answer.workload.name,
        target=answer.target,
        device=answer.device,
        configs=tuple(
            ConfigRecord(case=config.spec.case, settings=dict(config.settings))
            for config in answer.configs
        ),
        releases=tuple(
            ReleaseRecord(
                release=answer.releases[place],
                best=answer.best(place),
                timings=tuple(
                    _timing(answer, config, place) for config in range(len(answer.configs))
                ),
            )
            for place in places
        ),
        staying=tuple(tuple(answer.staying(old, new) for new in places) for old in places),
        stretches=tuple(
            StretchRecord(
                config=stretch.config,
                first=answer.releases[stretch.first],
                last=answer.releases[stretch.last],
            )
            for stretch in answer.stretches()
        ),
        inversions=tuple(
            (answer.releases[old.last], answer.releases[new.first])
            for old, new in answer.inversions()
        ),
        steadiest=(
            None if steadiest is None else SteadiestRecord(config=steadiest[0], cost=steadiest[1])
        ),
        sentences=sentences,
    )


def _timing(answer: TuningAnswer, config: int, release: int) -> TimingRecord | None:
    timing = answer.timings.get((config, release))
    if timing is None:
        return None
    latency = timing.latency
    return TimingRecord(
        status=timing.status,
        us=latency.us if latency else None,
        spread=latency.spread if latency else None,
        cost=answer.cost(config, release),
    )
