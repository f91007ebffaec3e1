"""Where environments are kept: one folder for all projects of a user, and in it one for each env.

::

    ~/.cache/triton-compat/envs/
        triton-3.1.0-1a2b3c4d/      the toolchain, and a hash over all that is asked for
            cp311/                  the virtual environment
            env.json                what was asked for, and what came of it (compat.envs.record)
            install.log             what the installer printed; locked while the env is built
            names                   which names the toolchain has, where somebody has asked (compat.api.looking)
            used                    when the env was last used; locked by the commands that use it
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from attrs import frozen
from platformdirs import user_cache_path

from compat.envs.requirements import is_key, key
from compat.errors import EnvError
from compat.files import replace_file
from compat.model import Env

VARIABLE = "COMPAT_ENVS"
"""The environment variable that names the folder; it goes before what ``matrix.toml`` says."""

_RECORD, _LOG = "env.json", "install.log"
_TAG = "CACHEDIR.TAG"
_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55\n# Environments of triton-compat: what is gone is built again.\n"
"""What has backups pass a folder over: https://bford.info/cachedir/."""


@frozen
class EnvFolder:
    """The folder of one env, which need not be there."""

    path: Path

    @property
    def record(self) -> Path:
        """Where the record is."""
        return self.path / _RECORD

    @property
    def log(self) -> Path:
        """Where the installer's output goes."""
        return self.path / _LOG

    @property
    def names(self) -> Path:
        """Where it is kept which names its toolchain has."""
        return self.path / "names"

    @property
    def used(self) -> Path:
        """The file whose time says when the env was last used."""
        return self.path / "used"


@frozen
class EnvCache:
    """The folder that envs are kept in."""

    folder: Path
    origin: str = ""
    """What names the folder, where that is a variable or a file: ``$COMPAT_ENVS``."""
    like: str = ""
    """The digest of another machine's env, where what is built has to be the same as that: such envs have folders of their own."""

    def folder_of(self, env: Env) -> EnvFolder:
        """Where an env is kept, whether it is there or not."""
        return EnvFolder(self.folder / key(env, self.like))

    def folders(self) -> tuple[EnvFolder, ...]:
        """All there are, by name: whatever is called like one and has a record or a log."""
        folders = {path.parent for name in (_RECORD, _LOG) for path in self.folder.glob(f"*/{name}")}
        return tuple(EnvFolder(path) for path in sorted(folders) if is_key(path.name))

    def prepare(self) -> None:
        """Make the folder. Raises EnvError where nothing can be written into it."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self.folder / _TAG, _SIGNATURE)
        except OSError as error:
            raise self.refused(error) from error

    def refused(self, error: OSError) -> EnvError:
        """The error of use that one of the system's comes to while an env is built."""
        where = f"{self.origin}: {self.folder}" if self.origin else str(self.folder)
        hint = f"Environments are kept there. Set {VARIABLE} to a folder that can be written and has room for them."
        return EnvError(f"environments cannot be built: {error.strerror or error}", where=where, hint=hint)


def env_cache(declared: Path | None = None, environ: Mapping[str, str] = os.environ) -> EnvCache:
    """The cache that ``$COMPAT_ENVS`` names, or else ``matrix.toml`` (``declared``), or else the one of the user.

    Raises EnvError where the user has none: no variable says where caches go, and there is no home folder.
    """
    if folder := environ.get(VARIABLE):
        return EnvCache(Path(os.path.abspath(os.path.expanduser(folder))), f"${VARIABLE}")
    if declared is not None:
        return EnvCache(declared, "matrix.toml: envs.folder")
    return EnvCache(user_folder("envs", VARIABLE))


def user_folder(name: str, variable: str) -> Path:
    """A folder in the cache of the user. Raises EnvError where the user has none, with the variable that names another."""
    with suppress(RuntimeError):  # how newer releases of platformdirs say that there is no home folder
        folder = user_cache_path("triton-compat") / name
        if folder.is_absolute():
            return folder
    hint = f"Set HOME, or set {variable} to the folder that they are to be kept in."
    raise EnvError("there is no home folder to keep environments in", hint=hint)


_NOTES = Path(".compat", "envs")
"""Where the notes are, below the root of the project."""


def note_envs(names: list[str], root: Path) -> None:
    """Note that a command of the project in ``root`` asked for these; without effect where nothing can be written."""
    with suppress(OSError):
        for name in names:
            path = root / _NOTES / name
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()


def noted_envs(root: Path) -> tuple[str, ...]:
    """The names that are noted, in alphabetical order."""
    with suppress(OSError):
        return tuple(sorted(path.name for path in (root / _NOTES).iterdir()))
    return ()
