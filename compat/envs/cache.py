"""The requirements of envs, and the cache of envs, which all projects of a user share.

::

    ~/.cache/triton-compat/envs/
        triton-3.1.0-1a2b3c4d/      the toolchain, and a hash over the whole request
            cp311/                  the virtual environment
            env.json                the request, and the result of the build (compat.envs.record)
            locked.txt              the packages with their hashes, if the env is locked
            install.log             the installer's output; a lock while the env is built
            names                   the toolchain's names, once listed (compat.api.inspection)
            names-5e6f7a8b.json     the names in several envs, packed; the last of them is this one
            used                    time of the last use; a lock of the commands that use the env

Two projects with equal requests share one env. The name of the env, its groups and the path of its
wheel do not count.
"""

from __future__ import annotations

import hashlib
import json
import os
import sysconfig
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from attrs import frozen
from platformdirs import user_cache_path

from compat.errors import EnvError
from compat.files import replace_file
from compat.model import Env
from compat.text import lazy_pattern, text_digest

VARIABLE = "COMPAT_ENVS"
"""The environment variable that names the folder. It overrides ``matrix.toml``."""

_RECORD, _LOG = "env.json", "install.log"
_TAG = "CACHEDIR.TAG"
_SIGNATURE = (
    "Signature: 8a477f597d28d172789f06886806bc55\n# Environments of triton-compat. A deleted one is"
    " built again.\n"
)
"""The content of the file that makes backups skip a folder: https://bford.info/cachedir/."""


# --- requests -------------------------------------------------------------------------------------

EDITABLE = "-e "
"""The prefix of an editable requirement: a folder whose later edits take effect in the env."""
_LONGEST_LABEL = 100
_LARGEST_RECORD = 64 * 1024 * 1024
"""Bytes of a wheel's RECORD that are read, a hundred times the largest known one."""
_HEX = 8
"""Digits of the hash in a name."""
_KEY = lazy_pattern(rf"[A-Za-z0-9][^/]*-[0-9a-f]{{{_HEX}}}")


def requirements(env: Env) -> tuple[str, ...]:
    """The requirements of an env, as pip reads them: toolchain, framework, then the rest."""
    toolchain = env.wheel or (
        f"{env.distribution}=={env.release}" if env.release else env.distribution
    )
    framework = (f"{env.framework}=={env.framework_release}",) if env.has_framework else ()
    return (toolchain, *framework, *env.install)


def install_arguments(env: Env, backend: str) -> tuple[str, ...]:
    """The arguments with which ``pip install`` fills an env.

    They also suit ``uv pip install``, if ``backend`` is ``uv``.
    """
    arguments = tuple(
        part
        for text in requirements(env)
        for part in (("-e", text[3:]) if text.startswith(EDITABLE) else (text,))
    )
    return (*arguments, *index_arguments(env, backend))


def index_arguments(env: Env, backend: str) -> tuple[str, ...]:
    """The arguments that name the indexes of an env."""
    if env.index:
        arguments: tuple[str, ...] = ("--extra-index-url", env.index)
        # By default uv takes a package only from the first index that has its name. pip uses all
        # indexes, and so do users expect of a further index.
        arguments += ("--index-strategy", "unsafe-best-match") if backend == "uv" else ()
        return arguments
    return ()


def fingerprint(env: Env) -> str:
    """Return one hash over the whole request: everything that decides what is installed.

    A local wheel counts by its content, not by its path.
    """
    toolchain = _wheel(env.wheel) if env.wheel else requirements(env)[0]
    parts: list[object] = [
        toolchain,
        [_requirement_facts(text) for text in requirements(env)[1:]],
        str(env.python),
        env.index,
        sysconfig.get_platform(),
    ]
    if env.lock:  # a file counts by name and hash, not by its folder
        parts.append([line.rpartition("/")[2] for line in env.lock])
    return text_digest(json.dumps(parts))


def _requirement_facts(text: str) -> object:
    """Return the facts that distinguish a requirement.

    For a folder, they are its path and its project files, which declare its requirements. For a
    wheel, they are its file name and content.
    """
    if text.startswith(EDITABLE):
        files = [
            _text_of(Path(text.removeprefix(EDITABLE), name))
            for name in ("pyproject.toml", "setup.cfg", "setup.py")
        ]
        return [text, *files]
    return _wheel(text) if Path(text).is_absolute() else text


def _text_of(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def key(env: Env, like: str = "") -> str:
    """Return the name of an env's folder: ``triton-3.1.0-1a2b3c4d``.

    ``like`` identifies another machine's env that it must equal (:attr:`EnvCache.like`).
    """
    hashed = text_digest(f"{fingerprint(env)} {like}") if like else fingerprint(env)
    return f"{env.label[:_LONGEST_LABEL]}-{hashed[:_HEX]}"


def is_key(name: str) -> bool:
    """Whether a folder's name has the form of an env's name."""
    return _KEY.fullmatch(name) is not None


# --- wheels ---------------------------------------------------------------------------------------


def _wheel(wheel: str) -> list[str]:
    """The identity of a wheel: its file name and content, or its URL."""
    if "://" in wheel and not wheel.startswith("file://"):
        return [wheel]
    path = Path(unquote(urlsplit(wheel).path)) if "://" in wheel else Path(wheel)
    try:
        status = path.stat()
        return [path.name, _content(os.fspath(path), status.st_size, status.st_mtime_ns)]
    except (OSError, ValueError):
        return [os.fspath(path), "absent"]


@lru_cache(maxsize=1024)
def _content(path: str, *_stamp: int) -> str:
    """Return a hash of the content of a wheel. Raises OSError.

    Wheels have hundreds of megabytes, and every read of an env needs this hash. So it covers only
    the archive's list of its files (names, sizes, checksums), and RECORD, which has their SHA-256.
    A file that is not an archive is hashed as a whole.
    """
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(path) as archive:
            for member in sorted(archive.infolist(), key=lambda member: member.filename):
                digest.update(
                    f"{member.filename} {member.file_size} {member.CRC}\n".encode(
                        "utf-8", "backslashreplace"
                    )
                )
                if (
                    member.filename.endswith(".dist-info/RECORD")
                    and member.file_size <= _LARGEST_RECORD
                ):
                    digest.update(archive.read(member))
    except (zipfile.BadZipFile, zlib.error, ValueError, RuntimeError, EOFError):
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return digest.hexdigest()


# --- the cache ------------------------------------------------------------------------------------


@frozen
class EnvFolder:
    """The folder of one env. It may not exist."""

    path: Path

    @property
    def record(self) -> Path:
        """The path of the record."""
        return self.path / _RECORD

    @property
    def lock(self) -> Path:
        """The requirements file of a locked env."""
        return self.path / "locked.txt"

    @property
    def log(self) -> Path:
        """The path of the installer's output."""
        return self.path / _LOG

    @property
    def names(self) -> Path:
        """The path of the cached names of its toolchain."""
        return self.path / "names"

    @property
    def last_use_file(self) -> Path:
        """The file whose modification time is the time of the env's last use."""
        return self.path / "used"


@frozen
class EnvCache:
    """The folder that contains the environments."""

    folder: Path
    origin: str = ""
    """The variable or file that names the folder, such as ``$COMPAT_ENVS``."""
    like: str = ""
    """Digest of another machine's environment, if those here must equal it. Such environments have
    folders of their own.
    """

    def folder_of(self, env: Env) -> EnvFolder:
        """Return the folder of an environment, whether it exists or not."""
        return EnvFolder(self.folder / key(env, self.like))

    def folders(self) -> tuple[EnvFolder, ...]:
        """Return all folders of environments by name: with such a name, and a record or a log."""
        folders = {
            path.parent for name in (_RECORD, _LOG) for path in self.folder.glob(f"*/{name}")
        }
        return tuple(EnvFolder(path) for path in sorted(folders) if is_key(path.name))

    def prepare(self) -> None:
        """Create the folder.

        Raises:
            EnvError: The folder cannot be written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self.folder / _TAG, _SIGNATURE)
        except OSError as error:
            raise self.build_error(error) from error

    def build_error(self, error: OSError) -> EnvError:
        """Return the error to raise for a system error during a build."""
        where = f"{self.origin}: {self.folder}" if self.origin else str(self.folder)
        hint = f"Set {VARIABLE} to a writable folder with enough room for the environments."
        return EnvError(
            f"cannot build environments: {error.strerror or error}", where=where, hint=hint
        )


def env_cache(declared: Path | None = None, environ: Mapping[str, str] = os.environ) -> EnvCache:
    """The cache of ``$COMPAT_ENVS``, else of ``matrix.toml`` (``declared``), else of the user.

    Raises EnvError if the user has none, because no variable names a folder for caches and there is
    no home folder.
    """
    if folder := environ.get(VARIABLE):
        return EnvCache(Path(os.path.abspath(os.path.expanduser(folder))), f"${VARIABLE}")
    if declared is not None:
        return EnvCache(declared, "matrix.toml: envs.folder")
    return EnvCache(user_folder("envs", VARIABLE))


def user_folder(name: str, variable: str) -> Path:
    """Return a folder in the cache of the user.

    Raises EnvError if the user has no cache folder. The error names the ``variable`` that can set
    another folder.
    """
    # Newer releases of platformdirs raise RuntimeError if there is no home folder.
    with suppress(RuntimeError):
        folder = user_cache_path("triton-compat") / name
        if folder.is_absolute():
            return folder
    hint = f"Set HOME, or set {variable} to a folder for the environments."
    raise EnvError("there is no home folder for the environments", hint=hint)


_NOTES = Path(".compat", "envs")
"""The folder for the names of used envs, below the root of the project."""


def note_envs(names: list[str], root: Path) -> None:
    """Save the names of envs that a command of the project in ``root`` asked for.

    It has no effect if nothing can be written.
    """
    with suppress(OSError):
        for name in names:
            path = root / _NOTES / name
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()


def noted_envs(root: Path) -> tuple[str, ...]:
    """Return the names saved by :func:`note_envs`, in alphabetical order."""
    with suppress(OSError):
        return tuple(sorted(path.name for path in (root / _NOTES).iterdir()))
    return ()
