"""What a launch has to know of a compiled kernel: what the compiler says of it, and which arguments are left to be passed.

The latter are the run-time arguments in the order of the function's parameters, without constexprs and without what was folded into
the code. Up to 3.2 the folded ones are in ``constants``, by name or number; from 3.3 on their type in the signature is
``"constexpr"``. Elements of tuples are ``args[1]``, as in jobs.
"""

from __future__ import annotations

import json
from typing import Any, Iterator


def told(compiled: Any) -> str:
    """As JSON: ``{"fields": {...}, "parameters": [["x_ptr", "*fp16"], ...]}``; no parameters of what was made of a file of IR."""
    source = compiled.src
    known = hasattr(getattr(source, "fn", None), "arg_names")
    return json.dumps({"fields": _fields(compiled.metadata), "parameters": _parameters(source) if known else None})


def _fields(metadata: Any) -> dict[str, Any]:
    """What the compiler says of the kernel, as far as it is plain data."""
    found = metadata._asdict() if hasattr(metadata, "_asdict") else dict(vars(metadata))
    return {str(name): value for name, value in found.items() if _plain(value)}


def _plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _plain(each) for key, each in value.items())
    return value is None or isinstance(value, (bool, int, float, str))


def _parameters(source: Any) -> list[list[str]]:
    names = list(source.fn.arg_names)
    signature = {_number(names, key): kind for key, kind in source.signature.items()}
    folded = {_number(names, key) for key in getattr(source, "constants", {})}
    return [
        found
        for index, name in enumerate(names)
        if index in signature and index not in folded
        for found in _flat(name, signature[index])
    ]


def _number(names: list[str], key: Any) -> Any:
    """The number of a parameter by its name, its number or a path of one step."""
    if isinstance(key, str):
        return names.index(key) if key in names else key
    return key[0] if isinstance(key, tuple) and len(key) == 1 else key


def _flat(name: str, kind: Any) -> Iterator[list[str]]:
    if isinstance(kind, (tuple, list)):
        for index, each in enumerate(kind):
            yield from _flat("%s[%d]" % (name, index), each)
    elif kind != "constexpr":
        yield [name, str(kind)]
