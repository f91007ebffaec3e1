"""Made-up histories: outcomes by release, and a search over them that compiles nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from compat.bisect import releases
from compat.bisect.answers import ReleaseAnswer
from compat.bisect.candidates import ReleaseCandidate
from compat.bisect.criterion import parse_criterion
from compat.bisect.releases import ReleaseSearch, search_releases
from compat.engine.run import OnPlan, RunContext
from compat.model import BuiltEnv, Cell, Env, Outcome, Result, Target
from compat.store.store import Store
from compat.workers.attempt import Limits
from tests.records import TARGETS, env, spec

LINE = ("3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0", "3.6.0", "3.7.0", "3.8.0", "3.9.0")


class Invented:
    """Stands in for the engine: every release has the outcome that ``outcomes`` gives it.

    It records the releases that a search tries, the envs that it obtains, and its runs.
    """

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, outcomes: Mapping[str, Outcome]
    ) -> None:
        self.outcomes, self.tmp_path = outcomes, tmp_path
        self.tried: list[str] = []
        self.obtained: list[list[str]] = []
        self.runs: list[list[str]] = []
        """The ids of the cells of each run."""
        monkeypatch.setattr(releases, "run", self._run)
        monkeypatch.setattr(releases, "stored_results", self._known)

    def _run(
        self,
        cells: Sequence[Cell],
        context: RunContext,
        on_result: Callable[[Result], None],
        on_plan: OnPlan | None,
    ) -> tuple[Result, ...]:
        if on_plan is not None:
            on_plan(cells, context.forecast(cells))
        self.runs.append([cell.id for cell in cells])
        self.tried += [str(cell.env.release) for cell in cells]
        results = tuple(
            Result(
                cell=cell,
                built=context.envs[cell.env.name],
                outcome=self.outcomes[str(cell.env.release)],
            )
            for cell in cells
        )
        for result in results:
            on_result(result)
        return results

    def _known(self, cells: Sequence[Cell], context: RunContext) -> tuple[Result, ...]:
        """The results of the case ``known``, which an earlier run compiled."""
        return tuple(
            Result(
                cell=cell,
                built=context.envs[cell.env.name],
                outcome=self.outcomes[str(cell.env.release)],
                cached=True,
            )
            for cell in cells
            if cell.spec.case == "known"
        )

    def _obtain(self, envs: Sequence[Env]) -> list[BuiltEnv]:
        self.obtained.append([str(environment.release) for environment in envs])
        return [env(str(environment.release)) for environment in envs]

    def search(
        self,
        *,
        criterion: str = "ok",
        targets: Sequence[Target] = TARGETS[1:2],
        cases: Sequence[str] = ("d64",),
        **how: Any,
    ) -> tuple[ReleaseAnswer, ...]:
        """The answers of a search.

        With ``stay``, workers stay between runs. ``listener``, ``recall`` and ``on_answer`` are
        those of the search.
        """
        parameters = {
            name: how.pop(name) for name in ("listener", "recall", "on_answer") if name in how
        }
        idle_timeout = 60.0 if how.pop("stay", False) else 0.0
        line = tuple(
            ReleaseCandidate(version=Version(release), env=env(release).env)
            for release in self.outcomes
        )
        with Store(self.tmp_path / "store") as store:
            context = RunContext(
                envs={},
                store=store,
                limits=Limits(deadline=1, memory=1),
                slots=2,
                idle_timeout=idle_timeout,
            )
            kernels = [(spec(case=case), target) for case in cases for target in targets]
            release_search = ReleaseSearch(
                candidates=line, criterion=parse_criterion(criterion), **how
            )
            return search_releases(kernels, release_search, context, self._obtain, **parameters)
