"""The compiler pass that fails first, or after which the IR of two compiles differs first.

Different names do not count as a difference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from attrs import evolve, frozen

from compat import toolchains
from compat.bisect.answers import PassAnswer
from compat.bisect.attempts import Attempts
from compat.diagnosis import pipeline
from compat.diagnosis.pipeline import Pipeline, Split, difference
from compat.engine.run import RunContext, outcome_of
from compat.errors import SelectionError, StoreError
from compat.model import Cell, Env, Outcome
from compat.text import printable
from compat.toolchains.base import CompilerParts
from compat.workers.attempt import Compile, Mode

DUMPING = Mode(actions=(Compile(keep_ir=True),), diagnose=True, keep_printed=True)
"""The mode in which a compile prints the IR before every pass."""
_NAME = 100
"""Characters of a pass's name that go into the name of a file."""
_DIFF_LIMIT = 20_000
"""Characters of a diff that go into an answer; the IR itself is in the folder."""


@frozen(kw_only=True)
class TracedCompile:
    """One compile, with the IR before every pass."""

    name: str
    outcome: Outcome
    pipeline: Pipeline
    stage_texts: dict[str, str]
    """Stage → the IR or code that it made, as text; in order."""
    parts: CompilerParts
    suffix: str
    """The suffix of files with IR."""

    @property
    def failed(self) -> bool:
        """Whether it produced no binary."""
        return self.outcome.failure is not None

    @property
    def failing_pass(self) -> str | None:
        """The pass that the compile failed in; ``None`` if it failed outside of passes."""
        failure = self.outcome.failure
        inside = failure and (failure.pass_ or failure.reproducer or self.pipeline.failed)
        return self.pipeline.last if inside else None


def find_pass(cell: Cell, context: RunContext, folder: Path) -> PassAnswer:
    """The pass that a cell fails in. The IR before every pass is saved in ``folder``.

    Raises :class:`compat.errors.StoreError` if the IR cannot be saved.
    """
    with Attempts(context) as attempts:
        seen = trace_compile(cell, attempts, cell.env.name)
    saved = save_ir(folder, {folder: seen})
    count = len(seen.pipeline.steps)
    stage = seen.outcome.stage if seen.failed else None
    if not seen.failed:
        sentence = f"No pass fails: all {count} ran, and a binary was produced."
    elif seen.failing_pass:
        sentence = (
            f"{seen.failing_pass} fails, in stage {stage}, the last of {count} passes that began."
        )
    elif not count:
        sentence = f"No pass is to blame: it fails in stage {stage}, before the first."
    else:
        sentence = (
            f"No pass is to blame: it fails in stage {stage}, outside of the {count} passes that"
            " ran."
        )
    return PassAnswer(
        pass_=seen.failing_pass,
        stage=stage,
        sentence=sentence + _omission_sentence(seen),
        folder=saved,
    )


def compare(good: Cell, bad: Cell, context: RunContext, folder: Path) -> PassAnswer:
    """The first pass after which the IR of two cells stays different, with the diff.

    Different names do not count. All IR is saved, in ``good`` and ``bad`` below ``folder``. Raises
    :class:`compat.errors.StoreError` if it cannot be saved.
    """
    with Attempts(context) as attempts:
        names = _two_names(good, bad)
        one, other = trace_compile(good, attempts, names[0]), trace_compile(bad, attempts, names[1])
    saved = save_ir(folder, {folder / "good": one, folder / "bad": other})
    if not one.pipeline.steps or not other.pipeline.steps:
        return _without_ir(one, other, saved)
    split = pipeline.split(one.pipeline, other.pipeline)
    answer = _split_answer(one, other, split, saved) if split else _same(one, other, saved)
    return evolve(answer, sentence=answer.sentence + "".join(map(_omission_sentence, (one, other))))


def _omission_sentence(seen: TracedCompile) -> str:
    """A sentence about the passes that did not run because they cannot run by themselves."""
    names = seen.pipeline.left_out
    if not names:
        return ""
    text = (
        f"1 pass of {seen.name} cannot be run by itself and was left out"
        if len(names) == 1
        else f"{len(names)} passes of {seen.name} cannot be run by themselves and were left out"
    )
    return f" {text}: {', '.join(names)}."


def _two_names(good: Cell, bad: Cell) -> tuple[str, str]:
    if good.env.name != bad.env.name:
        return good.env.name, bad.env.name
    return f"good ({good.spec.case})", f"bad ({bad.spec.case})"


def trace_compile(cell: Cell, attempts: Attempts, name: str, mode: Mode = DUMPING) -> TracedCompile:
    """Compile a cell in a mode that prints the IR before every pass, and read its output.

    Raises SelectionError for a toolchain that does not print its passes.
    """
    evidence = attempts.make(cell, mode)
    reader = toolchains.of(cell.env).reader
    return TracedCompile(
        name=name,
        outcome=outcome_of(cell, [evidence]),
        pipeline=reader.read(attempts.kept_output(evidence)).pipeline,
        stage_texts={
            stage: attempts.text(evidence.artifacts[stage])
            for stage in toolchains.of(cell.env).ir.texts
            if stage in evidence.artifacts
        },
        parts=parts_of(cell.env),
        suffix=reader.suffix,
    )


def parts_of(env: Env) -> CompilerParts:
    """The parts that passes belong to.

    Raises SelectionError for a toolchain that does not print its passes.
    """
    toolchain = toolchains.of(env)
    if not toolchain.ir.texts or toolchain.ir.parts is None:
        raise SelectionError(
            f"{toolchain.title} has no passes that can be compared", where="--axis pass"
        )
    return toolchain.ir.parts


# --- answers --------------------------------------------------------------------------------------


def _without_ir(one: TracedCompile, other: TracedCompile, folder: str | None) -> PassAnswer:
    silent = next(seen for seen in (one, other) if not seen.pipeline.steps)
    stage = silent.outcome.stage
    sentence = (
        f"No pass is to blame: {silent.name} fails in stage {stage}, before the first; there is no"
        " IR to compare."
    )
    return PassAnswer(stage=stage, sentence=sentence, folder=folder)


def _split_answer(
    one: TracedCompile, other: TracedCompile, split: Split, folder: str | None
) -> PassAnswer:
    if split.after is None:
        stage = one.parts.front_end[-1]
        sentence = (
            "Their IR already differs before the first pass, and stays different: the difference"
            " comes from the front end."
        )
    else:
        stage = stage_of(one, split.position - 1)
        whose = (
            "" if split.only_in is None else f", which only {(one, other)[split.only_in].name} runs"
        )
        sentence = (
            f"Their IR differs first after {split.after}{whose}, in stage {stage}, ignoring names."
        )
    if split.earlier is not None:
        since = f"after {split.earlier}" if split.earlier else "as it came from the front end"
        sentence += f" (It differed {since} too, but became the same again.)"
    sentence += _failures(one, other)
    diff = cut_diff(difference(split.one, split.other, (one.name, other.name)))
    return PassAnswer(pass_=split.after, stage=stage, sentence=sentence, folder=folder, diff=diff)


def _same(one: TracedCompile, other: TracedCompile, folder: str | None) -> PassAnswer:
    """The answer if the IR is the same before every pass that both ran.

    A pass that fails in one of them is the answer, or else the results of the stages are compared.
    """
    for seen, fine in ((other, one), (one, other)):
        if seen.failing_pass and seen.failing_pass != fine.failing_pass:
            sentence = (
                f"Their IR is the same, ignoring names, up to {seen.failing_pass}, which fails in"
                f" {seen.name} alone."
            )
            return PassAnswer(
                pass_=seen.failing_pass, stage=seen.outcome.stage, sentence=sentence, folder=folder
            )
    compared = (one.parts.first_ir, one.parts.last_ir)
    for stage in (
        stage for stage in one.stage_texts if stage not in compared and stage in other.stage_texts
    ):
        texts = [seen.parts.canonical_code(seen.stage_texts[stage]) for seen in (one, other)]
        if texts[0] != texts[1]:
            sentence = (
                "Their IR is the same before every pass, ignoring names; the result of stage"
                f" {stage} differs."
            )
            diff = cut_diff(difference(texts[0], texts[1], (one.name, other.name)))
            return PassAnswer(
                stage=stage,
                sentence=sentence + _failures(one, other),
                folder=folder,
                diff=diff,
            )
    sentence = f"Their IR is the same before every pass, ignoring names.{_failures(one, other)}"
    return PassAnswer(sentence=sentence, folder=folder)


def _failures(one: TracedCompile, other: TracedCompile) -> str:
    """Sentences about the places where the compiles fail."""
    sentences = [
        f" {seen.name} fails in {seen.failing_pass or f'stage {seen.outcome.stage}'}."
        for seen in (one, other)
        if seen.failed
    ]
    return "".join(sentences)


def stage_of(seen: TracedCompile, position: int) -> str:
    """The stage of a pass.

    The IR that a stage made is the input of the first pass of the next stage. Gluon kernels have no
    first IR: their front end makes the input of the stage that makes the last IR.
    """
    parts = seen.parts
    begun = parts.last_ir in (*seen.stage_texts, seen.outcome.stage)
    stage = parts.last_ir if begun and parts.first_ir not in seen.stage_texts else parts.first_ir
    for ir, following in ((parts.first_ir, parts.last_ir), (parts.last_ir, parts.low_ir)):
        if ir not in seen.stage_texts:
            continue
        result = seen.pipeline.canonical(seen.stage_texts[ir])
        begins = [at for at, state in enumerate(seen.pipeline.states) if state == result]
        if begins and position >= begins[-1]:
            stage = following
    return stage


def cut_diff(diff: str) -> str:
    """A diff, cut to the length that fits into an answer."""
    diff = printable(diff)
    left_out = len(diff) - _DIFF_LIMIT
    if left_out <= 0:
        return diff
    return f"{diff[:_DIFF_LIMIT]}\n[… {left_out} characters left out; all IR is in the folder …]\n"


# --- the folder -----------------------------------------------------------------------------------


def save_ir(folder: Path, seen: Mapping[Path, TracedCompile]) -> str | None:
    """Save the IR before every pass, in order, and the results of stages, in each compile's folder.

    Removes the files of an earlier search. Returns the name of ``folder``. If no pass began, it
    saves nothing and returns ``None``. Raises StoreError.
    """
    suffix = next(iter(seen.values())).suffix
    hint = "Choose another folder."
    with StoreError.for_os_errors("the IR cannot be saved", where=folder, hint=hint):
        for place in seen:
            for old in [*place.glob(f"[0-9][0-9][0-9]*-*.{suffix}"), *place.glob("made.*")]:
                old.unlink()
        if not any(compiled.pipeline.steps for compiled in seen.values()):
            return None
        for place, compiled in seen.items():
            place.mkdir(parents=True, exist_ok=True)
            for number, step in enumerate(compiled.pipeline.steps, 1):
                name = re.sub(r"[^A-Za-z0-9_.-]", "-", step.pass_[:_NAME])
                (place / f"{number:03}-{name}.{suffix}").write_text(
                    step.ir, encoding="utf-8", errors="backslashreplace"
                )
            for stage, text in compiled.stage_texts.items():
                (place / f"made.{stage}").write_text(
                    text, encoding="utf-8", errors="backslashreplace"
                )
        return str(folder)
