"""An edit of a kernel whose arguments are guessed: there is no kernel file to edit, and an edit may change the guess."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from compat.errors import ConfigError
from compat.fix.searching import Candidate
from compat.fix.source import SourceFile
from compat.guess.loading import load_sources
from compat.model import CompileSpec, Specialization


def settled(candidate: Candidate, spec: Specialization, source: SourceFile, folder: Path) -> Candidate:
    """The candidate as an edit of the source alone, with a note where other arguments are guessed once it is made.

    ``folder`` is one to write copies into. Raises ConfigError where the edit is one of the arguments, which the source cannot say.
    """
    after = _guess(spec, source.specialize(spec, candidate.text, folder / "after", candidate.beside))
    if after == candidate.compile:
        return evolve(candidate, constexprs={})
    path = spec.origin.partition("::")[0]
    if candidate.constexprs:
        said = ", ".join(f"{name} = {value}" for name, value in candidate.constexprs.items())
        hint = f"`compat init {path}` writes them into a kernel file; run this command again with that."
        raise ConfigError(f"the edit is one of the arguments ({said}), which are guessed", where=spec.origin, hint=hint)
    if after == _guess(spec, source.specialize(spec, source.text, folder / "before")):
        return candidate
    note = f"other arguments are guessed of the edited source than it was compiled with: `compat init {path}` writes these down"
    return evolve(candidate, notes=(*candidate.notes, note))


def _guess(spec: Specialization, copy: Specialization) -> CompileSpec | None:
    """What is guessed of the kernel in a copy of its source; ``None`` where that is no kernel, or has no such case."""
    path = Path(copy.source)
    try:
        found = load_sources([f"{path.name}::{spec.function}"], path.parent)
    except ConfigError:
        return None
    return next((each.compile for each in found if (each.variant, each.case) == (spec.variant, spec.case)), None)
