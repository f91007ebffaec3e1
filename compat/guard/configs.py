"""The best configs of ``compat tune`` for a guard, from the JSON of its answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from compat.errors import StoreError
from compat.model.codec import RecordError, structure
from compat.text import JsonMapping, read_json
from compat.tune.records import TunedRecord

SCHEMA = 1
"""The supported version of the format."""
Configs = Mapping[str, Mapping[str, Mapping[str, Mapping[str, Mapping[str, JsonMapping]]]]]
"""Kernel → variant → workload → target → release → settings. The settings are the best from this
release on, until the next release in the mapping.
"""
_HINT = "Name a file that `compat tune --json` has printed."


@frozen(kw_only=True)
class _TunedFile:
    schema: int
    answers: tuple[TunedRecord, ...]


def read_configs(path: Path) -> Configs:
    """Read the best configs from a file.

    Raises:
        StoreError: The file cannot be read, or has no answers of ``compat tune``.
    """
    try:
        tuned = structure(read_json(path.read_text(encoding="utf-8")), _TunedFile, more=True)
        if tuned.schema != SCHEMA:
            raise RecordError(f"schema: expected {SCHEMA}, found {tuned.schema}")
        if not all(answer.is_sound for answer in tuned.answers):
            raise RecordError("answers: an answer names a config or a release that it lacks")
        return _configs_of(tuned)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise StoreError(f"cannot be read: {why}", where=str(path), hint=_HINT) from error


def _configs_of(tuned: _TunedFile) -> Configs:
    configs: dict[str, dict[str, dict[str, dict[str, dict[str, JsonMapping]]]]] = {}
    for answer in tuned.answers:
        of_variant = configs.setdefault(answer.kernel, {}).setdefault(answer.variant, {})
        best = {
            stretch.first: answer.configs[stretch.config].settings for stretch in answer.stretches
        }
        if of_variant.setdefault(answer.workload, {}).setdefault(answer.target, best) != best:
            place = f"{answer.kernel}/{answer.variant}/{answer.workload}/{answer.target}"
            raise RecordError(
                f"answers: GPUs differ over the best configs of {place}; leave the answer of one"
            )
    return configs
