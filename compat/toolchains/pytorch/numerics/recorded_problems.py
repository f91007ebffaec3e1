"""Problems of launches that `compat capture --problems` recorded.

The arguments have the same shapes, strides and types, and the grid is the same. Integers in tensors
are the recorded ones. Floating-point numbers are generated, and are the same on every machine. The
correct results are unknown, so no output has a reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator

import torch

if TYPE_CHECKING:
    from ...inside.foreign import Document, Objects

_FACTOR, _MASK = 0x9E3779B1, 0x7FFFFFFF


def recorded(
    parameters: Objects, _dtype: str, seed: int, device: str, large: bool
) -> Iterator[Document]:
    """Yield the launch once, as a small problem for the interpreter and for a GPU."""
    if large:
        return
    launch = parameters["recorded"]
    storages = [
        _storage(storage, seed + number) for number, storage in enumerate(launch["storages"])
    ]
    for tensor in launch["tensors"].values():
        if "values" in tensor:
            _write_values(storages[tensor["storage"]], tensor)
    storages = [storage.to(device) for storage in storages]
    views = {
        name: _view(storages[tensor["storage"]], tensor)
        for name, tensor in launch["tensors"].items()
    }
    yield {
        "name": "as recorded",
        "arguments": {**views, **launch["numbers"], **dict.fromkeys(launch["nothing"])},
        "grid": tuple(launch["grid"]),
        "descriptors": launch.get("descriptors", {}),
        "outputs": None,
    }


def _storage(description: Document, seed: int) -> torch.Tensor:
    """Return floating-point numbers between -1 and 1, or zeros if the type is an integer."""
    kind = getattr(torch, description["type"])
    if not kind.is_floating_point:
        return torch.zeros(description["elements"], dtype=kind)
    mixed = torch.arange(description["elements"], dtype=torch.int64) + 1000003 * (seed + 1)
    for shift in (16, 13, 16):  # products of 31 and 32 bits fit into 63
        mixed = ((mixed ^ (mixed >> shift)) & _MASK) * _FACTOR & _MASK
    return ((mixed >> 7).double() / (1 << 23) - 1.0).to(kind)


def _write_values(storage: torch.Tensor, description: Document) -> None:
    places = _view(torch.arange(storage.numel()), description).reshape(-1)
    bits = 8 * storage.element_size()
    # PyTorch cannot set elements of unsigned types of more than 8 bits.
    kind = {8: torch.uint8, 16: torch.int16, 32: torch.int32, 64: torch.int64}[bits]
    signed = [
        value if bits == 8 or value < 1 << (bits - 1) else value - (1 << bits)
        for value in description["values"]
    ]
    storage.view(kind)[places] = torch.tensor(
        [value % 256 if bits == 8 else value for value in signed], dtype=kind
    )


def _view(storage: torch.Tensor, description: Document) -> torch.Tensor:
    return storage.as_strided(description["shape"], description["strides"], description["offset"])
