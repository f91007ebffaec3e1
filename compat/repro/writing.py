"""From a failing cell to the files of a repro, verified before they are written.

The kernel is taken out of what surrounds it, put into a script, and compiled in every env and for every target of the table. Then
the script itself is run in every env, and only if it says there what the table says, script and issue are written.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve, frozen

from compat import run
from compat.axes import verify
from compat.axes.verify import SHOWS, SHOWS_NOT, Seen
from compat.source.bundle import Bundle
from compat.errors import SelectionError
from compat.model import Cell, Env, Evidence, Outcome, Result, Specialization, Status, Target
from compat.repro import issue, mending
from compat.repro.call import Form, form_of
from compat.repro.finding import Finding
from compat.repro.header import dependencies, requires_python
from compat.repro.private import betrayals, without_places
from compat.repro.promise import SHARED_MEMORY, in_common, is_promise, promise, words_of
from compat.repro.script import Script
from compat.run import Bench
from compat.store import cell_key, folder_digest
from compat.evidence.taxonomy import KINDS
from compat.search.verdict import is_good

_SLACK = 60.0
"""Seconds that a script may take besides its compile: to import the toolchain, and to hash it, as Triton does."""
_UNFIT = (Status.OUT_OF_MEMORY, Status.ENV_BROKEN, Status.LOST)
"""What no script shows: limits are those of a machine, and what says nothing of the kernel is nothing to report."""


@frozen(kw_only=True)
class Request:
    """What is to be written of a cell."""

    cell: Cell
    bundle: Bundle
    """Its kernel, perhaps a smaller one with the same failure."""
    targets: tuple[Target, ...]
    """The columns of the table; the cell's own is among them."""
    root: Path
    """The project, which keeps what package indexes say."""
    folder: Path
    """Where the files go."""
    name: str = ""
    """Of the files, without suffix; after the cell unless given."""
    portable: bool = False
    """A script for every release, not only for the cell's."""
    command: str = "compat repro"
    """What the user typed."""


@frozen(kw_only=True)
class Written:
    """What was written, and what it tells."""

    finding: Finding
    paths: tuple[Path, ...]


@frozen(kw_only=True)
class Unverified:
    """What was found instead of the failure; only the evidence of it was written."""

    reasons: tuple[str, ...]
    evidence: Path


def name_of(cell: Cell) -> str:
    """What the files about a cell are called: ``sel_dense-as_written-d64-sm_90-3.9.0``."""
    return cell.id.replace("/triton-", "/").replace("/", "-")


def write(request: Request, bench: Bench) -> Written | Unverified:
    """Write the script, the issue and the MLIR reproducer of a failing cell, or say why they are not true.

    ``bench`` has the env of the cell and all those of the table. Raises SelectionError where the cell does not fail, or fails in a
    way that no script can show; OSError where the folder will not have the files.
    """
    return _Writing(request, bench).write()


class _Writing:
    """One repro in the making."""

    def __init__(self, request: Request, bench: Bench) -> None:
        self.request, self.bench = request, bench
        self.cell = request.cell
        self.built = bench.envs[self.cell.env.name]
        self.name = request.name or name_of(self.cell)
        self.form = Form.ANY if request.portable else form_of(self.built.triton)
        self.reasons: list[str] = []

    def write(self) -> Written | Unverified:
        with tempfile.TemporaryDirectory(prefix="compat-repro-") as folder:
            self.scratch = Path(folder)
            original = self._original()
            script = self._script(original)
            results = self._everywhere(script)
            self._compare_with(original, results)
            if self.reasons:
                return self._unverified(())
            script = self._common_words(script, results)
            seen = self._run(script, results)
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
            fate = "is flaky" if outcome.flaky else f"came out {outcome.status}"
            raise SelectionError(
                f"{self.cell.id} {fate}", hint="No script can promise to show that; `compat explain` tells all there is."
            )
        return result

    def _script(self, original: Result) -> Script:
        outcome = original.outcome
        assert outcome.failure is not None
        evidence = self._evidence(self.cell)
        hangs = outcome.status is Status.TIMED_OUT
        prediction = outcome.failure.prediction
        words = outcome.failure.excerpt if hangs or prediction else words_of(evidence)
        return Script(
            name=self.name,
            bundle=self.request.bundle,
            target=self.cell.target,
            release=self.built.triton or "",
            form=self.form,
            requires_python=requires_python(self.built, self.request.root),
            dependencies=dependencies(self.built),
            headline=f"{self._title(outcome)}. It is expected to say:",
            words=without_places(words),
            expected="" if hangs else SHARED_MEMORY if prediction else promise(evidence),
            deadline=self.bench.limits.deadline if hangs else None,
            prediction=prediction,
        )

    def _title(self, outcome: Outcome) -> str:
        assert outcome.failure is not None
        release = f"{self.cell.env.distribution.capitalize()} {self.built.triton}"
        kind = KINDS[outcome.failure.kind].title
        said = kind if kind[1:2].isupper() else kind[0].lower() + kind[1:]
        return f"{release} compiling {self.request.bundle.spec.function} for {self.cell.target.name}: {said}"

    # --- the table ---

    def _everywhere(self, script: Script) -> tuple[Result, ...]:
        """The kernel as it stands in the script, for every env and target."""
        path = self.scratch / f"{self.name}.py"
        spec = evolve(self.request.bundle, text=script.render()).write(path)
        self.spec = evolve(spec, expectations=())
        envs = [each.env for each in self.bench.envs.values() if each.error is None]
        return self._compile([Cell(env=env, target=target, spec=self.spec) for env in envs for target in self.request.targets])

    def _compare_with(self, original: Result, results: Sequence[Result]) -> None:
        """The kernel on its own must fail as it did among the rest of its file."""
        alone = self._of(self.cell.env, self.cell.target, results).outcome
        assert original.outcome.failure is not None
        if alone.failure is None or alone.failure.fingerprint != original.outcome.failure.fingerprint:
            found = f"{alone.failure.kind}: {alone.failure.excerpt}" if alone.failure else "it compiles"
            self.reasons.append(f"the kernel on its own does not fail as it did ({original.outcome.failure.fingerprint}): {found}")

    def _common_words(self, script: Script, results: Sequence[Result]) -> Script:
        """The script, looking for what all releases with this failure say."""
        if script.deadline or script.prediction:
            return script
        alike = [each.cell for each in results if each.cell.target == self.cell.target and self._same(each, results)]
        common = in_common(script.expected, [self._evidence(each) for each in alike])
        return evolve(script, expected=common if is_promise(common, Status.CRASHED) else script.expected)

    # --- running it ---

    def _run(self, script: Script, results: Sequence[Result]) -> tuple[Seen, ...]:
        """Run the script in every env; where a release takes the call in another form, the script in that form."""
        jobs = [self._job(script, each, results) for each in results if each.cell.target == self.cell.target]
        deadline = _SLACK + 2 * self.bench.limits.deadline
        return verify.run_all(jobs, self.cell.target, self.scratch, deadline=deadline, slots=self.bench.slots)

    def _job(self, script: Script, result: Result, results: Sequence[Result]) -> verify.Script:
        form = Form.ANY if self.form is Form.ANY else form_of(result.built.triton)
        same, failure = self._same(result, results), result.outcome.failure
        told = failure is not None and not failure.prediction and result.outcome.status is not Status.TIMED_OUT
        return verify.Script(
            env=result.built,
            text=evolve(script, form=form).render(),
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
                self.reasons.append(f"{each.script.env.env.name}: expected {expected}; the script came to {found}")

    # --- what comes of it ---

    def _finding(self, script: Script, results: tuple[Result, ...], seen: Sequence[Seen]) -> Finding:
        result = self._of(self.cell.env, self.cell.target, results)
        failure = result.outcome.failure
        assert failure is not None
        own = next(each for each in seen if each.script.env.env.name == self.cell.env.name)
        reproducer = self.bench.store.artifacts / failure.reproducer if failure.reproducer else None
        finding = Finding(
            name=self.name,
            title=self._title(result.outcome),
            cell=result.cell,
            built=self.built,
            bundle=self.request.bundle,
            results=results,
            words=script.words,
            text=script.render(),
            output=issue.short(own.run.output, self.name),
            command=without_places(self.request.command),
            reproducer=without_places(reproducer.read_text(encoding="utf-8")) if reproducer and reproducer.is_file() else "",
        )
        return self._mended(finding) if finding.own_error and failure.kind == mending.KIND else finding

    def _mended(self, finding: Finding) -> Finding:
        before = self.request.bundle.text
        after = mending.mend(before, self._try)
        if after is None:
            return finding
        spec = self._kernel(after, "mended")
        envs = [each.env for each in self.bench.envs.values() if each.error is None]
        results = self._compile([Cell(env=env, target=self.cell.target, spec=spec) for env in envs])
        not_even_so = [each.built.triton or each.cell.env.name for each in results if not is_good(each.outcome)]
        return evolve(finding, mended=mending.difference(before, after), mended_but=", ".join(not_even_so))

    def _try(self, texts: Sequence[str]) -> Sequence[Outcome]:
        cells = [evolve(self.cell, spec=self._kernel(text, f"edit-{number}")) for number, text in enumerate(texts)]
        return [each.outcome for each in self._compile(cells)]

    def _written(self, finding: Finding) -> Written | Unverified:
        texts = {".py": finding.text, ".md": issue.render(finding)} | ({".mlir": finding.reproducer} if finding.reproducer else {})
        for suffix, text in texts.items():
            for fact in betrayals(text, self.request.bundle.text):
                self.reasons.append(f"{self.name}{suffix} would say {fact!r}, which is nobody's business")
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
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        return Unverified(reasons=tuple(self.reasons), evidence=path)

    # --- pieces ---

    def _compile(self, cells: Sequence[Cell]) -> tuple[Result, ...]:
        return run.run(cells, evolve(self.bench, stop=threading.Event()))

    def _kernel(self, text: str, variant: str) -> Specialization:
        """The kernel with another text, and a name of its own."""
        return evolve(evolve(self.request.bundle, text=text).write(self.scratch / f"{variant}.py"), variant=variant)

    def _evidence(self, cell: Cell) -> Evidence:
        """The attempt that told most of a failed cell: the last one."""
        key = cell_key(cell, self.bench.envs[cell.env.name], folder_digest(self.bench.worker))
        return self.bench.store.read([key], deadline=0, memory=0)[key][-1]

    def _same(self, result: Result, results: Sequence[Result]) -> bool:
        own = self._of(self.cell.env, self.cell.target, results).outcome.failure
        return own is not None and result.outcome.failure is not None and result.outcome.failure.fingerprint == own.fingerprint

    @staticmethod
    def _of(env: Env, target: Target, results: Sequence[Result]) -> Result:
        return next(each for each in results if each.cell.env == env and each.cell.target == target)
