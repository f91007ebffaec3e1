"""In which part of the toolchain a change between two releases is: front end, MLIR passes, LLVM or assembler. No compiler is built.

The stage that fails says where to look; experiments (:mod:`compat.bisect.ir_swap`) say whether the cause is there or earlier.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve
from packaging.version import InvalidVersion, Version

from compat import toolchains
from compat.bisect.answers import Part, PartName
from compat.bisect.assemblers import Program
from compat.bisect.attempts import Attempts
from compat.bisect.fates import Fate
from compat.bisect.ir_swap import Crossing, Experiment, Side, Trial
from compat.diagnosis import common
from compat.errors import SelectionError
from compat.execution.run import RunContext
from compat.model import SOURCE_STAGE, Cell, Env, Failure, Result, Status
from compat.toolchains import Parts


def find_part(good: Cell, bad: Cell, context: RunContext, assemblers: Sequence[Program] = ()) -> Part:
    """In which part of the toolchain it is that ``bad`` fails and ``good`` does not; the releases may be in either order.

    Where the assembler complains, ``assemblers`` are tried, too. Raises SelectionError for a toolchain whose parts cannot be told
    apart, and :class:`compat.execution.run.Interrupted` when stopped early.
    """
    parts = parts_of(bad.env)
    with Attempts(context) as attempts:
        before, after = attempts.known(good, bad)
        unknown = _obstacle(before, after)
        if unknown is not None:
            return Part(name=PartName.UNKNOWN, sentence=unknown)
        failure = after.outcome.failure
        assert failure is not None, "without a failure there is an obstacle"
        experiment = Experiment(
            good=good,
            bad=bad,
            failing=after.outcome,
            attempts=attempts,
            parts=parts,
            built=context.envs,
            names=_names(before, after),
        )
        return _Search(experiment, failure, before, fixed=_newer(before, after), assemblers=assemblers).part()


def find_part_alone(bad: Cell, context: RunContext, assemblers: Sequence[Program]) -> Part:
    """In which part of the toolchain a cell fails that works in no release, by the stage and by what other assemblers do."""
    parts = parts_of(bad.env)
    ours = parts.assembler.name
    with Attempts(context) as attempts:
        (result,) = attempts.known(bad)
        unknown = _unclear(result) or _fine(result)
        if unknown is not None:
            return Part(name=PartName.UNKNOWN, sentence=unknown)
        failure = result.outcome.failure
        assert failure is not None, "what does not fail is fine"
        if failure.stage != parts.assembler.stage:
            sentence = f"It fails in stage {failure.stage}, before {ours} is run, so {ours} is not involved."
            return Part(name=PartName.UNKNOWN, sentence=sentence)
        trial = Trial(failing=result.outcome, attempts=attempts, parts=parts)
        name = result.built.release or bad.env.name
        fates = {each.name: trial.assemble(bad, name, each.path, each.name) for each in assemblers}
        taken = [whose for whose, fate in fates.items() if fate is Fate.OK]
        part: str = PartName.UNKNOWN
        if taken:
            part, sentence = ours, f"The failure is in {ours}: with that of {' or '.join(taken)}, {name} is ok."
        elif set(fates.values()) == {Fate.SAME}:
            sentence = (
                f"The failure is not in this {ours} alone, but in its input: the others that were tried reject it the same way."
            )
        else:
            sentence = f"The failure is in {ours} or in its input: trying other assemblers did not decide it."
        return Part(name=part, sentence=sentence, steps=tuple(trial.steps))


def parts_of(env: Env) -> Parts:
    """The parts of an env's toolchain. Raises SelectionError where nothing is known of them."""
    toolchain = toolchains.of(env)
    if toolchain.parts is None:
        raise SelectionError(f"the parts of {toolchain.title} cannot be told apart", where="--axis part")
    return toolchain.parts


def _obstacle(good: Result, bad: Result) -> str | None:
    """Why the part cannot be found; ``None`` if it can."""
    unknown = _unclear(good) or _unclear(bad) or _fine(bad)
    if unknown is not None:
        return unknown
    first, second = good.outcome.failure, bad.outcome.failure
    if first and second and first.fingerprint == second.fingerprint:
        return f"It fails the same way on {good.cell.env.name}: nothing changed between the two."
    return None


def _unclear(result: Result) -> str | None:
    if not result.outcome.status.is_answer:
        return f"There is no answer for {result.cell.env.name} ({result.outcome.status}), so the part is unknown."
    if result.outcome.flaky:
        return f"On {result.cell.env.name} it is flaky, so no experiment would prove anything."
    return None


def _fine(result: Result) -> str | None:
    return f"It does not fail on {result.cell.env.name}: there is no failure to locate." if result.outcome.failure is None else None


def _names(good: Result, bad: Result) -> tuple[str, str]:
    versions = (good.built.release, bad.built.release)
    if None in versions or versions[0] == versions[1]:
        return good.cell.env.name, bad.cell.env.name
    return str(versions[0]), str(versions[1])


def _newer(good: Result, bad: Result) -> bool:
    """Whether the good release is the newer one."""
    try:
        return Version(good.built.release or "") > Version(bad.built.release or "")
    except InvalidVersion:
        return False


class _Search:
    """From one failure to the part that it is in."""

    def __init__(
        self, experiment: Experiment, failure: Failure, before: Result, *, fixed: bool, assemblers: Sequence[Program]
    ) -> None:
        self.experiment, self.failure, self.assemblers = experiment, failure, assemblers
        self.good, self.bad = experiment.names
        self.steps, self.parts = experiment.steps, experiment.parts
        self.title = toolchains.of(experiment.bad.env).title
        self.assembler = self.parts.assembler.name
        self.behind_first = f"the {PartName.MLIR} or {PartName.LLVM}"
        self.what = f"The failure that {self.good} fixed is" if fixed else "The break is"
        if before.outcome.failure:
            self.what = f"The failure on {self.bad} is"
            self.steps.append(f"{self.good} itself {experiment.told(before.outcome)}.")

    def part(self) -> Part:
        failure = self.failure
        if failure.prediction:
            return self._launch()
        where = f", inside the pass {failure.pass_}" if failure.pass_ else ""
        told = f"{toolchains.failure_classes()[failure.failure_class].title} ({failure.failure_class})"
        self.steps.append(f"{self.bad} fails in stage {failure.stage}{where}: {told}.")
        if failure.failure_class == common.TOOLCHAIN_MISSING.name:
            return self._missing()
        if failure.stage in (SOURCE_STAGE, *self.parts.front_end):
            return self._front_end()
        if failure.stage == self.parts.assembler.stage:
            return self._assembled()
        if self.assemblers:
            self.steps.append(f"No other {self.assembler} was tried: it fails before the assembler runs.")
        return self._compiled(self._where(failure))

    # --- by stage ---

    def _launch(self) -> Part:
        self.steps.append(f"{self.bad} compiles it; {self.failure.excerpt}")
        if self._status() is Status.WRONG:
            return self._assembled()
        return self._answer(
            PartName.LAUNCH, f"Nothing breaks while compiling: what {self.bad} makes exceeds the limits of the GPU."
        )

    def _missing(self) -> Part:
        assembles = self.failure.stage in (self.parts.assembler.takes, self.parts.assembler.stage)
        program = "assembler" if assembles else "linker (ld.lld, of LLVM)"
        name = self.assembler if assembles else PartName.LLVM
        return self._answer(name, f"Nothing broke in the compiler: {self.bad} does not ship the {program} that this target needs.")

    def _front_end(self) -> Part:
        """It fails before there is any IR; the good release's IR shows whether the later stages would work."""
        if self.failure.stage == SOURCE_STAGE:
            return self._answer(PartName.FRONT_END, f"{self.what} in the front end: importing the kernel's file already fails.")
        crossing = self.experiment.cross(self.parts.first_ir)
        if crossing.side is Side.BEHIND:
            sentence = f"{self.what} in what IR {self.bad} accepts: it rejects the IR of {self.good}'s front end the same way."
            return self._answer(PartName.MLIR, sentence)
        passed = f" The stages after it compile the {self._first} of {self.good}." if crossing.side is Side.BEFORE else ""
        return self._answer(PartName.FRONT_END, f"{self.what} in the AST front end, which {self._refuses()}.{passed}")

    def _refuses(self) -> str:
        return "crashes on the source" if self._status() is Status.CRASHED else f"rejects the source ({self.failure.failure_class})"

    def _status(self) -> Status:
        return self.experiment.failing.status

    # --- by experiment ---

    def _assembled(self) -> Part:
        """ptxas fails; swap it to see whether the cause is ptxas or its input."""
        swap = self.experiment.swap_assembler()
        side = swap.side if swap else Side.UNKNOWN
        others = {each.name: self._with(each) for each in self.assemblers}
        taken = [name for name, fate in others.items() if fate is Fate.OK]
        remark = f" With the {self.assembler} of {' or '.join(taken)}, {self.bad} is ok." if taken else ""
        if swap and side in (Side.BEHIND, Side.BOTH):
            return self._answer(self.assembler, f"{self.what} in {self.assembler}{self._proof_of_assembler(swap)}.{remark}")
        if side is Side.BEFORE:
            part = self._compiled(PartName.LLVM, f"not in {self.assembler} but in its input, ")
            return evolve(part, sentence=part.sentence + remark)
        if side is Side.EITHER:
            sentence = f"{self.what} in two places, each sufficient alone: {self.assembler}, and its input.{remark}"
            return self._answer(PartName.UNKNOWN, sentence)
        if taken or self._status() is Status.UNSUPPORTED:
            why = "" if taken else f": {self.bad}'s does not know the target"
            return self._answer(self.assembler, f"{self.what} in {self.assembler}{why}.{remark}")
        if others and set(others.values()) == {Fate.SAME}:
            return self._compiled(
                PartName.LLVM, f"not in this {self.assembler} alone, since others reject it too, but in its input, "
            )
        return self._answer(
            PartName.UNKNOWN, f"{self.what} in {self.assembler} or in its input: swapping assemblers did not decide it."
        )

    def _with(self, assembler: Program) -> Fate:
        return self.experiment.assemble(self.experiment.bad, self.bad, assembler.path, assembler.name)

    def _compiled(self, where: PartName, lead: str = "") -> Part:
        """It fails after the front end; see whether the front end is the cause."""
        crossing = self.experiment.cross(self.parts.first_ir)
        places = f"in {_named(where)}{self._pass()}" if where is PartName.MLIR else f"in {self.behind_first}"
        name = where if where is PartName.MLIR else PartName.UNKNOWN
        match crossing.side:
            case Side.BEFORE:
                return self._before_first(lead)
            case Side.BEHIND if where is PartName.LLVM:
                return self._behind_first(lead)
            case Side.BEHIND:
                return self._answer(where, f"{self.what} {lead}{places}; {self._proof(crossing)}.")
            case Side.BOTH:
                return self._answer(name, f"{self.what} {lead}{places}, and only with the IR of {self.bad}'s own front end.")
            case Side.EITHER:
                sentence = (
                    f"{self.what} {lead}in two places, each sufficient alone: the IR of {self.bad}'s front end, and {places}."
                )
                return self._answer(PartName.UNKNOWN, sentence)
        return self._undecided(where, lead)

    def _undecided(self, where: PartName, lead: str) -> Part:
        """TTIR did not decide it. What the front ends make, and what LLVM is given, can still be compared."""
        if where is PartName.LLVM and self.experiment.same_llvm_ir:
            return self._in_llvm(lead)
        behind = self.experiment.front_ends_agree()
        if where is PartName.MLIR and behind:
            return self._answer(where, f"{self.what} {lead}in {_named(where)}{self._pass()}; both front ends make the same IR.")
        if where is PartName.MLIR:
            place = f"in the front end or {_named(where)}: it fails in {_named(where)}{self._pass()}"
        else:
            place = f"in {self.behind_first}" if behind else f"in the front end, {self.behind_first}"
        return self._answer(PartName.UNKNOWN, f"{self.what} {lead}{place}; {self._first} did not decide it.")

    def _in_llvm(self, lead: str) -> Part:
        sentence = f"{self.what} {lead}in LLVM or the options it is run with: both releases give it the same IR, ignoring names."
        return self._answer(PartName.LLVM, sentence)

    def _before_first(self, lead: str) -> Part:
        """The cause is in the TTIR, which the front end makes and passes clean up."""
        if self.experiment.front_ends_agree():
            sentence = f"{self.what} {lead}in the MLIR passes that clean up {self._first}: both front ends make the same."
            return self._answer(PartName.MLIR, sentence)
        makers = f"what makes {self._first}, the AST front end or the passes that clean it up"
        sentence = f"{self.what} {lead}in {makers}: the {self._first} fails elsewhere too."
        return self._answer(PartName.FRONT_END, sentence)

    def _behind_first(self, lead: str) -> Part:
        """MLIR's passes to TTGIR on one side; on the other the lowering to LLVM IR, and LLVM."""
        side = self.experiment.cross(self.parts.last_ir).side
        if side is Side.BEFORE:
            return self._answer(
                PartName.MLIR, f"{self.what} {lead}in the MLIR passes, which make the {self._last} that fails elsewhere too."
            )
        if self.experiment.same_llvm_ir:
            return self._in_llvm(lead)
        if side is Side.BEHIND:
            return self._answer(PartName.UNKNOWN, f"{self.what} {lead}after {self._last}, in the lowering to LLVM IR or in LLVM.")
        sentence = f"{self.what} {lead}in {self.behind_first}, after {self._first}; {self._last} does not tell which."
        return self._answer(PartName.UNKNOWN, sentence)

    def _where(self, failure: Failure) -> PartName:
        """The part at work when it failed, which is neither the front end nor the assembler."""
        if failure.stage in self.parts.llvm:
            return PartName.LLVM
        if failure.stage == self.parts.llvm_ir and not (failure.pass_ or failure.reproducer):  # MLIR leaves one of every pipeline
            return PartName.LLVM
        return PartName.MLIR

    # --- words ---

    @property
    def _first(self) -> str:
        return self.parts.first_ir.upper()

    @property
    def _last(self) -> str:
        return self.parts.last_ir.upper()

    def _proof_of_assembler(self, swap: Crossing) -> str:
        if swap.side is Side.BOTH:
            return f" together with the {self.parts.assembler.takes.upper()} that {self.bad} makes"
        if swap.into_bad is not Fate.SAME:
            return f": with {self.good}'s, {self.bad} is ok"
        if swap.into_good is not Fate.OK:
            return f": with {self.bad}'s, {self.good} fails the same way"
        return f", not in {self.title}"

    def _proof(self, crossing: Crossing) -> str:
        if crossing.into_bad is Fate.SAME:
            return "the front end is not involved"
        return f"the {self._first} of {self.bad}'s front end compiles elsewhere"

    def _pass(self) -> str:
        return f" ({self.failure.pass_})" if self.failure.pass_ else ""

    def _answer(self, name: str, sentence: str) -> Part:
        return Part(name=name, sentence=sentence, steps=tuple(self.steps))


def _named(name: PartName) -> str:
    return f"the {name}" if name is PartName.MLIR else str(name)
