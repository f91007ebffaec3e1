"""The page that a run writes, and the files that a user can download from it.

One example is a failure inside a pass, with its IR.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.model import BuiltEnv
from tests import commands
from tests.browser.looking import Look
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
CELL = "failures/scan/only/sm_90/triton-3.5.1"


def compat(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    return commands.run(*arguments, cwd=project, env=environ, timeout=PATIENCE)


@pytest.mark.wheels
def test_the_page_of_a_run_has_the_source_and_the_ir_of_a_failing_pass(
    look: Callable[..., Look], built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    built("triton-3.5.1")
    for name in ("failures.py", "failures.toml"):
        shutil.copy(ROOT / "tests" / "kernels" / name, tmp_path)
    (tmp_path / "matrix.toml").write_text('schema = 1\nkernels = ["failures.toml"]\n')
    ran = compat(
        tmp_path, "matrix", "--envs", "triton-3.5.1", "--target", "sm_90", "--variant", "scan"
    )
    assert "wrote reports/index.html, reports/matrix.md and reports/matrix.json" in ran.stdout, (
        ran.stdout + ran.stderr
    )
    (cell,) = json.loads((tmp_path / "reports" / "matrix.json").read_text())["cells"]

    page = look(tmp_path / "reports" / "index.html", fragment=f"#cell={CELL}").page
    drawer = page.locator("[data-drawer]")
    assert (
        drawer.locator("[data-offending] .text").inner_text()
        == "def scan(source, result, size, BLOCK: tl.constexpr):"
    )
    for kind in ("reproducer", "ir"):
        with page.expect_download() as download:
            drawer.locator(f"a[data-download={kind}]").click()
        download.value.save_as(tmp_path / kind)
        artifact = next((tmp_path / ".compat").rglob(cell["failure"][kind]))
        assert (
            (tmp_path / kind).read_text().count("tt.scan")
            == artifact.read_text().count("tt.scan")
            > 0
        )

    line = drawer.locator("[data-commands] code", has_text="compat explain").inner_text()
    explained = compat(tmp_path, *shlex.split(line)[1:])
    assert explained.returncode == 0, explained.stderr
    assert cell["failure"]["fingerprint"] in explained.stdout


@pytest.mark.wheels
def test_a_call_over_several_lines_is_marked_at_the_line_of_the_caret(
    look: Callable[..., Look], built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """The page, the terminal, Markdown and JUnit show the same line.

    The releases are the oldest one, one in the middle and the newest one.
    """
    source = ROOT / "tests" / "kernels" / "over_lines.py"
    (tmp_path / "over_lines.py").write_bytes(source.read_bytes())
    signature = (
        'signature = { source = "*fp32", result = "*fp32", size = "i32" }\nconstexprs = { BLOCK ='
        " 128 }\n"
    )
    variants = [
        f'[[variant]]\nname = "{name}"\nfunction = "{name}"\n{signature}'
        for name in ("unknown_keyword", "calls_another")
    ]
    (tmp_path / "over_lines.toml").write_text(
        'schema = 1\nkernel = "over"\nsource = "over_lines.py"\n' + "".join(variants)
    )
    (tmp_path / "matrix.toml").write_text('schema = 1\nkernels = ["over_lines.toml"]\n')
    envs = ["triton-3.0.0", "triton-3.5.1", "triton-3.9.0"]
    for env in envs:
        built(env)
    ran = compat(
        tmp_path, "matrix", "--envs", ",".join(envs), "--target", "sm_90", "--junit", "junit.xml"
    )
    cells = json.loads((tmp_path / "reports" / "matrix.json").read_text())["cells"]
    assert len(cells) == 6, ran.stdout + ran.stderr
    lines = source.read_text().splitlines()
    opened = look(tmp_path / "reports" / "index.html")
    for cell in cells:
        number = next(
            number for number, line in enumerate(lines, 1) if line.endswith(f"# {cell['variant']}")
        )
        assert cell["failure"]["location"] == f"over_lines.py:{number}"
        assert cell["failure"]["excerpt"].splitlines()[0].strip() == lines[number - 1].strip()
        for text in (
            ran.stdout,
            (tmp_path / "reports" / "matrix.md").read_text(),
            (tmp_path / "junit.xml").read_text(),
        ):
            assert f"over_lines.py:{number}" in text
        opened.follow(f"#cell={cell['id']}")
        assert (
            opened.page.locator("[data-drawer] [data-offending] .text").inner_text().strip()
            == lines[number - 1].strip()
        )
