"""Changes between two reports: goldens, kinds of changes, and the length of a comment."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from packaging.version import Version

from compat.model import Check, CompileSpec, Expectation, Outcome, Status
from compat.pairs.records import Pair, PairProgram
from compat.report.summary.comparing import CellChangeKind, Comparison, ReportSide, compare
from compat.report.summary.record import Report
from compat.report.views.diff import (
    LIMIT,
    MARKER,
    diff_document,
    diff_lines,
    diff_markdown,
    jump_line,
)
from compat.text import write_json
from tests.records import (
    ASSERT,
    BROKEN,
    DEPRECATED,
    LOST,
    OK,
    REMOVED,
    SHAPE,
    SHARED,
    TARGETS,
    UNKNOWN_TARGET,
    bad,
    declared,
    env,
)
from tests.report.factory import (
    UNSTABLE,
    always,
    expected_matrix,
    launched,
    report,
    results_of,
    since,
    troubled_matrix,
)
from tests.together import for_each

ENVS = [env("3.8.0"), env("3.9.0")]


def compared(old: Report, new: Report, threshold: float = 10) -> Comparison:
    return compare(
        ReportSide(name="HEAD~1:reports/matrix.json", report=old),
        ReportSide(name="reports/matrix.json", report=new),
        threshold,
    )


def cell(outcome: Outcome) -> Report:
    return report(results_of("k", "v", always(outcome), envs=ENVS[:1], targets=TARGETS[:1]))


def built(**metrics: object) -> Outcome:
    return evolve(OK, metrics=metrics)


def everything() -> Comparison:
    """A change of every kind."""
    before: Mapping[str, Outcome] = {
        "broken": OK,
        "changed": bad(SHAPE),
        "declared": OK,
        "deprecated": OK,
        "fixed": bad(ASSERT, Status.CRASHED),
        "gone": OK,
        "inconclusive": OK,
        "answered": LOST,
        "jumped": built(
            registers=128, shared=65_536, spill_store_bytes=0, artifacts={"ptx": 67_104}
        ),
        "same": OK,
    }
    after: Mapping[str, Outcome] = {
        **before,
        "broken": bad(REMOVED),
        "changed": bad(ASSERT, Status.CRASHED),
        "declared": bad(SHAPE),
        "deprecated": DEPRECATED,
        "fixed": OK,
        "inconclusive": BROKEN,
        "answered": OK,
        "jumped": built(
            registers=255, shared=32_768, spill_store_bytes=21_504, artifacts={"ptx": 68_000}
        ),
        "added": bad(SHAPE),
    }
    expect = [declared(SHAPE, reason="It is known.")]

    def report_of(fates: Mapping[str, Outcome], leave_out: str) -> Report:
        return report(
            [
                result
                for variant, outcome in fates.items()
                if variant != leave_out
                for result in results_of(
                    "k",
                    variant,
                    always(outcome),
                    envs=ENVS,
                    expect=expect if variant == "declared" else (),
                )
            ]
        )

    changed_env = evolve(ENVS[1], python_version="3.12.3")
    new = report_of(after, "gone")
    return compared(report_of(before, ""), evolve(new, envs=(ENVS[0], changed_env), version="99"))


# --- goldens --------------------------------------------------------------------------------------


def test_text(golden: Callable[[str, str], None]) -> None:
    golden("diff.txt", "".join(f"{line}\n" for line in at_version(diff_lines(everything()))))


def test_markdown(golden: Callable[[str, str], None]) -> None:
    golden("diff.md", "\n".join(at_version(diff_markdown(everything()).split("\n"))))


def test_document(golden: Callable[[str, str], None]) -> None:
    golden(
        "diff.json",
        "\n".join(at_version(write_json(diff_document(everything())).split("\n"))) + "\n",
    )


def at_version(lines: object) -> list[str]:
    """The lines without the version of the tool, which changes."""
    from compat import __version__

    return [str(line).replace(__version__, "VERSION") for line in lines]  # type: ignore[attr-defined]


# --- kinds of changes -----------------------------------------------------------------------------

NO_ANSWER = [LOST, BROKEN, bad(SHAPE, Status.SOURCE_BROKEN), bad(SHAPE, flaky=True)]
PREDICTED = evolve(OK, failure=SHARED)


@for_each(
    ("before", "after", "kind"),
    [
        (OK, OK, None),
        (OK, bad(SHAPE), CellChangeKind.BROKEN),
        (OK, PREDICTED, CellChangeKind.BROKEN),
        (OK, bad(UNKNOWN_TARGET, Status.UNSUPPORTED), CellChangeKind.BROKEN),
        (DEPRECATED, bad(REMOVED), CellChangeKind.BROKEN),
        (OK, DEPRECATED, CellChangeKind.DEPRECATED),
        (DEPRECATED, DEPRECATED, None),
        (DEPRECATED, OK, None),
        (bad(SHAPE), OK, CellChangeKind.FIXED),
        (PREDICTED, OK, CellChangeKind.FIXED),
        (bad(SHAPE), DEPRECATED, CellChangeKind.FIXED),
        (bad(SHAPE), bad(SHAPE), None),
        (bad(SHAPE), bad(evolve(SHAPE, excerpt="other words", location="k.py:9")), None),
        (bad(SHAPE), bad(evolve(SHAPE, fingerprint="shape-mismatch:0")), CellChangeKind.CHANGED),
        (bad(ASSERT, Status.CRASHED), bad(ASSERT), CellChangeKind.CHANGED),
        *((OK, silent, CellChangeKind.INCONCLUSIVE) for silent in NO_ANSWER),
        *((bad(REMOVED), silent, CellChangeKind.INCONCLUSIVE) for silent in NO_ANSWER),
        *((silent, OK, CellChangeKind.ANSWERED) for silent in NO_ANSWER),
        *((silent, bad(REMOVED), CellChangeKind.ANSWERED) for silent in NO_ANSWER),
        *((silent, LOST, None) for silent in NO_ANSWER),
    ],
)
def test_two_outcomes_of_a_cell_give_a_kind_of_change(
    before: Outcome, after: Outcome, kind: CellChangeKind | None
) -> None:
    comparison = compared(cell(before), cell(after))
    assert list(comparison.counts) == ([kind] if kind else [])
    assert comparison.same == (kind is None)


@for_each("axis", ["kernels", "variants", "cases", "targets", "envs"])
def test_cells_of_only_one_report_are_added_or_dropped_and_never_broken(axis: str) -> None:
    small = results_of("k", "v", always(OK), envs=ENVS[:1], targets=TARGETS[:1])
    more = {
        "kernels": results_of("other", "v", always(bad(SHAPE)), envs=ENVS[:1], targets=TARGETS[:1]),
        "variants": results_of(
            "k", "other", always(bad(SHAPE)), envs=ENVS[:1], targets=TARGETS[:1]
        ),
        "cases": results_of(
            "k", "v", always(bad(SHAPE)), envs=ENVS[:1], targets=TARGETS[:1], cases=("other",)
        ),
        "targets": results_of("k", "v", always(bad(SHAPE)), envs=ENVS[:1], targets=TARGETS[1:2]),
        "envs": results_of("k", "v", always(bad(SHAPE)), envs=ENVS[1:], targets=TARGETS[:1]),
    }[axis]
    grown = compared(report(small), report([*small, *more]))
    assert grown.counts == {CellChangeKind.ADDED: 1}
    assert list(grown.only[1]) == [axis]
    assert not grown.count_gated([CellChangeKind.BROKEN, CellChangeKind.CHANGED])
    shrunk = compared(report([*small, *more]), report(small))
    assert shrunk.counts == {CellChangeKind.DROPPED: 1}
    assert list(shrunk.only[0]) == [axis]
    assert not shrunk.count_gated([CellChangeKind.BROKEN, CellChangeKind.CHANGED])
    assert "only the new report has the" in "\n".join(diff_lines(grown))


def test_reports_without_a_common_cell_say_so() -> None:
    comparison = compared(cell(OK), report(results_of("other", "v", always(OK), envs=ENVS)))
    assert comparison.compared == 0
    assert list(diff_lines(comparison))[-1].startswith(
        "The reports have no cell in common, so nothing was compared: "
    )
    assert list(diff_lines(compared(report([]), report([]))))[-1].endswith(
        "nothing was compared: both are empty."
    )


def test_changed_arguments_are_noted() -> None:
    other = [
        evolve(
            r,
            cell=evolve(
                r.cell, spec=evolve(r.cell.spec, compile=CompileSpec(signature={"x": "*fp32"}))
            ),
        )
        for r in results_of("k", "v", always(OK), envs=ENVS)
    ]
    comparison = compared(report(results_of("k", "v", always(OK), envs=ENVS)), report(other))
    assert (comparison.arguments, comparison.counts) == (("k/v/d64",), {})
    assert "note: the arguments or options of k/v/d64 changed" in list(diff_lines(comparison))


def test_a_declared_failure_is_listed_and_does_not_gate() -> None:
    results = results_of(
        "k",
        "v",
        since("3.9.0", bad(REMOVED), OK),
        envs=ENVS,
        expect=[declared(REMOVED, releases=">=3.9")],
    )
    comparison = compared(report(results_of("k", "v", always(OK), envs=ENVS)), report(results))
    assert comparison.counts == {CellChangeKind.BROKEN: 2}
    assert comparison.count_gated([CellChangeKind.BROKEN]) == 0
    assert "newly broken: 2 cells (2 declared)" in list(diff_lines(comparison))


def test_an_unsupported_target_is_not_a_declared_failure() -> None:
    comparison = compared(cell(OK), cell(bad(UNKNOWN_TARGET, Status.UNSUPPORTED)))
    assert comparison.count_gated([CellChangeKind.BROKEN]) == 1


def test_only_the_declared_failure_does_not_gate() -> None:
    (other,) = results_of(
        "k", "v", always(bad(ASSERT)), envs=ENVS[:1], targets=TARGETS[:1], expect=[declared(SHAPE)]
    )
    assert compared(cell(OK), report([other])).count_gated([CellChangeKind.BROKEN]) == 1
    (result,) = ran(check=UNSTABLE).results
    meant = evolve(result, expectation=Expectation(status=Status.UNSTABLE))
    assert compared(cell(OK), report([meant])).count_gated([CellChangeKind.BROKEN]) == 0


# --- new releases ---------------------------------------------------------------------------------


def followed(old: Report, new: Report) -> Comparison:
    before, after = (ReportSide(name="report", report=one) for one in (old, new))
    return compare(before, after, new_releases=True)


def test_a_new_release_is_compared_with_the_newest_one_before_it() -> None:
    before = report(results_of("k", "v", always(OK), envs=[env("3.1.0"), env("3.8.0")]))
    fate = since("3.9.0", bad(REMOVED), OK)
    after = report(results_of("k", "v", fate, envs=[env("3.8.0"), env("3.9.0")]))
    comparison = followed(before, after)
    assert comparison.successors == {"triton-3.9.0": "triton-3.8.0"}
    assert comparison.counts == {CellChangeKind.BROKEN: 2, CellChangeKind.DROPPED: 2}
    assert (comparison.compared, comparison.same) == (4, 2)
    assert {result.cell.env.name for result in comparison.of(CellChangeKind.BROKEN)[0].results} == {
        "triton-3.9.0"
    }
    assert comparison.count_gated([CellChangeKind.BROKEN]) == 2
    assert "envs" not in comparison.only[1]
    lines = list(diff_lines(comparison))
    assert "note: triton-3.9.0 is new, and compared with triton-3.8.0" in lines
    assert diff_document(comparison)["successors"] == {"triton-3.9.0": "triton-3.8.0"}


def paced(blocks: int) -> Outcome:
    """A compile with this many blocks per multiprocessor."""
    pace = {"units": 14_000 - 2_000 * blocks, "latency": 40_000, "loops": "1"}
    return built(
        registers=128 // blocks,
        occupancy={"blocks": blocks, "limited_by": "registers"},
        pace=pace,
    )


def test_compiles_that_are_likely_slower_on_a_new_release_are_listed() -> None:
    before = report(results_of("k", "v", always(paced(2)), envs=ENVS[:1], targets=TARGETS[:1]))
    after = report(results_of("k", "v", always(paced(1)), envs=ENVS[1:], targets=TARGETS[:1]))
    comparison = followed(before, after)
    lines = list(diff_lines(comparison))
    at = lines.index("3.8.0 → 3.9.0: 1 kernel likely slower (slow-suspect), in 1 cell")
    suspicion = (
        "likely 1.6 times slower than on 3.8.0: 1 block per multiprocessor instead of 2, with 128"
        " registers per thread instead of 64"
    )
    cell_id = "k/v/d64/sm_80/triton-3.9.0"
    assert lines[at + 1 : at + 3] == [f"  {cell_id}", f"    {suspicion}"]
    assert f"`{cell_id}`: {suspicion}" in diff_markdown(comparison)
    assert diff_document(comparison)["slow_suspects"] == [
        {
            "cell": cell_id,
            "before": "k/v/d64/sm_80/triton-3.8.0",
            "ratio": 1.6,
            "reasons": [suspicion.partition(": ")[2]],
        }
    ]
    assert comparison.count_gated([CellChangeKind.BROKEN, CellChangeKind.CHANGED]) == 0
    assert not any(
        jump.metric.startswith("pace.") for group in comparison.jumps for jump in group.jumps
    )


def test_a_changed_source_on_one_release_is_no_slow_suspect() -> None:
    before, after = (
        report(results_of("k", "v", always(paced(blocks)), envs=ENVS[:1], targets=TARGETS[:1]))
        for blocks in (2, 1)
    )
    assert compared(before, after).suspects == ()


def test_only_a_later_release_of_the_same_kind_has_a_predecessor() -> None:
    before = report(results_of("k", "v", always(OK), envs=[env("3.8.0")]))
    paired, fork = env("3.9.0"), env("3.9.0")
    paired = evolve(
        paired, env=evolve(paired.env, name="paired", framework_release=Version("2.15.0"))
    )
    fork = evolve(fork, env=evolve(fork.env, name="fork", distribution="triton-fork"))
    for other in (env("3.7.0"), paired, fork):
        comparison = followed(
            before, report(results_of("k", "v", always(bad(SHAPE)), envs=[other]))
        )
        assert comparison.successors == {}
        assert comparison.counts == {CellChangeKind.DROPPED: 2, CellChangeKind.ADDED: 2}
        assert comparison.only[1]["envs"] == (other.env.name,)


def test_a_kernel_that_only_a_new_release_has_is_added() -> None:
    before = report(results_of("k", "v", always(OK), envs=[env("3.8.0")]))
    after = report(
        [
            *results_of("k", "v", always(OK), envs=[env("3.9.0")]),
            *results_of("other", "v", always(bad(SHAPE)), envs=[env("3.9.0")]),
        ]
    )
    comparison = followed(before, after)
    assert (comparison.compared, comparison.same) == (2, 2)
    assert comparison.counts == {CellChangeKind.DROPPED: 2, CellChangeKind.ADDED: 2}


def test_a_pair_of_a_new_release_is_compared_with_the_pair_before_it() -> None:
    def paired(release: str, torch: str, status: Status) -> Report:
        built = env(release)
        name = f"triton-{release}-torch-{torch}"
        built = evolve(built, env=evolve(built.env, name=name, framework_release=Version(torch)))
        program = PairProgram(name="mm", status=status)
        pair = Pair(
            framework_release=torch, release=release, env=name, own=True, programs=(program,)
        )
        return evolve(report(results_of("k", "v", always(OK), envs=[built])), pairs=(pair,))

    before, after = paired("3.8.0", "2.14.1", Status.OK), paired("3.9.0", "2.15.0", Status.REJECTED)
    (change,) = followed(before, after).pairs
    assert (change.name, change.before, change.broken) == ("pair/2.15.0+3.9.0", "ok", ("mm",))
    assert followed(before, after).count_gated([CellChangeKind.BROKEN]) == 1
    assert compared(before, after).pairs == ()


# --- metrics --------------------------------------------------------------------------------------


@for_each(
    ("before", "after", "threshold", "jumps"),
    [
        ({"registers": 100}, {"registers": 110}, 10, []),
        ({"registers": 100}, {"registers": 111}, 10, [("registers", 100, 111)]),
        ({"registers": 100}, {"registers": 89}, 10, [("registers", 100, 89)]),
        ({"registers": 100}, {"registers": 101}, 0, [("registers", 100, 101)]),
        ({"registers": 100}, {"registers": 100}, 0, []),
        ({"spills": 0}, {"spills": 1}, 1e6, [("spills", 0, 1)]),
        (
            {"artifacts": {"ptx": 10, "cubin": 10}},
            {"artifacts": {"ptx": 20}},
            10,
            [("artifacts.ptx", 10, 20)],
        ),
        ({"registers": 100}, {"shared": 100}, 10, []),
        ({"name": "a", "flag": False}, {"name": "b", "flag": True}, 0, []),
    ],
)
def test_metrics_that_change_beyond_the_threshold_are_jumps(
    before: dict[str, object],
    after: dict[str, object],
    threshold: float,
    jumps: Sequence[tuple[str, float, float]],
) -> None:
    comparison = compared(cell(built(**before)), cell(built(**after)), threshold)
    assert [
        (jump.metric, jump.before, jump.after) for group in comparison.jumps for jump in group.jumps
    ] == jumps
    assert comparison.count_gated([CellChangeKind.METRIC]) == sum(
        after > before for _, before, after in jumps
    )
    assert comparison.same == (not jumps)


def test_lost_instructions_are_listed_and_gate_nothing() -> None:
    before = {
        "code": {"wgmma": 8, "ldmatrix": 40, "bar_sync": 9},
        "occupancy": {"blocks": 2, "spare_registers": 1},
    }
    after = {
        "code": {"wgmma": 0, "ldmatrix": 24, "bar_sync": 2},
        "occupancy": {"blocks": 4, "spare_registers": 9},
    }
    comparison = compared(cell(built(**before)), cell(built(**after)))
    expected = ["lost code.wgmma: 8 → 0 (-100 %)", "occupancy.blocks: 2 → 4 (+100 %)"]
    assert sorted(jump_line(group) for group in comparison.jumps) == expected
    assert comparison.count_gated([CellChangeKind.METRIC]) == 0


def test_metrics_of_failing_and_flaky_cells_are_not_compared() -> None:
    assert not compared(
        cell(built(registers=1)), cell(evolve(PREDICTED, metrics={"registers": 9}))
    ).jumps
    assert not compared(
        cell(evolve(PREDICTED, metrics={"registers": 1})), cell(built(registers=9))
    ).jumps
    assert not compared(
        cell(built(registers=1)), cell(evolve(OK, flaky=True, metrics={"registers": 9}))
    ).jumps


# --- a comment ------------------------------------------------------------------------------------


def many(outcome: Callable[[int], Outcome]) -> Report:
    results = [
        result
        for number in range(300)
        for result in results_of(f"k{number}", "v", always(outcome(number)), envs=ENVS)
    ]
    return report(results)


def test_a_long_comment_fits_and_mentions_missing_parts() -> None:
    excerpt = "error: " + "x" * 250
    comparison = compared(
        many(lambda _: OK),
        many(lambda n: bad(evolve(SHAPE, fingerprint=f"f:{n}", excerpt=excerpt))),
    )
    text = diff_markdown(comparison)
    assert text.splitlines()[0] == MARKER
    assert LIMIT / 2 < len(text) < LIMIT
    assert "parts of this comparison did not fit here" in text
    assert text.count("<details>") == text.count("</details>") > 5


def test_a_comment_with_very_long_texts_stays_below_its_limit() -> None:
    long = "y" * 100_000
    comparison = compared(
        cell(OK),
        report(
            results_of(
                "k" * 300, long, always(bad(evolve(SHAPE, advice=long, excerpt=long))), envs=ENVS
            )
        ),
    )
    assert len(diff_markdown(comparison)) < LIMIT


@given(st.text(alphabet="<>/summarydetails`\n*@#|\\ ", max_size=40))
def test_no_text_ends_the_details(text: str) -> None:
    comparison = compared(cell(OK), cell(bad(evolve(SHAPE, excerpt=text, advice=text))))
    tokens = MarkdownIt("commonmark").enable("table").parse(diff_markdown(comparison))
    html = [token.content.strip() for token in tokens if token.type == "html_block"]
    assert html == [MARKER, "<details><summary>newly broken: 1 cell</summary>", "</details>"]
    inline = [child.type for token in tokens for child in token.children or ()]
    assert "html_inline" not in inline


def test_the_document_is_json_and_names_every_cell() -> None:
    document = json.loads(write_json(diff_document(everything())))
    kinds = {difference["kind"] for difference in document["differences"]}
    assert kinds | {"metric"} == {str(kind) for kind in CellChangeKind}
    for kind, number in document["counts"].items():
        cells = {
            name
            for difference in document["differences"]
            if difference["kind"] == kind
            for name in difference["cells"]
        }
        rose = {
            metric["cell"] for metric in document["metrics"] if metric["after"] > metric["before"]
        }
        assert len(rose if kind == "metric" else cells) == number


def test_the_documentation_names_every_kind_and_every_key() -> None:
    text = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
    document = diff_document(everything())
    keys = {
        *document,
        *document["old"],
        *document["differences"][0],
        *document["metrics"][0],
        *document["envs"][0],
    }
    assert {word for word in {*keys, *map(str, CellChangeKind)} if f"`{word}`" not in text} == set()


def test_the_counts_of_a_comparison_add_up() -> None:
    comparison = compared(expected_matrix(), troubled_matrix())
    assert comparison.compared + comparison.counts[CellChangeKind.DROPPED] == len(
        expected_matrix().results
    )
    assert comparison.compared + comparison.counts[CellChangeKind.ADDED] == len(
        troubled_matrix().results
    )
    change_count = sum(
        number
        for kind, number in comparison.counts.items()
        if kind not in (CellChangeKind.DROPPED, CellChangeKind.ADDED)
    )
    assert comparison.same + change_count == comparison.compared


# --- numbers --------------------------------------------------------------------------------------


def ran(us: float | None = 100.0, check: Check | None = None, *, launch: bool = True) -> Report:
    (result,) = results_of("k", "v", always(OK), envs=ENVS[:1], targets=TARGETS[:1])
    return report([launched(result, us, check) if launch else result])


NO_NUMBERS = evolve(UNSTABLE, status=Status.LOST)


@for_each(
    ("before", "after", "kind"),
    [
        (ran(), ran(check=UNSTABLE), CellChangeKind.BROKEN),
        (ran(launch=False), ran(check=UNSTABLE), CellChangeKind.BROKEN),
        (ran(check=UNSTABLE), ran(), CellChangeKind.FIXED),
        (ran(check=UNSTABLE), ran(launch=False), CellChangeKind.INCONCLUSIVE),
        (
            ran(check=UNSTABLE),
            ran(check=evolve(UNSTABLE, status=Status.FAULTED)),
            CellChangeKind.CHANGED,
        ),
        (ran(check=UNSTABLE), ran(check=evolve(UNSTABLE, differing=9)), None),
        (ran(), ran(launch=False), None),
        (ran(), ran(check=NO_NUMBERS), CellChangeKind.INCONCLUSIVE),
        (ran(launch=False), ran(check=NO_NUMBERS), CellChangeKind.INCONCLUSIVE),
        (ran(check=UNSTABLE), ran(check=NO_NUMBERS), CellChangeKind.INCONCLUSIVE),
        (cell(bad(REMOVED)), ran(check=NO_NUMBERS), CellChangeKind.INCONCLUSIVE),
        (ran(check=NO_NUMBERS), ran(check=NO_NUMBERS), None),
        (ran(check=NO_NUMBERS), ran(launch=False), None),
        (ran(check=NO_NUMBERS), ran(), CellChangeKind.ANSWERED),
    ],
)
def test_two_checks_of_a_cell_give_a_kind_of_change(
    before: Report, after: Report, kind: CellChangeKind | None
) -> None:
    comparison = compared(before, after)
    assert [difference.kind for difference in comparison.differences] == ([kind] if kind else [])
    if kind is CellChangeKind.BROKEN:
        text = "\n".join(diff_lines(comparison))
        assert "ok → unstable (NVIDIA H200)" in text
        assert "7 of 30 launches computed different bits from the first" in text


@pytest.mark.parametrize(
    ("before", "after", "jumps"),
    [(100.0, 150.0, 1), (100.0, 105.0, 0), (150.0, 100.0, 1), (None, 100.0, 0)],
)
def test_latency_is_a_metric(before: float | None, after: float | None, jumps: int) -> None:
    comparison = compared(ran(before), ran(after))
    assert len(comparison.jumps) == jumps
    assert comparison.counts == (
        {CellChangeKind.METRIC: 1} if (before or 0) < (after or 0) and jumps else {}
    )


def test_a_latency_within_its_spread_or_of_another_gpu_is_no_jump() -> None:
    old, new = ran(100.0), ran(150.0)
    (result,) = new.results
    assert result.latency is not None
    noisy = report([evolve(result, latency=evolve(result.latency, spread=60.0))])
    assert not compared(old, noisy).jumps
    elsewhere = report([evolve(result, latency=evolve(result.latency, device="another"))])
    assert not compared(old, elsewhere).jumps
