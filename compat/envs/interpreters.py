"""The Pythons present on this machine, and which of them an env is built with.

Found by their names (``python3.11``), without starting any. A name that is a script is a version manager's shim, which works or not
depending on the folder it is called in; such managers' own folders are looked into instead.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from packaging.specifiers import SpecifierSet

from compat.envs.wheels import MINORS, Minor, allows

PREFERENCE: tuple[Minor, ...] = ((3, 11), (3, 12), (3, 10), (3, 13), (3, 9), (3, 14), (3, 8))
"""Which Python to take where several will do: the one that the most releases of Triton have wheels for.

Results of two releases compare best when their Python is the same. 3.11 has wheels of every release from 2.0.0 on, 3.12 from 2.2.0,
3.10 up to 3.8, 3.13 from 3.2.0; others follow, newest first.
"""

_MANAGED = (
    ("PYENV_ROOT", "~/.pyenv", "versions/*/bin"),
    ("UV_PYTHON_INSTALL_DIR", "~/.local/share/uv/python", "cpython-*/bin"),
    ("ASDF_DATA_DIR", "~/.asdf", "installs/python/*/bin"),
    ("MISE_DATA_DIR", "~/.local/share/mise", "installs/python/*/bin"),
)
"""Where version managers keep Pythons: the variable that says so, the usual place, and the folders inside it."""


def present(environ: Mapping[str, str] = os.environ) -> dict[Minor, tuple[str, ...]]:
    """Version → paths of the CPython interpreters that this machine has, those on ``PATH`` before others."""
    found: dict[Minor, dict[str, None]] = {}
    for folder in _folders(environ):
        for minor in MINORS:
            path = _interpreter(folder, minor)
            if path:
                found.setdefault(minor, {})[path] = None
    return {minor: tuple(found[minor]) for minor in MINORS if minor in found}


def _folders(environ: Mapping[str, str]) -> Iterator[Path]:
    for entry in environ.get("PATH", "").split(os.pathsep):
        if entry:
            yield Path(entry)
    yield Path(sys.base_prefix, "bin")
    for variable, usual, pattern in _MANAGED:
        root = Path(environ.get(variable) or usual).expanduser()
        yield from sorted(root.glob(pattern), reverse=True)


def _interpreter(folder: Path, minor: Minor) -> str | None:
    name = f"python{minor[0]}.{minor[1]}"
    path = folder / name
    # In a virtual environment the name is a link to the interpreter proper, which outlives it; in an installation of PyPy or of a
    # free-threaded build it is a link to a file of another name.
    try:
        real = path.resolve(strict=True)
        if real.name != name or not os.access(real, os.X_OK):
            return None
        with real.open("rb") as file:
            return None if file.read(2) == b"#!" else str(real)
    except OSError:
        return None


def ranked(allowed: Collection[Minor], specifier: SpecifierSet) -> tuple[Minor, ...]:
    """The versions that are allowed and admitted by the specifier, the preferred ones first."""
    others = sorted(set(MINORS).difference(PREFERENCE), reverse=True)
    return tuple(minor for minor in (*PREFERENCE, *others) if minor in allowed and allows(specifier, minor))


def spelled(minors: Collection[Minor]) -> str:
    """Versions as a reader likes them, neighbours joined: ``3.8–3.12, 3.14``; ``none`` for none."""
    runs: list[list[Minor]] = []
    for minor in sorted(minors):
        if runs and runs[-1][-1] == (minor[0], minor[1] - 1):
            runs[-1].append(minor)
        else:
            runs.append([minor])
    dotted = [[f"{major}.{minor}" for major, minor in run] for run in runs]
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in dotted) or "none"
