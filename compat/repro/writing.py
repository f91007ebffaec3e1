"""From a failing cell to the files of a repro, verified before they are written.

The writer extracts the kernel from its file, puts it into a script, and compiles it in every env
and for every target of the table. Then it runs the script itself in every env. It writes the script
and the issue only if the script shows in every env the result in the table.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path

from attrs import evolve

from compat import toolchains
from compat.diagnosis.common import COMPILER_CRASH
from compat.engine import run
from compat.engine.run import RunContext
from compat.errors import SelectionError
from compat.executors.executor import Batch
from compat.files import TemporaryFolder, folder_digest
from compat.fix.changes import SourceFile, hunks
from compat.fix.fixing import EditCompiler, best_of
from compat.history.account import class_of, is_good
from compat.history.verdict import release_of, verdicts
from compat.model import (
    SOURCE_STAGE,
    BuiltEnv,
    Cell,
    Env,
    Evidence,
    Outcome,
    Result,
    Status,
    Target,
)
from compat.repro import issue, verify
from compat.repro.records import ReproFinding, ReproRequest, UnverifiedCell, WrittenRepro, name_of
from compat.repro.script import Script, dependencies, imported_packages, requires_python
from compat.repro.verify import (
    SHOWS,
    SHOWS_NOT,
    ScriptResult,
    identifying_words,
    promise,
    sayings,
    searched_output,
    without_places,
    words_of,
)
from compat.source.closure import roots_of
from compat.store.keys import cell_key
from compat.text import amount, lazy_pattern, printable
from compat.toolchains import known_edits
from compat.toolchains.base import ScriptForm, Toolchain
from compat.workers.spawn import code_settings

_SLACK = 60.0
"""Seconds that a script may take besides its compile, to import the toolchain and to hash it, as
Triton does.
"""
_OF_MODULE = lazy_pattern(r'File "([^"\n]+)", line (\d+), in <module>')
"""A frame of a module's own statements in a traceback."""
_UNFIT = (Status.OUT_OF_MEMORY, *(status for status in Status if not status.is_answer))
"""Statuses that no script can show. Limits depend on the machine, and the others say nothing about
the kernel.
"""
_ENDS = _SCRIPT, _ISSUE, _REPRODUCER, _EVIDENCE = ".py", ".md", ".mlir", ".evidence.txt"
"""The ends of the names of the files of a repro. None has all of them."""
_SILENT = (Status.TIMED_OUT, *_UNFIT)
"""Statuses of failures without a message that identifies them."""


def write_repro(
    request: ReproRequest,
    context: RunContext,
    on_step: Callable[[str], None] = lambda message: None,
) -> WrittenRepro | UnverifiedCell:
    """Write the script, issue text and MLIR reproducer of a failing cell, and verify them.

    Args:
        request: The cell, and what to write.
        context: How to compile, with the environments of the cell and of the table.
        on_step: Called with the present step.

    Returns:
        The files, or why they could not be verified.

    Raises:
        SelectionError: The cell does not fail, or no script can show its failure.
        ConfigError: The kernel cannot be extracted from its file.
        OSError: The folder cannot be written.
    """
    return _ReproWriter(request, context, on_step).write()


def script_form(toolchain: Toolchain) -> ScriptForm:
    """The form of a toolchain's scripts. Raises SelectionError if it has none."""
    if toolchain.language.script is None:
        raise SelectionError(
            f"there are no scripts for {toolchain.title}",
            hint="Its failures can be explained and reduced.",
        )
    return toolchain.language.script


class _ReproWriter:
    """The writer of one repro."""

    def __init__(
        self, request: ReproRequest, context: RunContext, on_step: Callable[[str], None]
    ) -> None:
        self.request, self.context, self.on_step = request, context, on_step
        self.cell = request.cell
        self.built = context.envs[self.cell.env.name]
        self.name = request.name or name_of(self.cell)
        self.toolchain = toolchains.of(self.cell.env)
        self.knowledge, self.calls = self.toolchain.failures, script_form(self.toolchain)
        self.form = self._form(self.built)
        self.reasons: list[str] = []
        self.attempted: dict[Cell, Evidence] = {}
        """The last attempts at cells that the store does not have."""

    def write(self) -> WrittenRepro | UnverifiedCell:
        with TemporaryFolder("compat-repro-") as self.scratch:
            original = self._original()
            self.bundle = self.request.bundle or toolchains.bundle_of(
                self.cell.spec, decorated=_at_import(original)
            )
            self._check_packages()
            script = self._script(original)
            results = self._everywhere(script)
            self._compare_with(original, results)
            self._compare_history(results)
            if self.reasons:
                return self._write_evidence(())
            script = self._with_expected_text(script, results, self._outputs(results))
            if self.reasons:
                return self._write_evidence(())
            script, seen = self._try_script(script, results)
            self._check(seen)
            if self.reasons:
                return self._write_evidence(seen)
            finding = self._finding(script, results, seen)
        return self._write_files(finding)

    # --- the kernel ---

    def _original(self) -> Result:
        """The failing result of the cell. Raises SelectionError if no script can show it."""
        (result,) = self._compile([self.cell])
        outcome = result.outcome
        if is_good(outcome):
            raise SelectionError(
                f"{self.cell.id} compiles",
                hint="There is nothing to report. `compat matrix` shows what fails.",
            )
        if outcome.flaky or outcome.status in _UNFIT:
            fate = "is flaky" if outcome.flaky else f"is {outcome.status}"
            raise SelectionError(
                f"{self.cell.id} {fate}",
                hint="No script can show that reliably; `compat explain` shows all that is known.",
            )
        return result

    def _check_packages(self) -> None:
        """Refuse a kernel that needs stand-ins for packages, because a script has none.

        A stand-in replaces a package while a file is imported in an env without that package.
        """
        needed = imported_packages(self.bundle.text) - {self.knowledge.wording.package}
        if self.bundle.decorated and needed:
            raise SelectionError(
                f"{self.cell.id} fails while its file is imported, at {self._place_of_import()};"
                f" the definition of {self.bundle.spec.function} needs {', '.join(sorted(needed))},"
                " which a script cannot contain",
                hint="In an issue, paste that statement and what `compat explain` shows.",
            )
        stood_in = self._evidence(self.cell).stood_in
        replaced = {package.split()[0] for package in stood_in.packages} if stood_in else set()
        if needed & replaced:
            pairs = (
                " `--envs pairs` chooses envs with torch." if self.toolchain.device.pairing else ""
            )
            raise SelectionError(
                f"{self.cell.id}: {self.bundle.spec.function} uses"
                f" {', '.join(sorted(needed & replaced))}, which this env lacks",
                hint=f"Choose a cell of an env that has it.{pairs}",
            )

    def _place_of_import(self) -> str:
        """The statement at which the import failed, as the module's path in its tree and a line."""
        raised = self._evidence(self.cell).raised
        frames = _OF_MODULE.findall(raised[-1].traceback if raised else "")
        if not frames:
            return "an unknown place"
        path, line = Path(frames[-1][0]), frames[-1][1]
        root = next(
            (
                root
                for root in (*map(Path, self.cell.spec.roots), *roots_of(path))
                if path.is_relative_to(root)
            ),
            path.parent,
        )
        return f"{path.relative_to(root).as_posix()}:{line}"

    def _script(self, original: Result) -> Script:
        outcome = original.outcome
        assert outcome.failure is not None
        evidence = self._evidence(self.cell)
        hangs = outcome.status is Status.TIMED_OUT
        predicted = (
            self.knowledge.by_name[outcome.failure.failure_class].prediction
            if outcome.failure.prediction
            else None
        )
        prediction = outcome.failure.failure_class if predicted else ""
        message = (
            outcome.failure.excerpt if hangs or prediction else words_of(evidence, self.knowledge)
        )
        return Script(
            name=self.name,
            bundle=self.bundle,
            target=self.cell.target,
            release=self.built.release or "",
            form=self.form,
            toolchain=self.toolchain,
            calls=self.calls,
            requires_python=requires_python(self.built, self.request.root),
            dependencies=dependencies(
                self.built, {*self.calls.undeclared, *imported_packages(self.bundle.text)}
            ),
            headline=(
                f"{self._title(outcome)}. It compiles, but the binary"
                if prediction
                else f"{self._title(outcome)}. It is expected to print:"
            ),
            message=without_places(message),
            expected=(
                ""
                if hangs
                else (
                    predicted.script_text
                    if predicted
                    else promise(sayings(evidence, self.knowledge), [searched_output(evidence)])
                )
            ),
            deadline=self.context.limits.deadline if hangs else None,
            variables=code_settings(self.toolchain),
            prediction=prediction,
        )

    def _title(self, outcome: Outcome) -> str:
        assert outcome.failure is not None
        named = self.cell.env.distribution
        name = self.toolchain.title if named == self.toolchain.distribution else named.capitalize()
        release = f"{name} {self.built.release}"
        title = toolchains.known_class(outcome.failure).title
        phrase = title if title[1:2].isupper() else title[0].lower() + title[1:]
        what = self.bundle.spec.function
        does = (
            f"importing {what}"
            if self.bundle.decorated
            else f"compiling {what} for {self.cell.target.name}"
        )
        return f"{release} {does}: {phrase}"

    # --- the table ---

    def _everywhere(self, script: Script) -> tuple[Result, ...]:
        """The results of the kernel in the script's form, for every env and target."""
        path = self.scratch / f"{self.name}.py"
        spec = evolve(self.bundle, text=script.source()).write(path)
        self.spec = evolve(spec, expectations=())
        envs = [built.env for built in self.context.envs.values() if built.error is None]
        return self._compile(
            [
                Cell(env=env, target=target, spec=self.spec)
                for env in envs
                for target in self.request.targets
            ]
        )

    def _compare_with(self, original: Result, results: Sequence[Result]) -> None:
        """Check that the extracted kernel fails as it did in its file."""
        alone = self._of(self.cell.env, self.cell.target, results).outcome
        assert original.outcome.failure is not None
        if (
            alone.failure is None
            or alone.failure.fingerprint != original.outcome.failure.fingerprint
        ):
            actual = (
                f"{alone.failure.failure_class}: {alone.failure.excerpt}"
                if alone.failure
                else "it compiles"
            )
            self.reasons.append(
                "the extracted kernel does not fail the same way"
                f" ({original.outcome.failure.fingerprint}): {actual}"
            )
            if self.bundle.decorated:
                self.reasons.append(
                    f"the import of the kernel's file fails at {self._place_of_import()}, outside"
                    f" of {self.bundle.spec.function}. A script has only the kernel. If that line"
                    " defines another kernel, name that one. Otherwise paste the line and the"
                    " output of `compat explain`"
                )

    def _compare_history(self, results: Sequence[Result]) -> None:
        """Compare the histories of the two kernels.

        The shown kernel must be ok on the release next to the change on which the original is ok.
        Otherwise it shows another defect.
        """
        envs = [result.env for result in self.context.envs.values() if result.error is None]
        self.original = self._compile([evolve(self.cell, env=env) for env in envs])
        (verdict,) = verdicts(self.original)
        ends = (verdict.bracket.before, verdict.bracket.after) if verdict.bracket else ()
        for result in self.original:
            release, shown = (
                release_of(result.built).label,
                self._of(result.cell.env, self.cell.target, results),
            )
            if release in ends and is_good(result.outcome) and not is_good(shown.outcome):
                self.reasons.append(
                    f"the original is ok in {release}, and the kernel to be shown is not"
                    f" ({class_of(shown.outcome)}): its history is not the original's; `compat"
                    f" reduce --good {release}` makes one that stays ok there"
                )

    def _with_expected_text(
        self, script: Script, results: Sequence[Result], outputs: Mapping[str, str]
    ) -> Script:
        """The script, with an expected text that identifies the failure.

        All releases with this failure print the text, and no release with another failure does.
        ``outputs`` maps an env to the printed text of its attempt. Without such a text, no repro is
        written.
        """
        if script.deadline or script.prediction:
            return script
        failed = [result for result in self._column(results) if result.cell.env.name in outputs]
        alike = [outputs[result.cell.env.name] for result in failed if self._same(result, results)]
        others = [
            outputs[result.cell.env.name] for result in failed if not self._same(result, results)
        ]
        own = next(result for result in failed if result.cell.env == self.cell.env)
        expected = promise(sayings(self._evidence(own.cell), self.knowledge), alike, others)
        if not expected:
            self.reasons.append(
                "no part of this failure's message is printed by every release that fails this way"
                " and by none that fails differently, so a script could not tell them apart"
            )
        return evolve(script, expected=expected)

    def _column(self, results: Sequence[Result]) -> list[Result]:
        """The results for the script's own target."""
        return [result for result in results if result.cell.target == self.cell.target]

    def _outputs(self, results: Sequence[Result]) -> dict[str, str]:
        """Env → the printed text of its attempt, for failures with an identifying message."""
        failures = [
            result
            for result in self._column(results)
            if result.outcome.failure and result.outcome.status not in _SILENT
        ]
        return {
            result.cell.env.name: searched_output(self._evidence(result.cell))
            for result in failures
        }

    # --- running the script ---

    def _try_script(
        self, script: Script, results: Sequence[Result]
    ) -> tuple[Script, tuple[ScriptResult, ...]]:
        """The script and its results in every env.

        A script prints more than an attempt (Python's stacks, with lines of Triton's source). If a
        result is not as expected, and these outputs give another text, the script runs again with
        that text.
        """
        seen = self._run(script, results)
        if all(shown.as_expected for shown in seen):
            return script, seen
        if not all(shown.has_expected_failure for shown in seen):  # no other text helps
            return script, seen
        outputs = {
            shown.script.env.env.name: shown.run.output
            for shown in seen
            if not shown.script.compiles
        }
        better = self._with_expected_text(script, results, outputs)
        if self.reasons or better.expected == script.expected:
            return script, seen
        return better, self._run(better, results)

    def _run(self, script: Script, results: Sequence[Result]) -> tuple[ScriptResult, ...]:
        """Run the script in every env.

        If a release needs another form of the call, the script has that form there.
        """
        jobs = [self._job(script, result, results) for result in self._column(results)]
        deadline = _SLACK + 2 * self.context.limits.deadline
        self.on_step(f"running the script in {amount(len(jobs), 'env')}")
        return verify.run_all(
            jobs,
            self.cell.target,
            self.knowledge,
            self.scratch,
            deadline=deadline,
            slots=self.context.slots,
        )

    def _job(self, script: Script, result: Result, results: Sequence[Result]) -> verify.ScriptCheck:
        same, failure = self._same(result, results), result.outcome.failure
        # The import succeeds, and the script does nothing else.
        if script.bundle.decorated and not _at_import(result):
            return verify.ScriptCheck(
                env=result.built,
                text=script.source(),
                exit_code=SHOWS_NOT,
                compiles=True,
                fingerprint=None,
                stage=SOURCE_STAGE,
            )
        return verify.ScriptCheck(
            env=result.built,
            text=evolve(script, form=self._form(result.built)).source(),
            exit_code=(
                SHOWS if same else None if result.outcome.status is Status.TIMED_OUT else SHOWS_NOT
            ),
            compiles=is_good(result.outcome),
            fingerprint=_fingerprint_in_output(result.outcome),
            stage=failure.stage if failure else result.outcome.stage,
        )

    def _check(self, seen: Sequence[ScriptResult]) -> None:
        for shown in seen:
            if not shown.as_expected:
                script, failure = shown.script, shown.failure
                expected = (
                    f"exit code {script.exit_code},"
                    f" {'no failure' if script.compiles else script.fingerprint}"
                )
                shows = "no failure"
                if failure:
                    shows = ": ".join((failure.fingerprint, failure.excerpt.rpartition("\n")[2]))
                actual = f"exit code {shown.run.exit_code}, {shows}"
                self.reasons.append(
                    f"{script.env.env.name}: expected {expected}; the script gave {actual}"
                )

    # --- the result ---

    def _finding(
        self, script: Script, results: tuple[Result, ...], seen: Sequence[ScriptResult]
    ) -> ReproFinding:
        result = self._of(self.cell.env, self.cell.target, results)
        failure = result.outcome.failure
        assert failure is not None
        own = next(shown for shown in seen if shown.script.env.env.name == self.cell.env.name)
        reproducer = self.context.store.artifact(failure.reproducer) if failure.reproducer else None
        finding = ReproFinding(
            name=self.name,
            title=self._title(result.outcome),
            cell=result.cell,
            built=self.built,
            bundle=self.bundle,
            results=results,
            original=self.original,
            earlier_results=self.request.earlier_results,
            existing=self.request.existing,
            message=script.message,
            text=script.source(),
            output=issue.short(own.run.output, self.name, self.knowledge.wording.reader),
            command=without_places(self.request.command),
            reproducer=without_places(reproducer.decode(errors="replace")) if reproducer else "",
        )
        return (
            self._add_fix(finding)
            if finding.own_error and known_edits(failure, self.toolchain.name)
            else finding
        )

    def _add_fix(self, finding: ReproFinding) -> ReproFinding:
        """The finding with the edit of the source that makes the kernel compile, if any."""
        envs = [env.env for env in self.context.envs.values() if env.error is None]
        source, folder = SourceFile.alone(self.bundle.text), self.scratch / "edits"
        compiling = EditCompiler(
            spec=self.bundle.spec,
            source=source,
            target=self.cell.target,
            context=self.context,
            folder=folder,
        )
        edits, _ = compiling.search(self.cell.env, envs)
        best = best_of([edit for edit in edits if not edit.candidate.constexprs])
        if best is None:
            return finding
        not_even_so = [
            result.built.release or result.cell.env.name
            for result in best.results
            if not is_good(result.outcome)
        ]
        lines = hunks(self.bundle.text, best.candidate.text, context=1)
        shown = "\n".join("@@" if line.startswith("@@") else line for line in lines)
        return evolve(
            finding, fixed=shown, fixed_but=", ".join(not_even_so), fixed_notes=best.candidate.notes
        )

    def _write_files(self, finding: ReproFinding) -> WrittenRepro | UnverifiedCell:
        texts = {_SCRIPT: finding.text, _ISSUE: issue.issue_markdown(finding)}
        texts |= {_REPRODUCER: finding.reproducer} if finding.reproducer else {}
        for suffix, text in texts.items():
            for fact in identifying_words(text, self.bundle.text):
                self.reasons.append(f"{self.name}{suffix} would contain {fact!r}, which is private")
        if self.reasons:
            return self._write_evidence(())
        return WrittenRepro(finding=finding, paths=self._replace_files(texts))

    def _write_evidence(self, seen: Sequence[ScriptResult]) -> UnverifiedCell:
        parts = ["\n".join(self.reasons)]
        parts += [
            f"=== {shown.script.env.env.name}\n{shown.run.output}"
            for shown in seen
            if not shown.as_expected
        ]
        (path,) = self._replace_files({_EVIDENCE: printable("\n\n".join(parts)) + "\n"})
        return UnverifiedCell(
            cell=self.cell, reasons=tuple(map(printable, self.reasons)), evidence=path
        )

    def _replace_files(self, texts: Mapping[str, str]) -> tuple[Path, ...]:
        """Write the texts, by the ends of their names, and remove the files of an earlier repro."""
        self.request.folder.mkdir(parents=True, exist_ok=True)
        path_of = {end: self.request.folder / f"{self.name}{end}" for end in _ENDS}
        for end, path in path_of.items():
            if end in texts:
                path.write_text(texts[end], encoding="utf-8")
            else:
                path.unlink(missing_ok=True)
        return tuple(path_of[end] for end in texts)

    # --- helpers ---

    def _form(self, built: BuiltEnv) -> Hashable:
        """The form in which a script for that env calls the toolchain."""
        return self.calls.form_of(None if self.request.portable else built.release)

    def _compile(self, cells: Sequence[Cell]) -> tuple[Result, ...]:
        done = count(1)
        self.on_step(f"compiling {amount(len(cells), 'cell')}")
        context = evolve(self.context, stop=threading.Event())
        return run.run(
            cells,
            context,
            lambda _: self.on_step(f"compiling, {next(done)} of {amount(len(cells), 'cell')} done"),
        )

    def _evidence(self, cell: Cell) -> Evidence:
        """The attempt at a failed cell that has the most facts: the last one."""
        built = self.context.envs[cell.env.name]
        key = cell_key(cell, built, folder_digest(self.context.worker))
        stored = self.context.store.read([key], deadline=0, memory=0)
        if key not in stored and cell not in self.attempted:
            # The store keeps no attempt that imports too many files.
            batch = Batch([cell], built, self.context.limits, confirm=True)
            with closing(self.context.open_executor(stop=threading.Event())) as executor:
                (answer,) = executor.submit(batch)
            self.attempted[cell] = answer.attempts[-1]
        return stored[key][-1] if key in stored else self.attempted[cell]

    def _same(self, result: Result, results: Sequence[Result]) -> bool:
        own = self._of(self.cell.env, self.cell.target, results).outcome.failure
        return (
            own is not None
            and result.outcome.failure is not None
            and result.outcome.failure.fingerprint == own.fingerprint
        )

    @staticmethod
    def _of(env: Env, target: Target, results: Sequence[Result]) -> Result:
        return next(
            result for result in results if result.cell.env == env and result.cell.target == target
        )


def _fingerprint_in_output(outcome: Outcome) -> str | None:
    """The fingerprint or class that the output of a script shows; ``None`` if it shows neither."""
    failure = outcome.failure
    if failure is None or failure.prediction or outcome.status is Status.TIMED_OUT:
        return None
    if failure.failure_class == COMPILER_CRASH.name and failure.pass_ is not None:
        return failure.failure_class
    return failure.fingerprint


def _at_import(result: Result) -> bool:
    """Whether it fails while the kernel's file is imported."""
    return result.outcome.failure is not None and result.outcome.failure.stage == SOURCE_STAGE
