"""A program of the user's that says what is good: the means by which the criterion ``run=COMMAND`` asks."""

from __future__ import annotations

import threading
from collections.abc import Callable

from compat.bisect.criterion import CANNOT_TELL
from compat.cell_document import cell_document
from compat.execution import program
from compat.json_text import write_json
from compat.model import Result
from compat.printable import printable

DEADLINE = program.DEADLINE
"""Seconds that such a program may take unless the user says otherwise."""


class JudgingProgram:
    """Asks a program about results; ``parse_criterion("run=COMMAND", JudgingProgram())`` makes a criterion of it."""

    def __init__(
        self, deadline: float = DEADLINE, *, verbose: bool = False, on_output: Callable[[str], None] = lambda words: None
    ) -> None:
        """``deadline`` is the seconds that it may take. ``on_output`` hears, one at a time, what it prints where it does not say
        good, the same words once; with ``verbose`` it hears everything.
        """
        self._deadline, self._verbose, self._on_output = deadline, verbose, on_output
        self._shown: set[program.Said] = set()
        self._showing = threading.Lock()

    def __call__(self, command: str, result: Result) -> int:
        """The exit code with which a shell command answers about a result: 125 where it was still running at the deadline.

        It reads the cell as ``matrix.json`` has it, and environment variables. Raises SelectionError where there is no such
        command.
        """
        spec = result.cell.spec
        variables = {
            "COMPAT_CELL": result.cell.id,
            "COMPAT_SOURCE": spec.source,
            "COMPAT_FUNCTION": spec.function,
            "COMPAT_PYTHON": result.built.python or "",
            f"COMPAT_{result.cell.env.toolchain.upper()}": result.built.release or "",
        }
        said = program.ask(command, f"{write_json(cell_document(result))}\n", variables, self._deadline)
        if self._verbose or (said.exit_code != 0 and said not in self._shown):  # a reduction would repeat the same output
            self._show(result.cell.id, said)
        return CANNOT_TELL if said.exit_code is None else said.exit_code

    def _show(self, cell: str, said: program.Said) -> None:
        end = f"timed out after {self._deadline:g} s: inconclusive" if said.exit_code is None else f"exit code {said.exit_code}"
        lines = [f"{cell}: the judge's program: {end}", *(f"  {line}" for line in said.output.splitlines())]
        with self._showing:
            self._shown.add(said)
            self._on_output(printable("\n".join(lines)))
