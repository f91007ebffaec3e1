"""Which kernels were imported with stand-ins for packages that envs lack, in a sentence each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from compat.model import Result, StoodIn
from compat.report.compact import counted


def stand_ins(results: Iterable[Result]) -> tuple[str, ...]:
    """A sentence for each kernel and what was stood in for."""
    groups: dict[tuple[str, tuple[str, ...]], list[StoodIn]] = defaultdict(list)
    for result in results:
        if (found := result.outcome.stood_in) is not None:
            groups[result.cell.spec.kernel, tuple(name.split()[0] for name in found.packages)].append(found)
    return tuple(_sentence(kernel, packages, group) for (kernel, packages), group in groups.items())


def _sentence(kernel: str, packages: tuple[str, ...], group: list[StoodIn]) -> str:
    answers = {answer for each in group for answer in each.answers}
    skipped = {statement for each in group for statement in each.skipped}
    said = [
        f"stand-ins for {', '.join(packages)}" if packages else "",
        f"{counted(len(answers), 'answer')} given to its modules" if answers else "",
        f"{counted(len(skipped), 'statement')} left out" if skipped else "",
    ]
    return f"{kernel}: {counted(len(group), 'cell')} imported with {', '.join(each for each in said if each)}"
