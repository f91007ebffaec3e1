"""The names of a run's envs, as far as they are kept from an earlier look, for a report to carry: no env is asked here.

In: envs, and the folder of a project's state. Out: :class:`compat.api.packing.Packed`, which is kept in that folder until one of
the envs is another one.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Sequence
from pathlib import Path

from packaging.version import Version

from compat import toolchains
from compat.api.looking import is_kept, kept, looked_of
from compat.api.packing import Packed, pack
from compat.api.records import Namespace
from compat.envs.cache import EnvCache
from compat.files import content_of, folder_digest, replace_file
from compat.json_text import read_json
from compat.model import BuiltEnv
from compat.records import RecordError, structure, unstructure

_log = logging.getLogger(__name__)
_FILE = "names.json"
_LARGEST = 64 * 1024 * 1024


def kept_names(envs: Sequence[BuiltEnv], existing: Collection[Version], cache: EnvCache, state: Path) -> Packed | None:
    """What is kept of the names in these envs; ``None`` where nothing is. Of several toolchains the first is told."""
    known = [built for built in envs if built.error is None and toolchains.of(built.env).names and is_kept(built, cache)]
    known = [built for built in known if built.env.toolchain == known[0].env.toolchain]
    if not known:
        return None
    facts = [folder_digest(Path(__file__).parent), sorted(map(str, existing)), [[built.env.name, built.digest] for built in known]]
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    if (packed := _read(state / _FILE, key)) is not None:
        return packed
    namespaces: dict[str, Namespace | str] = {built.env.name: found for built in known if (found := kept(built, cache)) is not None}
    if not namespaces:
        return None
    packed = pack(looked_of([built for built in known if built.env.name in namespaces], namespaces, existing))
    try:
        replace_file(state / _FILE, json.dumps({"key": key, "names": unstructure(packed, compact=True)}))
    except OSError as error:  # it is made again by the next run
        _log.info("%s cannot be written: %s", state / _FILE, error)
    return packed


def _read(path: Path, key: str) -> Packed | None:
    try:
        document = read_json(content_of(path, _LARGEST) or b"")
        return structure(document["names"], Packed) if isinstance(document, dict) and document.get("key") == key else None
    except (ValueError, KeyError, RecordError):
        return None
