"""In which part of the toolchain wrong numbers or a latency come from: halves of two releases, combined and launched.

As :mod:`compat.bisect.part` does with failures of a compile, only that what is made has to be launched to know: on the GPU of this
machine, where that may be used; else every combination is built into a folder for a GPU host (:mod:`compat.launch`), and looked up
once its results have been brought back. What comes out as the same binary as that of a release needs no launch.
"""

from __future__ import annotations

import filecmp
import hashlib
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import evolve, frozen

from compat import toolchains
from compat.bisect.answers import Part, PartName
from compat.bisect.assemblers import Program
from compat.bisect.attempts import Attempts
from compat.bisect.criterion import Criterion
from compat.bisect.fates import Fate
from compat.bisect.ir_swap import Crossing, Side
from compat.bisect.measured import result_words
from compat.errors import SelectionError
from compat.execution.flight import Compile, Mode
from compat.execution.program import ask
from compat.execution.run import RunContext
from compat.history.account import Judgement
from compat.launch.archive import object_of, write_archive
from compat.launch.building import Built, Launchable, can_launch, launch_mode, launchable_of
from compat.launch.hosting import Gpu
from compat.launch.live import launch_built
from compat.launch.merging import launched_as, with_launched
from compat.model import Cell, Evidence, Outcome, Result, Status
from compat.patterns import lazy_pattern
from compat.toolchains import Parts

_FATES = {Judgement.BAD: Fate.SAME, Judgement.GOOD: Fate.OK, Judgement.UNKNOWN: Fate.UNKNOWN}
_VERSION = lazy_pattern(r"V(\d+\.\d+\.\d+)")
_SECONDS = 20.0


@frozen(kw_only=True)
class Question:
    """What is asked, of which cells."""

    bad: Cell
    good: Cell | None
    criterion: Criterion
    assemblers: tuple[Program, ...]
    folder: Path
    """Where combinations that have to be launched are written."""
    gpu: Gpu | None = None
    """The GPU to launch them on at once."""


def find_part(question: Question, context: RunContext, on_step: Callable[[str], None] = lambda words: None) -> Part:
    """In which part it is that ``bad`` is bad and ``good`` is not, by what launches of combinations of the two came to.

    ``on_step`` hears how far it is. Raises SelectionError for what cannot be launched, and StoreError where the folder cannot be
    written.
    """
    bad = question.bad
    parts = toolchains.of(bad.env).parts
    if parts is None or not can_launch(bad):
        raise SelectionError(f"nothing can be launched for {bad.target.name}", where="--axis part")
    if bad.spec.problem is None:
        raise SelectionError(f"the kernel file of {bad.id} names no [problem] to launch it on", where="--judge")
    if question.good is None and not question.assemblers:
        hint = "--ptxas tries another assembler; --good and --bad name two releases."
        raise SelectionError(f"{bad.id}: no change between releases, so no part is to blame", hint=hint)
    with Attempts(context) as attempts:
        search = _Search(question, context, attempts, parts)
        found = search.part()
        if search.waiting and question.gpu is not None and bad.target == question.gpu.target:
            on_step(f"launching {len(search.waiting)} combinations")
            launch_built(search.waiting, context.store, question.gpu)
            search = _Search(question, context, attempts, parts)
            found = search.part()
        return search.carried(found)


class _Search:
    """Combinations under way."""

    def __init__(self, question: Question, context: RunContext, attempts: Attempts, parts: Parts) -> None:
        self.question, self.context, self.attempts, self.parts = question, context, attempts, parts
        self.steps: list[str] = []
        self.waiting: list[Launchable] = []
        """What has to be launched."""
        self.known: dict[str, Result] = {}
        """Binary → what is known of it."""
        self.made: dict[str, Evidence] = {}
        """Env → the attempt at its own cell."""
        rows = [[self._plain(cell)] for cell in (question.good, question.bad) if cell is not None]
        self.criterion = question.criterion.along(rows)

    # --- the answer ---

    def part(self) -> Part:
        bad, good = self.question.bad, self.question.good
        control = self._alone(bad)
        if good is not None:
            self._alone(good)
        others = {program.name: self._assembled(bad, program.path, program.name) for program in self.question.assemblers}
        swap = self._swapped(good, bad) if good is not None else None
        first = self._crossed(self.parts.first_ir) if good is not None else None
        last = self._crossed(self.parts.last_ir) if good is not None else None
        name, sentence = self._concluded(control, swap, others, first, last)
        return Part(name=name, sentence=sentence, steps=tuple(self.steps))

    def carried(self, part: Part) -> Part:
        """The same answer, and what has still to be launched written into the folder, which the answer names."""
        if not self.waiting:
            return part
        target, folder = self.question.bad.target, self.question.folder
        program = write_archive(Built(target=target, launchable=tuple(self.waiting), left_out=()), folder)
        words = (
            f"To be launched: {len(self.waiting)} combinations. Carry {folder} to a GPU host, run "
            f"`python {program.name}` there, and give this command its results.jsonl with --launched."
        )
        return evolve(part, steps=(*part.steps, words))

    def _concluded(
        self, control: Fate, swap: Crossing | None, others: Mapping[str, Fate], first: Crossing | None, last: Crossing | None
    ) -> tuple[str, str]:
        ours, name = self.parts.assembler.name, self._name(self.question.bad)
        if control is not Fate.SAME:
            why = "is not known to be bad" if control is Fate.UNKNOWN else "is good"
            return PartName.UNKNOWN, f"{name} {why} by `{self.criterion.text}`, so there is nothing to compare with."
        mended = [f"that of {whose}" for whose, fate in others.items() if fate is Fate.OK]
        if swap is not None and swap.into_good is Fate.OK and self.question.good is not None:
            mended.insert(0, f"that of {self._name(self.question.good)}")
        if mended:
            return ours, f"It is in {ours} ({self._version(self.question.bad)}): with {' or '.join(mended)}, {name} is good."
        if swap is not None and swap.into_bad is Fate.SAME:
            return ours, f"It is in {ours}: with that of {name}, {self._name(self._good)} is bad, too."
        is_cleared = (swap is not None and swap.into_good is Fate.SAME) or Fate.SAME in others.values()
        sides = [crossing.side if crossing else Side.UNKNOWN for crossing in (first, last)]
        part, place = self._inside(*sides, place=f"not in {ours}" if is_cleared else f"or in {ours}")
        if not self.waiting:
            return part, f"It is {place}." if place else f"No combination decided it{f': not in {ours}' if is_cleared else ''}."
        return PartName.UNKNOWN, f"Not known yet: combinations have to be launched.{f' So far: it is {place}.' if place else ''}"

    def _inside(self, first: Side, last: Side, *, place: str) -> tuple[str, str]:
        """The part that IR says it is in, and where that is; ``place`` is what is known of the assembler."""
        if first is Side.BEFORE:
            return PartName.FRONT_END, f"in what makes {self.parts.first_ir.upper()}, which is bad in the other release, too"
        if last is Side.BEFORE:
            words = f"in the MLIR passes: the {self.parts.last_ir.upper()} that they make is bad in the other release, too"
            return PartName.MLIR, words
        if last in (Side.BEHIND, Side.BOTH):
            return PartName.UNKNOWN, f"after {self.parts.last_ir.upper()}, in the lowering to LLVM IR, in LLVM, {place}"
        if first in (Side.BEHIND, Side.BOTH):
            return PartName.UNKNOWN, f"after {self.parts.first_ir.upper()}, in the MLIR passes or LLVM, {place}"
        return PartName.UNKNOWN, ""

    # --- combinations ---

    def _swapped(self, good: Cell, bad: Cell) -> Crossing | None:
        """The assembler of each release under the other."""
        assembler = self.parts.assembler
        ours, theirs = (assembler.of(self.context.envs[cell.env.name], cell.target) for cell in (good, bad))
        if ours is None or theirs is None:
            return None
        if filecmp.cmp(ours, theirs, shallow=False):
            self.steps.append(f"{self._name(good)} and {self._name(bad)} ship the same {assembler.name}, byte for byte.")
            return Crossing(into_bad=Fate.OK, into_good=Fate.SAME)
        into_good = self._assembled(bad, ours, self._name(good))
        return Crossing(into_bad=self._assembled(good, theirs, self._name(bad)), into_good=into_good)

    def _assembled(self, cell: Cell, program: Path, whose: str) -> Fate:
        mode = launch_mode(cell)
        variables = {**mode.variables, **dict.fromkeys(self.parts.assembler.variables, str(program))}
        label = f"the {self.parts.assembler.name} of {whose}"
        version = _version_of(program)
        label += f" ({version})" if version and version not in whose else ""
        return self._try(label, cell, evolve(mode, variables=variables))

    def _crossed(self, stage: str) -> Crossing:
        """What a stage made in one release, compiled by the other, and that of the bad one by itself."""
        made = {cell.env.name: self._made(stage, cell) for cell in (self._good, self.question.bad)}
        bad, good = self.question.bad, self._good

        def feed(maker: Cell, reader: Cell) -> Fate:
            name, data = made[maker.env.name]
            if name is None:
                return Fate.UNKNOWN
            mode = evolve(launch_mode(reader), actions=(Compile(ir=name, keep_ir=True),), given={name: data})
            return self._try(f"the {stage.upper()} of {self._name(maker)}", reader, mode, like=self.made[reader.env.name])

        return Crossing(into_bad=feed(good, bad), into_good=feed(bad, good), control=feed(bad, bad))

    def _made(self, stage: str, cell: Cell) -> tuple[str | None, bytes]:
        kept = self.made[cell.env.name].kept.get(stage)
        return kept, self.attempts.data(kept) if kept else b""

    def _alone(self, cell: Cell) -> Fate:
        """A cell as it is, with its IR kept for what comes after."""
        mode = launch_mode(cell)
        return self._try("", cell, evolve(mode, stages=(*mode.stages, self.parts.first_ir, self.parts.last_ir)))

    def _try(self, label: str, cell: Cell, mode: Mode, like: Evidence | None = None) -> Fate:
        """Build a combination, and say what launching it came to, as far as that is known."""
        told = f"{self._name(cell)}{f' with {label}' if label else ''}"
        evidence = self.attempts.make(cell, mode)
        built = self.context.envs[cell.env.name]
        if not label:
            self.made[cell.env.name] = evidence
        artifact = self.context.store.artifact
        found = launchable_of(cell, built, evidence, artifact, like=like) if evidence.built else None
        if not isinstance(found, Launchable):
            self.steps.append(f"{told}: {'cannot be launched, ' + found.why if found else 'does not compile'}.")
            return Fate.UNKNOWN
        same = bool(label) and object_of(found) in self.known
        result = self._known(found, label)
        if result is None:
            named = evolve(found, label=label, identity=_identity(found)) if label else found
            if named.identity not in {each.identity for each in self.waiting}:
                self.waiting.append(named)
            self.steps.append(f"{told}: not launched.")
            return Fate.UNKNOWN
        self.steps.append(f"{told}: {result_words(result)}{', being the same binary as one above' if same else ''}.")
        return _FATES[self.criterion(evolve(result, cell=self.question.bad))]

    def _known(self, found: Launchable, label: str) -> Result | None:
        """What is known of a binary; ``None`` where it was not launched."""
        name = object_of(found)
        if name not in self.known:
            plain = self._plain(found.cell)
            result = launched_as(plain, _identity(found), self.context.store) if label else plain
            if result.numbers.gpu is None:
                return None
            self.known[name] = result
        return self.known[name]

    def _plain(self, cell: Cell) -> Result:
        """A cell as it is, with what is known of launching it."""
        built = self.context.envs[cell.env.name]
        (result,) = with_launched([Result(cell=cell, built=built, outcome=_BUILT)], self.context.store)
        return result

    # --- words ---

    @property
    def _good(self) -> Cell:
        assert self.question.good is not None
        return self.question.good

    def _name(self, cell: Cell) -> str:
        return self.context.envs[cell.env.name].release or cell.env.name

    def _version(self, cell: Cell) -> str:
        program = self.parts.assembler.of(self.context.envs[cell.env.name], cell.target)
        return (_version_of(program) if program else "") or self._name(cell)


_BUILT = Outcome(status=Status.OK, stage="")


def _identity(found: Launchable) -> str:
    """Of a combination: of the cell, and of the binary that came out."""
    return hashlib.sha256(f"{found.identity} {object_of(found)}".encode()).hexdigest()


def _version_of(program: Path) -> str:
    said = ask(f"{shlex.quote(str(program))} --version", "", {}, _SECONDS)
    found = _VERSION.search(said.output)
    return found[1] if found else ""
