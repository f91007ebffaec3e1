"""Pairs to report on."""

from __future__ import annotations

from compat.model import Status
from compat.pairs.records import Pair, PairProgram

SWALLOWED = (
    "the user's kernel is not launched; swallowed: ImportError: cannot import name"
    " 'specialize_impl'"
)


def program(
    name: str, failure_class: str | None = None, message: str = "", status: Status = Status.REJECTED
) -> PairProgram:
    return PairProgram(
        name=name,
        status=status if failure_class else Status.OK,
        failure_class=failure_class,
        message=message,
        stage="compile" if failure_class else "launched",
        launched=() if failure_class else (f"triton_{name}",),
        seconds=0.25,
    )


GOOD = Pair(
    framework_release="2.9.1",
    release="3.5.1",
    env="triton-3.5.1-torch-2.9.1",
    own=True,
    programs=(program("softmax"), program("user_kernel")),
    static_launcher=True,
    seconds=8.5,
)
DROPPED = Pair(
    framework_release="2.9.1",
    release="3.6.0",
    env="triton-3.5.1-torch-2.9.1",
    programs=(
        program("softmax"),
        program("user_kernel", "kernel-dropped", SWALLOWED, Status.WRONG),
    ),
    static_launcher=True,
    cached=True,
)
ALL_BAD = Pair(
    framework_release="2.4.1",
    release="3.6.0",
    env="triton-3.0.0-torch-2.4.1",
    programs=tuple(
        program(name, "name-missing", "ImportError: no `triton_key` | here")
        for name in ("softmax", "user_kernel")
    ),
)
UNTRIED = Pair(
    framework_release="2.4.1",
    release="3.5.1",
    env="triton-3.0.0-torch-2.4.1",
    error="no wheel of triton 3.5.1 for this Python",
)
PAIRS = (GOOD, DROPPED, ALL_BAD, UNTRIED)
