"""The command ends with one clear error if the machine refuses it memory or files.

This also holds while modules are loaded.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from compat.cli.check import CANNOT_TELL
from compat.errors import MachineError, refusal

ROOT = Path(__file__).parents[2]
SHORT_OF = """
import resource, sys
from pathlib import Path
from compat.errors import refusal

used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
_, hard = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 10), hard))
try:
    import _sqlite3
except ImportError as error:
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    print(error, refusal(error), sep="\\n")
"""


def test_a_module_that_does_not_fit_into_memory_is_not_a_missing_module() -> None:
    # A measurement of coverage has imported the module already.
    without_coverage = {
        name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")
    }
    ran = subprocess.run(
        [sys.executable, "-c", SHORT_OF],
        env={**without_coverage, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    message, means = ran.stdout.splitlines()
    assert "failed to map segment" in message
    assert means == f"no memory left ({message})"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize(
    "arguments", [["list", "targets"], ["list", "targets", "--json"], ["--version"]]
)
def test_a_full_disk_below_standard_output_is_not_about_temporary_files(
    tmp_path: Path, arguments: list[str], encoding: str
) -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "compat.cli", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert ran.returncode == MachineError.exit_code
    assert ran.stderr == (
        "error: standard output: cannot write: No space left on device\n"
        "  hint: Free space there, or redirect the output. Finished work is saved.\n"
    )


def test_an_error_keeps_its_exit_code_if_its_json_cannot_be_written(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "compat.cli", "list", "envs", "--envs", "nosuch", "--json"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert ran.returncode == 3
    assert ran.stderr.startswith(
        "error: no env, group of envs or release matches 'nosuch'\n  hint:"
    )
    assert ran.stderr.count("error:") == 1


@pytest.mark.parametrize("arguments", [["matrix"], ["list", "cells"], ["repro", "x"], ["check"]])
def test_a_command_in_a_removed_folder_ends_with_one_clear_error(
    tmp_path: Path, arguments: list[str]
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.argv[1], sys.argv[1:])",
            sys.executable,
            *("-m", "compat.cli"),
            *arguments,
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    checks = arguments == ["check"]
    assert ran.returncode == (CANNOT_TELL if checks else MachineError.exit_code), ran.stderr
    assert ran.stderr == (
        f"{'inconclusive' if checks else 'error'}: the current folder was removed\n"
        "  hint: Change to another folder.\n"
    )


WITHOUT_THREAD = """
import sys, threading
from compat.cli import commands, start

def begin(thread, begun=threading.Thread._bootstrap):
    if thread.name == %r:
        # Its first frame cannot be allocated, so the thread never says that it has started.
        raise MemoryError
    begun(thread)

threading.Thread._bootstrap = begin
commands.main = lambda **_: threading.Thread(name="slot").start()
start.start()
"""


@pytest.mark.parametrize("thread", ["command", "slot"])
def test_a_thread_without_memory_to_start_ends_the_command(tmp_path: Path, thread: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_THREAD % thread],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == MachineError.exit_code, ran.stderr
    assert ran.stderr.startswith("error: no memory left")
    assert "hint: " in ran.stderr


@pytest.mark.parametrize("kilobytes", [170_000, 180_000, 200_000])
def test_a_command_that_cannot_be_loaded_ends_with_one_error(
    tmp_path: Path, kilobytes: int
) -> None:
    """A limit that is enough for one Python is too low for another."""
    command = [sys.executable, "-P", "-m", "compat.cli", "list", "envs"]
    ran = subprocess.run(
        ["sh", "-c", f'ulimit -v {kilobytes}; exec "$@"', "sh", *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in ran.stderr
    if ran.returncode:
        assert ran.returncode == MachineError.exit_code, ran.stderr
        assert ran.stderr.startswith("error: no memory left (")
        assert "hint: " in ran.stderr


@pytest.mark.parametrize(
    ("message", "means"),
    [
        ("libssl.so.3: failed to map segment from shared object", "no memory left"),
        ("libssl.so.3: cannot open shared object file: Cannot allocate memory", "no memory left"),
        (
            "libssl.so.3: cannot open shared object file: Too many open files",
            "too many files are open in one process",
        ),
        (
            "libssl.so.3: cannot open shared object file: Too many open files in system",
            "too many files are open on this machine",
        ),
    ],
)
def test_messages_of_the_loader_about_refusals_are_translated(message: str, means: str) -> None:
    assert str(refusal(ImportError(message))) == f"{means} ({message})"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, "full"), "no space left for temporary files (full)"),
        (OSError(errno.EACCES, "denied"), None),
        (FileNotFoundError(errno.ENOENT, "gone"), None),
        (MemoryError(), "no memory left (for this program"),
        (RuntimeError("can't start new thread"), "cannot start another process or thread (can't"),
        (RuntimeError("another error"), None),
        (
            ImportError("a.so: failed to map segment from shared object"),
            "no memory left (a.so: failed to map segment",
        ),
        (
            ImportError("a.so: cannot open shared object file: Too many open files"),
            "too many files are open in one process (a.so: cannot open",
        ),
    ],
)
def test_exception_is_a_refusal_if_the_machine_lacks_something(
    error: BaseException, expected: str | None
) -> None:
    reason = refusal(error)
    assert str(reason).startswith(str(expected))
    assert (reason is None) == (expected is None)


def test_module_whose_file_is_gone_is_still_a_lack_of_memory() -> None:
    error = ImportError("failed to map segment from shared object", path="/gone/a.so")
    assert "no memory left" in str(refusal(error))


def test_refusal_during_a_run_counts_the_saved_cells() -> None:
    error = MachineError.about(errno.ENOSPC, "full").after(1_200, 5_000)
    assert "(full); 1,200 of 5,000 cells are finished and saved" in str(error)
    assert "run the same command again to continue" in str(error.hint)


def test_removed_current_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    with pytest.raises(FileNotFoundError) as error:
        Path.cwd()
    assert str(refusal(error.value)) == "the current folder was removed"


@pytest.mark.parametrize(
    "message",
    [
        "No module named 'rich'",
        "libssl.so.3: cannot open shared object file: No such file or directory",
        "libgomp.so.1: cannot allocate memory in static TLS block",
    ],
)
def test_a_missing_or_broken_module_is_not_a_refusal(message: str) -> None:
    assert refusal(ImportError(message)) is None


def test_a_file_system_without_execution_is_not_a_lack_of_memory(tmp_path: Path) -> None:
    """The loader has the same message for both."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", str(tmp_path)],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        copied = shutil.copy(find_spec("_sqlite3").origin, tmp_path)  # type: ignore[union-attr, arg-type]
        spec = spec_from_file_location("_sqlite3", copied)
        assert spec is not None
        with pytest.raises(ImportError, match="failed to map segment") as error_info:
            module_from_spec(spec)
        assert refusal(error_info.value) is None
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)
