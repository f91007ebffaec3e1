"""What ``compat bisect`` is asked for: kernels, candidates, given ends, a judge."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen
from packaging.version import Version

from compat.axes import candidates as candidates_of
from compat.axes.candidates import Asked, Candidates
from compat.cli.judging import read_judge
from compat.cli.selecting import Selection, select
from compat.errors import IndexUnavailable, SelectionError
from compat.index import interpreters
from compat.model import Specialization, Target
from compat.run import Bench
from compat.search.judge import Judge
from compat.store import Store


@frozen(kw_only=True)
class Request:
    """What the command line asks for."""

    selection: Selection
    candidates: Candidates
    judge: Judge
    good: int | None
    bad: int | None
    fixed: bool
    every: bool | None
    deadline: float | None
    jobs: int | None
    again: bool
    build: bool
    options: tuple[str, ...]
    started: float = field(factory=time.monotonic)

    @property
    def kernels(self) -> list[tuple[Specialization, Target]]:
        """What is bisected, each on its own."""
        return [(spec, target) for spec in self.selection.specs for target in self.selection.targets]

    def bench(self, store: Store) -> Bench:
        """A bench that has no envs yet."""
        return self.selection.bench(store, {}, deadline=self.deadline, jobs=self.jobs, again=self.again)


def read_request(
    *,
    good: str | None,
    bad: str | None,
    fixed: bool,
    judge_text: str,
    every: bool | None,
    jobs: int | None,
    deadline: float | None,
    again: bool,
    no_build: bool,
    **chosen: Any,
) -> Request:
    """The request that the options make. Raises SelectionError for what cannot be meant, IndexUnavailable without an index."""
    ends = (candidates_of.parse_release(good, "--good"), candidates_of.parse_release(bad, "--bad"))
    judge = read_judge(judge_text)
    asked = Asked(
        releases=candidates_of.parse_specifier(chosen.pop("specifier")),
        named=tuple(end for end in ends if end is not None),
        **{key: chosen.pop(key) for key in ("patches", "pre", "find_links", "index_url", "distribution")},
    )
    selection = select(**chosen)
    found = _candidates(asked, selection, by_env=bool(chosen["envs"]))
    at = [_position(found, end, option) for end, option in zip(ends, ("--good", "--bad"), strict=True)]
    return Request(
        selection=selection,
        candidates=found,
        judge=judge,
        good=at[0],
        bad=at[1],
        fixed=fixed or (None not in at and at[0] > at[1]),  # type: ignore[operator]
        every=every,
        deadline=deadline,
        jobs=jobs,
        again=again,
        build=not no_build,
        options=_options(chosen, asked, judge_text),
    )


def _candidates(asked: Asked, selection: Selection, *, by_env: bool) -> Candidates:
    if by_env:
        return candidates_of.from_envs(selection.envs, selection.config.path)
    try:
        return candidates_of.from_index(asked, selection.config, selection.state, list(interpreters.present()))
    except IndexUnavailable as error:
        error.hint = f"{error.hint or ''} --envs releases bisects over envs of matrix.toml without asking an index.".strip()
        raise


def _position(found: Candidates, end: Version | None, option: str) -> int | None:
    if end is None:
        return None
    at = found.position(end)
    if at is None:
        reason = next((why for why, left in found.left_out.items() if str(end) in left), None)
        there = f"There are {', '.join(candidate.label for candidate in found.chosen)}."
        raise SelectionError(f"{end} is no candidate{f': {reason}' if reason else ''}", where=option, hint=there)
    return at


def _options(chosen: Mapping[str, Any], asked: Asked, judge: str) -> tuple[str, ...]:
    """The options that a command for one kernel needs besides those that name it and the range."""
    words: list[str] = []
    if chosen["matrix_path"] != Path("matrix.toml"):
        words += ["--matrix", str(chosen["matrix_path"])]
    for name in ("spec", "envs"):
        words += [word for value in chosen[name] for word in (f"--{name}", value)]
    words += ["--judge", judge] if judge != "ok" else []
    words += ["--find-links", asked.find_links] if asked.find_links else []
    words += ["--index-url", asked.index_url] if asked.index_url else []
    words += ["--distribution", asked.distribution] if asked.distribution != "triton" else []
    return tuple(words)
