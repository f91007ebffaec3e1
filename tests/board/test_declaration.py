"""``board.toml``, and the versions of a library that a board follows."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from packaging.version import Version

from compat.board.declaration import BoardLibrary, CaptureProgram, read_board
from compat.envs.libraries import newest_of_minors
from compat.errors import ConfigError
from tests.together import for_each

TEXT = """\
envs = ["3.8", "3.9"]
targets = ["sm_90", "sm_80"]
deadline = 20

[[library]]
name = "Liger_Kernel"
newest = 2

[[library]]
name = "fla-core"
versions = ["0.4.0", "0.6.0"]
kernels = ["captured/*.toml"]
envs = [">=3.5"]
targets = ["gfx942"]
capture = { program = ["-m", "launches"], install = ["einops"] }
"""


def test_a_declaration_is_read(tmp_path: Path) -> None:
    path = tmp_path / "board.toml"
    path.write_text(TEXT)
    board = read_board(path)
    assert board.envs == ("3.8", "3.9")
    assert board.deadline == 20
    assert board.folder == tmp_path / "board"
    liger, fla = board.libraries
    assert liger == BoardLibrary(name="liger-kernel", newest=2)
    assert fla.versions == (Version("0.4.0"), Version("0.6.0"))
    assert board.every_env == ("3.8", "3.9", ">=3.5")
    assert board.envs_of(liger) == ("3.8", "3.9")
    assert board.envs_of(fla) == (">=3.5",)
    assert board.targets_of(liger) == ("sm_90", "sm_80")
    assert board.targets_of(fla) == ("gfx942",)
    assert fla.capture == CaptureProgram(command=("-m", "launches"), install=("einops",))


def test_captured_kernels_are_those_of_a_library_with_a_program(tmp_path: Path) -> None:
    path = tmp_path / "board.toml"
    path.write_text(TEXT)
    board = read_board(path)
    _, fla = board.libraries
    patterns = (tmp_path / "captured/*.toml",)
    assert board.kernels_of(fla, "0.4.0") == patterns
    captured = board.captured_file(fla, "0.4.0")
    captured.parent.mkdir(parents=True)
    captured.touch()
    assert board.kernels_of(fla, "0.4.0") == (*patterns, captured)
    assert board.kernels_of(evolve(fla, capture=None), "0.4.0") == patterns


@pytest.mark.parametrize("file", ["docs/board.md", "board.toml"])
def test_the_documented_board_and_our_own_are_read(tmp_path: Path, file: str) -> None:
    text = (Path(__file__).parents[2] / file).read_text()
    path = tmp_path / "board.toml"
    path.write_text(text.partition('title="board.toml"\n')[2].partition("```")[0] or text)
    libraries = read_board(path).libraries
    assert {"liger-kernel", "fla-core", "torch"} <= {library.name for library in libraries}
    assert any(library.capture for library in libraries)


@for_each(
    ("text", "where", "message"),
    [
        ("", "library", "is missing"),
        ('[[library]]\nnam = "a"\n', "library[0].nam", "unknown key"),
        ('[[library]]\nname = "a b"\n', "library[0].name", "not the name of a package"),
        ('[[library]]\nname = "a"\nversions = ["x"]\n', "library[0].versions[0]", "not a version"),
        (
            '[[library]]\nname = "a"\nversions = ["1"]\nnewest = 1\n',
            "library[0].newest",
            "goes without versions",
        ),
        ('[[library]]\nname = "a"\n[[library]]\nname = "A"\n', "library[1].name", "already exists"),
        ('[[library]]\nname = "a"\ncapture = {}\n', "library[0].capture.program", "is missing"),
        (
            '[[library]]\nname = "a"\npackage = false\nversions = ["1"]\nkernels = ["*.toml"]\n'
            'capture = { program = ["a.py"] }\n',
            "library[0].capture",
            "needs a package",
        ),
        (
            '[[library]]\nname = "a"\npackage = false\nversions = ["1"]\nkernels = ["*.toml"]\n'
            'without = ["a.*"]\n',
            "library[0].without",
            "needs a package",
        ),
        (
            '[[library]]\nname = "a"\npackage = "no"\n',
            "library[0].package",
            "expected a boolean",
        ),
        (
            '[[library]]\nname = "a"\npackage = false\nversions = ["1"]\n',
            "library[0].kernels",
            "is missing",
        ),
        (
            '[[library]]\nname = "a"\npackage = false\nkernels = ["a.toml"]\n',
            "library[0].versions",
            "is missing",
        ),
    ],
)
def test_an_error_names_its_place(tmp_path: Path, text: str, where: str, message: str) -> None:
    path = tmp_path / "board.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        read_board(path)
    assert str(caught.value.where).endswith(f"board.toml: {where}")


def test_the_newest_release_of_each_of_the_newest_minors_is_followed() -> None:
    versions = map(Version, ("0.5.9", "0.5.10", "0.6.0rc1", "0.4.1", "0.3", "1!0.1"))
    assert [str(v) for v in newest_of_minors(versions, 3)] == ["1!0.1", "0.5.10", "0.4.1"]


def test_prereleases_count_if_there_is_nothing_else() -> None:
    assert newest_of_minors([Version("0.1a1"), Version("0.1a2")], 3) == (Version("0.1a2"),)


def test_a_missing_declaration_says_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file") as caught:
        read_board(tmp_path / "board.toml")
    assert caught.value.hint is not None
    assert "[[library]]" in caught.value.hint
