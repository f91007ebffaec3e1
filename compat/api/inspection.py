"""The names of each env. An env answers once, and its answer is kept beside it.

The answer is valid as long as the packages of the env stay the same. :func:`stored_names` packs the
kept answers of a run's envs for a report. It asks no env.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from packaging.version import Version

from compat import toolchains
from compat.api.histories import PackedNames, pack
from compat.api.records import Document, InspectedRelease, Inspection, Namespace
from compat.engine.run import concurrently, existing_releases
from compat.envs import locks
from compat.envs.cache import EnvCache
from compat.envs.record import read_record
from compat.errors import ConfigError, EnvError
from compat.files import TemporaryFolder, content_of, folder_digest, keep_file
from compat.history.verdict import Release, release_of
from compat.model import BuiltEnv, Env
from compat.model.codec import RecordError, structure, unstructure
from compat.processes.supervisor import AVAILABLE_CORES, SHOWN, ProcessResult, run
from compat.project import Listener, Selection
from compat.text import group_by_key, printable, read_json, text_digest
from compat.toolchains.base import Toolchain
from compat.workers.spawn import visible_variables

_log = logging.getLogger(__name__)
_LONGEST_KEY = 100


def look(selection: Selection, listener: Listener | None = None) -> Inspection:
    """Read the names that a toolchain offers in each environment of a selection.

    If the selection names no environments, it reads one of every release that exists, and the
    forks.

    Raises:
        EnvError: There is no environment to read.
        ConfigError: The toolchain does not support reading names.
    """
    toolchain, envs = _choose_toolchain(selection)
    cache = selection.config.env_cache()
    builts = [selection.look_at(env) for env in envs]
    best = list(_best(builts))
    usable = [built for built in best if built.error is None]
    with (listener or Listener()).step("reading names") as now:
        answers = _all_of(usable, toolchain, cache, now)
    missing = {
        built.env.name
        for built in best
        if built.error is not None and read_record(cache.folder_of(built.env)) is None
    }
    existing = existing_releases(selection.config)[toolchain.name]
    inspection = inspection_of(
        best, answers, existing, missing=missing, left_out=bool(selection.patterns.envs)
    )
    if not inspection.inspected_releases:
        raise _nothing(inspection)
    return inspection


def inspection_of(
    envs: Sequence[BuiltEnv],
    answers: Mapping[str, Namespace | str],
    existing: Collection[Version],
    *,
    missing: Collection[str] = (),
    left_out: bool = True,
) -> Inspection:
    """Combine the answers of envs with the existing releases that were not inspected.

    The inspection has one entry for each release. ``answers`` maps an env to its names, or to the
    reason why it has no answer. ``existing`` are the releases that exist, ``missing`` are the envs
    that were never built, and ``left_out`` says whether other releases were not asked for.
    """
    toolchain = toolchains.of(envs[0].env)
    places = [
        _place(built, answers.get(built.env.name), missing=built.env.name in missing)
        for built in _best(envs)
    ]
    places += _others(existing, places, left_out=left_out)
    return Inspection(
        toolchain=toolchain.name,
        places=tuple(sorted(places, key=_order)),
        short=toolchain.language.api.short if toolchain.language.api else {},
    )


def is_kept(built: BuiltEnv, cache: EnvCache) -> bool:
    """Whether an earlier inspection kept a valid answer of an env."""
    try:
        with cache.folder_of(built.env).names.open("rb") as file:
            key = file.readline(_LONGEST_KEY)
    except OSError:
        return False
    return key.rstrip(b"\n").decode(errors="replace") == _key(built, toolchains.of(built.env))


def stored_namespace(built: BuiltEnv, cache: EnvCache) -> Namespace | None:
    """The answer that an env gave earlier, or ``None`` if there is none or the env has changed."""
    toolchain = toolchains.of(built.env)
    return (
        _read_stored(built, toolchain, cache)
        if built.error is None and toolchain.language.api
        else None
    )


# --- which envs -----------------------------------------------------------------------------------


def _choose_toolchain(selection: Selection) -> tuple[Toolchain, tuple[Env, ...]]:
    """The toolchain whose names are read, and its envs.

    Raises ConfigError if no toolchain lists its names, or if several do.
    """
    config = selection.config
    envs = (
        selection.envs
        if selection.patterns.envs
        else tuple(dict.fromkeys((*config.envs, *config.released)))
    )
    used = dict.fromkeys(env.toolchain for env in envs)
    answering = [toolchain for name in used if (toolchain := toolchains.look_up(name)).language.api]
    if not answering:
        titles = ", ".join(toolchains.look_up(name).title for name in used)
        hint = "docs/toolchains.md describes `language.api` of a toolchain."
        raise ConfigError(f"the toolchain {titles} does not list its names", hint=hint)
    if len(answering) > 1:
        hint = "Choose envs of one toolchain with --envs."
        raise ConfigError(
            "the envs are of several toolchains:"
            f" {', '.join(toolchain.title for toolchain in answering)}",
            hint=hint,
        )
    return answering[0], tuple(env for env in envs if env.toolchain == answering[0].name)


def _best(envs: Iterable[BuiltEnv]) -> Iterator[BuiltEnv]:
    """One env of each release, and every fork.

    If a release has several envs, a usable one comes first, and then one without PyTorch.
    """
    of_release: dict[Version | None, list[BuiltEnv]] = {}
    for built in envs:
        release = release_of(built)
        if release.fork:
            yield built
        else:
            of_release.setdefault(release.version, []).append(built)
    for group in of_release.values():
        yield min(group, key=lambda built: (built.error is not None, built.env.has_framework))


def _place(built: BuiltEnv, answer: Namespace | str | None, *, missing: bool) -> InspectedRelease:
    release = release_of(built)
    label = built.env.name if release.fork else release.label
    namespace = answer if isinstance(answer, Namespace) else None
    error = answer if isinstance(answer, str) else built.error or ""
    return InspectedRelease(
        label=label,
        fork=release.fork,
        built=built,
        namespace=namespace,
        error=error,
        missing=missing,
    )


def _others(
    existing: Iterable[Version], places: Sequence[InspectedRelease], *, left_out: bool
) -> list[InspectedRelease]:
    """Entries for the existing releases that have no env among ``places``."""
    named = {release_of(place.built).version for place in places if place.built and not place.fork}
    why = "not chosen" if left_out else "not built yet"
    return [
        InspectedRelease(label=str(version), error=why, missing=not left_out, left_out=left_out)
        for version in existing
        if version not in named
    ]


def _order(place: InspectedRelease) -> tuple[object, ...]:
    release = (
        release_of(place.built)
        if place.built
        else Release(label=place.label, version=Version(place.label), fork=False)
    )
    return release.order


def _nothing(inspection: Inspection) -> EnvError:
    missing = [place.label for place in inspection.places if place.missing]
    broken = [place for place in inspection.places if not place.missing and not place.left_out]
    if broken:
        errors = group_by_key((_last_line(place.error), place.label) for place in broken)
        message = "; ".join(f"{', '.join(labels)}: {line}" for line, labels in errors.items())
        return EnvError(f"no env could be inspected: {message}", hint=build_hint(missing))
    return EnvError("none of the envs is built", hint=build_hint(missing))


def build_hint(missing: Sequence[str]) -> str | None:
    """A hint with the command that builds the missing envs; ``None`` if none is missing."""
    return f"Build them with `compat envs build {' '.join(missing)}`." if missing else None


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]


# --- kept answers, and new ones -------------------------------------------------------------------


def _all_of(
    envs: Sequence[BuiltEnv], toolchain: Toolchain, cache: EnvCache, now: Callable[[str], None]
) -> dict[str, Namespace | str]:
    """Env → its names, or the reason why it has no answer.

    At most one env per core is asked at the same time.
    """
    answers: dict[str, Namespace | str] = {}
    for built in envs:
        if (stored := _read_stored(built, toolchain, cache)) is not None:
            answers[built.env.name] = stored
    waiting = [built for built in envs if built.env.name not in answers]
    if waiting:

        def ask(built: BuiltEnv) -> None:
            answers[built.env.name] = _ask_env(built, toolchain, cache)
            now(f"{len(answers)} of {len(envs)} envs")

        concurrently(ask, waiting, min(len(waiting), AVAILABLE_CORES))
    return answers


def _key(built: BuiltEnv, toolchain: Toolchain) -> str:
    """A hash of everything that an answer depends on: the env, and the program that reads names."""
    assert toolchain.language.api is not None
    return text_digest(f"{built.digest} {folder_digest(toolchain.language.api.program)}")


def _read_stored(built: BuiltEnv, toolchain: Toolchain, cache: EnvCache) -> Namespace | None:
    content = content_of(cache.folder_of(built.env).names, _LARGEST)
    key, _, answer = (content or b"").partition(b"\n")
    if key.decode(errors="replace") != _key(built, toolchain):
        return None
    try:
        return _read(answer)
    except (ValueError, RecordError):
        return None


def _ask_env(built: BuiltEnv, toolchain: Toolchain, cache: EnvCache) -> Namespace | str:
    """Ask an env for its names and keep them. Returns the reason if there is no answer."""
    assert built.python is not None
    _log.info("reading the names of %s", built.env.name)
    locks.hold(cache.folder_of(built.env))
    try:
        answer = introspect(built.python, toolchain)
        namespace = _read(answer)
    except UnresponsiveEnv as error:
        return printable(str(error))
    except (ValueError, RecordError) as error:
        return printable(f"cannot read its answer: {error}")
    key = _key(built, toolchain).encode()
    keep_file(cache.folder_of(built.env).names, key + b"\n" + answer)
    return namespace


def _read(answer: bytes) -> Namespace:
    """Read an env's answer. Raises ValueError if it is not valid."""
    document = structure(read_json(answer), Document, more=True)
    return Namespace(names=document.names)


# --- the names of a run's envs, for a report ------------------------------------------------------


def stored_names(
    envs: Sequence[BuiltEnv], existing: Collection[Version], cache: EnvCache
) -> PackedNames | None:
    """The kept names of these envs, of the first toolchain that has any.

    It is ``None`` if nothing is kept. All projects share the packed names of the same envs.
    """
    usable = [
        built
        for built in envs
        if built.error is None and toolchains.of(built.env).language.api and is_kept(built, cache)
    ]
    usable = [built for built in usable if built.env.toolchain == usable[0].env.toolchain]
    if not usable:
        return None
    facts = [
        folder_digest(Path(__file__).parent),
        sorted(map(str, existing)),
        [[built.env.name, _key(built, toolchains.of(built.env))] for built in usable],
    ]
    key = text_digest(json.dumps(facts))
    among = text_digest(" ".join(built.env.name for built in usable))
    path = cache.folder_of(usable[-1].env).path / f"names-{among[:8]}.json"
    if (packed := _read_packed(path, key)) is not None:
        return packed
    namespaces: dict[str, Namespace | str] = {
        built.env.name: namespace
        for built in usable
        if (namespace := stored_namespace(built, cache)) is not None
    }
    if not namespaces:
        return None
    packed = pack(
        inspection_of(
            [built for built in usable if built.env.name in namespaces], namespaces, existing
        )
    )
    keep_file(path, json.dumps({"key": key, "names": unstructure(packed, compact=True)}))
    return packed


def _read_packed(path: Path, key: str) -> PackedNames | None:
    try:
        document = read_json(content_of(path, _LARGEST) or b"")
        return (
            structure(document["names"], PackedNames, more=True)
            if isinstance(document, dict) and document.get("key") == key
            else None
        )
    except (ValueError, KeyError, RecordError):
        return None


# --- asking an env --------------------------------------------------------------------------------


DEADLINE = 60.0
"""Seconds that an env may take. The import takes half a second in an intact env."""
_LARGEST = 64 * 1024 * 1024
"""The most bytes that an answer may have."""


class UnresponsiveEnv(Exception):
    """The env gave no answer. The message is the reason, as far as it is known."""


def introspect(python: str, toolchain: Toolchain, deadline: float = DEADLINE) -> bytes:
    """Run the program of :attr:`Language.api` in an env, and return the bytes of its answer.

    Raises UnresponsiveEnv if the program fails or writes no answer, MachineError if the machine
    refuses to start a process, and Stopped if the command is to end.
    """
    assert toolchain.language.api is not None
    with TemporaryFolder("compat-names-") as folder:
        answer = folder / "names.json"
        ended = _run(
            [python, "-I", str(toolchain.language.api.program), str(answer)],
            toolchain,
            folder,
            deadline,
        )
        content = content_of(answer, _LARGEST)
        if content is None or ended.exit_code != 0:
            why = f"ended with exit code {ended.exit_code} and no answer"
            why = f"did not end within {deadline:g} s" if ended.exit_code is None else why
            raise UnresponsiveEnv(ended.output.strip() or f"importing {toolchain.title} {why}")
        return content


def _run(command: list[str], toolchain: Toolchain, folder: Path, deadline: float) -> ProcessResult:
    home, settings = str(folder), toolchain.variables.settings
    own = {
        name: value for name, value in visible_variables(toolchain).items() if name not in settings
    }
    env = {**own, "TMPDIR": home, **toolchain.variables.private(home)}
    try:
        return run(command, timeout=deadline, env=env, cwd=home, limit=SHOWN)
    except OSError as error:
        raise UnresponsiveEnv(f"cannot start its interpreter: {error.strerror}") from error
