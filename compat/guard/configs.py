"""The best configs of ``compat tune`` for a guard, from the JSON of its answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from compat.errors import StoreError
from compat.model.codec import RecordError, structure
from compat.text import JsonMapping, read_json

SCHEMA = 1
"""The version of the format that is read."""
Configs = Mapping[str, Mapping[str, Mapping[str, Mapping[str, Mapping[str, JsonMapping]]]]]
"""Kernel → variant → workload → target → release → settings. They are best from this release on,
until the next one that is there.
"""
_HINT = "Name a file that `compat tune --json` has printed."


@frozen(kw_only=True)
class _TunedConfig:
    settings: JsonMapping


@frozen(kw_only=True)
class _TunedStretch:
    config: int
    first: str


@frozen(kw_only=True)
class _TunedAnswer:
    kernel: str
    variant: str
    workload: str
    target: str
    configs: tuple[_TunedConfig, ...]
    stretches: tuple[_TunedStretch, ...]


@frozen(kw_only=True)
class _Tuned:
    schema: int
    answers: tuple[_TunedAnswer, ...]


def read_configs(path: Path) -> Configs:
    """Read the best configs from a file.

    Raises:
        StoreError: The file cannot be read, or has no answers of ``compat tune``.
    """
    try:
        tuned = structure(read_json(path.read_text(encoding="utf-8")), _Tuned, more=True)
        if tuned.schema != SCHEMA:
            raise RecordError(f"schema: expected {SCHEMA}, found {tuned.schema}")
        return _configs_of(tuned)
    except (OSError, ValueError, IndexError) as error:
        why = getattr(error, "strerror", None) or error
        raise StoreError(f"cannot be read: {why}", where=str(path), hint=_HINT) from error


def _configs_of(tuned: _Tuned) -> Configs:
    configs: dict[str, dict[str, dict[str, dict[str, dict[str, JsonMapping]]]]] = {}
    for answer in tuned.answers:
        of_variant = configs.setdefault(answer.kernel, {}).setdefault(answer.variant, {})
        of_variant.setdefault(answer.workload, {})[answer.target] = {
            stretch.first: answer.configs[stretch.config].settings for stretch in answer.stretches
        }
    return configs
