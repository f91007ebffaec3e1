"""The texts that belong to a report: their choice, their limits, and reading them back."""

from __future__ import annotations

import base64
import gzip
import json

import pytest
from attrs import evolve

from compat.report import document
from compat.report.document import dump, enclosing, matrix_document
from compat.report.loading import load_report
from compat.report.summary.record import Report
from tests.records import OK, PASS, SHAPE, bad, env
from tests.report.factory import always, report, results_of
from tests.together import for_each


def two_kernels() -> Report:
    """A project with a kernel that fails in a pass and a kernel that does not fail."""
    failure = evolve(PASS, reproducer="9a.mlir", ir="9b.mlir")
    results = [
        *results_of("a", "v", always(OK), envs=[env("3.9.0")]),
        *results_of("z", "v", always(bad(failure)), envs=[env("3.9.0")]),
    ]
    return evolve(report(results), root="/kernels")


def unpacked(content: str) -> str:
    return gzip.decompress(base64.b64decode(content)).decode()


def test_sources_have_the_path_that_their_kernels_name() -> None:
    full_report = enclosing(two_kernels(), {"/kernels/a.py": "a\x1b[0m\n"}.get, lambda name: None)
    assert full_report.sources == {"a.py": "a\\x1b[0m\n"}
    assert {kernel["source"] for kernel in matrix_document(full_report)["kernels"]} == {
        "a.py",
        "z.py",
    }


def test_an_imported_file_is_enclosed_only_if_a_failure_points_at_it() -> None:
    failure = evolve(SHAPE, location="tiles.py:3")
    results = results_of("z", "v", always(bad(failure)), envs=[env("3.9.0")])
    one = evolve(
        report(results), root="/kernels", helpers={"z.py": ("lib/tiles.py", "lib/others.py")}
    )
    full_report = enclosing(one, str, lambda name: None)
    assert full_report.sources == {"z.py": "/kernels/z.py", "lib/tiles.py": "/kernels/lib/tiles.py"}


def test_attachments_have_the_name_that_the_failure_has() -> None:
    full_report = enclosing(two_kernels(), lambda path: None, {"9a.mlir": "module {}\n"}.get)
    assert {name: unpacked(content) for name, content in full_report.attachments.items()} == {
        "9a.mlir": "module {}\n"
    }


def test_a_distinct_failure_has_one_reproducer() -> None:
    artifact_names = list[str]()
    results = [
        result
        for place, release in enumerate(("3.8.0", "3.9.0"))
        for result in results_of(
            "z", "v", always(bad(evolve(PASS, reproducer=f"{place}.mlir"))), envs=[env(release)]
        )
    ]
    enclosing(report(results), lambda path: None, artifact_names.append)
    assert artifact_names == ["0.mlir"]


def test_a_failure_without_artifacts_has_no_attachments() -> None:
    full_report = enclosing(
        report(results_of("k", "v", always(bad(SHAPE)), envs=[env("3.9.0")])),
        lambda path: None,
        lambda name: "never",
    )
    assert full_report.attachments == {}


def test_failing_kernels_come_first_if_the_sources_are_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(document, "SOURCES_LIMIT", 15)
    texts = {"/kernels/a.py": "a" * 10, "/kernels/z.py": "z" * 10}
    assert enclosing(two_kernels(), texts.get, lambda name: None).sources == {"z.py": "z" * 10}
    monkeypatch.setattr(document, "SOURCE_LIMIT", 9)
    assert enclosing(two_kernels(), texts.get, lambda name: None).sources == {}


def test_attachments_have_a_limit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "ATTACHMENTS_LIMIT", 60)
    texts = {"9a.mlir": "".join(map(str, range(1000))), "9b.mlir": "small"}
    assert list(enclosing(two_kernels(), lambda path: None, texts.get).attachments) == ["9b.mlir"]


def test_sources_and_attachments_are_read_back() -> None:
    full_report = enclosing(
        two_kernels(), {"/kernels/z.py": "z\n"}.get, {"9a.mlir": "module {}\n"}.get
    )
    again = load_report(dump(matrix_document(full_report)))
    assert (again.sources, again.attachments) == (full_report.sources, full_report.attachments)


@for_each("content", ["</script>", "AAAA", "not base64", "H4sI=A", ""])
def test_an_invalid_attachment_is_left_out(content: str) -> None:
    document = matrix_document(two_kernels()) | {
        "attachments": [{"name": "9a.mlir", "gzip": content}]
    }
    assert load_report(json.dumps(document)).attachments == {}


def test_an_artifact_that_is_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "ATTACHMENT_LIMIT", 15)
    full_report = enclosing(
        two_kernels(), lambda path: None, {"9a.mlir": "m" * 16, "9b.mlir": "m" * 15}.get
    )
    assert list(full_report.attachments) == ["9b.mlir"]
