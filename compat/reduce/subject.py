"""What is reduced: a kernel, and the envs in which it is to stay as it is."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from compat.model import Cell, Env, Specialization, Target


@frozen(kw_only=True)
class Subject:
    """A kernel for a target, and the envs in which it is to stay as it is."""

    spec: Specialization
    target: Target
    bad: tuple[Env, ...]
    good: tuple[Env, ...]
    rest: tuple[Env, ...] = ()
    """Those of other releases."""
    hold_rest: bool = True
    """Whether its outcome there must be preserved; else differences are only reported."""

    def cells(self, envs: Sequence[Env], spec: Specialization | None = None) -> list[Cell]:
        """Its cells in some envs, or those of another specialization in its place."""
        return [Cell(env=env, target=self.target, spec=spec or self.spec) for env in envs]
