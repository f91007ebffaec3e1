"""The search for edits: those known for the failure's class, and where one only gets further, those for the next class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from attrs import Factory, define, evolve, field, frozen

from compat import signatures
from compat.fix.known import known_edits
from compat.history.account import is_good
from compat.model import CompileSpec, Failure, Outcome
from compat.toolchains import Toolchain
from compat.toolchains.edits import CannotEdit, Faulty, KnownEdit, Proposal

_STEPS = 6
"""Edits that are made one after the other at most."""
_PROPOSALS = 100
"""Proposals of one edit that are compiled at most."""


@frozen(kw_only=True)
class Candidate:
    """A kernel with some edits."""

    text: str
    compile: CompileSpec
    edits: tuple[str, ...] = ()
    """What was done, in a few words each."""
    notes: tuple[str, ...] = ()
    """What that takes for granted or changes."""
    constexprs: dict[str, object] = Factory(dict)
    """Constexprs of the kernel file that have other values."""

    def after(self, edit: KnownEdit, proposal: Proposal) -> Candidate:
        """The candidate with one edit more."""
        return evolve(
            self,
            text=proposal.text,
            compile=_with(self.compile, proposal),
            edits=(*self.edits, edit.name) if edit.name not in self.edits else self.edits,
            notes=tuple(dict.fromkeys((*self.notes, *proposal.notes))),
            constexprs={**self.constexprs, **proposal.constexprs},
        )


def _with(compile_spec: CompileSpec, proposal: Proposal) -> CompileSpec:
    kept = {name: kind for name, kind in compile_spec.signature.items() if name not in proposal.constexprs}
    of_kept = signatures.leaves(kept)
    hints: dict[str, Any] = {hint: tuple(name for name in given if name in of_kept) for hint, given in compile_spec.hints.items()}
    constexprs = {**compile_spec.constexprs, **proposal.constexprs}
    passed = {name: value for name, value in compile_spec.launch.items() if name not in proposal.constexprs}
    changed = evolve(compile_spec, signature=kept, launch=passed, constexprs=constexprs, **hints)
    return changed if proposal.constexprs else compile_spec


Try = Callable[[Sequence[Candidate]], Sequence[Outcome]]
"""Compiles candidates and says what became of each."""


@define(kw_only=True)
class Search:
    """A search under way."""

    function: str
    toolchain: Toolchain
    try_all: Try
    refused: list[str] = field(factory=list)
    """Why edits were not made."""
    tried: int = 0
    """How many candidates were compiled."""

    def run(self, start: Candidate, failure: Failure) -> Iterator[Candidate]:
        """Candidates that compile, in the order of the edits."""
        seen = {(start.text, str(start.compile.document()))}
        for _ in range(_STEPS):
            further: tuple[Candidate, Failure] | None = None
            found = False
            for edit in known_edits(failure, self.toolchain.name):
                for candidate, outcome in self._outcomes(edit, start, failure, seen):
                    if is_good(outcome):
                        found = True
                        yield candidate
                    elif further is None and self._gets_further(failure, outcome.failure, start, candidate):
                        assert outcome.failure is not None
                        further = candidate, outcome.failure
            if found or further is None:
                return
            start, failure = further

    def _outcomes(
        self, edit: KnownEdit, start: Candidate, failure: Failure, seen: set[tuple[str, str]]
    ) -> list[tuple[Candidate, Outcome]]:
        candidates: list[Candidate] = []
        for proposal in self._proposals(edit, start, failure):
            candidate = start.after(edit, proposal)
            key = (candidate.text, str(candidate.compile.document()))
            if key not in seen and len(candidates) < _PROPOSALS:
                seen.add(key)
                candidates.append(candidate)
        self.tried += len(candidates)
        return list(zip(candidates, self.try_all(candidates) if candidates else (), strict=True))

    def _proposals(self, edit: KnownEdit, start: Candidate, failure: Failure) -> Iterator[Proposal]:
        faulty = Faulty(text=start.text, function=self.function, compile=start.compile, failure=failure)
        try:
            yield from edit.proposals(faulty)
        except CannotEdit as error:
            reason = f"{edit.name}: {error}"
            if reason not in self.refused:
                self.refused.append(reason)

    def _gets_further(self, before: Failure, after: Failure | None, start: Candidate, candidate: Candidate) -> bool:
        """Whether another edit may help after this one: it fails later, and edits are known for that."""
        if after is None or not known_edits(after, self.toolchain.name):
            return False
        stages = self.toolchain.every_stage
        if before.stage != after.stage:
            return stages.index(after.stage) > stages.index(before.stage)
        same_lines = start.text.count("\n") == candidate.text.count("\n")
        if before.failure_class == after.failure_class or same_lines:
            return same_lines and (line_of(after) or 0) > (line_of(before) or 0)
        return True


def line_of(failure: Failure) -> int | None:
    """The line that a failure is about."""
    number = (failure.location or "").rpartition(":")[2]
    return int(number) if number.isdigit() else None
