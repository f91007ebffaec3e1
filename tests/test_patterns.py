"""Regular expressions that are compiled when they are used."""

from __future__ import annotations

import copy
import gc
import pickle
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from re import _parser as re_parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from compat.text import Lazy, lazy_pattern
from tests.floors import PACKAGE, modules


def test_a_lazy_pattern_behaves_like_a_compiled_one() -> None:
    later, now = (
        lazy_pattern(r"(?P<word>[a-z]+)-(\d)", re.IGNORECASE),
        re.compile(r"(?P<word>[a-z]+)-(\d)", re.IGNORECASE),
    )
    text = "Ab-1 cd-2"
    for name in ("match", "search", "fullmatch", "findall", "split"):
        assert repr(getattr(later, name)(text)) == repr(getattr(now, name)(text))
    assert [match["word"] for match in later.finditer(text)] == ["Ab", "cd"]
    assert later.sub("x", text, count=1) == now.sub("x", text, count=1)
    assert (later.pattern, later.flags, later.groups, later.groupindex) == (
        now.pattern,
        now.flags,
        now.groups,
        now.groupindex,
    )
    assert lazy_pattern(rb"\w").findall(b"ab") == [b"a", b"b"]


def test_a_lazy_pattern_is_compiled_when_it_is_used() -> None:
    wrong = lazy_pattern("(")
    with pytest.raises(re.error):
        wrong.search("")


def test_a_lazy_pattern_can_be_copied_and_pickled() -> None:
    for later in (
        lazy_pattern("a"),
        copy.copy(lazy_pattern("a")),
        pickle.loads(pickle.dumps(lazy_pattern("a"))),
    ):
        assert later.findall("aba") == ["a", "a"]


def every_pattern() -> list[Lazy]:
    """The lazy patterns of all modules of the program."""
    for path in modules():
        if path.name != "__main__.py" and "__future__" in path.read_text():
            import_module(_name(path))
    gc.unfreeze()  # gc does not list objects that were frozen before the tests
    return [candidate for candidate in gc.get_objects() if type(candidate) is Lazy]


def test_every_lazy_pattern_of_the_program_can_be_compiled() -> None:
    patterns = every_pattern()
    assert len(patterns) > 150
    for pattern in patterns:
        assert pattern.pattern is not None


def test_no_possessive_quantifier_follows_a_group_with_a_lookahead() -> None:
    """Python misreads such a pattern before 3.11.5."""
    assert is_misread(r"(?:(?!/)[^ ()])*+/")
    assert not is_misread(r"(?!/)[^ ()]*+(?:a|b)++")
    assert not [lazy.pattern for lazy in every_pattern() if is_misread(lazy.pattern)]


def is_misread(pattern: str | bytes) -> bool:
    return any(
        str(operator) == "POSSESSIVE_REPEAT" and "ASSERT" in str(arguments)
        for operator, arguments in operations(re_parser.parse(pattern))
    )


def operations(parsed: Any) -> Iterator[tuple[Any, Any]]:
    """The operations of a parsed pattern, with those inside of others."""
    for part in parsed:
        if isinstance(part, tuple) and len(part) == 2:
            yield part
        if isinstance(part, tuple | list | re_parser.SubPattern):
            yield from operations(part)


def _name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    )
