"""The search of a hunt: its batches, seeds, smaller programs and examples, without a compiler.

An invented compiler stands in for the engine. Real releases are in :mod:`tests.hunt.test_command`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from attrs import evolve

from compat.errors import SelectionError, StoreError
from compat.hunt import hunting
from compat.hunt.defects import HuntAnswer
from compat.hunt.examples import HuntFiles, WrittenHunt, write_hunt
from compat.hunt.hunting import HuntRequest, HuntRun, _batch
from compat.hunt.known_defects import KnownDefect
from compat.hunt.oracles import Oracle
from compat.interruption import Stopped
from compat.model import BuiltEnv, Cell, Env, Outcome, Result, Status
from compat.project import Listener, select_places
from compat.store.store import Store
from tests.records import OK, bad, env, failure

COMPARES_BFLOAT16 = 52
"""The seed of a program that compares values of type bfloat16, among other statements."""

Rule = Callable[[str, str], Outcome]
"""A release and the source of a program → what its compiler does."""


def on_bfloat16(release: str, outcome: Outcome) -> Rule:
    """A compiler that has an outcome on one release if a program has bfloat16."""
    return lambda version, source: outcome if version == release and "bfloat16" in source else OK


CRASH = bad(failure("mlir-assert"), Status.CRASHED)
REJECTION = bad(failure("pass-failure"), Status.REJECTED)


class Progress(Listener):
    """Keeps the messages of a hunt."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def say(self, message: str) -> None:
        self.messages.append(message)


class InventedHunt:
    """A hunt over two releases, whose compiler follows a rule."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, store: Store, rule: Rule, *envs: str
    ) -> None:
        self.selection = select_places(envs=envs or ("3.1.0", "3.9.0"), targets=("sm_90",))
        self.rule, self.store = rule, store
        self.progress = Progress()
        self.sizes: list[int] = []
        """The number of cells of each run."""
        monkeypatch.setattr(hunting, "run", self._run)

    def _run(
        self, cells: Sequence[Cell], context: object, on_result: Callable[[Result], None]
    ) -> list[Result]:
        self.sizes.append(len(cells))
        return [
            Result(
                cell=cell,
                built=env(str(cell.env.release), name=cell.env.name),
                outcome=self.rule(str(cell.env.release), Path(cell.spec.source).read_text()),
            )
            for cell in cells
        ]

    def _obtain(self, path: Path, envs: Sequence[Env]) -> list[BuiltEnv]:
        return [evolve(env(str(chosen.release)), env=chosen) for chosen in envs]

    def open(self) -> HuntRun:
        """A hunt that has not tried a program yet."""
        context = self.selection.context(self.store)
        return HuntRun(self.selection, context, self._obtain, self.progress)

    def hunt(
        self, files: HuntFiles, seed: int | None = COMPARES_BFLOAT16, programs: int = 1
    ) -> tuple[HuntAnswer, WrittenHunt]:
        """The answer of a hunt, and the files that it wrote."""
        with self.open() as run:
            answer = run.run(HuntRequest(seed=seed, programs=programs))
            return answer, write_hunt(run, answer, files)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.chdir(tmp_path)
    with Store(tmp_path / ".compat") as store:
        yield store


def examples(tmp_path: Path, shrinking: float) -> HuntFiles:
    return HuntFiles(examples=tmp_path / "examples", shrinking=shrinking)


def test_example_of_a_crash_is_the_smallest_program_that_crashes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invented = InventedHunt(monkeypatch, store, on_bfloat16("3.1.0", CRASH))
    answer, written = invented.hunt(examples(tmp_path, 60))
    (defect,) = answer.defects
    assert (defect.oracle, defect.envs) == (Oracle.CRASH, ("triton-3.1.0",))
    (example,) = written.examples.values()
    source = example.with_suffix(".py").read_text()
    assert "bfloat16" in source
    assert source.count(" = ") <= 4
    assert example.parent.parent == tmp_path / "examples"
    counts = [int(said.split()[1]) for said in invented.progress.messages if "statements" in said]
    assert counts[0] > counts[-1]


def test_example_of_a_disagreement_still_compiles_on_another_release(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old release rejects every bfloat16, and the new one those without a load."""

    def rule(release: str, source: str) -> Outcome:
        if "bfloat16" in source and (release == "3.1.0" or "tl.load" not in source):
            return REJECTION
        return OK

    answer, written = InventedHunt(monkeypatch, store, rule).hunt(examples(tmp_path, 60))
    assert {defect.oracle for defect in answer.defects} == {Oracle.DISAGREEMENT}
    (example,) = written.examples.values()
    source = example.with_suffix(".py").read_text()
    assert "bfloat16" in source
    assert "tl.load" in source
    assert source.count(" = ") <= 6


def test_smaller_example_has_the_same_defect_and_not_another(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every program crashes the old release, and those with bfloat16 in another way."""

    def rule(release: str, source: str) -> Outcome:
        other = bad(failure("verifier"), Status.CRASHED)
        return OK if release != "3.1.0" else CRASH if "bfloat16" in source else other

    _, written = InventedHunt(monkeypatch, store, rule).hunt(examples(tmp_path, 60))
    (example,) = written.examples.values()
    source = example.with_suffix(".py").read_text()
    assert "bfloat16" in source
    assert source.count(" = ") <= 4


def test_without_time_the_example_stays_as_it_was_generated(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invented = InventedHunt(monkeypatch, store, on_bfloat16("3.1.0", CRASH))
    answer, written = invented.hunt(examples(tmp_path, 0))
    (example,) = written.examples.values()
    source = invented.open().language.kernel_source(answer.defects[0].example.program)
    assert example.with_suffix(".py").read_text() == source
    _, written = invented.hunt(examples(tmp_path, 1e-9))
    assert written.examples[answer.defects[0].name].with_suffix(".py").read_text() == source


def test_known_defect_has_no_example(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invented = InventedHunt(monkeypatch, store, on_bfloat16("3.1.0", CRASH))
    known = KnownDefect(fingerprint=failure("mlir-assert").fingerprint, url="https://a.org/1")
    with invented.open() as run:
        answer = run.run(HuntRequest(seed=COMPARES_BFLOAT16, programs=1, known=(known,)))
        written = write_hunt(run, answer, examples(tmp_path, 60))
    assert [defect.known for defect in answer.defects] == [known]
    assert written.examples == {}


def test_batches_grow_until_the_number_of_programs_is_reached(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    invented = InventedHunt(monkeypatch, store, lambda release, source: OK)
    with invented.open() as run:
        answer = run.run(HuntRequest(seed=0, programs=10, forms=1))
    assert answer.seeds == (0, 10)
    assert [verdict.program.seed for verdict in answer.verdicts] == list(range(10))
    tried = [said.split()[0] for said in invented.progress.messages]
    assert tried == ["2", "10"]


def test_hunt_starts_no_batch_after_its_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    invented = InventedHunt(monkeypatch, store, lambda release, source: OK)
    with invented.open() as run:
        answer = run.run(HuntRequest(seed=0, seconds=1e-9))
    assert answer.seeds == (0, 2)
    assert not answer.interrupted


def test_hunt_without_a_seed_continues_after_the_last_one(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invented = InventedHunt(monkeypatch, store, lambda release, source: OK)
    for first, seed, next_seed in ((0, None, 2), (2, None, 4), (1, 1, 4), (7, 7, 9)):
        with invented.open() as run:
            assert run.run(HuntRequest(seed=seed, programs=2)).seeds == (first, first + 2)
        ledger = json.loads((tmp_path / ".compat/hunt/seeds.json").read_text())
        assert ledger == {"next": next_seed}
    (tmp_path / ".compat/hunt/seeds.json").write_text("{")
    with invented.open() as run:
        assert run.run(HuntRequest(programs=1)).seeds == (0, 1)


def test_interrupted_hunt_has_the_batches_before(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rule(release: str, source: str) -> Outcome:
        if len(invented.sizes) == 2:
            raise Stopped
        return CRASH

    invented = InventedHunt(monkeypatch, store, rule)
    answer, written = invented.hunt(examples(tmp_path, 60), programs=50)
    assert answer.interrupted
    assert answer.seeds == (COMPARES_BFLOAT16, COMPARES_BFLOAT16 + 2)
    assert len(written.examples) == len(answer.defects) == 1
    assert len(invented.sizes) == 2  # the example is not made smaller
    with invented.open() as run:
        assert run._next_seed() == COMPARES_BFLOAT16 + 2


def test_files_of_programs_are_deleted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    invented = InventedHunt(monkeypatch, store, lambda release, source: OK)
    with invented.open() as run:
        run.run(HuntRequest(seed=0, programs=2))
        folder = run._programs.path
        assert list(folder.iterdir()) == []
    assert not folder.exists()


def test_only_hits_of_the_env_in_question_count(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for release, breaks in (("3.9.0", True), ("3.1.0", False)):
        invented = InventedHunt(monkeypatch, store, on_bfloat16(release, CRASH))
        with invented.open() as run:
            request = HuntRequest(seed=COMPARES_BFLOAT16, programs=1, against="triton-3.9.0")
            answer = run.run(request)
        assert bool(answer.defects) is breaks, release


def test_program_is_compiled_only_on_releases_that_have_its_operations(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    invented = InventedHunt(monkeypatch, store, lambda release, source: OK, "3.0.0", "3.9.0")
    with invented.open() as run:
        answer = run.run(HuntRequest(seed=0, programs=30, forms=1))
        for verdict in answer.verdicts:
            releases = [result.cell.env.release for result in verdict.results]
            assert releases == [
                built.env.release
                for built in run.envs
                if built.env.release and run.language.is_for(verdict.program, built.env.release)
            ]
    assert {len(verdict.results) for verdict in answer.verdicts} >= {1, 2}


@pytest.mark.parametrize(
    ("envs", "only", "message"),
    [
        (("3.9.0",), ("dots",), "there is no family of operations 'dots'"),
        (("cute-4.8.1",), (), "compat hunt has no programs for CuTe DSL"),
        (("3.9.0", "cute-4.8.1"), (), "compat hunt has no programs for CuTe DSL, Triton"),
    ],
)
def test_impossible_hunt_is_an_error_before_anything_is_compiled(
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    envs: tuple[str, ...],
    only: tuple[str, ...],
    message: str,
) -> None:
    invented = InventedHunt(monkeypatch, store, lambda release, source: OK, *envs)
    with pytest.raises(SelectionError, match=message), invented.open() as run:
        run.run(HuntRequest(seed=0, programs=1, only=only))
    assert invented.sizes == []


def test_example_that_cannot_be_written_is_an_error_with_its_place(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invented = InventedHunt(monkeypatch, store, on_bfloat16("3.1.0", CRASH))
    (tmp_path / "examples").write_text("a file")
    with pytest.raises(StoreError, match="cannot write an example"):
        invented.hunt(examples(tmp_path, 0))


def test_batch_size_follows_from_the_rate_and_the_time_left() -> None:
    assert _batch(rate=0.1, seconds=3600, elapsed=100) == 18
    assert _batch(rate=0.1, seconds=3600, elapsed=3540) == 6
    assert _batch(rate=50, seconds=None, elapsed=1) == 64
    assert _batch(rate=0.001, seconds=60, elapsed=1) == 2


def test_hunt_without_numpy_says_that_it_needs_numpy(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if "triton.programs." in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(SelectionError, match="compat hunt needs NumPy"):
        InventedHunt(monkeypatch, store, lambda release, source: OK).open()
