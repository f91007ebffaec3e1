"""Answers of hunts, made up."""

from __future__ import annotations

from typing import Any

from compat.hunt.defects import HuntAnswer
from compat.hunt.oracles import ProgramVerdict
from compat.toolchains.triton.programs.language import PROGRAMS


def answer_of(*verdicts: ProgramVerdict, **facts: Any) -> HuntAnswer:
    """The answer of a hunt of one second with these verdicts."""
    usual: dict[str, Any] = {
        "seeds": (0, len(verdicts)),
        "seconds": 1.0,
        "envs": (),
        "targets": (),
        "language": PROGRAMS,
    }
    return HuntAnswer(verdicts=verdicts, **(usual | facts))
