"""What is unexpected as GitLab shows it in a merge request: its code quality report, in the form of Code Climate's issues."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from compat.cell_document import JsonObject
from compat.model import Status
from compat.report.findings import Finding

_SEVERITIES = {
    Status.OK: "minor",
    Status.CRASHED: "critical",
    Status.WRONG: "critical",
    Status.UNSTABLE: "critical",
    Status.FAULTED: "critical",
    Status.LOST: "info",
    Status.SOURCE_BROKEN: "info",
}
"""All others are ``major``."""


def code_quality(found: Sequence[Finding]) -> list[JsonObject]:
    """An issue for each finding about a file of the repository; GitLab takes none without a file (JUnit has those)."""
    return [_issue(finding, finding.path) for finding in found if finding.path is not None]


def _issue(finding: Finding, path: str) -> JsonObject:
    return {
        "description": "\n".join((finding.title, *finding.body)),
        "check_name": finding.check,
        "fingerprint": sha256("\0".join((path, *finding.identity)).encode()).hexdigest(),
        "severity": _SEVERITIES.get(finding.status, "major"),
        "location": {"path": path, "lines": {"begin": finding.line or 1}},
    }
