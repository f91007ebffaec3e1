"""Predict from compiles alone that code is likely slower than on the previous release. Pure.

A compile has a *pace*: two estimates in cycles, the work, and counts of instructions
(``compat/toolchains/nvidia/pace.py``). This module compares the estimates of two compiles of one
kernel, with the number of blocks that a multiprocessor holds. A suspicion also needs a known reason
that changed, such as fewer blocks. The numbers and rules were chosen on one half of the measured
kernels. ``bench/results/foresight-2026-11.md`` has their results on the other half.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import frozen

PACE = "pace"
"""The metric with the table of the pace."""
LIKELY = 1.25
"""The least ratio of estimated cycles for a suspicion."""
_HIDDEN = 0.5
"""The share of a warp's waiting time that other blocks and other warps of its block do not hide."""
_UNLIKE = 0.5
"""The exponent of the ratio if the loops of the two compiles differ, because then their trip counts
differ, too.
"""
_MORE = 1.1
"""A count has risen if it exceeds the earlier count times this factor."""
_FEWER = 0.9
"""A count has fallen if it is below the earlier count times this factor."""


@frozen
class Suspicion:
    """A compile that is likely slower than an earlier one."""

    ratio: float
    """Estimated cycles, divided by those of the earlier compile."""
    reasons: tuple[str, ...]
    """The changes that make it slower, in words; never empty."""

    def sentence(self, since: str) -> str:
        """Return the suspicion in words; ``since`` is the earlier release.

        An example is ``likely 1.4 times slower than on 3.2.0: 2 blocks per multiprocessor instead
        of 4``.
        """
        return f"likely {self.ratio:.1f} times slower than on {since}: {'; '.join(self.reasons)}"


def suspicion(old: Mapping[str, object], new: Mapping[str, object]) -> Suspicion | None:
    """Compare the metrics of two compiles of one kernel, with the same arguments and target.

    Returns ``None`` if the new code is not likely slower, no reason is known, or either compile has
    no pace.
    """
    ratio = pace_ratio(old, new)
    if ratio is None or ratio < LIKELY:
        return None
    reasons = tuple(_reasons(old, new))
    return Suspicion(ratio, reasons) if reasons else None


def pace_ratio(old: Mapping[str, object], new: Mapping[str, object]) -> float | None:
    """Return the new estimate of cycles divided by the old one; ``None`` without a pace."""
    before, after = _numbers(old, PACE), _numbers(new, PACE)
    one, other = _cycles(before, old), _cycles(after, new)
    if not one or not other:
        return None
    # The work of a kernel is the same on every release. So cycles are compared per unit of work,
    # which removes the effect of loops with other trip counts.
    work = next(
        (
            name
            for name in ("multiply_adds", "global_bytes")
            if before.get(name) and after.get(name)
        ),
        None,
    )
    ratio = other / one * (before[work] / after[work] if work else 1)
    return ratio if _loops(old) == _loops(new) else ratio**_UNLIKE


def _cycles(pace: Mapping[str, float], metrics: Mapping[str, object]) -> float:
    blocks = _numbers(metrics, "occupancy").get("blocks", 0)
    if not blocks or "units" not in pace or "latency" not in pace:
        return 0
    return pace["units"] + _HIDDEN * pace["latency"] / blocks


def _loops(metrics: Mapping[str, object]) -> object:
    table = metrics.get(PACE)
    return table.get("loops") if isinstance(table, Mapping) else None


def _numbers(metrics: Mapping[str, object], table: str) -> dict[str, float]:
    values = metrics.get(table)
    return {
        name: value
        for name, value in (values.items() if isinstance(values, Mapping) else ())
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _reasons(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[str]:
    """Yield the changes that make code slower, in words."""
    before, after = _numbers(old, PACE), _numbers(new, PACE)
    yield from _of_blocks(old, new)
    where = "in its loops" if _loops(new) else "in its code"
    if _rose(before, after, "local"):
        yield f"{_change(before, after, 'local')} loads and stores of local memory {where}"
    if _fell(before, after, "wgmma"):
        yield f"{_change(before, after, 'wgmma')} wgmma {where}"
    if _fell(before, after, "ldmatrix") and _rose(before, after, "shared_loads"):
        loads = _change(before, after, "shared_loads")
        yield f"{_change(before, after, 'ldmatrix')} ldmatrix {where}, and {loads} shared loads"
    if _fell(before, after, "async_copies"):
        yield f"{_change(before, after, 'async_copies')} asynchronous copies {where}"
    if _rose(before, after, "instructions") and _loops(old) == _loops(new):
        yield f"{_change(before, after, 'instructions')} instructions {where}"


def _of_blocks(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[str]:
    was, is_ = (_numbers(metrics, "occupancy").get("blocks", 0) for metrics in (old, new))
    if is_ < was:
        registers = [metrics.get("registers") for metrics in (old, new)]
        held = new.get("occupancy")
        limit = held.get("limited_by") if isinstance(held, Mapping) else None
        because = (
            f", with {registers[1]} registers per thread instead of {registers[0]}"
            if limit == "registers" and None not in registers
            else f", limited by {limit}"
        )
        blocks = f"{is_:g} {'block' if is_ == 1 else 'blocks'}"
        yield f"{blocks} per multiprocessor instead of {was:g}{because}"


def _rose(before: Mapping[str, float], after: Mapping[str, float], name: str) -> bool:
    return after.get(name, 0) > _MORE * before.get(name, 0)


def _fell(before: Mapping[str, float], after: Mapping[str, float], name: str) -> bool:
    return after.get(name, 0) < _FEWER * before.get(name, 0)


def _change(before: Mapping[str, float], after: Mapping[str, float], name: str) -> str:
    return f"{after.get(name, 0):,.0f} instead of {before.get(name, 0):,.0f}"
