"""Records to and from plain data, which is what JSON has: objects, arrays, strings, numbers, booleans and null.

Reading checks all that a record's types say, and takes no value for another (``"false"`` is no boolean, a string no array).
What no record can be made of is told with its place: ``attempts[2].raised[0].message: expected a string, found a number``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar

from attrs import evolve, fields, fields_dict, has
from cattrs import ClassValidationError, Converter, ForbiddenExtraKeysError, IterableValidationError
from cattrs.cols import homogenous_tuple_structure_factory, is_mapping, mapping_structure_factory
from cattrs.gen import make_dict_structure_fn, override
from cattrs.strategies import configure_union_passthrough
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from compat.model import CompileSpec

T = TypeVar("T")

KEY = "key"
"""The metadata of a field with it has the key that the field is read from, where Python cannot call it so: ``class``."""

_NAMES: Mapping[type, str] = {
    bool: "a boolean",
    int: "a whole number",
    float: "a number",
    str: "a string",
    list: "an array",
    tuple: "an array",
    dict: "an object",
    type(None): "null",
}
_LONG = 500
"""Characters of a version or a specifier; with more of them no number in it need be one that Python reads."""


class RecordError(ValueError):
    """Data that is not the record that it should be. ``str`` of it says where and why."""


class _Unfit(ValueError):
    """A value that is not of the type that is needed, in words for a reader."""


def unstructure(record: Any, *, compact: bool = False) -> Any:
    """A record, or a tuple or mapping of records, as plain data; ``compact`` leaves out what has its default."""
    return _writer(compact).unstructure(record)


def structure(data: Any, kind: type[T], *, more: bool = False) -> T:
    """The record of plain data; ``kind`` may also be ``tuple[Record, ...]`` or ``Mapping[str, Record]``.

    With ``more`` keys that the record has not are passed over; else they are refused. Raises :class:`RecordError`, and nothing
    else, whatever the data is.
    """
    try:
        return _reader(more).structure(data, kind)
    except RecursionError as error:
        raise RecordError("nested too deeply") from error
    except Exception as error:
        raise RecordError(next(_told(error, ""))) from error


# --- converters ----------------------------------------------------------------------------------------------------------------


@cache
def _writer(compact: bool) -> Converter:
    converter = Converter(omit_if_default=compact, unstruct_collection_overrides={tuple: list})
    converter.register_unstructure_hook(Version, str)
    converter.register_unstructure_hook(SpecifierSet, str)
    converter.register_unstructure_hook(StrEnum, str)
    converter.register_unstructure_hook(CompileSpec, CompileSpec.document)
    return converter


@cache
def _reader(more: bool) -> Converter:
    converter = Converter(forbid_extra_keys=not more)
    converter.register_structure_hook_factory(is_mapping, lambda kind: _only(dict, mapping_structure_factory(kind, converter)))
    converter.register_structure_hook_factory(
        _is_tuple, lambda kind: _only(list, homogenous_tuple_structure_factory(kind, converter), tuple)
    )
    converter.register_structure_hook_factory(has, lambda kind: _of_record(kind, converter))
    for kind in (bool, int, str):
        converter.register_structure_hook(kind, _only(kind))
    converter.register_structure_hook(float, _only(float, lambda value, _: float(value), int))
    converter.register_structure_hook(StrEnum, _member)
    converter.register_structure_hook(Version, _parsed(Version, "a version"))
    converter.register_structure_hook(SpecifierSet, _parsed(SpecifierSet, "a version specifier"))
    configure_union_passthrough(bool | int | float | str | None, converter)
    return converter


def _is_tuple(kind: Any) -> bool:
    return getattr(kind, "__origin__", None) is tuple and kind.__args__[1:] == (...,)


_Hook = Callable[[Any, Any], Any]


def _only(kind: type, take: _Hook = lambda value, _: value, also: type | None = None) -> _Hook:
    """A hook that takes values of one type, perhaps of another one too, and no others: ``True`` is not a number."""

    def hook(value: Any, wanted: Any) -> Any:
        if type(value) is not kind and type(value) is not also:
            raise _Unfit(f"expected {_NAMES[kind]}, found {_named(value)}")
        return take(value, wanted)

    return hook


def _of_record(kind: type, converter: Converter) -> _Hook:
    keys: dict[str, Any] = {each.name: override(rename=each.metadata[KEY]) for each in fields(kind) if KEY in each.metadata}
    make: _Hook = make_dict_structure_fn(kind, converter, _cattrs_forbid_extra_keys=converter.forbid_extra_keys, **keys)
    if kind is CompileSpec:  # in JSON its tuples are arrays
        return _only(dict, lambda value, wanted: _with_tuples(make(value, wanted)))
    return _only(dict, make)


def _with_tuples(spec: CompileSpec) -> CompileSpec:
    tables = ("signature", "launch", "constexprs")
    found: dict[str, Any] = {table: {name: _tuples(value) for name, value in getattr(spec, table).items()} for table in tables}
    return evolve(spec, **found)


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _tuples(each) for name, each in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def _member(value: Any, kind: type[StrEnum]) -> StrEnum:
    if isinstance(value, str) and value in [str(each) for each in kind]:
        return kind(value)
    raise _Unfit(f"expected one of {', '.join(kind)}, found {_named(value)}")


def _parsed(parse: Callable[[str], Any], what: str) -> _Hook:
    def hook(value: Any, _: Any) -> Any:
        try:
            if isinstance(value, str) and len(value) <= _LONG:
                return parse(value)
        except ValueError:
            pass
        raise _Unfit(f"expected {what}, found {_named(value)}")

    return hook


# --- words -----------------------------------------------------------------------------------------------------------------------


def _named(value: object) -> str:
    return repr(value) if isinstance(value, str) and len(value) < 40 else _NAMES.get(type(value), f"a {type(value).__name__}")


def _told(error: Exception, path: str) -> Iterator[str]:
    """What is wrong, and where, for each thing that is."""
    others = [error]
    if isinstance(error, ClassValidationError):
        within, others = error.group_exceptions()
        for each, note in within:
            yield from _told(each, f"{path}.{_key_of(error.cl, note.name)}")
    elif isinstance(error, IterableValidationError):
        located, others = error.group_exceptions()
        for each, place in located:
            yield from _told(each, f"{path}[{place.index!r}]" if isinstance(place.index, int) else f"{path}.{place.index}")
    for other in others:
        yield f"{path.removeprefix('.') or 'the whole'}: {_words(other)}"


def _key_of(kind: Any, name: str) -> str:
    """What a field is called in data."""
    field = fields_dict(kind).get(name) if has(kind) else None
    return str(field.metadata.get(KEY, name)) if field else name


def _words(error: BaseException) -> str:
    if isinstance(error, _Unfit):
        return str(error)
    if isinstance(error, ForbiddenExtraKeysError):
        return f"unknown key {', '.join(sorted(map(repr, error.extra_fields)))}"
    if isinstance(error, KeyError):
        return "is missing"
    return f"{type(error).__name__}: {error}"
