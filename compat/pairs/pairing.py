"""Choose pairs, try them, and keep their results.

Pairs are those of ``matrix.toml``, or releases of a framework with releases of the toolchain. The
key of a result covers the env's packages, the release, and the programs.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from attrs import evolve, frozen
from packaging.version import InvalidVersion, Version

from compat import toolchains
from compat.config.matrix import MatrixConfig
from compat.engine.run import concurrently, existing_releases
from compat.envs.cache import EnvCache, requirements
from compat.envs.installers import PinUnknown, pinned_release
from compat.envs.libraries import Overlay, overlaid
from compat.envs.listing import INDEX, index_urls, list_files
from compat.envs.native import build_library, find_compiler
from compat.envs.record import read_env
from compat.errors import EnvError, IndexUnavailable, SelectionError
from compat.files import content_of, folder_digest, keep_file
from compat.model import BuiltEnv, Env, Status
from compat.pairs.programs import Answers, PairRun, pairing_of, run_programs
from compat.pairs.records import Grid, Pair, PairProgram
from compat.processes.supervisor import AVAILABLE_CORES
from compat.project import Listener, Obtain, Selection
from compat.store.keys import Claims
from compat.text import JsonMapping, printable, read_json, split_at_commas, text_digest, write_json
from compat.toolchains import pytorch
from compat.toolchains.base import Framework, Toolchain

_LARGEST = 16 * 1024 * 1024
_AT_ONCE = 2
"""Maximum number of pairs that are tried at the same time. Each needs one core and up to 2 GB."""


@frozen(kw_only=True)
class PairingSetup:
    """The resources and settings that all pairs of a command share."""

    selection: Selection
    cache: EnvCache
    compiler: str
    library: Path
    again: bool
    claims: Claims
    """The claims on stored answers, by key, shared by all projects."""


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
    """Try the chosen pairs of a PyTorch and a Triton release that have no stored answers.

    :func:`compat.pairs.pairing.choose_pairs` says which pairs the arguments choose.

    Args:
        selection: The project.
        obtain: Called for environments with PyTorch, and may build them.
        listener: Receives progress.
        torches: Versions of PyTorch.
        releases: Releases of Triton.
        every: Try every known PyTorch with every release.
        again: Also try pairs with stored answers.
        command: The command line that the result names as its origin.

    Raises:
        SelectionError: There is no pair.
        EnvError: There is no C compiler.
        MachineError: The machine lacks a resource, such as disk or memory.
    """
    began = time.monotonic()
    requested = choose_pairs(selection, torches, releases, every=every)
    envs = list(dict.fromkeys(pair.env for pair in requested))
    built_envs = {built.env.name: built for built in obtain(selection.config.path, envs)}
    pairs = run_pairs(requested, built_envs, selection, listener, again=again)
    pins, notes = _pins(pairs, built_envs, selection)
    toolchain = toolchains.of(requested[0].env)
    return Grid(
        pairs=pairs,
        pins=pins,
        notes=notes,
        classes=pairing_of(toolchain).classes,
        title=toolchain.title,
        command=command,
        seconds=time.monotonic() - began,
    )


def run_pairs(
    requests: Sequence[RequestedPair],
    envs: Mapping[str, BuiltEnv],
    selection: Selection,
    listener: Listener | None = None,
    *,
    again: bool = False,
) -> tuple[Pair, ...]:
    """Try pairs, and return them in their order.

    ``envs`` maps names to envs. Raises as :func:`try_pairs` does.
    """
    if not requests:
        return ()
    cache, pairing = selection.config.env_cache(), pairing_of(toolchains.of(requests[0].env))
    done, lock = 0, threading.Lock()
    with (listener or Listener()).step("trying pairs") as now:
        cache.prepare()
        compiler = find_compiler(cache)
        library = build_library(pairing.source, pairing.library, pairing.also, compiler, cache)
        claims = Claims(answers_folder(cache), (listener or Listener()).say)
        ready = PairingSetup(
            selection=selection,
            cache=cache,
            compiler=compiler,
            library=library,
            again=again,
            claims=claims,
        )

        def one(request: RequestedPair) -> Pair:
            nonlocal done
            pair = try_pair(request, envs[request.env.name], ready)
            with lock:
                done += 1
                now(f"{done} of {len(requests)}, {pair.framework_release} with {pair.release}")
            return pair

        with closing(claims):
            return tuple(concurrently(one, requests, min(_AT_ONCE, len(requests), AVAILABLE_CORES)))


def answers_folder(cache: EnvCache) -> Path:
    """The folder of stored answers. If it cannot be created, no answers are stored."""
    folder = cache.folder / "pairs"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def pairs_of(
    envs: Sequence[BuiltEnv],
    selection: Selection,
    listener: Listener | None = None,
    *,
    again: bool = False,
) -> tuple[Pair, ...]:
    """Try the envs that have a PyTorch, each with its own release.

    Without a C compiler, no pair is tried, and that is the error of each pair.
    """
    here = {built.env.name: built for built in envs if is_pair(built.env)}
    requested = [RequestedPair(env=built.env) for built in here.values() if built.error is None]
    try:
        return run_pairs(requested, here, selection, listener, again=again)
    except EnvError as error:
        return tuple(_broken_pair(pair, here[pair.env.name], str(error)) for pair in requested)


# --- one pair -------------------------------------------------------------------------------------


def try_pair(request: RequestedPair, built: BuiltEnv, ready: PairingSetup) -> Pair:
    """Run every program of a pair."""
    if built.error is not None or built.python is None or built.python_version is None:
        return _broken_pair(request, built, built.error or "it has no interpreter")
    toolchain = toolchains.of(request.env)
    own = request.release is None or str(request.release) == built.release
    try:
        overlay = (
            None
            if own
            else _overlay(request.release, built.python, built.python_version, toolchain, ready)
        )
    except EnvError as error:
        return _broken_pair(request, built, str(error))
    key, began = pair_key(built, overlay, toolchain), time.monotonic()
    path = answers_folder(ready.cache) / f"{key}.json"
    with ready.claims.all_of([key]):
        answers = None if ready.again else _read_answers(path)
        cached = answers is not None
        if answers is None:
            before = overlay.folder if overlay else None
            answers = run_programs(
                PairRun(
                    python=built.python,
                    library=ready.library,
                    compiler=ready.compiler,
                    before=before,
                ),
                toolchain,
            )
        programs = _programs(answers, toolchain)
        if not cached and not any(program.status is Status.TIMED_OUT for program in programs):
            keep_answers(path, answers)
    pair = _pair(request, built, cached=cached, seconds=round(time.monotonic() - began, 3))
    return evolve(pair, programs=programs, static_launcher=answers.facts.get("static_launcher"))


def _pair(request: RequestedPair, built: BuiltEnv, **facts: Any) -> Pair:
    release = str(request.release or built.release or "")
    own = release == built.release
    version = (built.framework_release or "").partition("+")[0]
    return Pair(framework_release=version, release=release, env=built.env.name, own=own, **facts)


def _broken_pair(request: RequestedPair, built: BuiltEnv, why: str) -> Pair:
    return _pair(request, built, error=why)


def _overlay(
    release: Version | None, python: str, version: str, toolchain: Toolchain, ready: PairingSetup
) -> Overlay:
    env = ready.selection.config.env(f"{toolchain.name}-{release}")
    return overlaid(requirements(env), python, version, ready.cache, env.lock)


def _programs(answers: Answers, toolchain: Toolchain) -> tuple[PairProgram, ...]:
    return tuple(
        _program(name, answers.programs.get(name, {}), toolchain)
        for name in pairing_of(toolchain).programs
    )


def _program(name: str, answer: JsonMapping, toolchain: Toolchain) -> PairProgram:
    judged = pairing_of(toolchain).judge(answer)
    return PairProgram(
        name=name,
        status=judged.status,
        failure_class=judged.failure_class,
        message=printable(judged.message),
        stage=printable(str(answer.get("stage", ""))),
        launched=tuple(printable(str(launch[0])) for launch in answer.get("launched", [])),
        seconds=float(answer.get("seconds", 0.0)),
    )


# --- pins -----------------------------------------------------------------------------------------


def _pins(
    pairs: Sequence[Pair], envs: Mapping[str, BuiltEnv], selection: Selection
) -> tuple[dict[str, str | None], tuple[str, ...]]:
    """Map each PyTorch to the release that it requires, and say why some of these are unknown."""
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


# --- stored answers -------------------------------------------------------------------------------


def pair_key(built: BuiltEnv, overlay: Overlay | None, toolchain: Toolchain) -> str:
    """The key of stored answers. It covers all that the answers depend on."""
    pairing = pairing_of(toolchain)
    source = hashlib.sha256(pairing.source.read_bytes()).hexdigest()
    facts = (
        built.digest,
        overlay.digest if overlay else "",
        folder_digest(pairing.program),
        folder_digest(pytorch.FOLDER / "device"),
        source,
    )
    return text_digest("\n".join(facts))[:32]


def _read_answers(path: Path) -> Answers | None:
    try:
        read = read_json(content_of(path, _LARGEST) or b"")
    except ValueError:
        return None
    programs = read.get("programs") if isinstance(read, dict) else None
    if not isinstance(programs, dict) or not all(
        isinstance(program, dict) for program in programs.values()
    ):
        return None
    facts = read.get("facts")
    return Answers(facts=facts if isinstance(facts, dict) else {}, programs=programs)


def keep_answers(path: Path, answers: Answers) -> None:
    """Keep the answers about a pair. If that fails, the next command tries the pair again."""
    keep_file(path, write_json({"facts": answers.facts, "programs": dict(answers.programs)}))


# --- the choice of pairs --------------------------------------------------------------------------

_ANY_PYTHON = "3.11"
"""The Python to look up wheels for, if the index does not say which Pythons have wheels."""


@frozen(kw_only=True)
class RequestedPair:
    """A pair to try."""

    env: Env
    """The env that has the PyTorch."""
    release: Version | None = None
    """The release to put before the env's own one; ``None``: the env's own one."""


def choose_pairs(
    selection: Selection,
    torches: Sequence[str] = (),
    releases: Sequence[str] = (),
    *,
    every: bool = False,
) -> tuple[RequestedPair, ...]:
    """Return the pairs to try.

    Without arguments, the pairs are those of the chosen envs, each with its own release.
    ``torches`` are versions of PyTorch to try with every release. ``releases`` are releases to try
    with each PyTorch of the chosen envs. With both, each of these versions is tried with each of
    these releases. ``every`` stands for every known PyTorch as ``torches``. Raises SelectionError
    for an invalid version, and if there is no pair.
    """
    config = selection.config
    envs = tuple(env for env in selection.envs if is_pair(env))
    toolchain = _toolchain_of(envs or selection.envs)
    framework = toolchain.framework
    missing = f"none of the chosen envs has a {framework.title}"
    if not (torches or releases or every):
        if not envs:
            hint = (
                f"Name a {framework.title} with {_option(framework)}, or envs that have one with"
                " --envs."
            )
            raise SelectionError(missing, hint=hint)
        return tuple(RequestedPair(env=env) for env in envs)
    existing = existing_releases(config)[toolchain.name]
    release_versions = _releases(config, releases) if releases else existing
    if every:
        torches = [str(version) for version in _every_version(config, toolchain)]
    if torches:
        versions = [_version(word, framework) for word in dict.fromkeys(split_at_commas(torches))]
        envs = tuple(_env_with(config, version, toolchain) for version in versions)
    if not envs:
        raise SelectionError(missing, hint=f"Name one with {_option(framework)}.")
    return tuple(
        RequestedPair(env=env, release=release)
        for env in _one_of_each(envs)
        for release in release_versions
    )


def _toolchain_of(envs: Sequence[Env]) -> Toolchain:
    """The toolchain of the pairs.

    Raises SelectionError if the envs' toolchain has no pairs.
    """
    with_pairs = [
        toolchain for env in envs if (toolchain := toolchains.of(env)).device.pairing is not None
    ]
    if envs and not with_pairs:
        titles = " and ".join(dict.fromkeys(toolchains.of(env).title for env in envs))
        raise SelectionError(
            f"pairs of {titles} are not supported", hint="Choose other envs with --envs."
        )
    return with_pairs[0] if with_pairs else toolchains.DEFAULT


def _option(framework: Framework) -> str:
    """The option of the command that names a version, as a hint shows it."""
    return f"--{framework.name} {framework.example}"


def is_pair(env: Env) -> bool:
    """Whether an env has a PyTorch, and its toolchain supports pairs."""
    return env.has_framework and toolchains.of(env).device.pairing is not None


def pin_of(
    config: MatrixConfig, version: Version, toolchain: Toolchain, python: str | None = None
) -> Version | None:
    """The release that an installer installs with a PyTorch, for a Python (``3.11``).

    Without a Python, it is the newest one for which the installer installs a release. Raises
    PinUnknown.
    """
    cache = config.env_cache()
    framework = toolchain.framework
    pythons = [python] if python else _pythons_for(config, framework, version)
    pins = (
        pinned_release(framework.name, version, toolchain.distribution, minor, cache)
        for minor in pythons
    )
    return next((pin for pin in pins if pin is not None), None)


def _pythons_for(config: MatrixConfig, framework: Framework, version: Version) -> list[str]:
    """The Pythons with wheels of a framework, the newest first.

    It asks the index if there is no stored answer.
    """
    try:
        pythons = list_files(framework.name, index_urls(), cache=config.base / INDEX).pythons_for(
            version
        )
    except IndexUnavailable:
        pythons = frozenset()
    return [".".join(map(str, minor)) for minor in sorted(pythons, reverse=True)] or [_ANY_PYTHON]


def _one_of_each(envs: Sequence[Env]) -> tuple[Env, ...]:
    """One env for each release of the framework."""
    by_version: dict[Version | None, Env] = {}
    for env in envs:
        by_version.setdefault(env.framework_release, env)
    return tuple(by_version.values())


def _version(word: str, framework: Framework) -> Version:
    try:
        return Version(word)
    except InvalidVersion:
        hint = f"For example {framework.example}."
        raise SelectionError(
            f"{word!r} is not a version of {framework.title}",
            where=f"--{framework.name}",
            hint=hint,
        ) from None


def _releases(config: MatrixConfig, patterns: Sequence[str]) -> tuple[Version, ...]:
    versions = {env.release for env in config.choose_envs(patterns) if env.release is not None}
    return tuple(sorted(versions))


def _every_version(config: MatrixConfig, toolchain: Toolchain) -> tuple[Version, ...]:
    framework = toolchain.framework
    try:
        listed = list_files(framework.name, index_urls(), cache=config.base / INDEX)
    except IndexUnavailable as error:
        hint = f"Name some with --{framework.name}."
        raise EnvError(
            f"cannot list the versions of {framework.title}: {error}", hint=hint
        ) from error
    oldest = pairing_of(toolchain).oldest
    versions = (
        version
        for version in listed.versions()
        if version >= oldest and not version.is_prerelease and not version.local
    )
    return tuple(version for version in versions if listed.pythons_for(version))


def _env_with(config: MatrixConfig, version: Version, toolchain: Toolchain) -> Env:
    """The env with a release of the framework.

    It is a declared env, or else one with the release that the framework requires.
    """
    framework = toolchain.framework
    name = framework.name
    declared = [
        env
        for env in (*config.envs, *config.released)
        if env.framework_release == version and is_pair(env)
    ]
    there = [env for env in declared if read_env(env, config.env_cache()).error is None]
    if there or declared:
        return (there or declared)[0]
    try:
        pin = pin_of(config, version, toolchain)
    except PinUnknown as error:
        raise EnvError(
            f"the matrix declares no env with {name} {version}, and {error}",
            hint=(
                f"Check that {framework.title} {version} exists, and that this machine reaches the"
                " package index."
            ),
        ) from error
    if pin is None:
        raise SelectionError(
            f"{name} {version} does not require {toolchain.title} on this platform",
            where=f"--{name}",
        )
    return config.env(f"{toolchain.name}-{pin}-{name}-{version}")
