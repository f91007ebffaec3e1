"""A problem whose tensors are made: poisoned before a launch, compared after it, and looked after meanwhile."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List


class Numerics:
    """The two modules of ``compat_numerics``, and PyTorch."""

    def __init__(self, torch: Any, problems: Any, outputs: Any) -> None:
        self.torch, self.problems, self.outputs = torch, problems, outputs


class Prepared:
    """One problem of those that a function yields."""

    def __init__(self, numerics: Numerics, made: Dict[str, Any], is_large: bool) -> None:
        """``made`` is as :func:`compat_numerics.problems.checked` returns it."""
        self._numerics = numerics
        self.made = made
        self.name: str = made["name"]
        self.is_large = is_large
        """Whether it has a size of real use, to be timed."""
        self.arguments: Dict[str, Any] = made["arguments"]
        self.baseline = made.get("baseline")
        self._outputs: List[Any] = list(self._written())
        self._guarded = list(self._read_only())
        self._before = self.sums()

    def poison(self) -> None:
        """Fill the outputs with what no kernel computes."""
        self._numerics.outputs.poison(self.made)

    def compare(self) -> Dict[str, Any]:
        """The outputs beside their references."""
        answer: Dict[str, Any] = self._numerics.outputs.compare(self.made)
        return answer

    def copy(self) -> List[Any]:
        """What the outputs hold now."""
        return [_bits(self._numerics.torch, output).clone() for output in self._outputs]

    def differs(self, first: List[Any]) -> Any:
        """Whether the outputs hold other bits than that, as a tensor on their device."""
        torch = self._numerics.torch
        each = [(_bits(torch, output) != before).any() for output, before in zip(self._outputs, first)]
        return torch.stack(each).any()

    def sums(self) -> Any:
        """A checksum of each tensor that no launch may change: inputs and references."""
        torch = self._numerics.torch
        return torch.stack([_sum(torch, tensor) for tensor in self._guarded]) if self._guarded else None

    def changed(self) -> bool:
        """Whether one of them has been changed."""
        return self._before is not None and not bool(self._numerics.torch.equal(self._before, self.sums()))

    def _written(self) -> Iterator[Any]:
        """What a launch may write to: where that is not known, all memory that its arguments lie in."""
        if self.made["outputs"] is None:
            self._numerics.outputs.restore(self.made)
            return iter(self._numerics.outputs.all_cells(self.made))
        return iter([self.arguments[name] for name in self.made["outputs"]])

    def _read_only(self) -> Iterator[Any]:
        torch = self._numerics.torch
        written = {_storage(torch, output).data_ptr() for output in self._outputs}
        for value in _tensors(torch, list(self.arguments.values())):
            if _storage(torch, value).data_ptr() not in written and value.numel():
                yield value
        for said in (self.made["outputs"] or {}).values():
            if torch.is_tensor(said["reference"]) and said["reference"].numel():
                yield said["reference"]


def _tensors(torch: Any, values: List[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _tensors(torch, list(value))
        elif torch.is_tensor(value):
            yield value


def _storage(torch: Any, tensor: Any) -> Any:
    return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()


def _bits(torch: Any, tensor: Any) -> Any:
    """A tensor as whole numbers of the same size: NaN then equals itself."""
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    if tensor.is_complex():
        return _bits(torch, torch.view_as_real(tensor))
    return tensor if tensor.dtype is torch.bool else tensor.view(kinds[tensor.element_size()])


def _sum(torch: Any, tensor: Any) -> Any:
    return _bits(torch, tensor).sum(dtype=torch.int64)
