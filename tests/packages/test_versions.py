"""Versions of a library side by side over releases: `compat matrix --package`.

The other commands accept such kernels, too.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from compat.cli.commands import main
from compat.envs.listing import NO_INDEX
from compat.model import BuiltEnv
from compat.report.document import schema
from tests.wheels import compat_output, empty_project, own_libraries, wheelhouse

__all__ = ["own_libraries", "wheelhouse"]

RELEASES = ("3.0.0", "3.4.0", "3.9.0")
ASKED = (
    "--package",
    "live-waves==1.0,2.0",
    "--envs",
    ",".join(RELEASES),
    "--target",
    "sm_90",
    "--no-build",
)


def without(arguments: tuple[str, ...], option: str) -> list[str]:
    return [word for word in arguments if word != option]


def statuses(document: dict[str, Any]) -> dict[str, list[str]]:
    """Kernel/variant → status and class on each release."""
    by_variant: dict[str, list[str]] = {}
    for cell in sorted(document["cells"], key=lambda cell: RELEASES.index(cell["triton"])):
        failure = (
            f" {cell['failure']['class']} {cell['failure']['stage']}" if cell["failure"] else ""
        )
        by_variant.setdefault(f"{cell['kernel']}/{cell['variant']}", []).append(
            cell["status"] + failure
        )
    return by_variant


@pytest.fixture
def project(
    built: Callable[[str], BuiltEnv],
    wheelhouse: Path,
    own_libraries: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """An empty folder, on a machine that has the envs."""
    return empty_project(RELEASES, built, tmp_path, monkeypatch)


REFUSED = "rejected api-changed source"


@pytest.mark.wheels
def test_versions_of_a_library_are_compared_over_releases(project: Path) -> None:
    """Tests everything in one run, because a run takes seconds.

    Each function below checks one aspect of it.
    """
    text = compat_output("matrix", *ASKED, code=1)
    document = json.loads((project / "reports" / "matrix.json").read_text())
    jsonschema.validate(document, schema())
    what_is_refused_at_import_fails_and_nothing_else_does(document)
    each_version_is_counted(document, text, (project / "reports" / "matrix.md").read_text())
    a_report_says_the_same_when_it_is_read_again(text)
    kernel_files_of_one_version_are_read_at_another(project)
    other_commands_take_such_kernels(project)


def what_is_refused_at_import_fails_and_nothing_else_does(document: dict[str, Any]) -> None:
    """Triton refuses the module that contains `beside`.

    `plain` has two ways to load. Both compile, each on the releases that take it.
    """
    assert statuses(document) == {
        "beside/live-waves-1.0": [REFUSED, "ok", REFUSED],
        "beside/live-waves-2.0": ["ok", "ok", "ok"],
        "gone/live-waves-1.0": ["ok", "ok", "rejected api-removed ast"],
        "plain/live-waves-1.0": ["ok", "ok", "ok"],
        "plain/live-waves-2.0": ["ok", "ok", "ok"],
        "tuned/live-waves-1.0": [REFUSED, "ok", REFUSED],
        "tuned/live-waves-2.0": ["ok", "ok", "ok"],
    }
    failures = [
        cell["failure"]
        for cell in document["cells"]
        if cell["failure"] and cell["failure"]["stage"] == "source"
    ]
    assert len({failure["fingerprint"] for failure in failures}) == 1, "two wordings, one defect"
    assert all(
        "`key` of `@triton.autotune` must name parameters" in failure["advice"]
        for failure in failures
    )


def each_version_is_counted(document: dict[str, Any], text: str, markdown: str) -> None:
    first, second = document["packages"]
    assert (first["package"], first["version"], first["kernels"]) == ("live-waves", "1.0", 4)
    assert [
        (release["release"], release["compile"], release["fail"], release["unknown"])
        for release in first["releases"]
    ] == [
        ("3.0.0", 2, 2, 0),
        ("3.4.0", 4, 0, 0),
        ("3.9.0", 1, 3, 0),
    ]
    assert first["releases"][2]["classes"] == {"api-changed": 2, "api-removed": 1}
    assert [release["compile"] for release in second["releases"]] == [3, 3, 3]
    assert "1.0            4    2    4    1" in text
    assert "1.0 on 3.9.0: 3 of 4 fail: api-changed 2, api-removed 1" in text
    assert "| 1.0 | 4 | 2 | 4 | 1 |\n| 2.0 | 3 | 3 | 3 | 3 |" in markdown


def a_report_says_the_same_when_it_is_read_again(text: str) -> None:
    again = compat_output("report", "reports/matrix.json")
    assert text.partition("live-waves: how many")[2].partition("\n\n")[0] in again


LAUNCHED = """schema = 1
package = "live-waves==1.0"
[[kernel]]
name = "plain"
module = "live_waves.plain"
launch = { x_ptr = "*fp16", y_ptr = "*fp16", n = 64 }
constexprs = { BLOCK = 64 }
[[kernel]]
name = "gone"
module = "live_waves.gone"
launch = { x_ptr = "*fp16", y_ptr = "*fp16", n = 64 }
constexprs = { BLOCK = 64 }
"""


def kernel_files_of_one_version_are_read_at_another(project: Path) -> None:
    (project / "launched.toml").write_text(LAUNCHED)
    listed = compat_output("list", "cells", "launched.toml", *without(ASKED, "--no-build"))
    assert {
        line.rpartition("/")[0]
        for line in listed.splitlines()
        if line.startswith(("plain", "gone"))
    } == {
        "plain/live-waves-1.0/default/sm_90",
        "plain/live-waves-2.0/default/sm_90",
        "gone/live-waves-1.0/default/sm_90",
    }
    assert (
        "live-waves 2.0 does not have these kernels as they are declared, so they are not tried:"
        " gone" in listed
    )
    alone = compat_output(
        "matrix", "launched.toml", "--envs", "3.9.0", "--target", "sm_90", "--no-build", code=1
    )
    assert "live-waves: kernels that compile" in alone, (
        "a kernel file that names its library, without --package"
    )


def other_commands_take_such_kernels(project: Path) -> None:
    cell = "tuned/live-waves-1.0/*/*/triton-3.9.0"
    options = ("--package", "live-waves==1.0,2.0")
    explained = compat_output("explain", cell, *options, "--envs", "3.9.0", "--target", "sm_90")
    assert "stage: source" in explained
    assert "key contains names that are not kernel arguments: dtype" in explained
    bisected = compat_output(
        "bisect",
        *options,
        "--kernel",
        "beside",
        "--variant",
        "live-waves-1.0",
        "--envs",
        "3.4.0,3.9.0",
        "--no-build",
    )
    assert "Last good 3.4.0, first bad 3.9.0" in bisected
    removed = ("gone/*/*/*/triton-3.9.0", *options, "--envs", "3.9.0", "--target", "sm_90")
    assert "wrote" in compat_output("repro", *removed, "--output", "repro")
    assert "wrote" in compat_output(
        "repro", cell, *options, "--envs", "3.8.0,3.9.0", "--target", "sm_90", "--output", "repro"
    )
    refused = compat_output("fix", *removed, "--no-build", code=2)
    assert "`compat fix` does not edit libraries" in refused
    assert "Copy the kernel into a file of your own" in refused
    for path in (project / "repro").iterdir():
        assert str(project.parent) not in path.read_text(), shlex.quote(path.name)


BAD = [
    ("live-wave==1.0", "cannot install live-wave==1.0"),
    ("live-waves==1.5", "cannot install live-waves==1.5: the package index has no live-waves 1.5"),
    ("live-waves==1.0,2..0", "--package live-waves==1.0,2..0: '2..0' is not a version"),
    ("lost-waves", "--package lost-waves: the package index has no lost-waves"),
    ("live-waves==1.0,lost-waves", "the package index has no lost-waves"),
    ("live waves==1.0", "'live waves' is not the name of a package"),
    ("no-kernels==1.0", "no-kernels==1.0: there is no Triton or CuTe DSL kernel in this library"),
]


@pytest.mark.parametrize(("package", "message"), BAD, ids=[package for package, _ in BAD])
def test_an_invalid_or_unavailable_package_is_one_error(
    wheelhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, message: str
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    done = CliRunner().invoke(main, ["matrix", "--package", package])
    assert done.exit_code not in (0, 1)
    assert message in done.output
    assert done.output.count("error: ") == 1 or "live-wave==1.0" in package
    assert not list((tmp_path / "project").iterdir())


def test_a_name_without_a_version_means_the_newest_release(
    wheelhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (wheelhouse / "live_waves-3.0rc1-py3-none-any.whl").touch()
    newest = compat_output("list", "kernels", "--package", "live-waves==2.0")
    assert compat_output("list", "kernels", "--package", "Live_Waves") == newest
    both = compat_output("list", "kernels", "--package", "live-waves==1.0,2.0")
    assert compat_output("list", "kernels", "--package", "live-waves==1.0,live-waves") == both


def test_the_error_names_an_index_that_does_not_answer(
    wheelhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in NO_INDEX:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("UV_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    output = compat_output("matrix", "--package", "absent-waves==1.0", code=4)
    assert (
        "cannot install absent-waves==1.0: http://127.0.0.1:9/simple/absent-waves/ cannot be read: "
        in output
    )
    assert "Check that this machine reaches the package index." in output
    assert output.count("error") == 1


def test_unpacked_libraries_work_without_the_index(
    wheelhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = compat_output("list", "kernels", "--package", "live-waves==2.0")
    for wheel in wheelhouse.iterdir():
        wheel.unlink()
    assert compat_output("list", "kernels", "--package", "live-waves==2.0") == first
    assert "Libraries that were unpacked before work without it: live-waves-2.0." in compat_output(
        "list", "kernels", "--package", "live-waves==1.0", code=4
    )
