"""The outputs of a problem: filled before a launch, and compared with their references after it.

:func:`poison` fills the whole storage of every output before a launch, also around the view that
the kernel gets. Floating point types get a NaN of a certain bit pattern, and whole numbers their
smallest value. This shows which elements a launch did not write, and what it wrote outside of its
outputs.

A problem whose ``outputs`` are ``None`` has no references. Before each launch all its tensors are
restored. After it, :func:`compare` reports what the launch has changed, with a sample of the
values, and calls nothing right or wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional, Tuple

import torch

if TYPE_CHECKING:
    from ...inside.foreign import Document

Finding = Dict[str, Any]
"""``{"status": "ok" or "wrong", "max_abs", "max_rel", "where", "reason"}``.

If no output is known, the status is ``unsupported``, and ``values`` has the changes.
"""

_NAN = {
    "float16": 0x7E5A,
    "bfloat16": 0x7FDA,
    "float32": 0x7FDA5A5A,
    "float64": 0x7FFA5A5A5A5A5A5A,
    "float8_e4m3fn": 0x7F,
    "float8_e5m2": 0x7E,
    "float8_e4m3fnuz": 0x80,
    "float8_e5m2fnuz": 0x80,
}
"""The bits of a NaN that no computation returns, if the type has several."""


def poison(problem: Document) -> None:
    """Fill the outputs of a checked problem. The view of an output with ``initial`` gets that.

    If the outputs are unknown, restore all tensors.
    """
    if problem["outputs"] is None:
        restore(problem)
        return
    for tensors in _by_storage(problem):
        cells(tensors[0]).fill_(_pattern(tensors[0].dtype))
    for name, output in problem["outputs"].items():
        tensor, initial = problem["arguments"][name].detach(), output["initial"]
        if isinstance(initial, torch.Tensor):
            tensor.copy_(initial)
        elif initial is not None:
            tensor.copy_(torch.full((), initial, dtype=_widest(initial)).to(tensor.dtype))


def _widest(number: float) -> torch.dtype:
    """Return the type that a number is filled in as: float64 rounds large whole numbers."""
    is_whole = isinstance(number, int) and -(2**63) <= number < 2**63
    return torch.int64 if is_whole else torch.float64


def compare(problem: Document) -> Finding:
    """Compare the outputs of a checked problem after a launch with their references.

    Returns the worst finding.
    """
    if problem["outputs"] is None:
        return _finding_of_changes(problem)
    findings = [_compare_output(problem, name) for name in problem["outputs"]]
    findings += [_check_outside(problem, tensors) for tensors in _by_storage(problem)]
    return together(findings)


def together(findings: Iterable[Finding]) -> Finding:
    """Merge several findings into one.

    This is the first wrong one. If none is wrong, it has the largest differences of all, and the
    place of the largest.
    """
    several = list(findings)
    for finding in several:
        if finding["status"] != "ok":
            return finding
    largest = max(several, key=lambda finding: finding["max_abs"] or 0.0)
    return dict(
        largest,
        max_rel=max(
            (finding["max_rel"] for finding in several if finding["max_rel"] is not None),
            default=None,
        ),
    )


def around(problem: Document) -> str:
    """Return what a launch wrote around the outputs of a checked problem, in words.

    The result is empty if it wrote nothing there. The outputs themselves do not matter here,
    because :func:`compare` reports wrong numbers first.
    """
    if problem["outputs"] is None:
        return ""
    findings = (_check_outside(problem, tensors) for tensors in _by_storage(problem))
    return next((str(finding["reason"]) for finding in findings if finding["status"] != "ok"), "")


def _finding_of_changes(problem: Dict[str, object]) -> Finding:
    """Return the finding for a problem without references: what a launch changed."""
    changed = changes(problem)
    names = ", ".join(
        "%s (%d of %d elements)" % (change["name"], change["changed"], change["elements"])
        for change in changed
    )
    reason = "not compared: no reference is known; it changed %s" % (names or "nothing")
    return dict(_finding("unsupported", reason), values=changed)


# --- one output -----------------------------------------------------------------------------------


def _compare_output(problem: Document, name: str) -> Finding:
    tensor, output = problem["arguments"][name], problem["outputs"][name]
    if not tensor.numel():
        return _finding("ok")
    got, reference = _to_common_type(tensor.detach(), output["reference"])
    sizes = reference.abs().double()
    difference = (got.double() - reference.double()).abs()
    # Large whole numbers can be equal as doubles although they differ.
    difference[(difference == 0) & (got != reference)] = 1.0
    written = _bits_of(tensor) != _pattern(tensor.dtype)
    if tensor.dtype == torch.bool:  # PyTorch takes the pattern for True
        difference[~written] = 1.0
    allowed = output["tolerance"] + output["relative"] * sizes
    excess = torch.nan_to_num(difference - allowed, nan=float("inf"), posinf=float("inf")).reshape(
        -1
    )
    missed = int((excess > 0).sum())
    finite = bool(torch.isfinite(difference).all())
    largest = (float(difference.max()), _relative(difference, sizes)) if finite else (None, None)
    if not missed:
        at = int(difference.reshape(-1).argmax())
        where = "%s: %s" % (problem["name"], _place(name, tensor, at)) if largest[0] else ""
        return _finding("ok", "", where, largest)
    at = int(excess.argmax())
    reason = "expected %s" % _number(reference.reshape(-1)[at])
    if output["initial"] is None and not bool(written.reshape(-1)[at]):
        reason = "was not written, " + reason
    else:
        reason = "is %s, %s" % (_number(got.reshape(-1)[at]), reason)
        off = float(difference.reshape(-1)[at])
        if off < float("inf"):
            reason += ", off by %.3g where %.3g is allowed" % (off, float(allowed.reshape(-1)[at]))
            reason += " (%s)" % output["reason"] if output["reason"] else ""
    reason = "%s; %d of %d elements wrong" % (reason, missed, tensor.numel())
    where = "%s: %s" % (problem["name"], _place(name, tensor, at))
    return _finding("wrong", reason, where, largest)


def _to_common_type(
    tensor: torch.Tensor, reference: torch.Tensor
) -> Tuple[torch.Tensor, torch.Tensor]:
    """Return both tensors in one type: int64 if both have whole numbers, else float64."""
    kind = (
        torch.float64
        if tensor.dtype.is_floating_point or reference.dtype.is_floating_point
        else torch.int64
    )
    return tensor.to(kind), reference.to(tensor.device).to(kind)


def _finding(
    status: str,
    reason: str = "",
    where: str = "",
    largest: Tuple[Optional[float], Optional[float]] = (None, None),
) -> Finding:
    """Return a finding with the largest absolute and relative differences."""
    max_abs, max_rel = largest
    return {
        "status": status,
        "max_abs": max_abs,
        "max_rel": max_rel,
        "where": where,
        "reason": reason,
    }


def _relative(difference: torch.Tensor, sizes: torch.Tensor) -> Optional[float]:
    """Return the largest difference relative to the reference, where the reference is not 0."""
    there = sizes > 0
    return float((difference[there] / sizes[there]).max()) if bool(there.any()) else None


def _place(name: str, tensor: torch.Tensor, at: int) -> str:
    """Return the name of an element: ``O_ptr[0, 3, 17]``."""
    indices: List[int] = []
    for size in reversed(tensor.shape):
        indices.insert(0, at % size)
        at //= size
    return "%s[%s]" % (name, ", ".join(map(str, indices))) if indices else name


def _number(value: torch.Tensor) -> str:
    return "%.6g" % value.item()


# --- storages -------------------------------------------------------------------------------------


def _check_outside(problem: Document, tensors: List[torch.Tensor]) -> Finding:
    """Check that a storage outside of its outputs still has the values that filled it."""
    memory = cells(tensors[0])
    changed = memory != _pattern(tensors[0].dtype)
    for tensor in tensors:
        changed.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset()).fill_(False)
    if not bool(changed.any()):
        return _finding("ok")
    at, first = int(changed.nonzero()[0]), tensors[0].storage_offset()
    name = next(name for name in problem["outputs"] if problem["arguments"][name] is tensors[0])
    distance = (
        "%d before its start" % (first - at) if at < first else "%d after its start" % (at - first)
    )
    reason = "wrote outside of %s: %d of the elements around it changed, the first is %s" % (
        name,
        int(changed.sum()),
        distance,
    )
    return _finding("wrong", reason, problem["name"])


def _by_storage(problem: Document) -> Iterator[List[torch.Tensor]]:
    """Yield the outputs that share a storage and an element type.

    They are filled and checked together.
    """
    storages: Dict[Tuple[int, torch.dtype], List[torch.Tensor]] = {}
    for name in problem["outputs"]:
        tensor = problem["arguments"][name]
        if tensor.untyped_storage().nbytes():
            storages.setdefault((tensor.untyped_storage().data_ptr(), tensor.dtype), []).append(
                tensor
            )
    yield from storages.values()


def _bits_of(tensor: torch.Tensor) -> torch.Tensor:
    """Return the elements of a view, as whole numbers of their size."""
    return cells(tensor).as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())


def _pattern(dtype: torch.dtype) -> int:
    """Return the value that fills an output of this type, as a whole number of the same size."""
    name = str(dtype).rpartition(".")[2]
    if name in _NAN:
        return _NAN[name]
    bits = 8 * torch.empty(0, dtype=dtype).element_size()
    if name.startswith("uint"):  # many kernels write 0, the smallest value of these types
        return 0xA5 if bits == 8 else int("5a" * (bits // 8), 16)
    return 0x80 if bits == 8 else -(1 << (bits - 1))


# --- memory ---------------------------------------------------------------------------------------

_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""Bytes of an element → the type of whole numbers of this size."""
_SAMPLED = 256
"""Elements of a changed tensor whose values are recorded."""
_STEP = 2654435761
"""The distance between two of these elements, so that they are not all in one column."""
_BEFORE = "before"


def cells(tensor: torch.Tensor) -> torch.Tensor:
    """Return the whole storage of a tensor, as whole numbers of the size of its elements."""
    kind = _INTEGERS[tensor.element_size()]
    return torch.empty(0, dtype=kind, device=tensor.device).set_(tensor.untyped_storage())  # type: ignore[call-overload,unused-ignore]


def all_cells(problem: Document) -> List[torch.Tensor]:
    """Return the storages of all arguments, each once."""
    return [cells(tensor) for _, tensor in _firsts(problem)]


def restore(problem: Document) -> None:
    """Restore the values that all tensors had at the first call, before the first launch."""
    if _BEFORE not in problem:
        problem[_BEFORE] = [cell.clone() for cell in all_cells(problem)]
    for cell, before in zip(all_cells(problem), problem[_BEFORE]):
        cell.copy_(before)


def changes(problem: Document) -> List[Document]:
    """Return the tensors whose storages changed.

    Each has ``name``, ``type``, ``elements``, ``changed``, ``sample`` and ``written``. ``sample``
    has the values of some elements. ``written`` has a 1 for each of them that was changed, else a
    0.
    """
    changes_ = []
    for (name, tensor), before in zip(_firsts(problem), problem[_BEFORE]):
        now = cells(tensor)
        differs = now != before
        changed = int(differs.sum())
        if changed:
            kind = str(tensor.dtype).rpartition(".")[2]
            places = _places(now.numel(), now.device)
            changes_.append(
                {
                    "name": name,
                    "type": kind,
                    "elements": now.numel(),
                    "changed": changed,
                    # PyTorch cannot choose elements of some types of 8 bits.
                    "sample": _texts(now[places].view(tensor.dtype)),
                    "written": "".join(
                        "1" if changed_ else "0" for changed_ in differs[places].tolist()
                    ),
                }
            )
    return changes_


def _firsts(problem: Document) -> Iterator[Tuple[str, torch.Tensor]]:
    """Yield one tensor of each storage, with its name."""
    seen = set()
    for name, value in problem["arguments"].items():
        if isinstance(value, torch.Tensor) and value.untyped_storage().nbytes():
            address = value.untyped_storage().data_ptr()
            if address not in seen:
                seen.add(address)
                yield name, value


def _places(count: int, device: torch.device) -> torch.Tensor:
    """Return the indices of the elements to record, the same ones for all tensors of that size."""
    some = (
        range(count) if count <= _SAMPLED else [index * _STEP % count for index in range(_SAMPLED)]
    )
    return torch.tensor(list(some), device=device)


def _texts(values: torch.Tensor) -> List[str]:
    """Return numbers as text, because JSON has no NaN."""
    if values.dtype.is_floating_point:
        return ["%.9g" % value for value in values.double().tolist()]
    return [str(int(value)) for value in values.tolist()]
