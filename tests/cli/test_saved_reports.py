"""Reports of earlier runs, shown again and compared.

The installed commands run outside any checkout, as people and CI systems call them.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import junitparser
import pytest
from attrs import evolve

from compat.report.document import dump, matrix_document
from compat.report.views.matrix_markdown import matrix_markdown
from tests.installed import ROOT, Installed
from tests.report.factory import expected_matrix, troubled_matrix

SOURCE = (ROOT / "tests" / "guess" / "sources" / "plain_softmax.py").read_text(encoding="utf-8")
HERE = ("kernel.py", "--envs", "newest", "--target", "h100")


@pytest.fixture(scope="module")
def saved() -> Mapping[str, str]:
    """Two reports by the paths of their files."""
    reports = {"old.json": expected_matrix(), "reports/matrix.json": troubled_matrix()}
    return {name: dump(matrix_document(report)) for name, report in reports.items()}


@pytest.fixture
def user(installed: Installed, saved: Mapping[str, str], tmp_path: Path) -> Installed:
    """The installed command in a folder with two reports, and nothing else."""
    folder = tmp_path / "project"
    for name, text in saved.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return evolve(installed, empty=folder)


def run(user: Installed, *command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = user.run("compat", *command)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stdout + done.stderr
    return done


def git(user: Installed, *command: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *command], cwd=user.empty, check=True, capture_output=True)


# --- from the file alone --------------------------------------------------------------------------


def test_report_writes_every_output_from_the_saved_file(user: Installed) -> None:
    done = run(user, "report", "--markdown", "m.md", "--junit", "j.xml", "--code-quality", "q.json")
    assert "91 cells in 41.2 s (42 from the store)" in done.stdout
    assert done.stdout.endswith("wrote m.md\nwrote j.xml\nwrote q.json\n")
    assert (user.empty / "m.md").read_text(encoding="utf-8") == matrix_markdown(troubled_matrix())
    assert junitparser.JUnitXml.fromfile(str(user.empty / "j.xml")).tests == 91
    assert json.loads((user.empty / "q.json").read_text()) == []  # its sources lie elsewhere
    assert sorted(path.name for path in user.empty.iterdir()) == [
        "j.xml",
        "m.md",
        "old.json",
        "q.json",
        "reports",
    ]


def test_a_report_as_json_equals_the_saved_file(user: Installed) -> None:
    done = run(user, "report", "old.json", "--json")
    assert json.loads(done.stdout) == matrix_document(expected_matrix())
    run(user, "report", "old.json", "--json", "--output", "again.json", "-q")
    assert json.loads((user.empty / "again.json").read_text(encoding="utf-8")) == matrix_document(
        expected_matrix()
    )


def test_diff_lists_the_changes(user: Installed) -> None:
    done = run(user, "diff", "old.json", "--markdown", "comment.md")
    first, *_ = lines = done.stdout.splitlines()
    assert first == "old.json → reports/matrix.json"
    assert "newly broken: 4 cells" in lines
    assert lines[-2].startswith(
        "The reports have 32 cells in common: 14 unchanged, 4 newly broken, "
    )
    assert lines[-1] == "wrote comment.md"
    assert (
        (user.empty / "comment.md")
        .read_text(encoding="utf-8")
        .startswith("<!-- triton-compat diff -->\n")
    )
    document = json.loads(run(user, "diff", "old.json", "reports/matrix.json", "--json").stdout)
    assert (document["counts"]["broken"], document["threshold"]) == (4, 10)


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [
        ((), 0),
        (("broken",), 1),
        (("broken,changed",), 1),
        (("changed",), 0),
        (("changed", "not-tested"), 1),
        (("changed,metric,deprecated,answered",), 0),
    ],
)
def test_fail_on_determines_the_exit_code_of_diff(
    user: Installed, fail_on: tuple[str, ...], code: int
) -> None:
    run(
        user,
        "diff",
        "old.json",
        *(word for kinds in fail_on for word in ("--fail-on", kinds)),
        code=code,
    )


def test_reports_are_read_from_git_revisions(user: Installed) -> None:
    git(user, "init", "-q")
    git(user, "add", "reports")
    git(user, "commit", "-qm", "one")
    (user.empty / "reports" / "matrix.json").write_text(
        (user.empty / "old.json").read_text(encoding="utf-8"), encoding="utf-8"
    )
    done = run(user, "diff", "HEAD:reports/matrix.json")
    assert done.stdout.startswith("HEAD:reports/matrix.json → reports/matrix.json\n")
    assert "newly fixed: " in done.stdout
    assert "91 cells" in run(user, "report", "HEAD:reports/matrix.json").stdout
    done = run(user, "diff", "HEAD~1:reports/matrix.json", code=5)
    assert done.stderr.startswith(
        "error: HEAD~1:reports/matrix.json: git has no such file: fatal: "
    )


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (
            ("report", "nope.json"),
            5,
            "error: nope.json: cannot be read: No such file or directory\n  hint: ",
        ),
        (("report", "reports"), 5, "error: reports: cannot be read: Is a directory\n"),
        (("report", ""), 5, "error: '': cannot be read: Is a directory\n"),
        (("diff", "old.json", "HEAD:x"), 5, "error: HEAD:x: git has no such file: "),
        (("diff", "old.json", "text"), 5, "error: text: this is not JSON: "),
        (
            ("diff", "newer.json"),
            5,
            (
                "error: newer.json: it has schema 99, and this version reads schema 2\n  hint:"
                " Install "
            ),
        ),
        (
            ("diff", "wrong.json"),
            5,
            "error: wrong.json: cells[1].status: expected one of ok, rejected, ",
        ),
        (
            ("diff", "old.json", "--fail-on", "broke"),
            2,
            "Unknown kind 'broke'. Choose one of: broken, changed, ",
        ),
        (("diff", "old.json", "--threshold", "-1"), 2, "'-1' is not a percentage."),
        (("diff", "old.json", "--threshold", "nan"), 2, "'nan' is not a percentage."),
        (("diff",), 2, "Missing argument 'OLD'."),
    ],
)
def test_a_mistake_is_one_error(
    user: Installed, command: tuple[str, ...], code: int, message: str
) -> None:
    document: Any = json.loads((user.empty / "old.json").read_text(encoding="utf-8"))
    document["cells"][1]["status"] = "fine"
    for name, text in (
        ("text", "# What compiles"),
        ("newer.json", '{"schema": 99}'),
        ("wrong.json", json.dumps(document)),
    ):
        (user.empty / name).write_text(text, encoding="utf-8")
    done = run(user, *command, code=code)
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.lower().count("error:") == 1


# --- in a workflow, with real wheels --------------------------------------------------------------


@pytest.fixture
def workflow(installed: Installed, tmp_path: Path) -> Callable[[Mapping[str, str]], Installed]:
    """A kernel in a project below the top of a repository.

    The variables are those that a CI system sets.
    """
    folder = tmp_path / "repository" / "project"
    folder.mkdir(parents=True)
    (folder / "kernel.py").write_text(SOURCE, encoding="utf-8")
    return lambda variables: evolve(installed, empty=folder, environ=variables)


@pytest.mark.wheels
def test_an_edit_that_breaks_a_kernel_is_reported_in_every_format(
    workflow: Callable[[Mapping[str, str]], Installed], tmp_path: Path
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("What another command said.\n", encoding="utf-8")
    top = str(tmp_path / "repository")
    plain = workflow({})
    assert "::" not in run(plain, "matrix", *HERE).stderr
    (plain.empty / "reports" / "matrix.json").rename(plain.empty / "before.json")

    edited = SOURCE.replace("tl.exp(", "tl.no_such_function(")
    assert edited != SOURCE
    (plain.empty / "kernel.py").write_text(edited, encoding="utf-8")
    line = 1 + next(
        number for number, text in enumerate(edited.splitlines()) if "no_such_function" in text
    )
    github = workflow(
        {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_WORKSPACE": top}
    )
    done = run(github, "matrix", *HERE, "--junit", "junit.xml", code=1)
    (annotation,) = [
        output_line for output_line in done.stderr.splitlines() if output_line.startswith("::")
    ]
    assert annotation.startswith(
        f"::error file=project/kernel.py,line={line},title=softmax_kernel/as_written%3A rejected ("
    )
    assert "no_such_function" in annotation
    markdown = (github.empty / "reports" / "matrix.md").read_text(encoding="utf-8")
    assert summary.read_text(encoding="utf-8") == f"What another command said.\n{markdown}"
    (suite,) = junitparser.JUnitXml.fromfile(str(github.empty / "junit.xml"))
    assert [(case.classname, case.is_failure) for case in suite] == [
        ("softmax_kernel/as_written/default", True)
    ]

    gitlab = workflow({"CI_PROJECT_DIR": top})
    run(gitlab, "report", "--code-quality", "quality.json", "--markdown", "again.md", "-q")
    assert (gitlab.empty / "again.md").read_text(encoding="utf-8") == markdown
    (issue,) = json.loads((gitlab.empty / "quality.json").read_text(encoding="utf-8"))
    assert issue["location"] == {"path": "project/kernel.py", "lines": {"begin": line}}

    gate = run(plain, "diff", "before.json", "--fail-on", "broken,changed", code=1)
    assert (
        "newly broken: 1 cell\n  softmax_kernel/as_written: 3.9.0, sm_90\n    ok → rejected ("
        in gate.stdout
    )
    assert f"kernel.py:{line}" in gate.stdout
