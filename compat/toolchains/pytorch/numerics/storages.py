"""The memory that tensors lie in, as whole numbers; what a launch changed of it, where nobody says what it has to compute.

A problem whose ``outputs`` are ``None`` has no references. Before each launch all its tensors get back what they held; what the
launch has changed then is told, with a sample of its values, and nothing is said to be right or wrong.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Tuple

import torch

_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""By bytes of an element."""
_SAMPLED = 256
"""Elements of a tensor that was changed whose values are told."""
_STEP = 2654435761
"""Between two of them, so that they are not all in one column."""
_BEFORE = "before"


def cells(tensor: torch.Tensor) -> torch.Tensor:
    """The whole storage of a tensor, as whole numbers of the size of its elements."""
    kind = _INTEGERS[tensor.element_size()]
    return torch.empty(0, dtype=kind, device=tensor.device).set_(tensor.untyped_storage())  # type: ignore[call-overload,unused-ignore]


def all_cells(problem: Dict[str, Any]) -> List[torch.Tensor]:
    """The storages of all arguments, each once."""
    return [cells(tensor) for _, tensor in _firsts(problem)]


def restore(problem: Dict[str, Any]) -> None:
    """Have all tensors hold what they did when this was called first, which is before the first launch."""
    if _BEFORE not in problem:
        problem[_BEFORE] = [cell.clone() for cell in all_cells(problem)]
    for each, before in zip(all_cells(problem), problem[_BEFORE]):
        each.copy_(before)


def changes(problem: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The tensors in whose storages something changed: ``name``, ``type``, ``elements``, ``changed``, ``sample``, ``written``.

    ``sample`` are values of some elements, and ``written`` has a 1 for each of those that were changed, else a 0.
    """
    changes_ = []
    for (name, tensor), before in zip(_firsts(problem), problem[_BEFORE]):
        now = cells(tensor)
        differs = now != before
        changed = int(differs.sum())
        if changed:
            kind = str(tensor.dtype).rpartition(".")[2]
            values = torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(tensor.untyped_storage())  # type: ignore[call-overload,unused-ignore]
            places = _places(now.numel(), now.device)
            changes_.append(
                {
                    "name": name,
                    "type": kind,
                    "elements": now.numel(),
                    "changed": changed,
                    "sample": _texts(values[places]),
                    "written": "".join("1" if changed_ else "0" for changed_ in differs[places].tolist()),
                },
            )
    return changes_


def _firsts(problem: Dict[str, Any]) -> Iterator[Tuple[str, torch.Tensor]]:
    """One tensor of each storage, with its name."""
    seen = set()
    for name, value in problem["arguments"].items():
        if isinstance(value, torch.Tensor) and value.untyped_storage().nbytes():
            address = value.untyped_storage().data_ptr()
            if address not in seen:
                seen.add(address)
                yield name, value


def _places(count: int, device: torch.device) -> torch.Tensor:
    """The elements to tell of, the same ones of all tensors of that size."""
    some = range(count) if count <= _SAMPLED else [index * _STEP % count for index in range(_SAMPLED)]
    return torch.tensor(list(some), device=device)


def _texts(values: torch.Tensor) -> List[str]:
    """Numbers as text: JSON has no NaN."""
    if values.dtype.is_floating_point:
        return ["%.9g" % value for value in values.double().tolist()]
    return [str(int(value)) for value in values.tolist()]
