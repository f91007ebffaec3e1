"""Ask an env which names its toolchain has: a process of its own, in which nothing is compiled."""

from __future__ import annotations

from pathlib import Path

from compat.files import TemporaryFolder, content_of
from compat.processes.supervisor import SHOWN, ProcessResult, run
from compat.toolchains import Toolchain
from compat.workers.spawn import passed_on

DEADLINE = 60.0
"""Seconds that an env may take; importing takes half a second where it is not broken."""
_LARGEST = 64 * 1024 * 1024
"""Bytes of an answer that are read."""


class Unanswered(Exception):
    """The env gave no answer: ``str`` of it is why, as far as that can be told."""


def introspect(python: str, toolchain: Toolchain, deadline: float = DEADLINE) -> bytes:
    """What the program of :attr:`Language.api` writes in an env, as it is.

    Raises Unanswered where nothing is written, MachineError where no process can be started, and Stopped where all is to end.
    """
    assert toolchain.language.api is not None
    with TemporaryFolder("compat-names-") as folder:
        answer = folder / "names.json"
        ended = _run([python, "-I", str(toolchain.language.api.program), str(answer)], toolchain, folder, deadline)
        content = content_of(answer, _LARGEST)
        if content is None or ended.exit_code != 0:
            why = f"ended with exit code {ended.exit_code}, and wrote no answer"
            why = f"did not end within {deadline:g} s" if ended.exit_code is None else why
            raise Unanswered(ended.output.strip() or f"importing {toolchain.title} {why}")
        return content


def _run(command: list[str], toolchain: Toolchain, folder: Path, deadline: float) -> ProcessResult:
    home, settings = str(folder), toolchain.variables.settings
    own = {name: value for name, value in passed_on(toolchain).items() if name not in settings}
    env = {**own, "TMPDIR": home, **toolchain.variables.private(home)}
    try:
        return run(command, timeout=deadline, env=env, cwd=home, limit=SHOWN)
    except OSError as error:
        raise Unanswered(f"its interpreter cannot be started: {error.strerror}") from error
