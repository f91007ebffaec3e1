"""The number of problems that a function yields, without a launch and without a GPU.

Tensors are PyTorch's fake tensors, which have a shape and no memory, so that large sizes cost
little. A function that reads the values of its tensors fails with them. Then small sizes are made
on the CPU, and only a launch can count those of real use.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Callable, Iterator, Optional, Tuple

from .prepared_problem import Numerics
from .session import SEED

if TYPE_CHECKING:
    from ...inside.foreign import Document

_CPU = "cpu"


def problem_counts(numerics: Numerics, folder: str, problem: Document) -> Document:
    """Return the numbers of small and large problems that a problem of the index yields.

    A number is ``None`` if only a launch can count the problems. ``why`` has the reason.
    """
    problems = numerics.problems
    try:
        make = problems.load(os.path.join(folder, problem["source"]), problem["function"])
    except problems.ProblemError as error:
        return {"small": None, "large": None, "why": str(error)}

    def yield_problems(large: bool) -> Iterator[object]:
        numerics.torch.manual_seed(SEED)
        yield from make(dict(problem["parameters"]), problem["dtype"], SEED, _CPU, large)

    small, why = _number(_fake(yield_problems, False))
    if small is None:
        small, why = _number(lambda: yield_problems(False))
    large, more = _number(_fake(yield_problems, True))
    return {"small": small, "large": large, "why": why or more}


def _fake(
    yielded: Callable[[bool], Iterator[object]], large: bool
) -> Callable[[], Iterator[object]]:
    """Return a function that yields the problems with fake tensors.

    The mode of fake tensors is on while the problems are made.
    """

    def make() -> Iterator[object]:
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode(allow_non_fake_inputs=True):
            yield from yielded(large)

    return make


def _number(make: Callable[[], Iterator[object]]) -> Tuple[Optional[int], str]:
    """Return the number of problems and an empty text, or ``None`` and the exception."""
    try:
        return sum(1 for _ in make()), ""
    except (Exception, SystemExit) as error:
        return None, "%s: %s" % (type(error).__name__, str(error).split("\n")[0])
