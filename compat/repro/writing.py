"""From a failing cell to the files of a repro, verified before they are written.

The kernel is taken out of what surrounds it, put into a script, and compiled in every env and for every target of the table. Then
the script itself is run in every env, and only if it says there what the table says, script and issue are written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import count
from pathlib import Path

from attrs import evolve

from compat import toolchains
from compat.bundle.bundle import bundle
from compat.bundle.closure import roots_of
from compat.errors import SelectionError
from compat.execution import run
from compat.execution.obtaining import obtain_or_warn
from compat.execution.run import RunContext
from compat.execution.store import cell_key
from compat.execution.variables import settings
from compat.files import folder_digest
from compat.fix.changes import hunks
from compat.fix.fixing import Compiling, best_of
from compat.fix.known import known_edits
from compat.fix.source import SourceFile
from compat.history.verdict import class_of, is_good, release_of, verdicts
from compat.model import SOURCE_STAGE, BuiltEnv, Cell, Env, Evidence, Outcome, Result, Status, Target
from compat.patterns import lazy_pattern
from compat.printable import printable
from compat.repro import issue, verify
from compat.repro.expected_output import printed, promise, sayings, words_of
from compat.repro.finding import Finding
from compat.repro.header import dependencies, imported_packages, requires_python
from compat.repro.redact import identifying_words, without_places
from compat.repro.request import Request, Unverified, Written, name_of
from compat.repro.script import Script
from compat.repro.verify import SHOWS, SHOWS_NOT, Seen
from compat.scratch import Folder
from compat.toolchains import PREDICTIONS, ScriptForm, Toolchain

_SLACK = 60.0
"""Seconds that a script may take besides its compile: to import the toolchain, and to hash it, as Triton does."""
_OF_MODULE = lazy_pattern(r'File "([^"\n]+)", line (\d+), in <module>')
"""A frame of a module's own statements in a traceback."""
_UNFIT = (Status.OUT_OF_MEMORY, *(status for status in Status if not status.is_answer))
"""What no script shows: limits depend on the machine, and other statuses say nothing about the kernel."""
_SILENT = (Status.TIMED_OUT, *_UNFIT)
"""Where there are no words to tell a failure by."""


def write_repro(request: Request, context: RunContext, doing: Callable[[str], None] = lambda words: None) -> Written | Unverified:
    """Write the script, the issue and the MLIR reproducer of a failing cell, or say why the verification failed.

    ``context`` has the env of the cell and all those of the table; ``doing`` hears what is done, and how far it is. Raises
    SelectionError where the cell does not fail, or fails in a way that no script can show; ConfigError where its kernel cannot be
    taken out of its file; OSError where the folder will not have the files.
    """
    return _Writing(request, context, doing).write()


def script_form(toolchain: Toolchain) -> ScriptForm:
    """How scripts call a toolchain. Raises SelectionError where there are none for it."""
    if toolchain.script is None:
        raise SelectionError(f"there are no scripts for {toolchain.title}", hint="Its failures can be explained and reduced.")
    return toolchain.script


class _Writing:
    """One repro in the making."""

    def __init__(self, request: Request, context: RunContext, doing: Callable[[str], None]) -> None:
        self.request, self.context, self.doing = request, context, doing
        self.cell = request.cell
        self.built = context.envs[self.cell.env.name]
        self.name = request.name or name_of(self.cell)
        self.toolchain = toolchains.of(self.cell.env)
        self.knowledge, self.calls = self.toolchain.knowledge, script_form(self.toolchain)
        self.form = self._form(self.built)
        self.reasons: list[str] = []

    def write(self) -> Written | Unverified:
        with Folder("compat-repro-") as self.scratch:
            original = self._original()
            self.bundle = self.request.bundle or bundle(self.cell.spec, decorated=_at_import(original))
            self._check_packages()
            script = self._script(original)
            results = self._everywhere(script)
            self._compare_with(original, results)
            self._compare_history(results)
            if self.reasons:
                return self._unverified(())
            script = self._telling(script, results, self._outputs(results))
            if self.reasons:
                return self._unverified(())
            script, seen = self._seen(script, results)
            self._check(seen)
            if self.reasons:
                return self._unverified(seen)
            finding = self._finding(script, results, seen)
        return self._written(finding)

    # --- what it is ---

    def _original(self) -> Result:
        """The failure that is to be shown."""
        (result,) = self._compile([self.cell])
        outcome = result.outcome
        if is_good(outcome):
            raise SelectionError(f"{self.cell.id} compiles", hint="There is nothing to report. `compat matrix` shows what fails.")
        if outcome.flaky or outcome.status in _UNFIT:
            fate = "is flaky" if outcome.flaky else f"is {outcome.status}"
            raise SelectionError(
                f"{self.cell.id} {fate}", hint="No script can show that reliably; `compat explain` shows all that is known."
            )
        return result

    def _check_packages(self) -> None:
        """A stand-in answers for packages while a file is imported in an env that lacks them; a script has none."""
        needed = imported_packages(self.bundle.text) - {self.knowledge.wording.package}
        if self.bundle.decorated and needed:
            raise SelectionError(
                f"{self.cell.id} fails while its file is imported, at {self._place_of_import()}; the definition of "
                f"{self.bundle.spec.function} needs {', '.join(sorted(needed))}, which a script does not have",
                hint="In an issue, paste that statement and what `compat explain` shows.",
            )

    def _place_of_import(self) -> str:
        """The statement of a module, by the module's path in its tree, whose import failed."""
        raised = self._evidence(self.cell).raised
        frames = _OF_MODULE.findall(raised[-1].traceback if raised else "")
        if not frames:
            return "a place not told"
        path, line = Path(frames[-1][0]), frames[-1][1]
        root = next(
            (each for each in (*map(Path, self.cell.spec.roots), *roots_of(path)) if path.is_relative_to(each)), path.parent
        )
        return f"{path.relative_to(root).as_posix()}:{line}"

    def _script(self, original: Result) -> Script:
        outcome = original.outcome
        assert outcome.failure is not None
        evidence = self._evidence(self.cell)
        hangs = outcome.status is Status.TIMED_OUT
        prediction = outcome.failure.failure_class if outcome.failure.prediction else ""
        words = outcome.failure.excerpt if hangs or prediction else words_of(evidence, self.knowledge)
        return Script(
            name=self.name,
            bundle=self.bundle,
            target=self.cell.target,
            release=self.built.release or "",
            form=self.form,
            toolchain=self.toolchain,
            calls=self.calls,
            requires_python=requires_python(self.built, self.request.root),
            dependencies=dependencies(self.built, self.calls.undeclared),
            headline=f"{self._title(outcome)}. It is expected to print:",
            words=without_places(words),
            expected=""
            if hangs
            else PREDICTIONS[prediction]
            if prediction
            else promise(sayings(evidence, self.knowledge), [printed(evidence)]),
            deadline=self.context.limits.deadline if hangs else None,
            variables=settings(self.toolchain),
            prediction=prediction,
        )

    def _title(self, outcome: Outcome) -> str:
        assert outcome.failure is not None
        release = f"{self.cell.env.distribution.capitalize()} {self.built.release}"
        title = toolchains.failure_classes()[outcome.failure.failure_class].title
        said = title if title[1:2].isupper() else title[0].lower() + title[1:]
        what = self.bundle.spec.function
        does = f"importing {what}" if self.bundle.decorated else f"compiling {what} for {self.cell.target.name}"
        return f"{release} {does}: {said}"

    # --- the table ---

    def _everywhere(self, script: Script) -> tuple[Result, ...]:
        """The kernel as it stands in the script, for every env and target."""
        path = self.scratch / f"{self.name}.py"
        spec = evolve(self.bundle, text=script.source()).write(path)
        self.spec = evolve(spec, expectations=())
        envs = [each.env for each in self.context.envs.values() if each.error is None]
        return self._compile([Cell(env=env, target=target, spec=self.spec) for env in envs for target in self.request.targets])

    def _compare_with(self, original: Result, results: Sequence[Result]) -> None:
        """The extracted kernel must fail as it did in its file."""
        alone = self._of(self.cell.env, self.cell.target, results).outcome
        assert original.outcome.failure is not None
        if alone.failure is None or alone.failure.fingerprint != original.outcome.failure.fingerprint:
            found = f"{alone.failure.failure_class}: {alone.failure.excerpt}" if alone.failure else "it compiles"
            self.reasons.append(
                f"the extracted kernel does not fail the same way ({original.outcome.failure.fingerprint}): {found}"
            )
            if self.bundle.decorated:
                self.reasons.append(
                    f"the import of the kernel's file fails at {self._place_of_import()}, outside of the definition of "
                    f"{self.bundle.spec.function}, which is all that a script holds: if a kernel is defined there, name that one; "
                    "else paste the statement and what `compat explain` shows"
                )

    def _compare_history(self, results: Sequence[Result]) -> None:
        """It must be ok where the original is ok beside the change: otherwise it shows something else."""
        envs = [each.env for each in self.context.envs.values() if each.error is None]
        self.original = self._compile([evolve(self.cell, env=env) for env in envs])
        (told,) = verdicts(self.original)
        ends = (told.bracket.before, told.bracket.after) if told.bracket else ()
        for each in self.original:
            release, shown = release_of(each.built).label, self._of(each.cell.env, self.cell.target, results)
            if release in ends and is_good(each.outcome) and not is_good(shown.outcome):
                self.reasons.append(
                    f"the original is ok in {release}, and the kernel to be shown is not ({class_of(shown.outcome)}): its history "
                    f"is not the original's; `compat reduce --good {release}` makes one that stays ok there"
                )

    def _telling(self, script: Script, results: Sequence[Result], outputs: Mapping[str, str]) -> Script:
        """The script, looking for what all releases with this failure say, and none with another.

        ``outputs`` has what each env's attempt printed; without such words nothing is written.
        """
        if script.deadline or script.prediction:
            return script
        failed = [each for each in self._column(results) if each.cell.env.name in outputs]
        alike = [outputs[each.cell.env.name] for each in failed if self._same(each, results)]
        others = [outputs[each.cell.env.name] for each in failed if not self._same(each, results)]
        own = next(each for each in failed if each.cell.env == self.cell.env)
        expected = promise(sayings(self._evidence(own.cell), self.knowledge), alike, others)
        if not expected:
            self.reasons.append(
                "no part of this failure's message is printed by every release that fails this way and by none that fails "
                "differently, so a script could not tell them apart"
            )
        return evolve(script, expected=expected)

    def _column(self, results: Sequence[Result]) -> list[Result]:
        """The results for the script's own target."""
        return [each for each in results if each.cell.target == self.cell.target]

    def _outputs(self, results: Sequence[Result]) -> dict[str, str]:
        """Env → what its attempt printed, for what failed with words."""
        said = [each for each in self._column(results) if each.outcome.failure and each.outcome.status not in _SILENT]
        return {each.cell.env.name: printed(self._evidence(each.cell)) for each in said}

    # --- running it ---

    def _seen(self, script: Script, results: Sequence[Result]) -> tuple[Script, tuple[Seen, ...]]:
        """The script and what it said in every env.

        A script prints more than an attempt (Python's stacks, with lines of Triton's source), so other words may be needed once
        that is known.
        """
        seen = self._run(script, results)
        if all(each.as_expected for each in seen):
            return script, seen
        outputs = {each.script.env.env.name: each.run.output for each in seen if not each.script.compiles}
        better = self._telling(script, results, outputs)
        if self.reasons or better.expected == script.expected:
            return script, seen
        return better, self._run(better, results)

    def _run(self, script: Script, results: Sequence[Result]) -> tuple[Seen, ...]:
        """Run the script in every env; where a release takes the call in another form, the script in that form."""
        jobs = [self._job(script, each, results) for each in self._column(results)]
        deadline = _SLACK + 2 * self.context.limits.deadline
        self.doing(f"running the script in {len(jobs)} envs")
        return verify.run_all(jobs, self.cell.target, self.knowledge, self.scratch, deadline=deadline, slots=self.context.slots)

    def _job(self, script: Script, result: Result, results: Sequence[Result]) -> verify.ScriptCheck:
        same, failure = self._same(result, results), result.outcome.failure
        if script.bundle.decorated and not _at_import(result):  # it can be imported, and the script does no more
            return verify.ScriptCheck(
                env=result.built, text=script.source(), exit_code=SHOWS_NOT, compiles=True, fingerprint=None, stage=SOURCE_STAGE
            )
        told = failure is not None and not failure.prediction and result.outcome.status is not Status.TIMED_OUT
        return verify.ScriptCheck(
            env=result.built,
            text=evolve(script, form=self._form(result.built)).source(),
            exit_code=SHOWS if same else None if result.outcome.status is Status.TIMED_OUT else SHOWS_NOT,
            compiles=is_good(result.outcome),
            fingerprint=failure.fingerprint if failure and told else None,
            stage=failure.stage if failure else result.outcome.stage,
        )

    def _check(self, seen: Sequence[Seen]) -> None:
        for each in seen:
            if not each.as_expected:
                expected = f"exit code {each.script.exit_code}, {'no failure' if each.script.compiles else each.script.fingerprint}"
                found = f"exit code {each.run.exit_code}, {each.failure.fingerprint if each.failure else 'no failure'}"
                self.reasons.append(f"{each.script.env.env.name}: expected {expected}; the script gave {found}")

    # --- what comes of it ---

    def _finding(self, script: Script, results: tuple[Result, ...], seen: Sequence[Seen]) -> Finding:
        result = self._of(self.cell.env, self.cell.target, results)
        failure = result.outcome.failure
        assert failure is not None
        own = next(each for each in seen if each.script.env.env.name == self.cell.env.name)
        obtain_or_warn(self.context.store, [failure.reproducer], "the issue")
        reproducer = self.context.store.artifact(failure.reproducer) if failure.reproducer else None
        finding = Finding(
            name=self.name,
            title=self._title(result.outcome),
            cell=result.cell,
            built=self.built,
            bundle=self.bundle,
            results=results,
            original=self.original,
            remembered=self.request.remembered,
            existing=self.request.existing,
            words=script.words,
            text=script.source(),
            output=issue.short(own.run.output, self.name),
            command=without_places(self.request.command),
            reproducer=without_places(reproducer.decode(errors="replace")) if reproducer else "",
        )
        return self._fixed(finding) if finding.own_error and known_edits(failure, self.toolchain.name) else finding

    def _fixed(self, finding: Finding) -> Finding:
        """The finding with the edit of the source that makes the kernel compile, if one is found."""
        envs = [each.env for each in self.context.envs.values() if each.error is None]
        source, folder = SourceFile.alone(self.bundle.text), self.scratch / "edits"
        compiling = Compiling(spec=self.bundle.spec, source=source, target=self.cell.target, context=self.context, folder=folder)
        found, _ = compiling.search(self.cell.env, envs)
        best = best_of([each for each in found if not each.candidate.constexprs])
        if best is None:
            return finding
        not_even_so = [each.built.release or each.cell.env.name for each in best.results if not is_good(each.outcome)]
        lines = hunks(self.bundle.text, best.candidate.text, context=1)
        shown = "\n".join("@@" if line.startswith("@@") else line for line in lines)
        return evolve(finding, fixed=shown, fixed_but=", ".join(not_even_so), fixed_notes=best.candidate.notes)

    def _written(self, finding: Finding) -> Written | Unverified:
        texts = {".py": finding.text, ".md": issue.issue_markdown(finding)}
        texts |= {".mlir": finding.reproducer} if finding.reproducer else {}
        for suffix, text in texts.items():
            for fact in identifying_words(text, self.bundle.text):
                self.reasons.append(f"{self.name}{suffix} would contain {fact!r}, which is private")
        if self.reasons:
            return self._unverified(())
        self.request.folder.mkdir(parents=True, exist_ok=True)
        paths = tuple(self.request.folder / f"{self.name}{suffix}" for suffix in texts)
        for path, text in zip(paths, texts.values(), strict=True):
            path.write_text(text, encoding="utf-8")
        return Written(finding=finding, paths=paths)

    def _unverified(self, seen: Sequence[Seen]) -> Unverified:
        parts = ["\n".join(self.reasons)]
        parts += [f"=== {each.script.env.env.name}\n{each.run.output}" for each in seen if not each.as_expected]
        self.request.folder.mkdir(parents=True, exist_ok=True)
        path = self.request.folder / f"{self.name}.evidence.txt"
        path.write_text(printable("\n\n".join(parts)) + "\n", encoding="utf-8")
        return Unverified(cell=self.cell, reasons=tuple(map(printable, self.reasons)), evidence=path)

    # --- pieces ---

    def _form(self, built: BuiltEnv) -> Hashable:
        """The form in which a script for that env calls the toolchain."""
        return self.calls.form_of(None if self.request.portable else built.release)

    def _compile(self, cells: Sequence[Cell]) -> tuple[Result, ...]:
        done = count(1)
        self.doing(f"compiling {len(cells)} cells")
        context = evolve(self.context, stop=threading.Event())
        return run.run(cells, context, lambda _: self.doing(f"compiling, {next(done)} of {len(cells)} cells done"))

    def _evidence(self, cell: Cell) -> Evidence:
        """The attempt that told most of a failed cell: the last one."""
        key = cell_key(cell, self.context.envs[cell.env.name], folder_digest(self.context.worker))
        return self.context.store.read([key], deadline=0, memory=0)[key][-1]

    def _same(self, result: Result, results: Sequence[Result]) -> bool:
        own = self._of(self.cell.env, self.cell.target, results).outcome.failure
        return own is not None and result.outcome.failure is not None and result.outcome.failure.fingerprint == own.fingerprint

    @staticmethod
    def _of(env: Env, target: Target, results: Sequence[Result]) -> Result:
        return next(each for each in results if each.cell.env == env and each.cell.target == target)


def _at_import(result: Result) -> bool:
    """Whether it fails while the kernel's file is imported."""
    return result.outcome.failure is not None and result.outcome.failure.stage == SOURCE_STAGE
