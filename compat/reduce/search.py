"""The search: make a candidate lighter as long as it stays interesting.

The method is delta debugging, pass by pass. The search first makes all edits of a pass at once,
then halves, quarters and so on, down to single edits. Edits of one round that are accepted alone
are tried together. All candidates of a round are judged together, so that this can be done in
parallel. No candidate is judged twice, and every accepted candidate is lighter than the last. So
the search ends: when no single edit of any pass is accepted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from attrs import define, field

from compat.reduce import expressions, statements
from compat.reduce.candidate import Candidate, Edit, ReductionPass, apply_edits

AreInteresting = Callable[[Sequence[Candidate]], Sequence[bool]]
"""Tests for each of several candidates whether it keeps the required properties."""

Verify = Callable[[Candidate], bool]
"""Tests whether one candidate keeps all required properties."""

PASSES: tuple[ReductionPass, ...] = (
    statements.drop,
    expressions.unused_parameters,
    statements.unwrap,
    statements.inline,
    statements.unused_arguments,
    expressions.options,
    expressions.hints,
    expressions.keywords,
    expressions.hoist,
    expressions.constexprs,
    expressions.inline_constexprs,
    expressions.values,
    statements.simplify,
    statements.merge,
    expressions.elements,
    expressions.literals,
    expressions.types,
    expressions.simplify_arguments,
    expressions.drop_annotations,
    expressions.element_types,
)
"""The edits, in order, repeated until none helps."""
NAMES: tuple[ReductionPass, ...] = (expressions.names,)
"""The edits that change only names. They come first, because every candidate that was judged before
a change of names would be judged again after it. They come again for the names that other edits
make.
"""
_WIDTH = 8
"""The number of single edits that are judged together, if there are that many."""


def shrink(
    start: Candidate, interesting: AreInteresting, *, verify: Verify = lambda _: True
) -> Iterator[Candidate]:
    """Yield every accepted candidate. The last one is the smallest that was found.

    ``start`` counts as accepted and is not yielded. ``verify`` decides about candidates that
    ``interesting`` accepts; it may be slow. An exception from either function ends the search.
    """
    search = Shrinker(current=start, interesting=interesting, verify=verify)
    for passes in (NAMES, PASSES, NAMES, PASSES):
        progress = True
        while progress:
            before = search.current
            for make in passes:
                yield from search.sweep(make)
            progress = search.current is not before


@define(kw_only=True)
class Shrinker:
    """The state of a search."""

    current: Candidate
    interesting: AreInteresting
    verify: Verify
    _seen: dict[str, bool] = field(factory=dict)
    _made: tuple[ReductionPass, Candidate, list[Edit]] | None = None

    def _edits(self, make: ReductionPass) -> list[Edit]:
        """The edits of the current candidate, made once."""
        if self._made is None or self._made[0] is not make or self._made[1] is not self.current:
            self._made = (make, self.current, list(make(self.current)))
        return self._made[2]

    def sweep(self, make: ReductionPass) -> Iterator[Candidate]:
        """Try the edits of one pass: many at once, then one by one."""
        size = len(self._edits(make))
        while size > 1:
            edits = self._edits(make)
            groups = [edits[start : start + size] for start in range(0, len(edits), size)]
            accepted = self._round(groups)
            if any(accepted):
                yield self.current
                size = min(size, len(self._edits(make)))
            else:
                size = (size + 1) // 2 if size > 2 else 1
        yield from self._one_by_one(make)

    def _one_by_one(self, make: ReductionPass) -> Iterator[Candidate]:
        """Try every edit alone.

        An edit that failed is not tried again in this sweep, even after other edits were made.
        """
        failed = set[str]()
        while True:
            waiting = [
                (name, edit) for name, edit in _name_edits(self._edits(make)) if name not in failed
            ]
            while waiting:
                some, waiting = waiting[:_WIDTH], waiting[_WIDTH:]
                accepted = self._round([[edit] for _, edit in some])
                failed |= {name for (name, _), fine in zip(some, accepted, strict=True) if not fine}
                if any(accepted):
                    yield self.current
                    break
            else:
                return

    def _round(self, groups: Sequence[Sequence[Edit]]) -> list[bool]:
        """Judge the candidates of these groups of edits, and continue with the best one."""
        candidates = [self._lighter(group) for group in groups]
        fine = self._judge_candidates(candidates)
        passed = [
            (c, group)
            for c, group, good in zip(candidates, groups, fine, strict=True)
            if c is not None and good
        ]
        best = sorted(
            (candidate for candidate, _ in passed), key=lambda candidate: candidate.weight
        )
        if len(passed) > 1:
            together = self._lighter([edit for _, group in passed for edit in group])
            if (
                together is not None
                and together.weight < best[0].weight
                and self._judge_candidates([together])[0]
            ):
                best.insert(0, together)
        accepted = next(filter(self._verify, best), None)
        if accepted is None:
            return [False] * len(groups)
        self.current = accepted
        return [candidate is not None and self._seen[candidate.key] for candidate in candidates]

    def _verify(self, candidate: Candidate) -> bool:
        """Whether ``verify`` accepts a candidate. The result is remembered."""
        self._seen[candidate.key] = self.verify(candidate)
        return self._seen[candidate.key]

    def _lighter(self, edits: Sequence[Edit]) -> Candidate | None:
        candidate = apply_edits(self.current, edits)
        return (
            candidate if candidate is not None and candidate.weight < self.current.weight else None
        )

    def _judge_candidates(self, candidates: Sequence[Candidate | None]) -> list[bool]:
        new = {
            candidate.key: candidate
            for candidate in candidates
            if candidate is not None and candidate.key not in self._seen
        }
        if new:
            self._seen.update(zip(new, self.interesting(list(new.values())), strict=True))
        return [candidate is not None and self._seen[candidate.key] for candidate in candidates]


def _name_edits(edits: Iterable[Edit]) -> Iterator[tuple[str, Edit]]:
    """Yield edits with unique names: their words, with a number for equal words."""
    count = Counter[str]()
    for edit in edits:
        count[edit.what] += 1
        yield f"{count[edit.what]} {edit.what}", edit
