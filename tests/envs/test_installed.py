"""Reading a virtual environment from its files."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import pytest

from compat.envs.record import NotInstalled, first_damage, interpreter, packages, python_version


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    location = tmp_path / "env"
    (location / "bin").mkdir(parents=True)
    (tmp_path / "python3.11").touch()
    (location / "bin/python").symlink_to(tmp_path / "python3.11")
    (location / "pyvenv.cfg").write_text(
        "home = /usr/bin\nuv = 0.5\nversion_info = 3.11.7\n", encoding="utf-8"
    )
    distribution(
        location, "triton-3.1.0", ["triton/__init__.py,sha256=aa,1", "triton/knobs.py,sha256=bb,2"]
    )
    return location


def distribution(location: Path, name: str, record: list[str]) -> None:
    site = location / "lib/python3.11/site-packages"
    info = site / f"{name}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    for line in record:
        file = site / line.split(",")[0]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * int(line.split(",")[2] or 0))
    (info / "RECORD").write_text(
        "\n".join([*record, f"{name}.dist-info/RECORD,,"]) + "\n", encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("version_info = 3.11.7", "3.11.7"),
        ("version_info = 3.11.7.final.0", "3.11.7"),
        ("version = 3.12.1", "3.12.1"),
    ],
)
def test_python_version_is_read_from_the_format_of_every_tool(
    venv: Path, line: str, version: str
) -> None:
    (venv / "pyvenv.cfg").write_text(f"home = /usr/bin\n{line}\n", encoding="utf-8")
    assert python_version(venv) == version


def test_packages_are_listed_by_their_normalised_names(venv: Path) -> None:
    distribution(venv, "Typing_Extensions-4.1", [])
    distribution(venv, "a-1.0+local", [])
    assert [(package.name, package.version) for package in packages(venv)] == [
        ("a", "1.0+local"),
        ("triton", "3.1.0"),
        ("typing-extensions", "4.1"),
    ]


INSTALLERS = [
    ["triton/knobs.py,sha256=bb,2", "triton/__init__.py,sha256=aa,1"],
    [
        "triton/__init__.py,sha256=aa,1",
        "triton/knobs.py,sha256=bb,2",
        "triton/__pycache__/knobs.cpython-311.pyc,,",
    ],
    [
        "triton/__init__.py,sha256=aa,1",
        "triton/knobs.py,sha256=bb,2",
        "../../../bin/proton,sha256=cc,3",
    ],
    [
        "triton/__init__.py,sha256=aa,1",
        "triton/knobs.py,sha256=bb,2",
        "triton-3.1.0.dist-info/direct_url.json,sha256=dd,4",
    ],
]


@pytest.mark.parametrize("record", INSTALLERS)
def test_digest_of_a_wheel_does_not_depend_on_the_installer(venv: Path, record: list[str]) -> None:
    before = packages(venv)
    distribution(venv, "triton-3.1.0", record)
    assert packages(venv) == before


@pytest.mark.parametrize(
    "record",
    [
        ["triton/__init__.py,sha256=aa,1"],
        ["triton/__init__.py,sha256=aa,1", "triton/knobs.py,sha256=bc,2"],
        ["triton/__init__.py,sha256=aa,1", "triton/nobs.py,sha256=bb,2"],
        [
            "triton/__init__.py,sha256=aa,1",
            "triton/knobs.py,sha256=bb,2",
            "triton/_C/lib.so,sha256=ee,5",
        ],
    ],
)
def test_different_content_has_a_different_digest(venv: Path, record: list[str]) -> None:
    before = packages(venv)
    distribution(venv, "triton-3.1.0", record)
    assert packages(venv) != before


def test_missing_files_are_found(venv: Path) -> None:
    assert first_damage(venv, "triton") is None
    (venv / "lib/python3.11/site-packages/triton/knobs.py").unlink()
    assert first_damage(venv, "triton") == "triton/knobs.py is missing"
    assert first_damage(venv, "torch") is None


@pytest.mark.parametrize("name", ["triton/backends/nvidia/bin/ptxas", "triton/knobs.py"])
def test_truncated_or_replaced_files_are_found(venv: Path, name: str) -> None:
    content = b"the assembler"
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    distribution(venv, "triton-3.1.0", [f"{name},sha256={digest},{len(content)}"])
    file = venv / "lib/python3.11/site-packages" / name
    record = venv / "lib/python3.11/site-packages/triton-3.1.0.dist-info/RECORD"
    file.write_bytes(b"")
    assert first_damage(venv, "triton") == f"{name} has 0 bytes instead of 13"
    file.write_bytes(b"something els")
    installed = record.stat().st_mtime_ns
    os.utime(file, ns=(installed, installed + 1))
    assert first_damage(venv, "triton") == f"{name} has changed since it was installed"
    file.write_bytes(content)  # a copy of the env has new times and the same files
    os.utime(file, ns=(installed, installed + 1))
    assert first_damage(venv, "triton") is None


def test_damaged_env_counts_as_not_installed(venv: Path, tmp_path: Path) -> None:
    assert interpreter(venv) == venv / "bin/python"
    (tmp_path / "python3.11").unlink()
    with pytest.raises(NotInstalled, match=r"its interpreter .*/python3\.11 is missing"):
        interpreter(venv)
    (venv / "bin/python").unlink()
    with pytest.raises(NotInstalled, match=r"bin/python is missing"):
        interpreter(venv)
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\n", encoding="utf-8")
    with pytest.raises(NotInstalled, match="names no version of Python"):
        packages(venv)
    (venv / "pyvenv.cfg").unlink()
    with pytest.raises(NotInstalled, match=r"pyvenv\.cfg is missing"):
        packages(venv)
    with pytest.raises(NotInstalled, match="nowhere is missing"):
        interpreter(tmp_path / "nowhere")
