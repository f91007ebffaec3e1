"""JSON read piece by piece: the same value as read whole, wherever the pieces end.

Memory holds no more than the converted value.
"""

from __future__ import annotations

import io
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat import text as text_module
from compat.text import printable, read_json, read_json_stream

ITEMS = 20_000

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)
objects = st.dictionaries(
    st.sampled_from(["cells", "verdicts", "other", "é\n"]), values, max_size=4
)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "_CHUNK", 3)


def read(text: str | bytes) -> Any:
    return read_json_stream(
        io.BytesIO(text.encode() if isinstance(text, str) else text),
        {"cells": lambda _, value: value, "gone": lambda _, value: 0},
    )


@pytest.mark.usefixtures("small_pieces")
@given(objects | values, st.booleans(), st.sampled_from([None, 1]))
@example("\x7f", False, None)
@example("\b", True, None)
@example("\f", True, None)
@example("\r\n", True, None)
@example(["\x9b", "\u202e"], False, None)
def test_the_value_is_that_of_the_whole_text_with_printable_strings(
    value: Any, plain: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=plain, indent=indent)
    data = text.encode("utf-8", "backslashreplace")
    assert read(data) == text_module._with_strings(printable, read_json(data))


@pytest.mark.usefixtures("small_pieces")
@given(objects, st.data())
def test_damaged_text_is_refused_if_and_only_if_the_whole_is_refused(
    value: Any, data: st.DataObject
) -> None:
    text = json.dumps(value, indent=1)
    at = data.draw(st.integers(0, len(text)))
    spoilt = text[:at] + data.draw(
        st.sampled_from(["", ",", "}", "]", '"', "\\", "x", "1e999", "NaN", "\ufeff"])
    )
    spoilt += data.draw(st.sampled_from(["", text[at:]]))
    try:
        expected = read_json(spoilt.encode())
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 (any message of the reader)
            read(spoilt)
    else:
        assert read(spoilt) == text_module._with_strings(printable, expected)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a" 1}',
        '{"cells": [1 2]}',
        '{"a": tru}',
        '{\n"a": 1,\n "b": [1,\n\n x]}',
        "[1] 2",
        '{"a": "\n"}',
        '{"cells": [1\n, "]}',
    ],
)
def test_an_error_is_the_same_as_for_the_whole_text(text: str) -> None:
    with pytest.raises(ValueError) as expected:  # noqa: PT011
        read_json(text)
    with pytest.raises(ValueError) as pieces:  # noqa: PT011
        read(text)
    assert str(pieces.value) == str(expected.value)


def test_items_are_converted_while_reading_and_not_kept_in_memory() -> None:
    text = json.dumps(
        {
            "cells": [{"id": f"{number:08}", "text": "x" * 500} for number in range(ITEMS)],
            "last": 1,
        },
        indent=1,
    )
    file = io.BytesIO(text.encode())
    size, places = len(text), list[int]()
    del text

    def take(place: int, value: Any) -> None:
        places.append(file.tell())
        assert value["id"] == f"{place:08}"

    tracemalloc.start()
    try:
        document = read_json_stream(file, {"cells": take})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert document == {"cells": [None] * ITEMS, "last": 1}
    assert places[0] < size / 20
    assert places[ITEMS // 2] < size * 0.6
    assert peak < size / 3, "a few pieces of the file, and a place for each item"
