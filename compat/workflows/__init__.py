"""Files for a project's CI system, from templates: a workflow of GitHub, a pipeline of GitLab.

In: a project's ``matrix.toml``, and its path in its repository. Out: files for the repository, as
text; none is written. The envs are divided into groups, one for each of several jobs. A CI system
installs this package from the source that the installer recorded on this machine (PEP 610).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, distribution
from itertools import groupby, pairwise
from math import ceil
from pathlib import Path, PurePosixPath
from typing import TypeVar

from attrs import evolve, frozen
from jinja2 import Environment
from packaging.version import Version

from compat import __version__, toolchains
from compat.config.kernel_files import load_kernels
from compat.config.matrix import MatrixConfig
from compat.config.releases import NEWEST
from compat.engine import plan
from compat.errors import ConfigError, SelectionError
from compat.files import templates
from compat.model import Env
from compat.report.views.diff import MARKER

PYTHON = "3.11"
"""The Python of the driver and of the envs: every release has wheels for it."""


class System(StrEnum):
    """A CI system, and when it runs."""

    GITHUB = "github"
    NIGHTLY = "nightly"
    """GitHub, every night."""
    BOARD = "board"
    """GitHub, every night, for a board of libraries."""
    GITLAB = "gitlab"


_NAME = "triton-compat"
_PIPELINE = f".gitlab/{_NAME}.yml"
_FILES: Mapping[System, Mapping[str, str]] = {
    System.GITHUB: {f".github/workflows/{_NAME}.yml": "github.yml.j2"},
    System.NIGHTLY: {f".github/workflows/{_NAME}-nightly.yml": "nightly.yml.j2"},
    System.BOARD: {f".github/workflows/{_NAME}-board.yml": "board.yml.j2"},
    System.GITLAB: {_PIPELINE: "gitlab.yml.j2", ".gitlab-ci.yml": "gitlab-ci.yml.j2"},
}
_OTHERWISE = {".gitlab-ci.yml": f"add to it `include: [{{ local: /{_PIPELINE} }}]`"}
"""The advice for a file that exists already."""


@frozen(kw_only=True)
class Files:
    """The files of a project for a CI system."""

    texts: Mapping[Path, str]
    otherwise: Mapping[Path, str]
    """The advice if such a file exists already; empty without one."""
    requirement: str
    """The requirement that the files install."""
    unsure: str
    """The reason to check the requirement; empty without one."""


def workflow_files(system: System, config: MatrixConfig) -> Files:
    """Return the files of a CI system, at the top of the project's repository.

    Raises SelectionError if the project has no envs, and ConfigError if the files cannot contain
    the name of its folder.
    """
    top = _top(config.base)
    inside = _check_folder_name(config.base.resolve().relative_to(top).as_posix())
    package = requirement()
    templates = _templates()
    facts = {
        "requirement": package.text,
        "python": PYTHON,
        "groups": jobs(config, _cells(config)),
        "newest": _newest(config.choose_envs()),
        "inside": "" if inside == "." else f"{PurePosixPath(inside)}/",
        "marker": MARKER,
    }
    return Files(
        texts={
            top / name: templates.get_template(template).render(facts)
            for name, template in _FILES[system].items()
        },
        otherwise={top / name: _OTHERWISE.get(name, "") for name in _FILES[system]},
        requirement=package.text,
        unsure=(
            f"it installs {package.text}, but {package.unsure}: set COMPAT to a source that CI can"
            " reach"
            if package.unsure
            else ""
        ),
    )


def _newest(envs: Sequence[Env]) -> str:
    """Return the value of ``--envs`` for the newest release of each toolchain."""
    kinds = list(dict.fromkeys(env.toolchain for env in envs if toolchains.is_release(env)))
    return ",".join(f"{kind}-{NEWEST}" for kind in kinds) if len(kinds) > 1 else NEWEST


def _cells(config: MatrixConfig) -> int:
    """Return the current number of cells; 0 if the kernel files cannot be read yet."""
    try:
        specs = (
            load_kernels(config.kernels, config.base, library=config.library)
            if config.kernels
            else ()
        )
    except ConfigError:
        return 0
    return len(plan.cross(config.choose_envs(), config.choose_targets(()), specs))


def _templates() -> Environment:
    """Return the templates. Their delimiters differ from the `{{ }}` of GitHub's expressions."""
    environment = templates(
        "compat.workflows",
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
    )
    environment.filters["quoted"] = _quote
    return environment


def _check_folder_name(inside: str) -> str:
    """Return a path unchanged if it means the same to YAML, shells, globs and expressions.

    Raises ConfigError for any other path.
    """
    if not re.fullmatch(r"[\w.+/ -]+", inside):
        hint = (
            "Rename the folder, or write the workflow by hand. `compat matrix` works in every"
            " folder."
        )
        raise ConfigError(
            "workflows cannot contain the name of this folder", where=inside, hint=hint
        )
    return inside


def _quote(text: str) -> str:
    """Return a string in quotes for YAML, whatever it contains."""
    return json.dumps(text, ensure_ascii=False)


def _top(folder: Path) -> Path:
    """Return the top of the repository that contains a folder, or else the folder itself."""
    here = folder.resolve()
    return next((parent for parent in (here, *here.parents) if (parent / ".git").exists()), here)


# --- where a CI system installs this package from -------------------------------------------------


@frozen(kw_only=True)
class Requirement:
    """The argument of ``pip install``."""

    text: str
    unsure: str = ""
    """The reason to check the requirement; empty if it can be installed elsewhere."""


def requirement() -> Requirement:
    """Return the requirement that installs this package, with uv, on another machine."""
    origin = _origin()
    url = origin.get("url") if isinstance(origin, dict) else None
    vcs = origin.get("vcs_info") if isinstance(origin, dict) else None
    if isinstance(url, str) and url.startswith("https://"):
        commit = (
            f"git+{url}@{vcs['commit_id']}"
            if isinstance(vcs, dict) and vcs.get("vcs") == "git"
            else url
        )
        return Requirement(text=f"{_NAME}[uv] @ {commit}")
    unsure = "this installation came from files on this machine" if url else ""
    return Requirement(text=f"{_NAME}[uv]=={__version__}", unsure=unsure)


def _origin() -> object:
    """The installer's record of the package's origin.

    It is empty for a release from an index.
    """
    try:
        text = distribution(_NAME).read_text("direct_url.json")
        return json.loads(text) if text else {}
    except (PackageNotFoundError, ValueError):
        return {"url": "file:"}


T = TypeVar("T")

JOBS = 4
"""The most groups of envs. A job needs half a minute before it compiles anything, and an env is
built in five seconds, so there is not one job for each env.
"""
FEW = 500
"""The most cells of a single job, if no env has a PyTorch, which takes 5 GB. More jobs would only
wait longer.
"""
SHARD = 4_000
"""The number of cells of a shard. They take four cores some minutes."""
SHARDS = 20
"""The most shards of a group."""


@frozen(kw_only=True)
class Group:
    """The envs of one job."""

    name: str
    """The name of the group in the names of jobs and files."""
    envs: str
    """The value of ``--envs``."""
    shard: str = "1/1"
    """The value of ``--shard``."""


def jobs(config: MatrixConfig, cells: int) -> tuple[Group, ...]:
    """Return the jobs for a number of cells.

    Few cells are one job. With many cells, several jobs share each group of envs.
    """
    envs = config.choose_envs()
    if cells <= FEW and not any(env.has_framework for env in envs):
        return groups(config, 1)
    ranges = groups(config)
    shards = min(SHARDS, ceil(cells / len(ranges) / SHARD)) or 1
    if shards == 1:
        return ranges
    return tuple(
        evolve(group, name=f"{group.name}-{number}", shard=f"{number}/{shards}")
        for group in ranges
        for number in range(1, shards + 1)
    )


def groups(config: MatrixConfig, most: int = JOBS) -> tuple[Group, ...]:
    """Return the envs that a run without ``--envs`` tries, in ``most`` groups at most.

    Each env is in one group. If the envs are all existing releases, the groups are ranges of
    releases, and the last one includes future releases.
    """
    envs = config.choose_envs()
    ranges = tuple(_ranges(envs, most))
    if _cover(ranges, config, envs):
        return ranges
    if most == 1:
        return (Group(name="all", envs=",".join(config.default_envs)),)
    return tuple(_group_envs(envs, most))


def _ranges(envs: Sequence[Env], most: int) -> Iterator[Group]:
    releases = sorted(
        env.release for env in envs if env.release is not None and toolchains.is_release(env)
    )
    series = [key for key, _ in groupby(releases, key=lambda release: release.release[:2])]
    parts = _parts(series, most)
    for part, after in zip(parts, (*parts[1:], None), strict=True):
        first, last = (".".join(map(str, ends)) for ends in (part[0], part[-1]))
        low = [f">={first}"] if part is not parts[0] else []
        high = [f"<{'.'.join(map(str, after[0]))}"] if after else []
        name = f"{first}-{last}" if after else f"from-{first}"
        yield Group(name=name, envs=",".join((*low, *high)) or ">=0")


def _cover(ranges: Sequence[Group], config: MatrixConfig, envs: Sequence[Env]) -> bool:
    """Whether ranges of releases select exactly these envs, each once."""
    try:
        names = [env.name for group in ranges for env in config.choose_envs([group.envs])]
    except SelectionError:
        return False
    return sorted(names) == sorted(env.name for env in envs)


def _group_envs(envs: Sequence[Env], most: int) -> Iterator[Group]:
    ordered = sorted(envs, key=lambda env: (env.release or Version("0"), env.name))
    for number, part in enumerate(_parts([env.name for env in ordered], most), 1):
        yield Group(name=part[0] if len(part) == 1 else f"envs-{number}", envs=",".join(part))


def _parts(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """Divide items into ``most`` parts of neighbours at most, of about the same size."""
    size, more = divmod(len(items), most)
    ends = [number * size + min(number, more) for number in range(most + 1)]
    return [items[start:end] for start, end in pairwise(ends) if start < end]
