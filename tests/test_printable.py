"""Text without control characters, and JSON that every reader accepts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat.errors import CompatError
from compat.files import replace_file
from compat.text import printable, read_json, write_json
from tests.together import for_each


@for_each(
    ("text", "shown"),
    [
        ("plain, é and 😀", "plain, é and 😀"),
        ("a\tb\nc\r\nd", "a\tb\nc\nd"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\0\x07\x08\x0b\x0c\r\x7f", r"\x00\x07\x08\x0b\x0c\x0d\x7f"),
        ("\x85\x9b31m", r"\x85\x9b31m"),
        ("\u202eabc\u2066\u200f\u061c", r"\u202eabc\u2066\u200f\u061c"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\ud800 \udcff", r"\ud800 \udcff"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_printable_text_stays_the_same(text: str) -> None:
    shown = printable(text)
    assert printable(shown) == shown
    shown.encode("utf-8")
    assert set(shown.splitlines()) == set(
        shown.rstrip("\n").split("\n") if shown.strip("\n") else shown.splitlines()
    )


def test_the_messages_of_errors_are_printable() -> None:
    error = CompatError("no \x1b[31mkernel", where="a\0.toml", hint="\u202e")
    assert (str(error), error.hint) == (r"a\x00.toml: no \x1b[31mkernel", r"\u202e")


@for_each(
    "text",
    ["[" * 100_000, "NaN", "-Infinity", "1e999", "9" * 5000, b"\xff", "{", b"\xed\xa0\x80", ""],
)
def test_invalid_json_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any of them
        read_json(text)


def test_lenient_reading_replaces_invalid_numbers_by_none() -> None:
    assert read_json(
        '{"a": NaN, "b": [1e999, -Infinity], "c": 2.5, "d": ' + "9" * 5000 + "}", lenient=True
    ) == {
        "a": None,
        "b": [None, None],
        "c": 2.5,
        "d": None,
    }


def test_lone_surrogates_are_escaped_and_pairs_become_characters() -> None:
    assert read_json(r'{"\ud800": "\udfff \ud83d\ude00"}') == {r"\ud800": r"\udfff 😀"}


def test_values_that_json_does_not_have_are_written_in_another_form() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    written = write_json(
        {
            "nan": float("nan"),
            "huge": 10**5000,
            "bytes": b"x",
            "raw": "\x1b\ud800",
            3: {1},
            "deep": deep,
        }
    )
    document = json.loads(written)
    assert document["nan"] == "nan"
    assert document["huge"] == "a number of 16610 bits"
    assert document["raw"] == r"\x1b\ud800"
    assert document["3"] == [1]
    written.encode("utf-8")


def test_a_lone_surrogate_is_escaped_in_a_file(tmp_path: Any) -> None:
    replace_file(tmp_path / "f", "\ud800")
    assert (tmp_path / "f").read_text() == r"\ud800"
