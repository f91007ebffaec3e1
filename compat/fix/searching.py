"""The search for edits among the known edits for a failure's class.

If an edit only moves the failure to a later place, the edits for the new failure's class follow.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import Factory, define, evolve, field, frozen

from compat.history.account import is_good
from compat.model import CompileSpec, Failure, Outcome
from compat.model.cell import leaf_types
from compat.source.parsing import tree_of
from compat.text import JsonObject
from compat.toolchains import known_edits
from compat.toolchains.base import Toolchain
from compat.toolchains.language import CannotEdit, FailingKernel, KnownEdit, Proposal, line_of

_STEPS = 6
"""The most edits in sequence."""
_PROPOSALS = 100
"""The most proposals of one edit that are compiled."""
_ELSEWHERE = "{name} changes too, and other kernels that use it were not compiled"


@frozen(kw_only=True)
class KernelModules:
    """The kernel's module and the modules that it imports."""

    name: str = "kernel.py"
    """The file name of the kernel's own module."""
    beside: Mapping[str, str] = Factory(dict)
    """File name → text of the other modules that may be edited."""
    roots: tuple[str, ...] = ("",)
    """The folders that absolute imports search."""


@frozen(kw_only=True)
class EditedKernel:
    """A kernel with some edits."""

    text: str
    """Text of the kernel's module."""
    compile: CompileSpec
    """How to compile it."""
    edits: tuple[str, ...] = ()
    """The names of the edits."""
    notes: tuple[str, ...] = ()
    """Assumptions and side effects of the edits."""
    constexprs: dict[str, object] = Factory(dict)
    """Changed constexprs of the kernel file."""
    beside: dict[str, str] = Factory(dict)
    """File name → text of modules that the kernel imports and the edits change."""

    @property
    def key(self) -> str:
        """A text that is equal for candidates with equal sources and arguments."""
        return repr((self.text, sorted(self.beside.items()), self.compile.document()))

    def after(
        self, edit: KnownEdit, proposal: Proposal, files: KernelModules, file: str
    ) -> EditedKernel:
        """Return the candidate with one more edit, proposed for one of its files."""
        texts = {**self.beside, **proposal.beside, file: proposal.text}
        beside = {
            name: text
            for name, text in texts.items()
            if name in files.beside and text != files.beside[name]
        }
        notes = (*self.notes, *proposal.notes, *(_ELSEWHERE.format(name=name) for name in beside))
        return evolve(
            self,
            text=texts.get(files.name, self.text),
            beside=beside,
            compile=_with(self.compile, proposal),
            edits=(*self.edits, edit.name) if edit.name not in self.edits else self.edits,
            notes=tuple(dict.fromkeys(notes)),
            constexprs={**self.constexprs, **proposal.constexprs},
        )


def _with(compile_spec: CompileSpec, proposal: Proposal) -> CompileSpec:
    signature = {
        name: kind
        for name, kind in compile_spec.signature.items()
        if name not in proposal.constexprs
    }
    of_kept = leaf_types(signature)
    hints: JsonObject = {
        hint: tuple(name for name in hinted if name in of_kept)
        for hint, hinted in compile_spec.hints.items()
    }
    constexprs = {**compile_spec.constexprs, **proposal.constexprs}
    passed = {
        name: value
        for name, value in compile_spec.launch.items()
        if name not in proposal.constexprs
    }
    changed = evolve(
        compile_spec, signature=signature, launch=passed, constexprs=constexprs, **hints
    )
    return changed if proposal.constexprs else compile_spec


Try = Callable[[Sequence[EditedKernel]], Sequence[Outcome]]
"""Compiles candidates and returns the outcome of each."""


@define(kw_only=True)
class EditSearch:
    """The state of a search."""

    function: str
    toolchain: Toolchain
    try_all: Try
    files: KernelModules = Factory(KernelModules)
    refused: list[str] = field(factory=list)
    """Edits that were not made, with the reasons."""
    compiled: int = 0
    """Number of compiled candidates."""

    def run(self, start: EditedKernel, failure: Failure) -> Iterator[EditedKernel]:
        """Candidates that compile, in the order of the edits."""
        seen = {start.key}
        for _ in range(_STEPS):
            further: tuple[EditedKernel, Failure] | None = None
            succeeded = False
            for edit in known_edits(failure, self.toolchain.name):
                for candidate, outcome in self._outcomes(edit, start, failure, seen):
                    if is_good(outcome):
                        succeeded = True
                        yield candidate
                    elif further is None and self._gets_further(
                        failure, outcome.failure, start, candidate
                    ):
                        assert outcome.failure is not None
                        further = candidate, outcome.failure
            if succeeded or further is None:
                return
            start, failure = further

    def _outcomes(
        self, edit: KnownEdit, start: EditedKernel, failure: Failure, seen: set[str]
    ) -> list[tuple[EditedKernel, Outcome]]:
        candidates: list[EditedKernel] = []
        for faulty in self._faulties(start, failure):
            for proposal in self._proposals(edit, faulty):
                candidate = start.after(edit, proposal, self.files, faulty.file)
                if candidate.key not in seen and len(candidates) < _PROPOSALS:
                    seen.add(candidate.key)
                    candidates.append(candidate)
        self.compiled += len(candidates)
        return list(zip(candidates, self.try_all(candidates) if candidates else (), strict=True))

    def _proposals(self, edit: KnownEdit, faulty: FailingKernel) -> Iterator[Proposal]:
        try:
            yield from edit.proposals(faulty)
        except CannotEdit as error:
            reason = f"{edit.name}: {error}"
            if reason not in self.refused:
                self.refused.append(reason)

    def _faulties(self, start: EditedKernel, failure: Failure) -> Iterator[FailingKernel]:
        """Yield the input of edits: the module with the failure, and the other modules.

        There are several if the failure may be in several modules.
        """
        texts = self._texts(start)
        for file in files_of(failure, texts, self.files.name):
            own = file == self.files.name
            if function := (
                self.function if own else function_at(texts[file], line_of(failure) or 0)
            ):
                yield FailingKernel(
                    text=texts[file],
                    function=function,
                    compile=start.compile,
                    failure=failure,
                    file=file,
                    beside={name: text for name, text in texts.items() if name != file},
                    roots=self.files.roots,
                    kernel=(self.files.name, self.function),
                )

    def _texts(self, candidate: EditedKernel) -> dict[str, str]:
        return {**self.files.beside, **candidate.beside, self.files.name: candidate.text}

    def _gets_further(
        self, before: Failure, after: Failure | None, start: EditedKernel, candidate: EditedKernel
    ) -> bool:
        """Whether another edit may help after this one.

        This is the case if the kernel fails at a later place than before, and edits are known for
        the new failure.
        """
        if after is None or not known_edits(after, self.toolchain.name):
            return False
        stages = self.toolchain.every_stage
        if before.stage != after.stage:
            return stages.index(after.stage) > stages.index(before.stage)
        old, new = self._texts(start), self._texts(candidate)
        if _short(before) != _short(after):
            return True  # the failure in the first file is gone
        same_lines = all(
            old[name].count("\n") == new[name].count("\n")
            for name in files_of(before, old, self.files.name)
        )
        if before.failure_class == after.failure_class or same_lines:
            return same_lines and (line_of(after) or 0) > (line_of(before) or 0)
        return True


def _short(failure: Failure) -> str:
    """The name of the file that a failure is in, without its folder."""
    return (failure.location or "").rpartition(":")[0]


def files_of(failure: Failure, texts: Mapping[str, str], own: str) -> list[str]:
    """Return the files that a failure may be in.

    They are the files of that name whose line is in the excerpt, else all files of that name, else
    the kernel's own file.
    """
    number = line_of(failure) or 0
    named = sorted(name for name in texts if name.rpartition("/")[2] == _short(failure))
    shown = [
        name for name in named if (line := _line(texts[name], number)) and line in failure.excerpt
    ]
    return shown or named or [own]


def _line(text: str, number: int) -> str:
    lines = text.split("\n")
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def function_at(text: str, line: int) -> str:
    """Return the name of the function around a line, outer functions first; empty without one."""
    functions = (node for node in ast.walk(tree_of(text)) if isinstance(node, ast.FunctionDef))
    return next(
        (
            function.name
            for function in functions
            if _first_line(function) <= line <= (function.end_lineno or 0)
        ),
        "",
    )


def _first_line(function: ast.FunctionDef) -> int:
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
