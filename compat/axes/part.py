"""In which part of the toolchain a change between two releases is: front end, MLIR passes, LLVM or ptxas. No compiler is built.

The stage that fails says where to look; experiments (:mod:`compat.axes.crossing`) say whether the cause is there or earlier.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve
from packaging.version import InvalidVersion, Version

from compat.answers import Part, PartName
from compat.axes.assemblers import Assembler
from compat.axes.attempts import Attempts
from compat.axes.crossing import Crossing, Experiment, Side, Trial
from compat.evidence.taxonomy import KINDS
from compat.model import Cell, Failure, Result, Status
from compat.run import Bench
from compat.search.knobs import Fate

_LLVM_STAGES = ("ptx", "amdgcn", "hsaco")
_BY_ITSELF = " That is by where it fails alone"


def find(good: Cell, bad: Cell, bench: Bench, assemblers: Sequence[Assembler] = ()) -> Part:
    """In which part of the toolchain it is that ``bad`` fails and ``good`` does not; the releases may be in either order.

    Where ptxas complains, ``assemblers`` are tried, too. Raises :class:`compat.run.Interrupted` when stopped early.
    """
    with Attempts(bench) as attempts:
        before, after = attempts.known(good, bad)
        unknown = _obstacle(before, after)
        if unknown is not None:
            return Part(name=PartName.UNKNOWN, sentence=unknown)
        failure = after.outcome.failure
        assert failure is not None, "without a failure there is an obstacle"
        experiment = Experiment(
            good=good, bad=bad, failing=after.outcome, attempts=attempts, built=bench.envs, names=_names(before, after)
        )
        return _Search(experiment, failure, before, mended=_newer(before, after), assemblers=assemblers).part()


def find_alone(bad: Cell, bench: Bench, assemblers: Sequence[Assembler]) -> Part:
    """In which part of the toolchain a cell fails that works in no release, by the stage and by what other assemblers do."""
    with Attempts(bench) as attempts:
        (result,) = attempts.known(bad)
        unknown = _unclear(result) or _fine(result)
        if unknown is not None:
            return Part(name=PartName.UNKNOWN, sentence=unknown)
        failure = result.outcome.failure
        assert failure is not None, "what does not fail is fine"
        if failure.stage != "cubin":
            sentence = f"It fails in stage {failure.stage}, before ptxas is run, so that ptxas has no part in it."
            return Part(name=_where(failure), sentence=sentence)
        trial = Trial(failing=result.outcome, attempts=attempts)
        name = result.built.triton or bad.env.name
        fates = {each.name: trial.assemble(bad, name, each.path, each.name) for each in assemblers}
        taken = [whose for whose, fate in fates.items() if fate is Fate.OK]
        if taken:
            part, sentence = PartName.PTXAS, f"It is in ptxas: with that of {' or '.join(taken)}, {name} is ok."
        elif set(fates.values()) == {Fate.SAME}:
            part, sentence = PartName.LLVM, "It is in what ptxas is given: other assemblers refuse it in the same way."
        else:
            part, sentence = PartName.UNKNOWN, "It is in ptxas or in what it is given: other assemblers do not tell."
        return Part(name=part, sentence=sentence, steps=tuple(trial.steps))


def _obstacle(good: Result, bad: Result) -> str | None:
    """Why nothing can be said, if nothing can."""
    unknown = _unclear(good) or _unclear(bad) or _fine(bad)
    if unknown is not None:
        return unknown
    first, second = good.outcome.failure, bad.outcome.failure
    if first and second and first.fingerprint == second.fingerprint:
        return f"It fails on {good.cell.env.name} in the same way: nothing changed between the two."
    return None


def _unclear(result: Result) -> str | None:
    if not result.outcome.status.is_answer:
        return f"Nothing is known of {result.cell.env.name} ({result.outcome.status}), so that the part cannot be told."
    if result.outcome.flaky:
        return f"On {result.cell.env.name} it is flaky, so that no experiment would prove anything."
    return None


def _fine(result: Result) -> str | None:
    return f"It does not fail on {result.cell.env.name}: there is no break." if result.outcome.failure is None else None


def _names(good: Result, bad: Result) -> tuple[str, str]:
    versions = (good.built.triton, bad.built.triton)
    if None in versions or versions[0] == versions[1]:
        return good.cell.env.name, bad.cell.env.name
    return str(versions[0]), str(versions[1])


def _newer(good: Result, bad: Result) -> bool:
    """Whether the good release is the newer one."""
    try:
        return Version(good.built.triton or "") > Version(bad.built.triton or "")
    except InvalidVersion:
        return False


class _Search:
    """From one failure to the part that it is in."""

    def __init__(
        self, experiment: Experiment, failure: Failure, before: Result, *, mended: bool, assemblers: Sequence[Assembler]
    ) -> None:
        self.experiment, self.failure, self.assemblers = experiment, failure, assemblers
        self.good, self.bad = experiment.names
        self.steps = experiment.steps
        self.what = f"What {self.good} mended is" if mended else "The break is"
        if before.outcome.failure:
            self.what = f"The failure on {self.bad} is"
            self.steps.append(f"{self.good} itself {experiment.told(before.outcome)}.")

    def part(self) -> Part:
        failure = self.failure
        if failure.prediction:
            return self._launch()
        where = f", inside the pass {failure.pass_}" if failure.pass_ else ""
        self.steps.append(f"{self.bad} fails in stage {failure.stage}{where}: {KINDS[failure.kind].title} ({failure.kind}).")
        if failure.kind == "toolchain-missing":
            return self._missing()
        if failure.stage in ("import", "ast"):
            return self._front_end()
        if failure.stage == "cubin":
            return self._assembled()
        if self.assemblers:
            self.steps.append("No other ptxas was tried: it fails before one is run.")
        return self._compiled(_where(failure))

    # --- by stage ---

    def _launch(self) -> Part:
        self.steps.append(f"{self.bad} compiles it; {self.failure.excerpt}")
        return self._answer(
            PartName.LAUNCH, f"Nothing breaks while compiling: what {self.bad} makes exceeds the limits of the GPU."
        )

    def _missing(self) -> Part:
        name = PartName.PTXAS if self.failure.stage in ("ptx", "cubin") else PartName.LLVM
        program = "assembler" if name is PartName.PTXAS else "linker (ld.lld, of LLVM)"
        return self._answer(name, f"Nothing broke in the compiler: {self.bad} does not bring the {program} that this target needs.")

    def _front_end(self) -> Part:
        """It fails before there is any IR; the good release's IR shows whether what comes behind would work."""
        if self.failure.stage == "import":
            return self._answer(PartName.FRONT_END, f"{self.what} in the front end: importing the kernel's file fails already.")
        crossing = self.experiment.cross("ttir")
        if crossing.side is Side.BEHIND:
            sentence = f"{self.what} in what {self.bad} asks of IR: it refuses what {self.good}'s front end makes in the same way."
            return self._answer(PartName.MLIR, sentence)
        passed = " All behind the front end works." if crossing.side is Side.BEFORE else ""
        return self._answer(PartName.FRONT_END, f"{self.what} in the AST front end, which {self._refuses()}.{passed}")

    def _refuses(self) -> str:
        return "crashes on the source" if self._status() is Status.CRASHED else f"rejects the source ({self.failure.kind})"

    def _status(self) -> Status:
        return self.experiment.failing.status

    # --- by experiment ---

    def _assembled(self) -> Part:
        """ptxas complains; exchange it to see whether it is to blame, or what it was given."""
        swap = self.experiment.swap_ptxas()
        side = swap.side if swap else Side.UNKNOWN
        others = {each.name: self._with(each) for each in self.assemblers}
        taken = [name for name, fate in others.items() if fate is Fate.OK]
        remark = f" With the ptxas of {' or '.join(taken)}, {self.bad} is ok." if taken else ""
        if swap and side in (Side.BEHIND, Side.BOTH):
            return self._answer(PartName.PTXAS, f"{self.what} in ptxas{self._proof_of_ptxas(swap)}.{remark}")
        if side is Side.BEFORE:
            part = self._compiled(PartName.LLVM, "not in ptxas but in what it is given, so in ")
            return evolve(part, sentence=part.sentence + remark)
        if taken or self._status() is Status.UNSUPPORTED:
            why = "" if taken else f": {self.bad}'s does not know the target"
            return self._answer(PartName.PTXAS, f"{self.what} in ptxas{why}.{remark}")
        if others and set(others.values()) == {Fate.SAME}:
            return self._compiled(PartName.LLVM, "not in ptxas, since others refuse it too, but in what it is given, so in ")
        return self._answer(PartName.PTXAS, f"{self.what} in ptxas or in what it is given.{_BY_ITSELF}.")

    def _with(self, assembler: Assembler) -> Fate:
        return self.experiment.assemble(self.experiment.bad, self.bad, assembler.path, assembler.name)

    def _compiled(self, where: PartName, lead: str = "in ") -> Part:
        """It fails behind the front end; see whether the front end made it fail."""
        crossing = self.experiment.cross("ttir")
        match crossing.side:
            case Side.BEFORE:
                return self._before_ttir(lead)
            case Side.BEHIND if where is PartName.LLVM:
                return self._below_ttgir(lead)
            case Side.BEHIND:
                return self._answer(where, f"{self.what} {lead}{_named(where)}{self._pass()}; {self._proof(crossing)}.")
            case Side.BOTH:
                sentence = f"{self.what} {lead}{_named(where)}{self._pass()}, and only with the IR of {self.bad}'s own front end."
                return self._answer(where, sentence)
            case Side.EITHER:
                places = f"the IR of {self.bad}'s front end and its {_named(where, bare=True)}"
                sentence = f"{self.what} {lead}two places: {places}, each alone."
                return self._answer(where, sentence)
        return self._by_stage(where, lead)

    def _by_stage(self, where: PartName, lead: str) -> Part:
        """No IR decided it. Where not even TTIR was made, that of both front ends can still be compared."""
        if self.failure.stage == "ttir" and self.experiment.front_ends_agree():
            return self._answer(where, f"{self.what} {lead}{_named(where)}{self._pass()}; both front ends make the same IR.")
        return self._answer(where, f"{self.what} {lead}{_named(where)}{self._pass()}.{_BY_ITSELF}: TTIR did not decide it.")

    def _before_ttir(self, lead: str) -> Part:
        """The TTIR is to blame; it is made by the front end, and tidied up by passes."""
        if self.experiment.front_ends_agree():
            return self._answer(
                PartName.MLIR, f"{self.what} {lead}the MLIR passes that tidy up TTIR: both front ends make the same."
            )
        return self._answer(PartName.FRONT_END, f"{self.what} {lead}the AST front end: the TTIR that it makes fails elsewhere too.")

    def _below_ttgir(self, lead: str) -> Part:
        """MLIR's passes to TTGIR on one side; on the other the lowering to LLVM, and LLVM."""
        match self.experiment.cross("ttgir").side:
            case Side.BEFORE:
                return self._answer(
                    PartName.MLIR, f"{self.what} {lead}the MLIR passes, which make the TTGIR that fails elsewhere too."
                )
            case Side.BEHIND:
                return self._answer(PartName.LLVM, f"{self.what} {lead}LLVM or the lowering to it: it is behind TTGIR.")
        sentence = f"{self.what} {lead}the MLIR passes or LLVM, behind TTIR; TTGIR does not tell which."
        name = PartName.LLVM if self.failure.stage in _LLVM_STAGES else PartName.UNKNOWN
        return self._answer(name, sentence)

    # --- words ---

    def _proof_of_ptxas(self, swap: Crossing) -> str:
        if swap.side is Side.BOTH:
            return f" together with the PTX that {self.bad} makes"
        if swap.into_bad is not Fate.SAME:
            return f": with {self.good}'s, {self.bad} is ok"
        if swap.into_good is not Fate.OK:
            return f": with {self.bad}'s, {self.good} fails in the same way"
        return ", not in Triton"

    def _proof(self, crossing: Crossing) -> str:
        if crossing.into_bad is Fate.SAME:
            return "the front end has no part in it"
        return f"the TTIR of {self.bad}'s front end compiles elsewhere"

    def _pass(self) -> str:
        return f" ({self.failure.pass_})" if self.failure.pass_ else ""

    def _answer(self, name: PartName, sentence: str) -> Part:
        return Part(name=name, sentence=sentence, steps=tuple(self.steps))


def _where(failure: Failure) -> PartName:
    """The part at work when it failed."""
    if failure.stage in ("import", "ast"):
        return PartName.FRONT_END
    if failure.stage in _LLVM_STAGES:
        return PartName.LLVM
    if failure.stage == "llir" and not (failure.pass_ or failure.reproducer):  # MLIR leaves a reproducer of every pipeline
        return PartName.LLVM
    return PartName.MLIR


def _named(name: PartName, *, bare: bool = False) -> str:
    article = "the " if name is PartName.MLIR and not bare else ""
    return f"{article}{name}"
