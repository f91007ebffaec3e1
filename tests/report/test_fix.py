"""The summary of the releases that compile a kernel, before and after an edit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from attrs import evolve
from packaging.version import Version

from compat.fix import EditTrial, Fix
from compat.fix.changes import ChangedFile, SourceFile
from compat.fix.searching import EditedKernel
from compat.model import BuiltEnv, Outcome
from compat.report.views.changed_kernels import fix_lines
from tests.records import MISSING, OK, RELEASES, SHAPE, TARGETS, bad, env
from tests.report.factory import results_of
from tests.together import for_each

FORK = env("3.4.0", name="ours", distribution="ours-triton")
PAIR = env("3.5.1", name="torch-2.9.1", torch="2.9.1")


@for_each(
    ("envs", "failing", "summary"),
    [
        (
            ["3.4.0", "3.5.0", "3.5.1", "3.6.0"],
            {"3.4.0"},
            "compiles on 3.5.0–3.6.0; fails on 3.4.0 (api-missing)",
        ),
        (
            ["3.4.0", "3.5.0", "3.6.0"],
            {"3.4.0"},
            "compiles on 3.5.0, 3.6.0; fails on 3.4.0 (api-missing)",
        ),
        (
            ["3.2.0", "3.3.0", "3.4.0"],
            {"3.2.0", "3.4.0"},
            "compiles on 3.3.0; fails on 3.2.0, 3.4.0 (api-missing)",
        ),
        (["3.9.0", "3.10.0"], {"3.10.0"}, "compiles on 3.9.0; fails on 3.10.0 (api-missing)"),
        (
            ["3.3.1", "3.4.0", FORK, "3.2.0"],
            {"3.2.0"},
            "compiles on 3.3.1–3.4.0, ours-triton 3.4.0; fails on 3.2.0 (api-missing)",
        ),
        (
            ["3.5.0", "3.5.1", PAIR, "3.4.0"],
            {"3.4.0"},
            "compiles on 3.5.0–3.5.1; fails on 3.4.0 (api-missing)",
        ),
        (
            ["3.5.0", "3.5.1", PAIR],
            {"torch-2.9.1"},
            "compiles on 3.5.0, triton-3.5.1; fails on torch-2.9.1 (api-missing)",
        ),
    ],
)
def test_a_range_contains_only_compiled_releases(
    envs: list[str | BuiltEnv], failing: set[str], summary: str
) -> None:
    def fate(built: BuiltEnv) -> Outcome:
        return bad(MISSING) if failing & {str(built.release), built.env.name} else OK

    built = [env(entry) if isinstance(entry, str) else entry for entry in envs]
    results = tuple(
        evolve(result, outcome=fate(result.built))
        for result in results_of("k", "v", lambda *_: OK, envs=built, targets=TARGETS[:1])
    )
    failed = next(result for result in results if result.outcome.failure)
    edited = EditTrial(
        candidate=EditedKernel(text="", compile=failed.cell.spec.compile, edits=("an edit",)),
        results=results,
    )
    existing = tuple(map(Version, RELEASES))
    fix = Fix(
        cell=failed.cell,
        source=SourceFile.alone(""),
        before=results,
        best=edited,
        existing=existing,
    )
    lines = list(fix_lines(fix))
    assert f"before: {summary}" in lines
    assert f"after:  {summary}" in lines


def test_an_answer_without_an_edit_lists_the_known_edits() -> None:
    (failed,) = results_of(
        "k", "v", lambda *_: bad(SHAPE), envs=[env("3.9.0")], targets=TARGETS[:1]
    )
    fix = Fix(
        cell=failed.cell, source=SourceFile.alone(""), before=(failed,), best=None, compiled=1
    )
    lines = list(fix_lines(fix))
    assert "no edit helped: 1 edited kernel tried" in lines
    assert f"edits known for shape-mismatch: {', '.join(fix.edit_names)}" in lines


def test_the_printed_diff_applies_to_a_source_with_crlf_line_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "kernel.py"
    path.write_bytes(b"a = 1\r\nb = 2\r\nc = 3\r\n")
    source = SourceFile.read(path)
    change = ChangedFile.of(source, "a = 1\nb = 2\nc = 4\n")
    (failed,) = results_of(
        "k", "v", lambda *_: bad(SHAPE), envs=[env("3.9.0")], targets=TARGETS[:1]
    )
    edit = EditTrial(
        candidate=EditedKernel(
            text=change.new, compile=failed.cell.spec.compile, edits=("an edit",)
        ),
        results=(failed,),
    )
    fix = Fix(cell=failed.cell, source=source, before=(failed,), best=edit, changes=(change,))
    answer = "\n".join(fix_lines(fix))
    subprocess.run(["patch", "-p1"], input=answer.encode(), check=True, capture_output=True)
    assert path.read_bytes() == b"a = 1\r\nb = 2\r\nc = 4\r\n"
