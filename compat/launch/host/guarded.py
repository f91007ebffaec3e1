"""A problem with room around its tensors: what a kernel reads there is no number, and what it writes there is noticed.

A kernel that was cut down may have lost the masks that kept it inside of its tensors. In memory that others use too it would read
what happens to be there. A maximum hides what is no number, so that the room can be filled otherwise, too (:data:`OTHERS`): what a
kernel then computes otherwise it has read there.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

ROOM = 1 << 18
"""Bytes before and behind what a tensor lies in; a multiple of what allocators align to."""
_NO_NUMBER = 0xFF
"""A byte of which every floating point type makes NaN."""
_ALIGNED = 512
OTHERS = (256.0, -256.0)
"""Numbers that the room can be filled with: larger than what problems hold, and in range of every floating point type."""


class Guarded:
    """The tensors of a problem, moved into memory with room around it."""

    def __init__(self, torch: Any, made: Dict[str, Any]) -> None:
        """``made`` is as :func:`compat_numerics.problems.checked` returns it."""
        self._torch = torch
        self._moved: Dict[int, Any] = {}
        """Address of a storage → the bytes that it was moved to."""
        self._types: Dict[int, Any] = {}
        """Address of these bytes → the type of their elements, and how many bytes the storage had."""
        arguments = {name: self._value(value) for name, value in made["arguments"].items()}
        self.made = dict(made, arguments=arguments, baseline=None)
        written = {arguments[name].untyped_storage().data_ptr() for name in made["outputs"] or ()}
        self._kept: List[Tuple[Any, Any]] = [
            (memory, memory.clone())
            for memory in self._moved.values()
            if made["outputs"] is not None and memory.untyped_storage().data_ptr() not in written
        ]

    def is_intact(self) -> bool:
        """Whether no input was changed, nor the room around it."""
        return all(bool(self._torch.equal(memory, before)) for memory, before in self._kept)

    def surround(self, number: Optional[float] = None) -> None:
        """Fill the room around inputs with a number; whole numbers with 1. Without one it is what it was at first, no number."""
        for pair in self._kept:
            for memory in pair:
                kind, size = self._types[pair[0].data_ptr()]
                for room in (memory[:ROOM], memory[ROOM + size :]):
                    self._fill(room, kind, number)

    def _fill(self, room: Any, kind: Any, number: Optional[float]) -> None:
        if number is None:
            room.fill_(_NO_NUMBER)
            return
        value = self._torch.full((1,), number if kind.is_floating_point else 1, dtype=self._torch.float64, device=room.device)
        pattern = value.to(kind).view(self._torch.uint8)
        whole = len(room) // len(pattern) * len(pattern)
        room[:whole].view(-1, len(pattern)).copy_(pattern)

    def _value(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(self._value(each) for each in value)
        if not self._torch.is_tensor(value) or not value.untyped_storage().nbytes():
            return value
        memory = self._memory(value)
        self._types.setdefault(memory.data_ptr(), (value.dtype, value.untyped_storage().nbytes()))
        offset = ROOM // value.element_size() + value.storage_offset()
        moved = self._torch.empty(0, dtype=value.dtype, device=value.device)
        return moved.set_(memory.untyped_storage(), offset, value.size(), value.stride())

    def _memory(self, tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self._moved:
            torch, size = self._torch, storage.nbytes()
            behind = ROOM + -size % _ALIGNED
            memory = torch.full((ROOM + size + behind,), _NO_NUMBER, dtype=torch.uint8, device=tensor.device)
            whole = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)
            memory[ROOM : ROOM + size] = whole
            self._moved[storage.data_ptr()] = memory
        return self._moved[storage.data_ptr()]
