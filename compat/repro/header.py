"""What the header of a script says of its environment: the Python and the packages that it takes."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from compat.bundle.parsing import tree_of
from compat.envs.env import INDEX
from compat.envs.listing import index_urls, list_files
from compat.envs.wheels import Minor
from compat.errors import IndexUnavailable
from compat.model import BuiltEnv


def dependencies(built: BuiltEnv, undeclared: Collection[str]) -> tuple[str, ...]:
    """The requirements that make an env in which the compiler runs: the toolchain as installed, and what it needs ``undeclared``.

    All else in an env is there for PyTorch or for the interpreter.
    """
    env = built.env
    toolchain = f"{env.distribution} @ {env.wheel}" if env.wheel and "://" in env.wheel else f"{env.distribution}=={built.release}"
    return (toolchain, *(text for text in env.install if _name(text) in undeclared))


def requires_python(built: BuiltEnv, root: Path) -> str:
    """The Pythons that there are wheels for; where the index cannot tell, only the one of this env.

    ``root`` is the project, which keeps the index's answers.
    """
    version = Version(built.release) if built.release else None
    sources = (*index_urls(), *([built.env.index] if built.env.index else []))
    try:
        listing = list_files(built.env.distribution, sources, cache=root / INDEX, needs=version)
        pythons = listing.pythons_for(version)
    except IndexUnavailable:
        pythons = frozenset()
    return spelled(pythons) if pythons else f"=={'.'.join((built.python_version or '3').split('.')[:2])}.*"


def imported_packages(text: str) -> frozenset[str]:
    """What a module imports besides the standard library, by the names of the packages."""
    nodes = list(ast.walk(tree_of(text)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return frozenset(name.partition(".")[0] for name in names) - sys.stdlib_module_names


def spelled(pythons: Collection[Minor]) -> str:
    """Versions of Python as a specifier: ``>=3.8,<3.13``."""
    first, last = min(pythons), max(pythons)
    holes = [minor for minor in range(first[1], last[1]) if (first[0], minor) not in pythons]
    parts = [f">={first[0]}.{first[1]}", f"<{last[0]}.{last[1] + 1}", *(f"!={first[0]}.{minor}.*" for minor in holes)]
    return ",".join(parts)


def _name(requirement: str) -> str:
    try:
        return Requirement(requirement).name
    except InvalidRequirement:
        return ""
