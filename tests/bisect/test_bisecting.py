"""The functions of the feature, which take and return records, on real wheels.

They print nothing and do not end the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from compat.bisect import bisect, check
from compat.bisect.answers import Part
from compat.bisect.bisecting import Bisection, read_bad_ends
from compat.bisect.candidates import CandidateQuery
from compat.bisect.criterion import parse_criterion
from compat.bisect.judging import JudgingProgram
from compat.bisect.request import Axis, BisectRequest
from compat.errors import SelectionError
from compat.history.account import Judgement
from compat.model import BuiltEnv, Cell, Env, Result
from compat.project import Listener, Selection, select
from compat.toolchains.triton.ir.dumps import PARTS
from tests.conftest import ROOT

FAILURES = str(ROOT / "tests" / "kernels" / "failures.toml")
RELEASES = ("3.1.0", "3.2.0", "3.9.0")
MATRIX = """
schema = 1
kernels = ["none.toml"]
env = [{ triton = "3.1.0" }, { triton = "3.2.0" }, { triton = "3.9.0" }]
defaults = { envs = ["*"], targets = ["sm_90"] }
"""


class Heard(Listener):
    """Records what a bisection reports."""

    def __init__(self) -> None:
        self.total = 0
        self.results: list[Result] = []
        self.answers: list[object] = []

    @contextmanager
    def compiling(
        self, total: int, rows: Sequence[Cell] = ()
    ) -> Iterator[Callable[[Result], None]]:
        self.total += total
        yield self.results.append

    def receive_answer(self, answer: object) -> None:
        self.answers.append(answer)


@pytest.fixture
def chosen(tmp_path: Path) -> Callable[..., Selection]:
    """Selects cells by patterns, in a project of three releases that has no results yet."""
    (tmp_path / "matrix.toml").write_text(MATRIX)

    def choose(**patterns: Any) -> Selection:
        return select(
            tmp_path / "matrix.toml", **{"envs": ["*"], "kernel_files": [FAILURES], **patterns}
        )

    return choose


Chosen = Callable[..., Selection]


@pytest.fixture
def obtain(built: Callable[[str], BuiltEnv]) -> Callable[[Path, Sequence[Env]], list[BuiltEnv]]:
    """Returns the envs of this checkout instead of the project's own."""
    return lambda matrix, envs: [built(env.name) for env in envs]


Obtain = Callable[[Path, Sequence[Env]], list[BuiltEnv]]


def searched(request: BisectRequest, obtain: Obtain, listener: Listener | None = None) -> Bisection:
    with request.selection.open_store() as store:
        return bisect(request, request.selection.context(store), obtain, listener)


@pytest.mark.wheels
def test_bisection_along_releases_returns_probes_and_saves_the_bad_end(
    chosen: Chosen, obtain: Obtain, capfd: pytest.CaptureFixture[str]
) -> None:
    selection, requests, listener = (
        chosen(variants=["dot_into_dot"]),
        list[tuple[str, list[str]]](),
        Heard(),
    )

    def obtaining(matrix: Path, envs: Sequence[Env]) -> list[BuiltEnv]:
        requests.append((matrix.name, [env.name for env in envs]))
        return obtain(matrix, envs)

    bisection = searched(BisectRequest(selection=selection), obtaining, listener)
    (answer,) = bisection.releases
    assert (bisection.axis, bisection.cells, bisection.fixed, bisection.conclusive) == (
        Axis.RELEASES,
        (),
        False,
        True,
    )
    assert answer.account.phrase == "intermittent"
    assert [probe.judgement for probe in answer.probes] == [
        Judgement.GOOD,
        Judgement.BAD,
        Judgement.GOOD,
    ]
    assert answer.part is not None
    assert requests == [("matrix.toml", ["triton-3.1.0", "triton-3.9.0", "triton-3.2.0"])], (
        "ends first, and all at once"
    )
    assert (listener.total, {result.built.release for result in listener.results}) == (
        3,
        set(RELEASES),
    )
    ends = read_bad_ends(selection.root)
    assert (ends.cells, ends.kernel_files) == (
        ("failures/dot_into_dot/only/sm_90/triton-3.2.0",),
        (FAILURES,),
    )
    assert capfd.readouterr() == ("", "")


@pytest.mark.wheels
def test_good_end_after_the_bad_end_searches_for_a_fix(chosen: Chosen, obtain: Obtain) -> None:
    request = BisectRequest(
        selection=chosen(variants=["dot_into_dot"]), good=Version("3.9"), bad=Version("3.2")
    )
    bisection = searched(request, obtain)
    (answer,) = bisection.releases
    assert bisection.fixed
    assert answer.bracket is not None
    assert (answer.bracket.before.release, answer.bracket.after.release) == ("3.2.0", "3.9.0")


@pytest.mark.wheels
def test_part_axis_searches_inside_a_failure(chosen: Chosen, obtain: Obtain) -> None:
    selection = chosen(variants=["dot_into_dot"])
    between = BisectRequest(
        selection=selection, axis=Axis.PART, good=Version("3.1"), bad=Version("3.2")
    )
    (answer,) = searched(between, obtain).cells
    assert isinstance(answer.answer, Part)
    assert (answer.cell.env.name, answer.answer.name) == ("triton-3.2.0", PARTS.passes)
    # Only a search along releases leaves bad ends.
    with pytest.raises(SelectionError, match="no last bisect"):
        read_bad_ends(selection.root)


def test_missing_envs_are_not_built(
    chosen: Chosen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPAT_ENVS", str(tmp_path / "envs"))
    request = BisectRequest(selection=chosen(variants=["copy"]))
    with request.selection.open_store() as store:
        bisection = bisect(request, request.selection.context(store))
    assert not bisection.conclusive
    assert bisection.releases[0].account.phrase == "unknown"


def test_every_env_of_a_release_is_counted(
    chosen: Chosen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPAT_ENVS", str(tmp_path / "envs"))
    pairs = ["3.1.0", "3.1.0-torch-2.5.1", "3.2.0"]
    request, listener = (
        BisectRequest(selection=chosen(variants=["copy"], envs=pairs, targets=["sm_80", "sm_90"])),
        Heard(),
    )
    with request.selection.open_store() as store:
        bisection = bisect(request, request.selection.context(store), listener=listener)
    assert (listener.total, len(listener.results)) == (6, 6)
    assert len(listener.answers) == len(bisection.releases) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"assemblers": ("12.9",)}, "only --axis part tries other assemblers"),
        ({"budget": 9.0}, "only --axis config has a budget"),
        ({"good": Version("3.3")}, "3.3 is not a candidate"),
        (
            {"good": Version("3.9"), "bad": Version("3.9"), "axis": Axis.PART},
            "both name release 3.9.0, which has these envs: triton-3.9.0",
        ),
        (
            {"good": Version("3.9"), "axis": Axis.PASS, "against": "nowhere"},
            "has no case 'nowhere'",
        ),
    ],
)
def test_invalid_options_are_usage_errors(
    chosen: Chosen, options: dict[str, object], message: str
) -> None:
    request = BisectRequest(selection=chosen(variants=["copy"]), **options)  # type: ignore[arg-type]
    with pytest.raises(SelectionError, match=message), request.selection.open_store() as store:
        bisect(request, request.selection.context(store))


def test_candidates_are_releases_of_the_named_distribution(chosen: Chosen, tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    request = BisectRequest(
        selection=chosen(envs=[]),
        query=CandidateQuery(find_links=str(tmp_path / "wheels"), distribution="mine"),
    )
    with (
        pytest.raises(SelectionError, match="no release of mine is left to bisect"),
        request.selection.open_store() as store,
    ):
        bisect(request, request.selection.context(store))


@pytest.mark.wheels
def test_program_judges_the_cells_of_a_check(
    chosen: Chosen, obtain: Obtain, capfd: pytest.CaptureFixture[str]
) -> None:
    selection, outputs = chosen(variants=["copy"]), list[str]()
    program = JudgingProgram(on_output=outputs.append)
    criterion = parse_criterion(
        'run=echo "$COMPAT_TRITON"; test "$COMPAT_TRITON" != 3.2.0', program
    )
    with selection.open_store() as store:
        check_answer = check(
            selection, criterion, selection.context(store), obtain, cells="*/triton-3.[12].0"
        )
    assert [judgement for _, judgement in check_answer.answers] == [Judgement.GOOD, Judgement.BAD]
    assert check_answer.judgement is Judgement.BAD
    (output,) = outputs
    assert output.endswith("the judge's program: exit code 1\n  3.2.0")
    assert capfd.readouterr() == ("", "")
