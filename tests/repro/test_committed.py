"""The committed files in repro/ and of the board are right for a reader with only these files."""

from __future__ import annotations

import getpass
import re
import socket
import subprocess
import tomllib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.hunt.known_defects import read_known
from compat.model import BuiltEnv
from compat.processes.supervisor import ProcessResult
from compat.repro.verify import failure_of, run_script
from compat.toolchains.triton.failures import KNOWLEDGE
from tests.installed import environ, uv
from tests.repro.scripts import run_forked
from tests.targets import TARGETS
from tests.together import for_each

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "repro"
CASTS = FOLDER / "hunt/casts_to_int-sm_90-3.9.0.py"
INTERPRETED = sorted(FOLDER.glob("hunt/interpreter_*.py"))
BY_HAND = [CASTS, *INTERPRETED]
SCRIPTS = sorted({*FOLDER.glob("*.py"), *FOLDER.glob("hunt/*.py")} - {*BY_HAND})
BOARD = sorted(ROOT.glob("board/failures/*/*-*.py"))
CUTE = sorted(FOLDER.glob("cute/*.py"))


def header(script: Path) -> dict[str, Any]:
    """The metadata in a script, read as PEP 723 specifies."""
    match = re.search(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$", script.read_text())
    assert match
    return tomllib.loads(
        "".join(
            line.removeprefix("# ").removeprefix("#")
            for line in match["content"].splitlines(keepends=True)
        )
    )


def issue(script: Path) -> str:
    return script.with_suffix(".md").read_text()


def table(script: Path) -> dict[str, str]:
    """Release → its mark in the issue, for the target of the script."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in issue(script).splitlines()
        if line.startswith("|")
    ]
    column = rows[0].index(target(script))
    return {row[0]: row[column] for row in rows[2:]}


def target(script: Path) -> str:
    match = re.search(r"-(sm_\d+|gfx\w+)-", script.name)
    assert match
    return match[1]


@pytest.fixture(scope="session")
def fresh_env(
    once: Callable[[str, Callable[[], str]], str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Path], str]:
    """Returns the Python of an env with what a script's header names, and nothing else.

    Scripts with the same header share an env.
    """

    def python_for(script: Path) -> str:
        needs = header(script)
        name = "-".join(re.findall(r"\w+", f"{needs['requires-python']} {needs['dependencies']}"))

        def install() -> str:
            venv = tmp_path_factory.mktemp(name)
            python = str(venv / "bin" / "python")
            uv("venv", "--quiet", "--python", needs["requires-python"], str(venv))
            uv("pip", "install", "--quiet", "--python", python, *needs["dependencies"])
            # The scripts themselves write no bytecode.
            importing = "import triton.compiler.code_generator"
            subprocess.run([python, "-c", importing], check=True, env=environ())
            return python

        return once(name, install)

    return python_for


@for_each("script", [*SCRIPTS, *BY_HAND])
def test_a_script_declares_its_dependencies_and_is_in_its_issue(script: Path) -> None:
    assert any(dependency.startswith("triton==") for dependency in header(script)["dependencies"])
    assert header(script)["requires-python"].startswith(">=3.")
    assert f"```python\n{script.read_text()}```" in issue(script)
    assert script.name in (FOLDER / "README.md").read_text()


@for_each("script", BOARD)
def test_a_failure_of_the_board_is_in_the_folder_of_its_fingerprint(script: Path) -> None:
    assert f"```python\n{script.read_text()}```" in issue(script)
    assert script.parent.name == promised(script).replace(":", "-")
    path = script.relative_to(ROOT).with_suffix(".md")
    assert f"| `{path}` |" in (FOLDER / "README.md").read_text()


TEXTS: dict[Path, list[Path]] = defaultdict(list)
"""Folder → its text files."""
for _path in (path for room in (FOLDER, ROOT / "board") for path in sorted(room.rglob("*"))):
    if _path.is_file() and _path.suffix not in (".xz", ".pyc"):
        TEXTS[_path.parent].append(_path)


@for_each("folder", TEXTS)
def test_no_file_identifies_the_machine_that_wrote_it(folder: Path) -> None:
    facts = {str(ROOT), str(Path.home()), socket.gethostname(), getpass.getuser()} - {
        "",
        "/",
        "root",
    }
    patterns = [rf"(?<!\w){re.escape(fact)}(?!\w)" for fact in facts]
    patterns.append(r"(?<![\w.:/~-])/(?:home|root|tmp|usr|opt|work|var)/")
    texts = {path.name: path.read_text() for path in TEXTS[folder]}
    assert [name for name, text in texts.items() if re.search("|".join(patterns), text)] == []


@for_each("script", CUTE)
def test_a_cute_dsl_script_declares_its_dependencies_and_is_listed(script: Path) -> None:
    assert any(
        dependency.startswith("nvidia-cutlass-dsl==")
        for dependency in header(script)["dependencies"]
    )
    assert script.name in (FOLDER / "README.md").read_text()
    assert f"```python\n{script.read_text()}```" in issue(script)


SAME_HEADER: dict[str, list[Path]] = defaultdict(list)
"""The dependencies in a header → the scripts with this header."""
for _path in SCRIPTS:
    SAME_HEADER[" ".join(header(_path)["dependencies"])].append(_path)


@pytest.mark.wheels
@pytest.mark.parametrize("scripts", SAME_HEADER.values(), ids=list(SAME_HEADER))
def test_scripts_reproduce_their_failures_in_an_env_made_from_their_header(
    scripts: list[Path], tmp_path: Path, fresh_env: Callable[[Path], str]
) -> None:
    """The first one runs as a reader runs it."""
    python = fresh_env(scripts[0])
    copies = {script: tmp_path / script.name for script in scripts}
    for script, copy in copies.items():
        # A shorter deadline makes the script of a hanging compile end sooner.
        text = re.sub(r"^DEADLINE = \d+", "DEADLINE = 1", script.read_text(), flags=re.MULTILINE)
        copy.write_text(text)
    for script, copy in copies.items():
        run = run_script if script == scripts[0] else run_forked
        result = run(python, copy, 120)
        assert result.exit_code == 0, (script, result.output)
        if "DEADLINE = " in copy.read_text():
            assert "reproduced: still compiling after" in result.output
        else:
            assert shows_what_it_promises(result, script), (script, result.output)


FAILING: dict[str, list[Path]] = defaultdict(list)
"""Release → the scripts of the board that reproduce their failures there."""
OK: dict[str, list[Path]] = defaultdict(list)
"""Release → the scripts that it is marked as ok for."""
for _path in BOARD:
    FAILING[header(_path)["dependencies"][0].partition("==")[2]].append(_path)
for _path in [*SCRIPTS, *BOARD]:
    if good := [release for release, mark in table(_path).items() if mark == "ok"]:
        OK[good[-1]].append(_path)


@pytest.mark.wheels
@pytest.mark.parametrize("release", sorted({*FAILING, *OK}))
def test_scripts_reproduce_their_failures_on_a_release_that_is_not_marked_ok(
    release: str, built: Callable[[str], BuiltEnv]
) -> None:
    python = built(f"triton-{release}").python
    assert python
    for script in FAILING[release]:
        ran = run_forked(python, script, 120)
        assert ran.exit_code == 0, (script, ran.output)
        assert shows_what_it_promises(ran, script), (script, ran.output)
    for script in OK[release]:
        ran = run_forked(python, script, 120)
        assert ran.exit_code == 1, (script, ran.output)
        assert "not reproduced: the compile ended with exit code 0" in ran.output


@pytest.mark.wheels
@pytest.mark.parametrize(("release", "code"), [("3.8.0", 1), ("3.9.0", 0)])
def test_machine_code_shows_the_dropped_cast_without_a_gpu(
    release: str, code: int, built: Callable[[str], BuiltEnv]
) -> None:
    python = built(f"triton-{release}").python
    assert python
    ran = run_forked(python, CASTS, 120)
    assert ran.exit_code == code, ran.output
    text = issue(CASTS)
    casts = re.search(r"PTX: +(.*)\nSASS: (.*)\n", ran.output)
    assert casts
    for names in casts.groups():
        assert ", ".join(f"`{name}`" for name in names.split(", ")) in text


IN_TURN = """
import gc, os, runpy, sys
os.environ["TRITON_INTERPRET"] = "1"
gc.disable()
import torch, triton
gc.freeze()
for script in {scripts}:
    if (child := os.fork()) == 0:
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            sys.stdout.flush()
            os._exit(end.code)
        os._exit(9)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print("exit code", code, "of", os.path.basename(script), flush=True)
os._exit(0)
"""
"""Runs scripts in processes of their own, which share the import of PyTorch.

The processes end without destroying the objects of PyTorch, which takes half a second.
"""


@pytest.mark.wheels
def test_interpreters_print_what_the_issues_say(tmp_path: Path, pair_python: str) -> None:
    """The test uses 3.5.1, whose interpreter has the same defects."""
    program = tmp_path / "in_turn.py"
    program.write_text(IN_TURN.format(scripts=[str(script) for script in INTERPRETED]))
    rest = run_script(pair_python, program, 120).output
    for script in INTERPRETED:
        output, ended, rest = rest.partition(f"exit code 0 of {script.name}\n")
        assert ended, output
        printed = re.search(r"(?s)prints:\n\n```text\n(.*?)```", issue(script))
        assert printed
        assert printed[1] in output


def test_at_least_five_known_defects_have_committed_kernels() -> None:
    known_defects = read_known(FOLDER / "hunt/known.toml")
    texts = [path.read_text() for path in (FOLDER / "hunt/kernels").glob("*.toml")]
    shown = {
        fingerprint for text in texts for fingerprint in re.findall(r"[\w-]+:[0-9a-f]{12}", text)
    }
    assert len(shown & {defect.fingerprint for defect in known_defects}) >= 5


def promised(script: Path) -> str:
    match = re.search(r"Fingerprint: `([\w-]+:\w+)`", issue(script))
    assert match
    return match[1]


def shows_what_it_promises(ran: ProcessResult, script: Path) -> bool:
    """Whether the output has the failure of the issue.

    If a signal ended the compiler in a pass, no output names the pass, and only the class is the
    same.
    """
    predicted = KNOWLEDGE.by_name[promised(script).partition(":")[0]].prediction
    if predicted:  # the binary fails, not the compiler
        return predicted.script_text in ran.output
    stage = re.search(r"in stage `(\w+)`", issue(script))
    assert stage
    failure = failure_of(ran, TARGETS[target(script)], stage[1], KNOWLEDGE)
    assert failure is not None
    if failure.failure_class == "compiler-crash" and "in the pass" in issue(script):
        return promised(script).startswith("compiler-crash:")
    return failure.fingerprint == promised(script)
