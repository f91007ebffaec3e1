"""The record of an environment, the packages installed in it, and the environments of a cache.

The record, ``env.json``, has the request, the way in which the environment was built, and the
result. It is authoritative: an environment is usable only if a record says that exactly the present
request was built, whatever its folder contains. The installer's output is in the same folder.
Reading a record does not start the environment's Python.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from email.parser import BytesHeaderParser
from pathlib import Path

from attrs import asdict, frozen
from packaging.utils import canonicalize_name

from compat.envs import locks
from compat.envs.cache import EnvCache, EnvFolder, fingerprint, requirements
from compat.envs.locks import is_being_built
from compat.errors import EnvError
from compat.files import content_of, replace_file
from compat.model import BuiltEnv, Env, Package
from compat.text import JsonObject, lazy_pattern, printable, read_json, text_digest

INTERRUPTED = "the installation was interrupted"
"""The error in a record from the start of an installation to its end."""

_AGAIN = "a command without --no-build builds it"
_LINES = 40
"""The most lines of an installer's output in the record. The log in the same folder has all."""

_TAIL = 256 * 1024
"""Bytes of an installer's output that are read, from its end."""
_WIDTH = 1000
"""The most characters of one of its lines."""
_LARGEST = 64 * 1024 * 1024
"""The most bytes of a record. The record of an env with PyTorch has ten thousand."""
_TEXTS = ("error", "location", "backend", "interpreter", "python", "name", "specifier")
_LISTS = ("requirements", "distributions")

_ANSI = lazy_pattern(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def distributions(env: Env) -> list[str]:
    """Return the distributions that an env must have: the toolchain, then the framework."""
    return [env.distribution, *((env.framework,) if env.has_framework else ())]


def read_record(folder: EnvFolder) -> JsonObject | None:
    """Return the record of an env, or ``None`` if it is missing or damaged.

    It has at least ``fingerprint``, ``ok`` and ``error``. The record of a built env also has
    ``location`` and ``packages``.
    """
    try:
        record = read_json(content_of(folder.record, _LARGEST) or b"")
    except ValueError:
        return None
    if not isinstance(record, dict) or record.get("schema") != 1 or not _has_form(record):
        return None
    return {**record, "error": printable(record["error"]) if record["error"] else record["error"]}


def _has_form(record: JsonObject) -> bool:
    """Whether the record has all required entries, with the right types."""
    texts, lists = map(record.get, _TEXTS), map(record.get, _LISTS)
    packages = record.get("packages")
    is_built = (
        bool(record.get("location"))
        and isinstance(packages, list)
        and all(isinstance(package, dict) for package in packages)
    )
    return (
        isinstance(record.get("ok"), bool)
        and isinstance(record.get("fingerprint"), str)
        and "error" in record
        and all(isinstance(text, str | None) and "\0" not in (text or "") for text in texts)
        and all(isinstance(items, list) and set(map(type, items)) <= {str} for items in lists)
        and (is_built if record["ok"] else bool(record.get("error")))
    )


def write_record(folder: EnvFolder, env: Env, *, error: str | None, **facts: object) -> None:
    """Replace the record of an env atomically.

    Without an error, the record says that the env can be used. Raises OSError.
    """
    request = {
        "schema": 1,
        "name": env.name,
        "requirements": requirements(env),
        "distributions": distributions(env),
        "specifier": str(env.python),
        "fingerprint": fingerprint(env),
    }
    replace_file(
        folder.record,
        json.dumps({**request, "ok": error is None, "error": error, **facts}, indent=1),
    )


def installer_errors(folder: EnvFolder) -> str:
    """The last lines of the installer's output, without colours and empty lines."""
    with folder.log.open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
        output = _ANSI.sub("", log.read(_TAIL).decode("utf-8", "replace"))
    lines = [line.rstrip()[:_WIDTH] for line in printable(output).split("\n")]
    return "\n".join([line for line in lines if line][-_LINES:])


def read_env(env: Env, cache: EnvCache) -> BuiltEnv:
    """Return the state of an environment in the cache, with the error if it cannot be used.

    Starts no process.
    """
    folder = cache.folder_of(env)
    record = read_record(folder) or {}
    if error := _reason_not_built(env, folder, record):
        return BuiltEnv(env=env, error=error)
    try:
        built = inspect(folder.path / record["location"], distributions(env))
    except NotInstalled as problem:
        return BuiltEnv(
            env=env, error=printable(f"damaged since it was built: {problem}; {_AGAIN} again")
        )
    if [asdict(package) for package in built.packages] != record["packages"]:
        return BuiltEnv(
            env=env, error=f"its packages have changed since they were installed: {_AGAIN} again"
        )
    return _built_env(env, built)


def read_unchecked_env(env: Env, cache: EnvCache) -> BuiltEnv:
    """Return an environment as its record describes it, without a look at its files.

    It equals the answer of :func:`read_env` if that has no error.
    """
    folder = cache.folder_of(env)
    record = read_record(folder) or {}
    if error := _reason_not_built(env, folder, record):
        return BuiltEnv(env=env, error=error)
    packages = tuple(
        Package(**{name: str(package.get(name)) for name in ("name", "version", "digest")})
        for package in record["packages"]
    )
    python = str(_python_of(folder.path / record["location"]))
    return _built_env(
        env,
        Installation(python=python, python_version=record.get("python") or "", packages=packages),
    )


def _reason_not_built(env: Env, folder: EnvFolder, record: JsonObject) -> str | None:
    """Return why a record is not that of this env, built; ``None`` if it is."""
    if record.get("fingerprint") != fingerprint(env):
        return f"not built yet: {_AGAIN}"
    if not record["ok"]:
        under_way = record["error"] == INTERRUPTED and is_being_built(folder)
        return "another command is building it now" if under_way else str(record["error"])
    return None


def _built_env(env: Env, installation: Installation) -> BuiltEnv:
    return BuiltEnv(
        env=env,
        python=installation.python,
        python_version=installation.python_version,
        packages=installation.packages,
        digest=installation.digest,
    )


def missing_envs(envs: Sequence[Env], cache: EnvCache) -> tuple[Env, ...]:
    """Return the envs that are not built, or were built from other requirements.

    Envs whose build failed are among them. Damaged ones are not: nobody looks at their files.
    """
    return tuple(env for env in envs if read_unchecked_env(env, cache).error is not None)


# --- installed packages ---------------------------------------------------------------------------

_INSTALLERS_OWN = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json")
"""Files that installers add to a distribution. They describe the installation, not the
distribution.
"""


_EDITED = ("/bin/", ".py")
"""Parts of the names of files that people edit or replace: programs, and Python code."""
_PROPRIETARY = lazy_pattern("(?i)proprietary")
"""Pattern for the license expression or classifier of a distribution that is not open source."""
_VERSION = lazy_pattern(r"\d+\.\d+\.\w")


class NotInstalled(Exception):
    """There is no usable virtual environment. The message says what is missing."""


def interpreter(location: Path) -> Path:
    """Return the path of the env's own Python.

    Raises NotInstalled if it, or the interpreter that it links to, is missing.
    """
    python = _python_of(location)
    if not os.path.isdir(location):
        raise NotInstalled(f"{location} is missing")
    if not os.path.exists(python):
        raise NotInstalled(
            f"its interpreter {python.readlink()} is missing"
            if python.is_symlink()
            else f"{python} is missing"
        )
    return python


def _python_of(location: Path) -> Path:
    return location / "bin" / "python"


def python_version(location: Path) -> str:
    """The version of the env's Python, three numbers. Raises NotInstalled."""
    try:
        lines = (location / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        raise NotInstalled(f"{location / 'pyvenv.cfg'} is missing") from None
    settings = {
        key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)
    }
    version = settings.get("version_info") or settings.get("version") or ""
    if not _VERSION.match(version):
        raise NotInstalled(f"{location / 'pyvenv.cfg'} names no version of Python")
    return ".".join(version.split(".")[:3])


def packages(location: Path) -> tuple[Package, ...]:
    """Return every distribution in the env, sorted by name. Raises NotInstalled."""
    folders = site_packages(location).glob("*.dist-info")
    return tuple(sorted((_package(folder) for folder in folders), key=lambda package: package.name))


def site_packages(location: Path) -> Path:
    """Return the folder that distributions are installed into. Raises NotInstalled."""
    major, minor, _ = python_version(location).split(".")
    return location / "lib" / f"python{major}.{minor}" / "site-packages"


def first_damage(location: Path, distribution: str) -> str | None:
    """Return the first damage in a distribution's installed files, or ``None`` without any.

    Each file must exist with the size in its wheel's RECORD. The content must match as well for
    programs and Python files that are newer than the RECORD, such as a ptxas that a user replaced.
    """
    site = site_packages(location)
    for folder in site.glob("*.dist-info"):
        if _identity(folder)[0] == distribution:
            installed = (folder / "RECORD").stat().st_mtime_ns
            damages = (_damage(site, line, installed) for line in _record_lines(folder))
            return next(filter(None, damages), None)
    return None


def _damage(site: Path, line: str, installed: int) -> str | None:
    """Return the damage of the file in a RECORD line: name, digest, size in bytes."""
    name, _, rest = line.rpartition(",sha256=")
    digest, _, size = rest.partition(",")
    name = name.strip('"')
    try:
        status = os.stat(f"{site}/{name}")  # noqa: PTH116 - an env has tens of thousands of files
    except OSError:
        return f"{name} is missing"
    if size.isdigit() and status.st_size != int(size):
        return f"{name} has {status.st_size:,} bytes instead of {int(size):,}"
    if (
        status.st_mtime_ns > installed
        and any(part in name for part in _EDITED)
        and _digest_of(f"{site}/{name}") != digest
    ):
        return f"{name} has changed since it was installed"
    return None


def _digest_of(path: str) -> str:
    with Path(path).open("rb") as file:
        return (
            base64.urlsafe_b64encode(hashlib.file_digest(file, "sha256").digest())
            .rstrip(b"=")
            .decode()
        )


def _identity(folder: Path) -> tuple[str, str]:
    name, _, version = folder.name.removesuffix(".dist-info").rpartition("-")
    return canonicalize_name(name), version


def _package(folder: Path) -> Package:
    name, version = _identity(folder)
    return Package(
        name=name,
        version=version,
        digest=text_digest("\n".join(sorted(_record_lines(folder)))),
    )


def _record_lines(folder: Path) -> list[str]:
    """Return the lines of RECORD (file, hash, size) for the files of the wheel itself.

    They do not depend on the installer and the place. The function leaves out the installer's own
    files, scripts, whose first line is the path of the env, and files without a hash, such as
    bytecode.
    """
    try:
        record = (folder / "RECORD").read_text(encoding="utf-8", errors="backslashreplace")
    except OSError:
        return []
    others = ("..", *(f"{folder.name}/{name}," for name in _INSTALLERS_OWN))
    return [
        line for line in record.splitlines() if ",sha256=" in line and not line.startswith(others)
    ]


@frozen(kw_only=True)
class Installation:
    """The content of a virtual environment."""

    python: str
    """Path of its interpreter."""
    python_version: str
    packages: tuple[Package, ...]

    @property
    def digest(self) -> str:
        """One hash over the Python version and all packages."""
        lines = [
            f"python {self.python_version}",
            *(f"{package.name} {package.version} {package.digest}" for package in self.packages),
        ]
        return text_digest("\n".join(lines))


def inspect(location: Path, needed: Sequence[str]) -> Installation:
    """Return the content of a virtual environment.

    ``needed`` are the distributions that it must have, the toolchain first. Raises NotInstalled if
    it is not a virtual environment, lacks one of them, or files of the first are damaged.
    """
    installation = Installation(
        python=str(interpreter(location)),
        python_version=python_version(location),
        packages=packages(location),
    )
    for name in needed:
        if name not in (package.name for package in installation.packages):
            raise NotInstalled(f"{name} is not installed in it")
    if damage := first_damage(location, needed[0]):
        raise NotInstalled(f"of {needed[0]}, {damage}")
    return installation


def proprietary_license(location: Path, distribution: str) -> str | None:
    """Return the path of a distribution's license text, if its metadata call it proprietary."""
    folder = next(
        folder
        for folder in site_packages(location).glob("*.dist-info")
        if _identity(folder)[0] == distribution
    )
    metadata = content_of(folder / "METADATA", _LARGEST) or b""
    headers = BytesHeaderParser().parsebytes(metadata)
    if not _PROPRIETARY.search(
        "\n".join([*headers.get_all("Classifier", ()), *headers.get_all("License-Expression", ())])
    ):
        return None
    files = sorted(path for path in folder.rglob("LICEN[CS]E*") if path.is_file())
    return str(files[0] if files else folder / "METADATA")


@frozen(kw_only=True)
class KeptEnv:
    """One environment in the cache, of any project."""

    folder: EnvFolder
    requirements: tuple[str, ...] = ()
    """The requested packages, as pip requirements."""
    specifier: str = ""
    """The Python versions it accepts, such as ``>=3.12``. Empty: any."""
    python: str | None = None
    """Its Python version, three numbers. ``None``: it has none."""
    backend: str | None = None
    """The tool that built it, ``uv`` or ``virtualenv``."""
    state: str
    """``complete``, ``failed``, ``interrupted``, ``damaged`` or ``being built``."""
    error: str | None = None
    """Why it cannot be used."""
    last_use: float
    """Time of its last use or build, in seconds since 1970."""


def kept_envs(cache: EnvCache) -> tuple[KeptEnv, ...]:
    """Return all environments in a cache, by name. Starts no process."""
    return tuple(_kept_env(folder) for folder in cache.folders())


def _kept_env(folder: EnvFolder) -> KeptEnv:
    record = read_record(folder) or {}
    state, error = _state(folder, record)
    return KeptEnv(
        folder=folder,
        requirements=tuple(record.get("requirements", ())),
        specifier=record.get("specifier") or "",
        python=record.get("python"),
        backend=record.get("backend"),
        state=state,
        error=error,
        last_use=locks.last_used(folder),
    )


def _state(folder: EnvFolder, record: dict[str, object]) -> tuple[str, str | None]:
    if locks.is_being_built(folder):
        return "being built", "it is being built"
    if not record:
        return "damaged", "its record is missing or damaged"
    if not record["ok"]:
        return "interrupted" if record["error"] == INTERRUPTED else "failed", str(record["error"])
    needed = record["distributions"]
    assert isinstance(needed, list)
    try:
        installation = inspect(folder.path / str(record["location"]), needed)
    except NotInstalled as error:
        return "damaged", str(error)
    same = [asdict(package) for package in installation.packages] == record["packages"]
    if not same:
        return "damaged", "its packages have changed since they were installed"
    return "complete", None


def size_of(path: Path) -> int:
    """Return the bytes that a folder takes on disk.

    A file with several hard links in it counts once, because installers may use hard links.
    """
    seen: dict[tuple[int, int], int] = {}
    folders = [os.fspath(path)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    seen[status.st_dev, status.st_ino] = status.st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:  # another process removed it meanwhile
            continue
    return sum(seen.values())


# --- removing -------------------------------------------------------------------------------------


@frozen(kw_only=True)
class PrunedEnv:
    """An environment that was removed, or with ``dry_run`` would be."""

    env: KeptEnv
    """The environment."""
    size: int
    """Its size on disk in bytes."""
    reason: str | None
    """Why it could not be removed."""


def prune(cache: EnvCache, *, unused_since: float, dry_run: bool = False) -> Iterator[PrunedEnv]:
    """Remove environments that were not used recently. Those in use or being built stay.

    Args:
        cache: The cache.
        unused_since: Seconds since 1970. Environments used later stay.
        dry_run: Only report what would be removed.

    Raises:
        EnvError: An environment cannot be removed.
    """
    for env in kept_envs(cache):
        if env.last_use > unused_since:
            continue
        size = size_of(env.folder.path)
        with EnvError.for_os_errors("cannot remove it", where=env.folder.path):
            reason = locks.reason_to_keep(env.folder) if dry_run else locks.remove(env.folder)
        yield PrunedEnv(env=env, size=size, reason=reason)
