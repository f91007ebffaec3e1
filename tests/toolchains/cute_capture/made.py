"""What the kernels of the program use: a value that an expression makes, a class that something is put into later, options."""

import enum
from functools import partial
from typing import Any, NamedTuple

import cutlass

NUMBERS = (cutlass.Float32, int)
WARP = 32


class Mode(enum.IntEnum):
    PLAIN = 0
    DOUBLED = 1


class Extra(NamedTuple):
    bias: Any = None
    mode: Mode = Mode.PLAIN


class Step:
    """It is put together below, and made of a class that it leads to."""

    def other(self):
        return Faster()


class Faster(Step):
    factor = 3


def times(value, factor):
    return value * factor


twice = partial(times, factor=2)
Step.factor = len(NUMBERS)
