"""Ask an env which names its toolchain has: a process of its own, in which nothing is compiled."""

from __future__ import annotations

import subprocess
from pathlib import Path

from compat.errors import MachineError, is_refusal
from compat.execution.output import read_ends
from compat.execution.program import wait_for
from compat.execution.variables import passed_on
from compat.files import content_of
from compat.scratch import Folder
from compat.toolchains import Toolchain

DEADLINE = 60.0
"""Seconds that an env may take; importing takes half a second where it is not broken."""
_LARGEST = 64 * 1024 * 1024
"""Bytes of an answer that are read."""
_LAST_WORDS = 8192
"""Bytes of what it printed that are read."""


class Unanswered(Exception):
    """The env gave no answer: ``str`` of it is why, as far as that can be told."""


def introspect(python: str, toolchain: Toolchain, deadline: float = DEADLINE) -> bytes:
    """What the program of :attr:`Toolchain.names` writes in an env, as it is.

    Raises Unanswered where nothing is written, MachineError where no process can be started, and Stopped where all is to end.
    """
    assert toolchain.names is not None
    with Folder("compat-names-") as folder:
        answer = folder / "names.json"
        code, words = _run([python, "-I", str(toolchain.names.program), str(answer)], toolchain, folder, deadline)
        content = content_of(answer, _LARGEST)
        if content is None or code != 0:
            ended = f"did not end within {deadline:g} s" if code is None else f"ended with exit code {code}, and wrote no answer"
            raise Unanswered(words or f"importing {toolchain.title} {ended}")
        return content


def _run(command: list[str], toolchain: Toolchain, folder: Path, deadline: float) -> tuple[int | None, str]:
    """The exit code, and the end of what it printed."""
    home, settings = str(folder), toolchain.variables.settings
    own = {name: value for name, value in passed_on(toolchain).items() if name not in settings}
    with (folder / "output").open("w+b") as output:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**own, "TMPDIR": home, **toolchain.variables.private(home)},
                cwd=home,
                start_new_session=True,
            )
        except OSError as error:
            if is_refusal(error):
                raise MachineError.of(error) from error
            raise Unanswered(f"its interpreter cannot be started: {error.strerror}") from error
        code = wait_for(process, deadline)
        return code, read_ends(output.fileno(), 0, None, _LAST_WORDS).strip()
