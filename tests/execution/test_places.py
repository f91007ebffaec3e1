"""Evidence has the paths of the machine that asked for it."""

from __future__ import annotations

from pathlib import Path

from compat.model import Evidence, RaisedException, StandInPackages, ToolchainWarning
from compat.workers.attempt import NOWHERE_ELSE, Places, folders_of

PLACES = Places.of(
    [
        ("/w/1", "/home/a/kernels"),
        ("/w/1/inner", "/elsewhere"),
        ("/same", "/same"),
        ("/w/12", "/twelve"),
    ]
)


def test_only_whole_folder_names_are_translated() -> None:
    text = "/w/1/a.py:3 '/w/1' /w/12/b.py /w/123 /w/1/inner/c.py /w/1.old /same/d.py"
    expected = (
        "/home/a/kernels/a.py:3 '/home/a/kernels' /twelve/b.py /w/123 /elsewhere/c.py /w/1.old"
        " /same/d.py"
    )
    assert PLACES.translate(text) == expected
    assert PLACES.translate_data(text.encode()) == expected.encode()


def test_data_that_is_not_text_stays_unchanged() -> None:
    assert PLACES.translate_data(b"\xff/w/1/a.py") == b"\xff/w/1/a.py"
    assert PLACES.translate_data(b"nothing") == b"nothing"


def test_paths_in_evidence_are_translated_except_in_quoted_lines() -> None:
    evidence = Evidence(
        answered=True,
        raised=(RaisedException(type="E", message="in /w/1/a.py", traceback='File "/w/1/a.py"'),),
        printed="/w/1/a.py",
        stderr="/w/1/a.py",
        in_flight="/w/1/a.py:3",
        at="/w/1/a.py:4",
        quoted={"/w/1/a.py:3": "x = '/w/1'"},
        metrics={"check": [{"where": "/w/1/a.py"}, 3]},
        warnings=(ToolchainWarning(type="W", message="/w/1/a.py"),),
        imported=("/w/1/a.py", "/other/b.py"),
        stood_in=StandInPackages(answers=("torch at /w/1/a.py:3",)),
        protocol=("/w/1/a.py",),
        refused="/w/1/a.py",
    )
    translation = PLACES.evidence(evidence)
    assert "/w/1/" not in repr(translation)
    assert translation.quoted == {"/home/a/kernels/a.py:3": "x = '/w/1'"}, (
        "the line is as it was written"
    )
    assert translation.metrics == {"check": [{"where": "/home/a/kernels/a.py"}, 3]}
    assert translation.imported == ("/home/a/kernels/a.py", "/other/b.py")
    assert NOWHERE_ELSE.evidence(evidence) is evidence


def test_folders_of_an_env_include_the_one_of_its_base_python(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "pyvenv.cfg").write_text("home = /opt/python/bin\nversion = 3.11.7\n")
    assert folders_of(str(tmp_path / "bin" / "python")) == (str(tmp_path), "/opt/python")
    assert folders_of("/nowhere/bin/python") == ("/nowhere", "")
