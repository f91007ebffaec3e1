"""The codec of records: attrs classes to and from plain JSON data, and its JSON Schema.

The key of a field is its name or its ``KEY`` (:mod:`compat.model.fields`). A field with ``ABSENT``
is not written. A record whose class has ``AS_ARRAY`` is an array of the values of its fields.

Reading checks all types of a record: ``"false"`` is not a boolean, and a string is not an array. An
error names the place of the value: ``attempts[2].raised[0].message: expected a string, found a
number``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from attrs import NOTHING, fields, fields_dict, has, resolve_types
from cattrs import ClassValidationError, Converter, ForbiddenExtraKeysError, IterableValidationError
from cattrs.cols import homogenous_tuple_structure_factory, is_mapping, mapping_structure_factory
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from cattrs.strategies import configure_union_passthrough
from packaging.version import Version

from compat.model.fields import ABSENT, DIGITS, KEY, OPTIONAL, Seconds, VersionText
from compat.text import JsonMapping, JsonObject

T = TypeVar("T")

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
_SCHEMA_TYPES: Mapping[object, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    type(None): "null",
}
_UNCHANGED = frozenset((bool, int, float, str, type(None)))
"""The types of values that are written as they are. A converter needs longer to find that out."""
_LONGEST_VERSION = 500
"""Maximum characters of a version. Python may not convert the numbers of a longer one."""


class RecordError(ValueError):
    """The data is not a valid record. The message says where and why."""


class _UnfitError(ValueError):
    """A value does not have the required type. The message is for readers."""


def unstructure(record: object, *, compact: bool = False) -> Any:
    """Convert a record, or a tuple or mapping of records, to plain data.

    ``compact`` leaves out values that are the default.
    """
    return _writer(compact).unstructure(record)


def structure(data: object, kind: type[T], *, more: bool = False) -> T:
    """Convert plain data to a record.

    ``kind`` may also be ``tuple[Record, ...]`` or ``Mapping[str, Record]``. With ``more``, unknown
    keys are ignored; otherwise they are an error. Raises :class:`RecordError`, and no other
    exception, for any data.
    """
    try:
        return _reader(more).structure(data, kind)
    except RecursionError as error:
        raise RecordError("nested too deeply") from error
    except Exception as error:
        raise RecordError(next(_messages(error, ""))) from error


def record_of(kind: type[T], *sources: object, **values: object) -> T:
    """Create a record with these values.

    Any other field gets the value of the first source with an attribute of that name.
    """
    record_class: object = kind
    origins = _origins(record_class, tuple(map(type, sources)))
    return kind(
        **{name: getattr(sources[place], name) for name, place in origins if name not in values},
        **values,
    )


@cache
def _origins(kind: type, sources: tuple[type, ...]) -> tuple[tuple[str, int], ...]:
    """The names of fields that a source has as an attribute, and the place of that source.

    The first such source counts.
    """
    names = [field.name for field in fields(kind) if field.init]
    places = {
        name: [place for place, source in enumerate(sources) if hasattr(source, name)]
        for name in names
    }
    return tuple((name, indices[0]) for name, indices in places.items() if indices)


# --- converters -----------------------------------------------------------------------------------


@cache
def _writer(compact: bool) -> Converter:
    converter = Converter(omit_if_default=compact, unstruct_collection_overrides={tuple: list})
    converter.register_unstructure_hook(Version, str)
    converter.register_unstructure_hook(StrEnum, str)

    def write_open(facts: JsonMapping) -> JsonObject:
        return {
            name: value if type(value) in _UNCHANGED else converter.unstructure(value)
            for name, value in facts.items()
        }

    converter.register_unstructure_hook_func(lambda kind: kind == JsonMapping, write_open)
    converter.register_unstructure_hook_func(
        lambda kind: kind == Seconds, lambda seconds: round(seconds, DIGITS)
    )
    converter.register_unstructure_hook_factory(
        has, lambda kind: _writer_of(kind, converter, compact)
    )
    return converter


@cache
def _writer_of(kind: type, converter: Converter, compact: bool) -> Callable[[object], object]:
    if hasattr(kind, "document"):
        write: Callable[[object], object] = kind.document
        return write
    resolve_types(kind)
    if hasattr(kind, "AS_ARRAY"):
        hooks = [(field.name, converter.get_unstructure_hook(field.type)) for field in fields(kind)]
        return lambda record: [hook(getattr(record, name)) for name, hook in hooks]
    overrides: JsonObject = {
        field.name: override(
            rename=field.metadata.get(KEY),
            # ``False`` also writes values that a record derives from its other fields.
            omit=bool(field.metadata.get(ABSENT)),
            omit_if_default=field.metadata.get(OPTIONAL) or None,
            unstruct_hook=(
                _writer(True).unstructure if field.metadata.get(OPTIONAL) and not compact else None
            ),
        )
        for field in fields(kind)
    }
    return make_dict_unstructure_fn(kind, converter, _cattrs_omit_if_default=compact, **overrides)


@cache
def _reader(more: bool) -> Converter:
    converter = Converter(forbid_extra_keys=not more)
    converter.register_structure_hook_factory(
        is_mapping, lambda kind: _only(dict, mapping_structure_factory(kind, converter))
    )
    converter.register_structure_hook_factory(
        _is_tuple,
        lambda kind: _only(list, homogenous_tuple_structure_factory(kind, converter), tuple),
    )
    converter.register_structure_hook_factory(has, lambda kind: _reader_of(kind, converter))
    for kind in (bool, int, str):
        converter.register_structure_hook(kind, _only(kind))
    converter.register_structure_hook(float, _only(float, lambda value, _: float(value), int))
    converter.register_structure_hook(StrEnum, _member)
    converter.register_structure_hook(Version, _version)
    converter.register_structure_hook_func(lambda kind: kind == _EITHER_TUPLE, _either_tuple)
    converter.register_structure_hook_func(
        lambda kind: kind == VersionText,
        lambda value, kind: str(value) if _version(value, kind) else "",
    )
    configure_union_passthrough(bool | int | float | str | None, converter)
    return converter


_EITHER_TUPLE = tuple[Any, ...] | Mapping[str, Any]
"""A tuple as an array, or a named tuple as an object."""


def _either_tuple(value: object, _: object) -> object:
    if isinstance(value, list | tuple):
        return tuple(value)
    return _only(dict)(value, dict)


def _is_tuple(kind: object) -> bool:
    return get_origin(kind) is tuple and get_args(kind)[1:] == (...,)


_Hook = Callable[[Any, Any], Any]


def _only(kind: type, read: _Hook = lambda value, _: value, also: type | None = None) -> _Hook:
    """Return a hook that accepts only values of one type, or of ``also``.

    ``True`` is not a number.
    """

    def hook(value: object, annotation: object) -> Any:
        if type(value) is not kind and type(value) is not also:
            raise _UnfitError(f"expected {_NAMES[kind]}, found {_name_of(value)}")
        return read(value, annotation)

    return hook


@cache
def _reader_of(kind: type, converter: Converter) -> _Hook:
    if hasattr(kind, "AS_ARRAY"):
        return _only(list, _array_reader(kind, converter))
    overrides: JsonObject = {
        field.name: override(
            rename=field.metadata.get(KEY), omit=True if field.metadata.get(ABSENT) else None
        )
        for field in fields(kind)
    }
    read: _Hook = make_dict_structure_fn(
        kind, converter, _cattrs_forbid_extra_keys=converter.forbid_extra_keys, **overrides
    )
    if hasattr(kind, "with_tuples"):
        return _only(dict, lambda value, annotation: read(value, annotation).with_tuples())
    return _only(dict, read)


def _array_reader(kind: type, converter: Converter) -> _Hook:
    hooks = [
        (field.name, field.type, converter.get_structure_hook(field.type))
        for field in fields(resolve_types(kind))
    ]

    def read(values: list[object], _: object) -> object:
        if len(values) != len(hooks):
            raise _UnfitError(f"expected {len(hooks)} values, found {len(values)}")
        return kind(
            **{
                name: hook(value, annotation)
                for (name, annotation, hook), value in zip(hooks, values, strict=True)
            }
        )

    return read


def _member(value: object, kind: type[StrEnum]) -> StrEnum:
    if isinstance(value, str) and value in [str(member) for member in kind]:
        return kind(value)
    raise _UnfitError(f"expected one of {', '.join(kind)}, found {_name_of(value)}")


def _version(value: object, _: object) -> object:
    try:
        if isinstance(value, str) and len(value) <= _LONGEST_VERSION:
            return Version(value)
    except ValueError:
        pass
    raise _UnfitError(f"expected a version, found {_name_of(value)}")


# --- schema ---------------------------------------------------------------------------------------


def schema_of(kind: Any, title: str) -> JsonObject:
    """The JSON Schema (draft 2020-12) of a record class, or of a tuple of records, as data."""
    definitions: JsonObject = {}
    root = (_record_schema if has(kind) else _schema)(kind, definitions, optional=False)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **root,
        "$defs": definitions,
    }


def _schema(kind: Any, definitions: JsonObject, *, optional: bool) -> JsonObject:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        keywords = dict(
            keyword for rule in arguments[1:] if isinstance(rule, tuple) for keyword in rule
        )
        return {**_schema(arguments[0], definitions, optional=optional), **keywords}
    if origin in (Union, UnionType):
        return {
            "anyOf": [_schema(argument, definitions, optional=optional) for argument in arguments]
        }
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": _schema(arguments[0], definitions, optional=optional)}
    if origin is not None:
        keys, values = (_schema(argument, definitions, optional=optional) for argument in arguments)
        return {
            "type": "object",
            **({} if arguments[0] is str else {"propertyNames": keys}),
            "additionalProperties": values,
        }
    if kind is Version:
        return {"type": "string", "minLength": 1}
    if kind in _SCHEMA_TYPES:
        return {"type": _SCHEMA_TYPES[kind]}
    if kind is Any:
        return {}
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # the class may refer to itself
        definitions[kind.__name__] = (
            {"enum": [str(member) for member in kind]}
            if issubclass(kind, StrEnum)
            else _record_schema(kind, definitions, optional=optional)
        )
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _record_schema(kind: type, definitions: JsonObject, *, optional: bool) -> JsonObject:
    if hasattr(kind, "document"):
        return {"type": "object"}
    properties: JsonObject = {}
    required: list[str] = []
    for field in fields(resolve_types(kind)):
        if field.metadata.get(ABSENT):
            continue
        key = field.metadata.get(KEY, field.name)
        properties[key] = _schema(
            field.type, definitions, optional=optional or bool(field.metadata.get(OPTIONAL))
        )
        if OPTIONAL not in field.metadata and not (optional and field.default is not NOTHING):
            required.append(key)
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


# --- messages -------------------------------------------------------------------------------------


def _name_of(value: object) -> str:
    if isinstance(value, str) and len(value) < 40:
        return repr(value)
    return _NAMES.get(type(value), f"a {type(value).__name__}")


def _messages(error: Exception, path: str) -> Iterator[str]:
    """Yield the messages of all errors, each with its place."""
    others = [error]
    if isinstance(error, ClassValidationError):
        within, others = error.group_exceptions()
        for inner, note in within:
            yield from _messages(inner, f"{path}.{_key_of(error.cl, note.name)}")
    elif isinstance(error, IterableValidationError):
        located, others = error.group_exceptions()
        for inner, place in located:
            step = f"[{place.index}]" if isinstance(place.index, int) else f".{place.index}"
            yield from _messages(inner, f"{path}{step}")
    for other in others:
        yield f"{path.removeprefix('.') or 'the whole'}: {_message(other)}"


def _key_of(kind: Any, name: str) -> str:
    """The key of a field in the data."""
    field = fields_dict(kind).get(name) if has(kind) else None
    return str(field.metadata.get(KEY, name)) if field else name


def _message(error: BaseException) -> str:
    if isinstance(error, _UnfitError):
        return str(error)
    if isinstance(error, ForbiddenExtraKeysError):
        return f"unknown key {', '.join(sorted(map(repr, error.extra_fields)))}"
    if isinstance(error, KeyError):
        return "is missing"
    return f"{type(error).__name__}: {error}"
