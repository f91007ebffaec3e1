"""The version, the changelog, the citation and the rule of the release workflow agree."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from compat import __version__

ROOT = Path(__file__).parent.parent
DATED = re.compile(r"^## \[(?P<version>[\d.]+)\] - (?P<day>\d{4}-\d\d-\d\d)$", re.MULTILINE)


def test_the_changelog_and_the_citation_have_the_version_and_its_day() -> None:
    newest = DATED.search((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert newest
    citation = YAML(typ="safe").load(ROOT / "CITATION.cff")
    assert newest["version"] == citation["version"] == __version__
    assert newest["day"] == str(citation["date-released"])


@pytest.mark.parametrize(("tag", "code"), [(f"v{__version__}", 0), ("v99.0.0", 1), ("v", 1)])
def test_the_release_workflow_accepts_only_the_tag_of_the_version(tag: str, code: int) -> None:
    workflow = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "release.yml")
    [rule] = [
        step["run"]
        for step in workflow["jobs"]["package"]["steps"]
        if "GITHUB_REF_NAME" in step.get("run", "")
    ]
    environ = {"PATH": "/usr/bin:/bin", "GITHUB_REF_NAME": tag}
    done = subprocess.run(["bash", "-ec", rule], cwd=ROOT, env=environ, check=False)
    assert done.returncode == code


def test_a_release_needs_ci_of_its_commit_and_does_not_wait_for_itself() -> None:
    """A called workflow that has the group of its caller waits for the caller, or ends it."""
    folder, yaml = ROOT / ".github" / "workflows", YAML(typ="safe")
    release, ci = yaml.load(folder / "release.yml"), yaml.load(folder / "ci.yml")
    assert release["jobs"]["ci"]["uses"] == "./.github/workflows/ci.yml"
    assert "workflow_call" in ci["on"]
    assert set(release["jobs"]["publish"]["needs"]) == {"ci", "package"}
    assert "github.workflow" not in ci["concurrency"]["group"]


def test_the_labels_of_issue_forms_are_in_the_list_of_labels() -> None:
    lines = (ROOT / ".github" / "labels.tsv").read_text(encoding="utf-8").splitlines()
    labels = {name: colour for name, colour, _ in (line.split("\t") for line in lines)}
    assert all(re.fullmatch(r"[0-9a-f]{6}", colour) for colour in labels.values())
    forms = [
        YAML(typ="safe").load(path) for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*-*.yml")
    ]
    assert len(forms) == 2
    assert {label for form in forms for label in form["labels"]} <= set(labels)
