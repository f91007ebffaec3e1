"""docs/init.md: its commands run in an empty folder, and print and write what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.test_init import ROOT, compat

PAGE = (ROOT / "docs" / "init.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_page_print_and_write_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source,), (written,) = blocks("python"), blocks("toml")
    (tmp_path / "softmax.py").write_text(source)
    init, matrix, listed = blocks("console")
    command, _, printed = init.partition("\n")
    monkeypatch.setenv("COMPAT_ENVS", str(tmp_path / "no-envs"))
    output, note = compat(tmp_path, *shlex.split(command)[2:])
    assert note == ""
    # The time depends on the machine's cores.
    assert re.sub(r"; about \S+ (s|min)\)", "", output) == re.sub(
        r"; about \S+ (s|min)\)", "", printed
    )
    assert (tmp_path / "kernels" / "softmax.toml").read_text() == written
    # tests/cli/test_init.py compiles what is written, on real releases.
    assert matrix == "$ compat matrix\n"
    with (tmp_path / "matrix.toml").open("a") as file:
        file.write(
            'env = [{ triton = "3.9.0" }]\ndefaults = { envs = ["*"], targets = ["sm_90"] }\n'
        )
    cells, note = compat(tmp_path, *shlex.split(listed)[2:])
    assert (cells, note) == ("softmax_kernel/as_written/default/sm_90/triton-3.9.0\n", "")
    (tmp_path / "kernels" / "softmax.toml").unlink()
    guessed, note = compat(tmp_path, *shlex.split(listed)[2:])
    assert guessed == cells
    assert "are guessed" in note
