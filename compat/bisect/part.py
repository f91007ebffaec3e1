"""The part of the toolchain that changed between two releases.

The parts are front end, passes, back end and assembler. No compiler is built. For a failure, the
failing stage shows where to look, and experiments (:mod:`compat.bisect.combining`) show whether the
cause is there or earlier. For wrong numbers or a latency, every combination has to be launched. It
is launched on the GPU of this machine if the user allows that. Otherwise it is written into a
folder for a GPU host (:mod:`compat.launch`), and its results are used once they are imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import define, evolve, frozen
from packaging.version import InvalidVersion, Version

from compat import toolchains
from compat.bisect.answers import Effect, Part, PartName
from compat.bisect.attempts import AssemblerProgram, Attempts
from compat.bisect.combining import (
    CompileExperiment,
    Crossing,
    LaunchExperiment,
    MetricExperiment,
    Side,
    version_of,
)
from compat.bisect.criterion import Criterion
from compat.bisect.request import ASSEMBLER_OPTION
from compat.diagnosis import common
from compat.engine.run import RunContext
from compat.errors import SelectionError
from compat.launch.archive import write_archive
from compat.launch.building import Built, Launchable
from compat.launch.hosting import Gpu, launch_built
from compat.model import SOURCE_STAGE, Cell, Env, Failure, Result, Status
from compat.text import amount
from compat.toolchains.base import CompilerParts


@frozen(kw_only=True)
class LaunchJudge:
    """The criterion for launches of combinations, and the place for the launches."""

    criterion: Criterion
    folder: Path
    """The folder for combinations that have to be launched."""
    gpu: Gpu | None = None
    """The GPU that launches them immediately."""


def find_part(
    bad: Cell,
    good: Cell | None,
    context: RunContext,
    *,
    assemblers: Sequence[AssemblerProgram] = (),
    judge: LaunchJudge | None = None,
    metric: Criterion | None = None,
    on_step: Callable[[str], None] = lambda message: None,
) -> Part:
    """The part of the toolchain that makes ``bad`` bad while ``good`` is not.

    The releases may be in either order. A cell is bad if its compile fails, or by the answer of
    ``judge`` about a launch, or by ``metric`` about a compile. ``assemblers`` are tried too.
    Without ``good``, only they are tried. ``on_step`` receives the progress of launches.

    Raises SelectionError for a toolchain whose parts cannot be told apart, for cells that cannot be
    launched, and if there is nothing to compare with. Raises StoreError if the judge's folder
    cannot be written, and :class:`compat.engine.run.Interrupted` when stopped early.
    """
    if metric is not None:
        return _of_metric(bad, good, context, assemblers, metric)
    if judge is None:
        return _of_failure(bad, good, context, assemblers)
    return _of_launches(bad, good, context, assemblers, judge, on_step)


def parts_of(env: Env) -> CompilerParts:
    """The parts of an env's toolchain. Raises SelectionError if they are not known."""
    toolchain = toolchains.of(env)
    if toolchain.ir.parts is None:
        raise SelectionError(
            f"{toolchain.title} has no parts that can be swapped", where="--axis part"
        )
    return toolchain.ir.parts


_ONE_RELEASE = f"--axis pass looks within one release; {ASSEMBLER_OPTION} tries another assembler."
_TWO_RELEASES = f"{ASSEMBLER_OPTION} tries another assembler; --good and --bad name two releases."


def _require_comparison(
    bad: Cell, good: Cell | None, assemblers: Sequence[AssemblerProgram], hint: str
) -> None:
    if good is None and not assemblers:
        raise SelectionError(
            f"{bad.id}: no change between releases, so no part is to blame", hint=hint
        )


# --- of a failure ---------------------------------------------------------------------------------


def _of_failure(
    bad: Cell, good: Cell | None, context: RunContext, assemblers: Sequence[AssemblerProgram]
) -> Part:
    _require_comparison(bad, good, assemblers, _ONE_RELEASE)
    parts = parts_of(bad.env)
    with Attempts(context) as attempts:
        *others, failing = attempts.results(*([good] if good else []), bad)
        obstacle = _obstacle(others, failing)
        if obstacle is not None:
            return Part(name=PartName.UNKNOWN, sentence=obstacle)
        experiment = CompileExperiment(
            good=good,
            bad=bad,
            failing=failing.outcome,
            attempts=attempts,
            parts=parts,
            context=context,
        )
        if not others:
            return FailureVerdict(
                experiment=experiment, assemblers=assemblers, subject="The failure is"
            ).without_release()
        (before,) = others
        subject = (
            f"The failure that {experiment.name(before.cell)} fixed is"
            if _newer(before, failing)
            else "The break is"
        )
        if before.outcome.failure:
            subject = f"The failure on {experiment.name(bad)} is"
            experiment.steps.append(
                f"{experiment.name(before.cell)} itself {experiment.describe(before.outcome)}."
            )
        return FailureVerdict(experiment=experiment, assemblers=assemblers, subject=subject).part()


def _obstacle(others: Sequence[Result], bad: Result) -> str | None:
    """The reason why the part cannot be found; ``None`` if it can."""
    unclear = next((sentence for result in (*others, bad) if (sentence := _unclear(result))), None)
    if unclear is not None:
        return unclear
    if bad.outcome.failure is None:
        return f"It does not fail on {bad.cell.env.name}: there is no failure to locate."
    for result in others:
        if (
            result.outcome.failure
            and result.outcome.failure.fingerprint == bad.outcome.failure.fingerprint
        ):
            return (
                f"It fails the same way on {result.cell.env.name}: nothing changed between the two."
            )
    return None


def _unclear(result: Result) -> str | None:
    if not result.outcome.status.is_answer:
        return (
            f"There is no answer for {result.cell.env.name} ({result.outcome.status}), so the part"
            " is unknown."
        )
    if result.outcome.flaky:
        return f"On {result.cell.env.name} it is flaky, so no experiment would prove anything."
    return None


def _newer(good: Result, bad: Result) -> bool:
    """Whether the good release is the newer one."""
    try:
        return Version(good.built.release or "") > Version(bad.built.release or "")
    except InvalidVersion:
        return False


@define(kw_only=True, slots=False)
class FailureVerdict:
    """Finds the part that contains the failure of a compile."""

    experiment: CompileExperiment
    assemblers: Sequence[AssemblerProgram]
    subject: str
    """The beginning of sentences about the failure: ``The break is``."""

    def __attrs_post_init__(self) -> None:
        experiment = self.experiment
        failure = experiment.failing.failure
        assert failure is not None, "without a failure there is an obstacle"
        self.failure: Failure = failure
        self.parts, self.status = experiment.parts, experiment.failing.status
        self.bad = experiment.name(experiment.bad)
        self.good = experiment.name(experiment.good) if experiment.good else ""
        self.assembler = self.parts.assembler.name
        self.last = self.parts.last_ir.upper()
        self.behind_first = f"the {self.parts.passes} or {self.parts.backend}"
        self.failing_pass = f" ({failure.pass_})" if failure.pass_ else ""

    @property
    def first(self) -> str:
        """The first IR, as a sentence names it."""
        return self.experiment.first_ir.upper()

    def part(self) -> Part:
        """The part, by the stage that fails and by experiments."""
        failure, steps = self.failure, self.experiment.steps
        if failure.prediction:
            return self._launch()
        where = f", inside the pass {failure.pass_}" if failure.pass_ else ""
        title = f"{toolchains.known_class(failure).title} ({failure.failure_class})"
        steps.append(f"{self.bad} fails in stage {failure.stage}{where}: {title}.")
        if failure.failure_class == common.TOOLCHAIN_MISSING.name:
            return self._missing()
        if failure.stage in (SOURCE_STAGE, *self.parts.front_end):
            return self._front_end()
        if failure.stage == self.parts.assembler.stage:
            return self._part_in_assembler()
        if self.assemblers:
            steps.append(
                f"No other {self.assembler} was tried: it fails before the assembler runs."
            )
        return self._part_after_front_end(self._fails_in_backend)

    def without_release(self) -> Part:
        """The part if the cell fails in every release, by the stage and by other assemblers."""
        if self.failure.stage != self.parts.assembler.stage:
            stage = f"It fails in stage {self.failure.stage}, before {self.assembler} is run"
            return self._answer(PartName.UNKNOWN, f"{stage}, so {self.assembler} is not involved.")
        effects, working = self._other_assemblers()
        if working:
            return self._answer(
                self.assembler,
                f"{self.subject} in {self.assembler}: with that of {working}, {self.bad} is ok.",
            )
        if set(effects) == {Effect.SAME}:
            sentence = (
                f"{self.subject} not in this {self.assembler} alone, but in its input: the others"
                " that were tried reject it"
            )
            return self._answer(PartName.UNKNOWN, f"{sentence} the same way.")
        sentence = (
            f"{self.subject} in {self.assembler} or in its input: trying other assemblers did not"
            " decide it."
        )
        return self._answer(PartName.UNKNOWN, sentence)

    # --- by stage ---

    def _launch(self) -> Part:
        self.experiment.steps.append(f"{self.bad} compiles it; {self.failure.excerpt}")
        if self.status is Status.WRONG:
            return self._part_in_assembler()
        return self._answer(
            PartName.LAUNCH,
            f"The compile succeeds, but the binary of {self.bad} exceeds the limits of the GPU.",
        )

    def _missing(self) -> Part:
        assembles = self.failure.stage in (
            self.parts.assembler.input_stage,
            self.parts.assembler.stage,
        )
        program = "assembler" if assembles else self.parts.linker
        name = self.assembler if assembles else self.parts.backend
        return self._answer(
            name,
            f"Nothing broke in the compiler: {self.bad} does not ship the {program} that this"
            " target needs.",
        )

    def _front_end(self) -> Part:
        """The part if the cell fails before there is any IR.

        The good release's IR shows whether the later stages would work.
        """
        if self.failure.stage == SOURCE_STAGE:
            return self._answer(
                PartName.FRONT_END,
                f"{self.subject} in the front end: importing the kernel's file already fails.",
            )
        side = self.experiment.cross(self.experiment.first_ir).side
        if side is Side.BEHIND:
            sentence = (
                f"{self.subject} in the IR that {self.bad} accepts: it rejects the IR of"
                f" {self.good}'s front end the same way."
            )
            return self._answer(self.parts.passes, sentence)
        passed = (
            f" The stages after it compile the {self.first} of {self.good}."
            if side is Side.BEFORE
            else ""
        )
        crashes = self.status is Status.CRASHED
        refuses = (
            "crashes on the source"
            if crashes
            else f"rejects the source ({self.failure.failure_class})"
        )
        return self._answer(
            PartName.FRONT_END, f"{self.subject} in the front end, which {refuses}.{passed}"
        )

    # --- by experiment ---

    def _other_assemblers(self) -> tuple[Sequence[Effect], str]:
        """The effect of each other assembler, and the names of those with which the cell is ok."""
        effects = {
            program.name: self.experiment.assemble(self.experiment.bad, program)
            for program in self.assemblers
        }
        return list(effects.values()), " or ".join(
            name for name, effect in effects.items() if effect is Effect.OK
        )

    def _part_in_assembler(self) -> Part:
        """The assembler fails; swap it to see whether the cause is the assembler or its input."""
        swap = self.experiment.swap_assembler()
        side = swap.side if swap else Side.UNKNOWN
        effects, working = self._other_assemblers()
        remark = f" With the {self.assembler} of {working}, {self.bad} is ok." if working else ""
        if swap and side in (Side.BEHIND, Side.BOTH):
            return self._answer(
                self.assembler,
                f"{self.subject} in {self.assembler}{self._proof_of_assembler(swap)}.{remark}",
            )
        if side is Side.BEFORE:
            part = self._part_after_front_end(
                in_backend=True, lead=f"not in {self.assembler} but in its input, "
            )
            return evolve(part, sentence=part.sentence + remark)
        if side is Side.EITHER:
            sentence = (
                f"{self.subject} in two places, each sufficient alone: {self.assembler}, and its"
                f" input.{remark}"
            )
            return self._answer(PartName.UNKNOWN, sentence)
        if working or self.status is Status.UNSUPPORTED:
            why = "" if working else f": {self.bad}'s does not know the target"
            return self._answer(self.assembler, f"{self.subject} in {self.assembler}{why}.{remark}")
        if set(effects) == {Effect.SAME}:
            lead = (
                f"not in this {self.assembler} alone, since others reject it too, but in its"
                " input, "
            )
            return self._part_after_front_end(in_backend=True, lead=lead)
        return self._answer(
            PartName.UNKNOWN,
            f"{self.subject} in {self.assembler} or in its input: swapping assemblers did not"
            " decide it.",
        )

    def _proof_of_assembler(self, swap: Crossing) -> str:
        if swap.side is Side.BOTH:
            source = self.parts.assembler.input_stage.upper()
            return f" together with the {source} that {self.bad} makes"
        if swap.into_bad is not Effect.SAME:
            return f": with {self.good}'s, {self.bad} is ok"
        if swap.into_good is not Effect.OK:
            return f": with {self.bad}'s, {self.good} fails the same way"
        return f", not in {toolchains.of(self.experiment.bad.env).title}"

    @property
    def _fails_in_backend(self) -> bool:
        """Whether the compile failed in the back end, and not in the passes before it."""
        failure = self.failure
        if failure.stage in self.parts.backend_stages:
            return True
        # Every pipeline of passes leaves a reproducer.
        of_passes = failure.pass_ or failure.reproducer
        return failure.stage == self.parts.low_ir and not of_passes

    def _part_after_front_end(self, in_backend: bool, lead: str = "") -> Part:
        """The part if the cell fails after the front end, in the back end or in the passes.

        The experiments show whether the front end is the cause.
        """
        passes = f"the {self.parts.passes}{self.failing_pass}"
        crossing = self.experiment.cross(self.experiment.first_ir)
        place = f"in {self.behind_first}" if in_backend else f"in {passes}"
        name = PartName.UNKNOWN if in_backend else self.parts.passes
        match crossing.side:
            case Side.BEFORE:
                return self._before_first(lead, crossing)
            case Side.BEHIND if in_backend:
                return self._behind_first(lead)
            case Side.BEHIND:
                proof = f"the {self.first} of {self.bad}'s front end compiles elsewhere"
                if crossing.into_bad is Effect.SAME:
                    proof = "the front end is not involved"
                return self._answer(name, f"{self.subject} {lead}{place}; {proof}.")
            case Side.BOTH:
                return self._answer(
                    name,
                    f"{self.subject} {lead}{place}, and only with the IR of {self.bad}'s own front"
                    " end.",
                )
            case Side.EITHER:
                sentence = (
                    f"{lead}in two places, each sufficient alone: the IR of {self.bad}'s front end,"
                    f" and {place}."
                )
                return self._answer(PartName.UNKNOWN, f"{self.subject} {sentence}")
        return self._compare_front_ends(in_backend, lead, passes)

    def _compare_front_ends(self, in_backend: bool, lead: str, passes: str) -> Part:
        """The part if the first IR does not decide it.

        The search still compares the results of the front ends, and the input of the back end.
        """
        if in_backend and self.experiment.same_low_ir:
            return self._in_backend(lead)
        behind = self.experiment.front_ends_agree()
        if not in_backend and behind:
            return self._answer(
                self.parts.passes,
                f"{self.subject} {lead}in {passes}; both front ends make the same IR.",
            )
        place = f"in {self.behind_first}" if behind else f"in the front end, {self.behind_first}"
        if not in_backend:
            place = f"in the front end or the {self.parts.passes}: it fails in {passes}"
        return self._answer(
            PartName.UNKNOWN, f"{self.subject} {lead}{place}; {self.first} did not decide it."
        )

    def _in_backend(self, lead: str) -> Part:
        backend = self.parts.backend
        sentence = (
            f"{lead}in {backend} or the options it is run with: both releases give it the same IR,"
            " ignoring names."
        )
        return self._answer(backend, f"{self.subject} {sentence}")

    def _before_first(self, lead: str, crossing: Crossing) -> Part:
        """The cause is in the first IR, which the front end makes and passes clean up."""
        if self.experiment.front_ends_agree():
            sentence = (
                f"{self.subject} {lead}in the {self.parts.passes} that clean up {self.first}: both"
                " front ends make the same."
            )
            return self._answer(self.parts.passes, sentence)
        makers = f"the front end or the passes that clean up {self.first}"
        sentence = f"{self.subject} {lead}in {makers}: {self._proof_of_ir(crossing, self.first)}."
        return self._answer(PartName.FRONT_END, sentence)

    def _proof_of_ir(self, crossing: Crossing, ir: str) -> str:
        """The experiment that shows that the cause is in an IR, in words."""
        if crossing.into_good is Effect.SAME:
            return f"the {ir} fails elsewhere too"
        return f"with the {ir} of {self.good}, {self.bad} is ok"

    def _behind_first(self, lead: str) -> Part:
        """The part after the first IR.

        It is the passes up to the last IR, or the lowering to the back end's IR and the back end.
        """
        parts = self.parts
        crossing = self.experiment.cross(parts.last_ir)
        side = crossing.side
        if side is Side.BEFORE:
            sentence = f"{lead}in the {parts.passes}: {self._proof_of_ir(crossing, self.last)}."
            return self._answer(parts.passes, f"{self.subject} {sentence}")
        if self.experiment.same_low_ir:
            return self._in_backend(lead)
        if side is Side.BEHIND:
            sentence = (
                f"{lead}after {self.last}, in the lowering to {parts.low_ir_title} or in"
                f" {parts.backend}."
            )
            return self._answer(PartName.UNKNOWN, f"{self.subject} {sentence}")
        sentence = (
            f"{self.subject} {lead}in {self.behind_first}, after {self.first}; {self.last} does not"
            " tell which."
        )
        return self._answer(PartName.UNKNOWN, sentence)

    def _answer(self, name: str, sentence: str) -> Part:
        return Part(name=name, sentence=sentence, steps=tuple(self.experiment.steps))


# --- of launches ----------------------------------------------------------------------------------


def _of_launches(
    bad: Cell,
    good: Cell | None,
    context: RunContext,
    assemblers: Sequence[AssemblerProgram],
    judge: LaunchJudge,
    on_step: Callable[[str], None],
) -> Part:
    parts = parts_of(bad.env)
    if not toolchains.can_launch(bad):
        raise SelectionError(f"nothing can be launched for {bad.target.name}", where="--axis part")
    if bad.spec.problem is None:
        raise SelectionError(
            f"the kernel file of {bad.id} has no [problem] to launch it with", where="--judge"
        )
    _require_comparison(bad, good, assemblers, _TWO_RELEASES)
    with Attempts(context) as attempts:

        def combine() -> tuple[Part, list[Launchable]]:
            experiment = LaunchExperiment(
                good=good,
                bad=bad,
                context=context,
                attempts=attempts,
                parts=parts,
                criterion=judge.criterion,
            )
            return (
                LaunchVerdict(experiment=experiment, assemblers=assemblers).part(),
                experiment.waiting,
            )

        part, waiting = combine()
        if waiting and judge.gpu is not None and bad.target == judge.gpu.target:
            on_step(f"launching {amount(len(waiting), 'combination')}")
            launch_built(waiting, context.store, judge.gpu)
            part, waiting = combine()
    return _with_archive(part, waiting, bad, judge.folder) if waiting else part


def _of_metric(
    bad: Cell,
    good: Cell | None,
    context: RunContext,
    assemblers: Sequence[AssemblerProgram],
    criterion: Criterion,
) -> Part:
    _require_comparison(bad, good, assemblers, _TWO_RELEASES)
    with Attempts(context) as attempts:
        experiment = MetricExperiment(
            good=good,
            bad=bad,
            context=context,
            attempts=attempts,
            parts=parts_of(bad.env),
            criterion=criterion,
        )
        return LaunchVerdict(experiment=experiment, assemblers=assemblers).part()


def _with_archive(part: Part, waiting: Sequence[Launchable], bad: Cell, folder: Path) -> Part:
    """Write an archive of the combinations that still have to be launched.

    Returns the answer with a step that names the folder. Raises StoreError.
    """
    program = write_archive(
        Built(target=bad.target, launchable=tuple(waiting), omitted_cells=()), folder
    )
    step = (
        f"To be launched: {amount(len(waiting), 'combination')}. Copy {folder} to a GPU host, run "
        f"`python {program.name}` there, and give this command its results.jsonl with --launched."
    )
    return evolve(part, steps=(*part.steps, step))


@define(kw_only=True)
class LaunchVerdict:
    """Finds the part from the known results of launched or compiled combinations."""

    experiment: LaunchExperiment | MetricExperiment
    assemblers: Sequence[AssemblerProgram]

    def part(self) -> Part:
        """The part, by the results of all combinations."""
        experiment, parts = self.experiment, self.experiment.parts
        control = experiment.alone(experiment.bad)
        if experiment.good is not None:
            experiment.alone(experiment.good)
        others = {
            program.name: experiment.assemble(experiment.bad, program)
            for program in self.assemblers
        }
        swap = first = last = None
        if experiment.good is not None:
            swap = experiment.swap_assembler()
            first = experiment.cross(experiment.first_ir)
            last = (
                first if experiment.first_ir == parts.last_ir else experiment.cross(parts.last_ir)
            )
        name, sentence = self._conclusion(control, swap, others, first, last)
        return Part(name=name, sentence=sentence, steps=tuple(experiment.steps))

    def _conclusion(
        self,
        control: Effect,
        swap: Crossing | None,
        others: Mapping[str, Effect],
        first: Crossing | None,
        last: Crossing | None,
    ) -> tuple[str, str]:
        experiment, assembler = self.experiment, self.experiment.parts.assembler.name
        bad = experiment.name(experiment.bad)
        if control is not Effect.SAME:
            why = "is not known to be bad" if control is Effect.UNKNOWN else "is good"
            judged = f"{bad} {why} by `{experiment.criterion.text}`"
            return PartName.UNKNOWN, f"{judged}, so there is nothing to compare with."
        working = [f"that of {name}" for name, effect in others.items() if effect is Effect.OK]
        if swap is not None and swap.into_good is Effect.OK:
            working.insert(0, f"that of {experiment.name(experiment.other)}")
        if working:
            place = f"The cause is in {assembler} ({self._version()})"
            return assembler, f"{place}: with {' or '.join(working)}, {bad} is good."
        if swap is not None and swap.into_bad is Effect.SAME:
            other = experiment.name(experiment.other)
            return (
                assembler,
                f"The cause is in {assembler}: with that of {bad}, {other} is bad, too.",
            )
        is_cleared = (
            swap is not None and swap.into_good is Effect.SAME
        ) or Effect.SAME in others.values()
        part, place = self._inside(
            first, last, tail=f"not in {assembler}" if is_cleared else f"or in {assembler}"
        )
        if not experiment.waiting:
            undecided = f"No combination decided it{f': not in {assembler}' if is_cleared else ''}."
            return part, f"The cause is {place}." if place else undecided
        so_far = f" So far: the cause is {place}." if place else ""
        return PartName.UNKNOWN, f"Not known yet: launch the combinations first.{so_far}"

    def _inside(
        self, first: Crossing | None, last: Crossing | None, *, tail: str
    ) -> tuple[str, str]:
        """The part that the IR points to, and the place of the change in words.

        ``tail`` says in words whether the assembler can still be the cause.
        """
        parts = self.experiment.parts
        first_ir, last_ir = self.experiment.first_ir.upper(), parts.last_ir.upper()
        if first and first.side is Side.BEFORE:
            return PartName.FRONT_END, f"before {first_ir}: {self._proof_of_ir(first, first_ir)}"
        if last and last.side is Side.BEFORE:
            return parts.passes, f"in the {parts.passes}: {self._proof_of_ir(last, last_ir)}"
        if last and last.side in (Side.BEHIND, Side.BOTH):
            lowering = f"in the lowering to {parts.low_ir_title}, in {parts.backend}"
            return PartName.UNKNOWN, f"after {last_ir}, {lowering}, {tail}"
        if first and first.side in (Side.BEHIND, Side.BOTH):
            behind = f"in the {parts.passes} or {parts.backend}"
            return PartName.UNKNOWN, f"after {first_ir}, {behind}, {tail}"
        return PartName.UNKNOWN, ""

    def _proof_of_ir(self, crossing: Crossing, ir: str) -> str:
        """The combination that shows that the cause is in an IR, in words."""
        good, bad = (
            self.experiment.name(cell) for cell in (self.experiment.other, self.experiment.bad)
        )
        if crossing.into_good is Effect.SAME:
            return f"the {ir} of {bad} is bad in {good}, too"
        return f"with the {ir} of {good}, {bad} is good"

    def _version(self) -> str:
        """The version of the bad release's assembler, or else the release."""
        experiment, bad = self.experiment, self.experiment.bad
        program = experiment.parts.assembler.of(experiment.context.envs[bad.env.name], bad.target)
        return (version_of(program) if program else "") or experiment.name(bad)
