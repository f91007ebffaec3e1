"""The workflows of this repository and its action: what their commands do on a runner."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]


def load_workflow(name: str) -> Any:
    return YAML(typ="safe").load(ROOT / ".github" / "workflows" / name)


def test_nightly_tries_new_examples() -> None:
    """Hypothesis makes the same examples in each run if CI is set, unless the profile says no."""
    commands = str(load_workflow("nightly.yml")["jobs"]["examples"])
    [profile] = re.findall(r"--hypothesis-profile=(\w+)", commands)
    code = (
        "import tests.conftest, hypothesis;"
        f" print(hypothesis.settings.get_profile({profile!r}).derandomize)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "CI": "true"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"


def test_documentation_of_a_release_waits_for_other_runs() -> None:
    """Without a queue, GitHub cancels a waiting run when the next one of its group comes."""
    workflow = load_workflow("docs.yml")
    assert workflow["concurrency"]["cancel-in-progress"] is False
    assert workflow["concurrency"]["queue"] == "max"


# --- the action -----------------------------------------------------------------------------------


def action_script(step_id: str) -> str:
    """The script of a step of the action."""
    steps = YAML(typ="safe").load(ROOT / "action.yml")["runs"]["steps"]
    [script] = [step["run"] for step in steps if step.get("id") == step_id]
    assert isinstance(script, str)
    return script


def run_script(script: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a runner does."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    own = {**os.environ, **environ}
    return subprocess.run(command, env=own, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [("", []), ("--kernel 'a b' --jobs 2", ["--kernel", "a b", "--jobs", "2"]), ("'sel_*", None)],
)
def test_action_splits_arguments_or_fails(
    arguments: str, words: list[str] | None, tmp_path: Path
) -> None:
    programs = tmp_path / "triton-compat" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    (programs / "compat").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    (programs / "compat").chmod(0o755)
    done = run_script(
        action_script("matrix"),
        RUNNER_TEMP=str(tmp_path),
        GITHUB_OUTPUT=str(tmp_path / "output"),
        ARGS=arguments,
        REPORTS=str(tmp_path / "reports"),
        FOLDER=".",
        ENVS="",
        TARGETS="",
        JUNIT="",
    )
    if words is None:
        assert (done.returncode, done.stdout) == (1, "")
        assert "No closing quotation" in done.stderr
    else:
        expected = ["matrix", "--output", str(tmp_path / "reports"), *words]
        assert (done.returncode, done.stdout.splitlines()) == (0, expected), done.stderr


def test_second_use_of_the_action_has_its_own_python(tmp_path: Path) -> None:
    python = tmp_path / "triton-compat" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/bin/false")
    create, *_ = action_script("compat").splitlines()
    # Installing pip takes two seconds, and nothing here asks for it.
    create += " --without-pip"
    done = run_script(create, PYTHON=sys.executable, RUNNER_TEMP=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert run_script(f"{python} --version").returncode == 0
