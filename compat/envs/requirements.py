"""What an env is asked for: what is installed into it, and the one name that stands for all of that.

Two projects that ask for the same have the same env. Its own name, its groups and the path of its wheel do not count.
"""

from __future__ import annotations

import hashlib
import json
import os
import sysconfig
import zipfile
import zlib
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from compat.model import Env
from compat.text import lazy_pattern

EDITABLE = "-e "
"""How a folder begins that is installed as it is, so that edits count."""
_LONGEST_LABEL = 100
_LARGEST_RECORD = 64 * 1024 * 1024
"""Bytes of a wheel's RECORD that are read; the largest there are have a hundredth of it."""
_HEX = 8
"""Digits of the hash in a name."""
_KEY = lazy_pattern(rf"[A-Za-z0-9][^/]*-[0-9a-f]{{{_HEX}}}")


def requirements(env: Env) -> tuple[str, ...]:
    """What is installed into an env, as pip reads it: toolchain, framework, then the rest."""
    toolchain = env.wheel or (f"{env.distribution}=={env.release}" if env.release else env.distribution)
    framework = (f"{env.framework}=={env.framework_release}",) if env.paired else ()
    return (toolchain, *framework, *env.install)


def install_arguments(env: Env, backend: str) -> tuple[str, ...]:
    """The arguments of ``pip install`` (or ``uv pip install``, where ``backend`` is ``uv``) that fill an env."""
    arguments = tuple(part for text in requirements(env) for part in (("-e", text[3:]) if text.startswith(EDITABLE) else (text,)))
    if env.index:
        arguments += ("--extra-index-url", env.index)
        # uv takes a package only from the first index that has its name; pip, and whoever names a further index, mean all of them.
        arguments += ("--index-strategy", "unsafe-best-match") if backend == "uv" else ()
    return arguments


def label(env: Env) -> str:
    """The toolchain of an env in words: ``triton-3.1.0``, ``triton-3.1.0-torch-2.5.1``, ``triton-fork``."""
    release = [str(env.release)] if env.release else []
    framework = [env.framework, str(env.framework_release)] if env.paired else []
    return "-".join((env.distribution, *release, *framework))


def fingerprint(env: Env) -> str:
    """One hash over all that decides what is installed; a local wheel counts with its content, wherever it lies."""
    toolchain = _wheel(env.wheel) if env.wheel else requirements(env)[0]
    asked = [toolchain, [_asked(text) for text in requirements(env)[1:]], str(env.python), env.index, sysconfig.get_platform()]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


def _asked(text: str) -> object:
    """What tells a requirement from others: of a folder its path and what it says it needs, of a wheel its content."""
    if text.startswith(EDITABLE):
        said = [_text_of(Path(text.removeprefix(EDITABLE), name)) for name in ("pyproject.toml", "setup.cfg", "setup.py")]
        return [text, *said]
    return _wheel(text) if os.path.isabs(text) else text


def _text_of(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def key(env: Env, like: str = "") -> str:
    """The name of an env's folder: ``triton-3.1.0-1a2b3c4d``; ``like`` is the digest of the env that it is to be the same as."""
    hashed = hashlib.sha256(f"{fingerprint(env)} {like}".encode()).hexdigest() if like else fingerprint(env)
    return f"{label(env)[:_LONGEST_LABEL]}-{hashed[:_HEX]}"


def is_key(name: str) -> bool:
    """Whether a folder is called as that of an env is."""
    return _KEY.fullmatch(name) is not None


# --- wheels --------------------------------------------------------------------------------------------------------------------


def _wheel(wheel: str) -> list[str]:
    """What tells a wheel from others: its file name and content, or its URL."""
    if "://" in wheel and not wheel.startswith("file://"):
        return [wheel]
    path = Path(unquote(urlsplit(wheel).path)) if "://" in wheel else Path(wheel)
    try:
        status = os.stat(path)
        return [path.name, _content(os.fspath(path), status.st_size, status.st_mtime_ns)]
    except (OSError, ValueError):
        return [os.fspath(path), "absent"]


@lru_cache(maxsize=1024)
def _content(path: str, size: int, modified: int) -> str:
    """A hash that is the same for the same content. Raises OSError.

    Wheels weigh hundreds of megabytes, and this is asked whenever an env is read: it is made of what the archive says of its files
    (names, sizes, checksums) and of RECORD, which has their SHA-256. What is no archive is read as a whole.
    """
    found = hashlib.sha256()
    try:
        with zipfile.ZipFile(path) as archive:
            for member in sorted(archive.infolist(), key=lambda member: member.filename):
                found.update(f"{member.filename} {member.file_size} {member.CRC}\n".encode("utf-8", "backslashreplace"))
                if member.filename.endswith(".dist-info/RECORD") and member.file_size <= _LARGEST_RECORD:
                    found.update(archive.read(member))
    except (zipfile.BadZipFile, zlib.error, ValueError, RuntimeError, EOFError):
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return found.hexdigest()
