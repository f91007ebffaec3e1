"""A problem with its tensors: filled with poison before a launch, compared after it, and guarded.

A reduced kernel may have lost the masks that kept it inside of its tensors. In memory with other
tensors beside them it would read arbitrary values. Tensors of :class:`GuardedTensors` have room
around them. This room holds NaN, and the launcher detects writes into it. A maximum hides NaN, so
the room can be filled with other numbers, too (:data:`OTHERS`). If the results of a kernel then
differ, it has read the room.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple

if TYPE_CHECKING:
    from ...inside.foreign import Document, Objects, Tensor, Value

ROOM = 1 << 18
"""Bytes before and behind the storage of a tensor; a multiple of the alignment of allocators."""
_NO_NUMBER = 0xFF
"""A byte that makes NaN in every floating point type."""
_ALIGNED = 512
OTHERS = (256.0, -256.0)
"""Values to fill the room with. They are larger than the numbers of problems, and in the range of
every floating point type.
"""


class Numerics:
    """The two modules of ``compat_numerics``, and PyTorch."""

    def __init__(self, torch: ModuleType, problems: Any, outputs: Any) -> None:
        self.torch, self.problems, self.outputs = torch, problems, outputs


class Prepared:
    """One of the problems that a function yields."""

    def __init__(self, numerics: Numerics, problem: Objects, is_large: bool) -> None:
        """``problem`` is as :func:`compat_numerics.problems.check_problem` returns it."""
        self._numerics = numerics
        self.made = problem
        self.name: str = problem["name"]
        self.is_large = is_large
        """Whether it has a size of real use, to be timed."""
        self.arguments: Objects = problem["arguments"]
        self.baseline = problem.get("baseline")
        self._outputs: List[Any] = list(self._writable_tensors())
        self._guarded = list(self._read_only())
        self._before = self.sums()

    def grid(self, settings: Objects) -> Tuple[int, ...]:
        """Return the grid for a kernel that was compiled with these settings.

        Raises ProblemError.
        """
        sizes: Tuple[int, ...] = self._numerics.problems.grid_of(self.made, settings)
        return sizes

    def poison(self) -> None:
        """Fill the outputs with values that no kernel computes."""
        self._numerics.outputs.poison(self.made)

    def compare(self) -> Document:
        """Compare the outputs with their references."""
        answer: Document = self._numerics.outputs.compare(self.made)
        return answer

    def copy(self) -> List[object]:
        """Return a copy of the current bits of the outputs."""
        return [bits_of(self._numerics.torch, output).clone() for output in self._outputs]

    def differs(self, first: List[Any]) -> object:
        """Return whether the outputs differ from ``first``, as a tensor on their device."""
        torch = self._numerics.torch
        differences = [
            (bits_of(torch, output) != before).any() for output, before in zip(self._outputs, first)
        ]
        return torch.stack(differences).any() if differences else False

    def sums(self) -> object:
        """Return a checksum of each tensor that no launch may change: inputs and references."""
        torch = self._numerics.torch
        return (
            torch.stack([bits_of(torch, tensor).sum(dtype=torch.int64) for tensor in self._guarded])
            if self._guarded
            else None
        )

    def inputs_changed(self) -> bool:
        """Whether a launch has changed an input or a reference."""
        return self._before is not None and not bool(
            self._numerics.torch.equal(self._before, self.sums())
        )

    def _writable_tensors(self) -> Iterator[Value]:
        """Yield the tensors that a launch may write to.

        If the outputs are unknown, these are the whole storages of all arguments.
        """
        if self.made["outputs"] is None:
            self._numerics.outputs.restore(self.made)
            return iter(self._numerics.outputs.all_cells(self.made))
        return iter([self.arguments[name] for name in self.made["outputs"]])

    def _read_only(self) -> Iterator[Any]:
        torch = self._numerics.torch
        written = {output.untyped_storage().data_ptr() for output in self._outputs}
        for value in _tensors(torch, list(self.arguments.values())):
            if value.untyped_storage().data_ptr() not in written and value.numel():
                yield value
        for output in (self.made["outputs"] or {}).values():
            if torch.is_tensor(output["reference"]) and output["reference"].numel():
                yield output["reference"]


def _tensors(torch: ModuleType, values: List[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _tensors(torch, list(value))
        elif torch.is_tensor(value):
            yield value


def bits_of(torch: ModuleType, tensor: Tensor) -> Tensor:
    """Return a tensor as whole numbers of the same size, so that NaN equals itself."""
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    if tensor.is_complex():
        return bits_of(torch, torch.view_as_real(tensor))
    return tensor.view(kinds[tensor.element_size()])


# --- room around tensors --------------------------------------------------------------------------


class GuardedTensors:
    """The tensors of a problem, moved into memory with room around it."""

    def __init__(self, torch: ModuleType, problem: Objects) -> None:
        """``problem`` is as :func:`compat_numerics.problems.check_problem` returns it."""
        self._torch = torch
        self._moved: Dict[int, Any] = {}
        """Address of a storage → the bytes that it was moved to."""
        self._types: Dict[int, Any] = {}
        """Address of these bytes → the element type, and the size of the storage in bytes."""
        arguments = {name: self._value(value) for name, value in problem["arguments"].items()}
        self.made = dict(problem, arguments=arguments, baseline=None)
        written = {
            arguments[name].untyped_storage().data_ptr() for name in problem["outputs"] or ()
        }
        self._kept: List[Tuple[Any, Any]] = [
            (memory, memory.clone())
            for memory in self._moved.values()
            if problem["outputs"] is not None and memory.untyped_storage().data_ptr() not in written
        ]

    def is_intact(self) -> bool:
        """Whether the inputs and the room around them are unchanged."""
        return all(bool(self._torch.equal(memory, before)) for memory, before in self._kept)

    def surround(self, number: Optional[float] = None) -> None:
        """Fill the room around inputs with a number, or with 1 if they hold whole numbers.

        Without a number, fill it with NaN as in the beginning.
        """
        for pair in self._kept:
            for memory in pair:
                kind, size = self._types[pair[0].data_ptr()]
                for room in (memory[:ROOM], memory[ROOM + size :]):
                    self._fill(room, kind, number)

    def _fill(self, room: Tensor, kind: Value, number: Optional[float]) -> None:
        if number is None:
            room.fill_(_NO_NUMBER)
            return
        value = self._torch.full(
            (1,),
            number if kind.is_floating_point else 1,
            dtype=self._torch.float64,
            device=room.device,
        )
        pattern = value.to(kind).view(self._torch.uint8)
        length = len(room) // len(pattern) * len(pattern)
        room[:length].view(-1, len(pattern)).copy_(pattern)

    def _value(self, value: Value) -> Value:
        if isinstance(value, (list, tuple)):
            items = [self._value(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if not self._torch.is_tensor(value) or not value.untyped_storage().nbytes():
            return value
        memory = self._memory(value)
        self._types.setdefault(memory.data_ptr(), (value.dtype, value.untyped_storage().nbytes()))
        offset = ROOM // value.element_size() + value.storage_offset()
        moved = self._torch.empty(0, dtype=value.dtype, device=value.device)
        return moved.set_(memory.untyped_storage(), offset, value.size(), value.stride())

    def _memory(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self._moved:
            torch, size = self._torch, storage.nbytes()
            behind = ROOM + -size % _ALIGNED
            memory = torch.full(
                (ROOM + size + behind,), _NO_NUMBER, dtype=torch.uint8, device=tensor.device
            )
            original = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)
            memory[ROOM : ROOM + size] = original
            self._moved[storage.data_ptr()] = memory
        return self._moved[storage.data_ptr()]
