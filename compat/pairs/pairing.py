"""Pairs tried, and what came of it kept: by the env's packages, the release, and the programs."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from attrs import evolve, frozen
from packaging.version import Version

from compat import toolchains
from compat.engine.run import concurrently
from compat.envs.cache import EnvCache
from compat.envs.installers import PinUnknown
from compat.envs.overlays import Overlay, overlaid
from compat.envs.requirements import requirements
from compat.errors import EnvError
from compat.files import content_of, folder_digest, replace_file
from compat.model import BuiltEnv, Status
from compat.model.json_text import read_json, write_json
from compat.pairs.choosing import RequestedPair, chosen, is_pair, pin_of
from compat.pairs.native import Compiler, built_library, find_compiler
from compat.pairs.programs import Answers, PairRun, run_programs
from compat.pairs.records import Grid, Pair, PairProgram
from compat.processes.procfs import available_cores
from compat.project import Listener, Obtain, Selection
from compat.store.keys import Claims
from compat.text import printable
from compat.toolchains import Toolchain, pytorch

_log = logging.getLogger(__name__)
_LARGEST = 16 * 1024 * 1024
_AT_ONCE = 2
"""Pairs that are tried at the same time, where there are as many cores: each takes one, and up to 2 GB."""


@frozen(kw_only=True)
class _Ready:
    """What all pairs of a command share."""

    selection: Selection
    cache: EnvCache
    compiler: Compiler
    library: Path
    again: bool
    claims: Claims
    """Of the answers that are kept for all projects, by their keys."""


def try_pairs(
    selection: Selection,
    obtain: Obtain,
    listener: Listener | None = None,
    *,
    torches: Sequence[str] = (),
    releases: Sequence[str] = (),
    every: bool = False,
    again: bool = False,
    command: str = "compat pairs",
) -> Grid:
    """Try the pairs that are meant (see :func:`compat.pairs.choosing.chosen`), as far as they are not known.

    ``obtain`` gives the envs that have a PyTorch, and may build them; ``again`` tries what is known, too. Raises SelectionError
    where there is no pair, EnvError where there is no C compiler, and MachineError where the machine refuses what is needed.
    """
    began = time.monotonic()
    requested, notes = chosen(selection, torches, releases, every=every)
    envs = list(dict.fromkeys(pair.env for pair in requested))
    built_envs = {built.env.name: built for built in obtain(selection.config.path, envs)}
    pairs = tried(requested, built_envs, selection, listener, again=again)
    pins, more = _pins(pairs, built_envs, selection)
    toolchain = toolchains.of(requested[0].env)
    assert toolchain.device.pairing is not None
    return Grid(
        pairs=pairs,
        pins=pins,
        notes=(*notes, *more),
        classes=toolchain.device.pairing.classes,
        title=toolchain.title,
        command=command,
        seconds=time.monotonic() - began,
    )


def tried(
    asked: Sequence[RequestedPair],
    envs: Mapping[str, BuiltEnv],
    selection: Selection,
    listener: Listener | None = None,
    *,
    again: bool = False,
) -> tuple[Pair, ...]:
    """These pairs, in their order; ``envs`` are by name. Raises as :func:`try_pairs` does."""
    if not asked:
        return ()
    cache, pairing = selection.config.env_cache(), toolchains.of(asked[0].env).device.pairing
    assert pairing is not None
    done, lock = 0, threading.Lock()
    with (listener or Listener()).step("trying pairs") as now:
        cache.prepare()
        compiler = find_compiler(cache)
        library = built_library(pairing.source, pairing.library, pairing.also, compiler, cache)
        claims = Claims(_answers_of(cache), (listener or Listener()).say)
        ready = _Ready(selection=selection, cache=cache, compiler=compiler, library=library, again=again, claims=claims)

        def one(each: RequestedPair) -> Pair:
            nonlocal done
            pair = _tried(each, envs[each.env.name], ready)
            with lock:
                done += 1
                now(f"{done} of {len(asked)}, {pair.framework_release} with {pair.release}")
            return pair

        with closing(claims):
            return tuple(concurrently(one, asked, min(_AT_ONCE, len(asked), available_cores())))


def _answers_of(cache: EnvCache) -> Path:
    """The folder that answers are kept in; where it cannot be made, none are."""
    folder = cache.folder / "pairs"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def pairs_of(
    envs: Sequence[BuiltEnv], selection: Selection, listener: Listener | None = None, *, again: bool = False
) -> tuple[Pair, ...]:
    """Those of some envs that have a PyTorch, each with its own release; without a C compiler, that is why none was tried."""
    here = {built.env.name: built for built in envs if is_pair(built.env)}
    requested = [RequestedPair(env=built.env) for built in here.values() if built.error is None]
    try:
        return tried(requested, here, selection, listener, again=again)
    except EnvError as error:
        return tuple(_broken(pair, here[pair.env.name], str(error)) for pair in requested)


# --- one pair ----------------------------------------------------------------------------------------------------------------


def _tried(asked: RequestedPair, built: BuiltEnv, ready: _Ready) -> Pair:
    if built.error is not None or built.python is None or built.python_version is None:
        return _broken(asked, built, built.error or "it has no interpreter")
    toolchain = toolchains.of(asked.env)
    own = asked.release is None or str(asked.release) == built.release
    try:
        overlay = None if own else _overlay(asked.release, built.python, built.python_version, toolchain, ready)
    except EnvError as error:
        return _broken(asked, built, str(error))
    key, began = _key(built, overlay, toolchain), time.monotonic()
    path = _answers_of(ready.cache) / f"{key}.json"
    with ready.claims.all_of([key]):
        answers = None if ready.again else _kept(path)
        cached = answers is not None
        if answers is None:
            before = overlay.folder if overlay else None
            answers = run_programs(
                PairRun(python=built.python, library=ready.library, compiler=ready.compiler.program, before=before), toolchain
            )
        programs = _programs(answers, toolchain)
        if not cached and not any(program.status is Status.TIMED_OUT for program in programs):
            _keep(path, answers)
    pair = _pair(asked, built, cached=cached, seconds=round(time.monotonic() - began, 3))
    return evolve(pair, programs=programs, static_launcher=answers.facts.get("static_launcher"))


def _pair(asked: RequestedPair, built: BuiltEnv, **facts: Any) -> Pair:
    release = str(asked.release or built.release or "")
    own = release == built.release
    version = (built.framework_release or "").partition("+")[0]
    return Pair(framework_release=version, release=release, env=built.env.name, own=own, **facts)


def _broken(asked: RequestedPair, built: BuiltEnv, why: str) -> Pair:
    return _pair(asked, built, error=why)


def _overlay(release: Version | None, python: str, version: str, toolchain: Toolchain, ready: _Ready) -> Overlay:
    env = ready.selection.config.env(f"{toolchain.name}-{release}")
    return overlaid(requirements(env), python, version, ready.cache)


def _programs(answers: Answers, toolchain: Toolchain) -> tuple[PairProgram, ...]:
    assert toolchain.device.pairing is not None
    return tuple(_program(name, answers.programs.get(name, {}), toolchain) for name in toolchain.device.pairing.programs)


def _program(name: str, answer: Mapping[str, Any], toolchain: Toolchain) -> PairProgram:
    assert toolchain.device.pairing is not None
    judged = toolchain.device.pairing.judge(answer)
    return PairProgram(
        name=name,
        status=judged.status,
        failure_class=judged.failure_class,
        message=printable(judged.message),
        stage=printable(str(answer.get("stage", ""))),
        launched=tuple(printable(str(launch[0])) for launch in answer.get("launched", [])),
        seconds=float(answer.get("seconds", 0.0)),
    )


# --- pins --------------------------------------------------------------------------------------------------------------------


def _pins(
    pairs: Sequence[Pair], envs: Mapping[str, BuiltEnv], selection: Selection
) -> tuple[dict[str, str | None], tuple[str, ...]]:
    """PyTorch → the release that it asks for, and why that is not known of some."""
    pins: dict[str, str | None] = {}
    notes: dict[str, None] = {}
    for pair in pairs:
        version = pair.framework_release
        if version in pins or not version:
            continue
        built = envs[pair.env]
        python = ".".join(built.python_version.split(".")[:2]) if built.python_version else None
        try:
            pin = pin_of(selection.config, Version(version), toolchains.of(built.env), python)
            pins[version] = str(pin) if pin else None
        except (PinUnknown, ValueError) as error:
            pins[version] = None
            notes[str(error)] = None
    return pins, tuple(notes)


# --- what is kept ------------------------------------------------------------------------------------------------------------


def _key(built: BuiltEnv, overlay: Overlay | None, toolchain: Toolchain) -> str:
    """Equal where the answers must be."""
    assert toolchain.device.pairing is not None
    source = hashlib.sha256(toolchain.device.pairing.source.read_bytes()).hexdigest()
    facts = (
        built.digest,
        overlay.digest if overlay else "",
        folder_digest(toolchain.device.pairing.program),
        folder_digest(pytorch.FOLDER / "device"),
        source,
    )
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]


def _kept(path: Path) -> Answers | None:
    try:
        read = read_json(content_of(path, _LARGEST) or b"")
    except ValueError:
        return None
    programs = read.get("programs") if isinstance(read, dict) else None
    if not isinstance(programs, dict) or not all(isinstance(program, dict) for program in programs.values()):
        return None
    facts = read.get("facts")
    return Answers(facts=facts if isinstance(facts, dict) else {}, programs=programs)


def _keep(path: Path, answers: Answers) -> None:
    try:
        replace_file(path, write_json({"facts": answers.facts, "programs": dict(answers.programs)}))
    except OSError as error:  # it is tried again by the next command
        _log.info("%s cannot be written: %s", path, error)
