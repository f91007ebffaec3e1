"""The release that ``--good`` and ``--bad`` name, by any word that names an env elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from compat import project
from compat.bisect.candidates import CandidateQuery, named_release
from compat.errors import SelectionError
from compat.project import Selection

KERNEL = """
kernel = "k"
source = "k.py"
case = [{ name = "c" }]
variant = [{ name = "v", function = "k" }]
"""


@pytest.fixture
def selection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Selection:
    (tmp_path / "k.toml").write_text(KERNEL)
    (tmp_path / "k.py").write_text("def k():\n    pass\n")
    monkeypatch.chdir(tmp_path)
    return project.select(kernel_files=["k.toml"])


@pytest.mark.parametrize(
    ("word", "release"),
    [
        ("3.5", "3.5.1"),
        ("3.5.0", "3.5.0"),
        ("v3.8", "3.8.0"),
        ("newest", "3.9.0"),
        ("triton-3.4.0", "3.4.0"),
        ("triton-3.5.1-torch-2.9.1", "3.5.1"),
        ("3.10.0", "3.10.0"),
        ("3.77", "3.77"),
    ],
)
def test_word_names_one_release(selection: Selection, word: str, release: str) -> None:
    assert named_release(word, "--good", selection, CandidateQuery()) == Version(release)


def test_release_is_chosen_among_the_named_envs(selection: Selection) -> None:
    narrowed = selection.with_patterns(envs=["3.5.0,3.6"])
    assert named_release("3.5", "--good", narrowed, CandidateQuery()) == Version("3.5.0")
    assert named_release("newest", "--bad", narrowed, CandidateQuery()) == Version("3.6.0")


def test_word_is_a_version_for_another_source_of_wheels(selection: Selection) -> None:
    assert named_release(
        "3.5", "--good", selection, CandidateQuery(find_links="wheels")
    ) == Version("3.5")
    assert named_release(None, "--good", selection, CandidateQuery()) is None


@pytest.mark.parametrize(
    ("word", "message"),
    [(">=3.5", "'>=3.5' means 7 releases"), ("nwest", "'nwest' is not a release")],
)
def test_word_for_no_release_or_for_several_is_refused(
    selection: Selection, word: str, message: str
) -> None:
    with pytest.raises(SelectionError, match=message) as raised:
        named_release(word, "--good", selection, CandidateQuery())
    assert raised.value.where == "--good"
