"""Pages follow docs/style.md, as far as a program can check."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.source.parsing import walk
from tests import floors
from tests.floors import statements_in
from tests.together import for_each

ROOT = Path(__file__).parent.parent
LONGEST = 30
"""The most words of a sentence. The rule says 25, but a list of things may need a few more."""
WIDTH = 100
"""Columns of a line of prose."""
PLAIN = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "CHANGELOG.md",
    *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")),
)
"""The pages that follow the rules: all of them."""
_OPENING = re.compile(r"^(What|Which|Where|Of|In the place of)\b(?!.*\?$)")
_PHRASES = re.compile(
    r"\b(of which|that which|as it stands|in the place of|(?<!there )(?:is|are) no"
    r" (?!longer|more)|is had|nothing of)\b",
    re.IGNORECASE,
)
_REPEATED = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)
_CODE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[([^\[\]]*(?:\[[^\]]*\])?[^\[\]]*)\]\([^)]*\)")
_INDENTED = re.compile(r"(?<=\n\n)(?: {4}.*\n?)+")
_WHOLE = re.compile(r"^ *(?:[-*]|\d+\.) |`[^`]*`")
_END = re.compile(r"(?<=[.!?])(?:\*\*)?\s+(?=[\"“`*A-Z0-9]|triton-compat)")


def sentences(markdown: str) -> Iterator[str]:
    """The sentences of a page: paragraphs and items of lists, without code, tables and headings."""
    text = _LINK.sub(r"\1", _CODE.sub("\n", markdown))
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text):
        stripped = paragraph.strip()
        if stripped.startswith(("|", "#", "<", "!")):
            continue
        line = " ".join(re.sub(r"^(?:[-*]|\d+\.) ", "", stripped).split())
        line = re.sub(r"`[^`]*`", "`code`", line)
        yield from _END.split(line)


def long_lines(markdown: str) -> list[str]:
    """The lines of prose over :data:`WIDTH` that have a place to break.

    Code, tables, headings and one long link have none.
    """
    prose = _INDENTED.sub("", _CODE.sub("", markdown)).splitlines()
    lines = (line for line in prose if not line.startswith(("|", "#", "<", "!", "[!")))
    return [line for line in lines if len(line) > WIDTH and " " in _WHOLE.sub("", line).strip()]


def breaches(sentence: str) -> Iterator[str]:
    """The ways in which a sentence breaks the rules."""
    word_count = len(re.findall(r"[\w'’`-]+", sentence))
    if word_count > LONGEST:
        yield f"{word_count} words"
    for pattern in (_OPENING, _PHRASES, _REPEATED):
        if match := pattern.search(re.sub(r'"[^"]*"', "", sentence)):
            yield repr(match[0])


@for_each("page", PLAIN)
def test_a_page_follows_the_rules(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    broken = [
        f"{', '.join(why)}: {sentence}"
        for sentence in sentences(text)
        if (why := list(breaches(sentence)))
    ]
    assert not broken, "\n".join(broken)


@for_each("page", PLAIN)
def test_the_prose_of_a_page_is_wrapped(page: str) -> None:
    long = long_lines((ROOT / page).read_text(encoding="utf-8"))
    assert not long, "\n".join(long)


ROOMS = tuple(sorted(path.parent.name for path in (ROOT / "compat").glob("*/__init__.py")))
"""The rooms of the program."""
_HASHED = frozenset({"a loop changes what is no block"})
"""Texts that only fingerprints contain, so they must stay as they are."""
_WORDS = 3
"""A string with fewer words is a key, a name or a part of a sentence."""
_CLAUSE = re.compile(r"^(what|which) (?!.*\?$)", re.IGNORECASE)
_SPOKEN = re.compile(
    r"\b(called so|(?:be|is|was) (?:had|said)|as it should be|looked at|speaks? of|brings it)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"""`[^`]*`|"[^"]*"|\{[^}]*\}""")


def user_strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The strings of a module that can be messages, each with its line: no docstrings.

    A value in a string is a ``…``.
    """
    nodes = [*walk(tree)]
    silent = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    silent |= {
        id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values
    }
    for node in nodes:
        if id(node) in silent or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        text = "".join(
            part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "…"
            for part in parts
        )
        if (
            len(re.findall(r"[A-Za-z]{2,}", text)) >= _WORDS
            and text not in _HASHED
            and not re.search(r"\\[bdsw]|\(\?i\)|\bSELECT\b", text)
        ):
            yield node.lineno, text


def broken_messages(tree: ast.Module) -> Iterator[str]:
    """The sentences of messages that break a rule, each with its line and why."""
    for line, text in user_strings(tree):
        for sentence in (
            part for row in _QUOTED.sub("`code`", text).split("\n") for part in _END.split(row)
        ):
            why = [
                *breaches(sentence),
                *(
                    repr(match[0])
                    for pattern in (_CLAUSE, _SPOKEN)
                    if (match := pattern.search(sentence))
                ),
            ]
            if why:
                yield f"line {line}: {', '.join(why)}: {sentence}"


@for_each("room", ["", *ROOMS])
def test_messages_follow_the_rules(room: str) -> None:
    paths = (ROOT / "compat" / room).glob("**/*.py" if room else "*.py")
    broken = [
        f"{path.name}: {why}"
        for path in sorted(paths)
        for why in broken_messages(floors.tree(path))
    ]
    assert not broken, "\n".join(broken)


@for_each(
    ("code", "why"),
    [
        ("fail(f'{name!r} is no executor')", "line 1: 'is no ': … is no executor"),
        ("fail(f'no env is called so: {name}')", "line 1: 'called so': no env is called so: …"),
        ("say('what is gone is built again')", "line 1: 'what ': what is gone is built again"),
        ("option(help='The axis to search along.')", None),
        ("def f():\n    'What is no message.'", None),
        ("pattern = r'\\bwhat is no message\\b'", None),
        ("fail('unknown executor', hint='Which one is meant?')", None),
    ],
)
def test_a_message_that_breaks_a_rule_is_detected(code: str, why: str | None) -> None:
    assert list(broken_messages(ast.parse(code))) == ([why] if why else [])


@pytest.mark.parametrize("folder", ["compat", "tests", "bench"])
def test_no_string_is_a_stray_statement(folder: str) -> None:
    """Python silently drops a string after a bracket that closed too early."""
    stray = [
        f"{path.relative_to(ROOT)}: line {line}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in stray_strings(path.read_text(encoding="utf-8"), tree_of(path))
    ]
    assert not stray, "\n".join(stray)


def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file. Those of the package stay for other tests."""
    is_kept = path.is_relative_to(floors.PACKAGE)
    return floors.tree(path) if is_kept else ast.parse(path.read_text(encoding="utf-8"))


def stray_strings(code: str, tree: ast.Module) -> Iterator[int]:
    """The lines of string statements that are not docstrings, which have three quotes."""
    lines = code.splitlines()
    for node in statements_in(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.JoinedStr):
            text = lines[node.lineno - 1].strip().lstrip("frbuFRBU")
            if text.startswith(('"', "'")) and not text.startswith('"""'):
                yield node.lineno


def test_a_stray_string_is_detected() -> None:
    code = 'TEXT = (\n    "one "\n)\n"two"\nNAME = 1\n"""A docstring."""\n...\n'
    assert list(stray_strings(code, ast.parse(code))) == [4]


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_the_glossary_is_in_order_and_names_each_term_once() -> None:
    terms = re.findall(
        r"^\| \*\*([^*]+)\*\*",
        (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert terms == sorted(set(terms))


@for_each(
    ("sentence", "why"),
    [
        ("What compiles is shown.", ["'What'"]),
        ("What compiles?", []),
        ("'x' is no executor.", ["'is no '"]),
        ("It is no longer there.", []),
        (" ".join(["one", "two"] * 16) + ".", ["32 words"]),
        ("The the worker ends.", ["'The the'"]),
    ],
)
def test_a_sentence_that_breaks_a_rule_is_detected(sentence: str, why: list[str]) -> None:
    assert list(breaches(sentence)) == why


@for_each(
    ("page", "long"),
    [
        (f"{'a word ' * 14}ab", []),
        (f"{'a word ' * 14}abc", [f"{'a word ' * 14}abc"]),
        (f"- one\n  {'a word ' * 15}", [f"  {'a word ' * 15}"]),
        (f"```text\n{'a word ' * 15}\n```\n| {'a word ' * 15} |", []),
        (f"- [a](https://example.org/{'x' * 90})", []),
        (f"1. `{'a word ' * 15}`", []),
        (f"code:\n\n    {'a word ' * 15}", []),
        (f"10. one\n    {'a word ' * 15}", [f"    {'a word ' * 15}"]),
    ],
)
def test_a_long_line_is_detected(page: str, long: list[str]) -> None:
    assert long_lines(page) == long


def test_code_tables_and_headings_are_not_read() -> None:
    page = (
        "# What is it\n\nA line `what of it`.\n\n```console\n$ What is no x\n```\n\n| What | x"
        " |\n|---|---|\n\n- One. Two."
    )
    assert list(sentences(page)) == ["A line `code`.", "One.", "Two."]
