"""IR text in canonical form: two forms differ exactly if the IRs differ in more than names.

A canonical form has none of a printer's free choices. These are names of values, blocks, aliases
and private functions, locations, the order of entries in a dictionary and of constants that stand
together, and the names of dialects before they were shortened. It has every operation with its
operands, attributes and types. New names say what a value is (``%load.0``, ``%{0 : i32}``). They
are counted for each operation by itself. So one more operation does not rename everything below it,
and a diff stays short.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from itertools import groupby

from attrs import define, field

from compat.text import lazy_pattern

_STRING = r'"(?:[^"\\\n]++|\\[^\n]?)*+(?:"|(?=\n)|\Z)'
"""A string. One without an end extends to the end of its line, so that no text is searched twice.
"""


def _balanced_pattern(depth: int) -> str:
    """Return a pattern for text in parentheses that are nested up to ``depth`` levels."""
    pattern = r"(?!)"
    for _ in range(depth + 1):
        pattern = rf'\((?:[^()"]|{_STRING}|{pattern})*\)'
    return pattern


_LOCATION = lazy_pattern(
    rf"^#loc\w* = [^\n]*$|(?<!\s)\s*+\bloc{_balanced_pattern(6)}", re.MULTILINE
)
_RESOURCES_BEGIN = lazy_pattern(r"^\{-#", re.MULTILINE)
_RESOURCES_END = lazy_pattern(r"^#-\}", re.MULTILINE)
_ALIAS = lazy_pattern(r"^(?P<name>[#!][A-Za-z_]\w*) = (?P<meaning>.*)$")
_VALUE = r"%(?:\d+|[A-Za-z$._-][\w$.-]*)"
_RESULTS = lazy_pattern(
    rf"^(?P<indent>\s*)(?P<names>{_VALUE}(?::\d+)?(?:, {_VALUE}(?::\d+)?)*) ="
    r' (?P<op>"?[\w.]+"?)(?P<rest>.*)$'
)
_TOKEN = lazy_pattern(
    rf"@{_STRING}|{_STRING}|@[\w$.-]+|{_VALUE}(?P<defined> = |: )?|\^\w+|[#!][A-Za-z_]\w*(?:\.\w+)*"
)
_FUNCTION = lazy_pattern(
    rf'^\s*"?(?:[\w]+)\.func"?\b(?P<private>[^@\n]*\b(?:private|internal)\b)?[^@\n]*(?P<symbol>@(?:{_STRING}|[\w$.-]+))?'
)
_DICTIONARY = lazy_pattern(r"\{(?P<entries>[^{}]*+)\}")
_KEYED = lazy_pattern(rf"^(?:[\w.$-]+|{_STRING})(?: = .*)?$")
_RENAMED = (  # in 3.3, which kept the names of the operations in these dialects
    (lazy_pattern(r"\btriton_nvidia_gpu\."), "ttng."),
    (lazy_pattern(r"\btriton_gpu\."), "ttg."),
    (lazy_pattern(r"!tt\.memdesc\b"), "!ttg.memdesc"),
)
_SHORT = 40
"""The most characters of a constant that serve as its name."""


def canonical(ir: str) -> str:
    """Return MLIR text in canonical form, used layouts first, one operation a line.

    Dialects have the names of later releases.
    """
    for pattern, name in _RENAMED:
        ir = pattern.sub(name, ir)
    ir = _LOCATION.sub("", _without_resources(ir))
    lines = [line for line in map(_without_comment, ir.splitlines()) if line.strip()]
    aliases = _Aliases.of(lines)
    names = _Names(aliases=aliases, private=_private(lines))
    body = [names.rename(_sorted_entries(line)) for line in lines if not _ALIAS.match(line)]
    return "\n".join([*aliases.definitions(), *_constants_sorted(body)]) + "\n"


def canonical_code(text: str) -> str:
    """Return LLVM IR or PTX without comments and debug information.

    Names are numbered in the order in which they appear. Special registers of PTX keep theirs.
    """
    text = _LABEL.sub(r"%\1:", text)
    names: dict[str, str] = {}
    lines = [
        line
        for line in map(_without_asides, text.splitlines())
        if line.strip() and not _DEBUG_LINE.match(line)
    ]

    def new_name(match: re.Match[str]) -> str:
        return match[0] if match[0][0] == '"' else names.setdefault(match[0], f"%{len(names)}")

    return _NAME.sub(new_name, "\n".join(lines)) + "\n"


def canonical_llvm(text: str) -> str:
    """Return LLVM IR as a toolchain writes it: with numbered names, without LLVM's own additions.

    LLVM adds the target's data layout and triple, and the attributes of intrinsics. Attributes in
    quotes of functions stay. Annotations stay, and other metadata does not.
    """
    quoted = {
        group["number"]: " ".join(sorted(_QUOTED.findall(group["words"])))
        for group in _ATTRIBUTES.finditer(text)
    }
    annotations = sorted(match[1] for match in _ANNOTATION.finditer(text))
    lines = [line for line in text.splitlines() if not _OF_LLVM.match(line)]
    body = [
        _GROUP.sub(lambda match: f" {quoted.get(match[1], '')}".rstrip(), line) for line in lines
    ]
    return "\n".join([canonical_code("\n".join(body)).rstrip("\n"), *annotations]) + "\n"


_ATTRIBUTES = lazy_pattern(r"^attributes #(?P<number>\d+) = \{(?P<words>.*)\}$", re.MULTILINE)
_QUOTED = lazy_pattern(rf"{_STRING}(?:={_STRING})?")
_ANNOTATION = lazy_pattern(r"^!\d+ = (!\{ptr @[^,]+, .*\})$", re.MULTILINE)
_OF_LLVM = lazy_pattern(r"attributes #|declare |target (?:datalayout|triple) = ")
_GROUP = lazy_pattern(r" #(\d+)\b")
_SPECIAL_REGISTER = (
    r"(?:n?(?:tid|ctaid|warpid|smid|clusterid)|laneid|gridid|cluster_\w+|is_explicit_cluster"
    r"|lanemask_\w+|clock\w*|globaltimer\w*|\w+_smem\w+)(?:\.[xyzw])?(?![\w.$-])"
)
"""A register of PTX whose name has a meaning, after the ``%``."""
_NAME = lazy_pattern(rf"{_STRING}|%(?!{_SPECIAL_REGISTER})[\w.$-]+|\$L\w+")
"""A name, or a string, where registers have their own names (``"mov.u32 $0, %laneid;"``)."""
_SEMICOLON = lazy_pattern(r"(?:^|\s);")
"""The beginning of an LLVM comment. The semicolon at the end of a line of PTX has no space before
it, so it is not one.
"""
_METADATA = lazy_pattern(r",? ![\w.]+ !\d+")


def _without_resources(ir: str) -> str:
    """Return IR without the blocks of resources at its end.

    MLIR writes them between ``{-#`` and ``#-}``.
    """
    parts, at = [], 0
    while (begin := _RESOURCES_BEGIN.search(ir, at)) and (
        end := _RESOURCES_END.search(ir, begin.end())
    ):
        parts.append(ir[at : begin.start()])
        at = end.end()
    return "".join([*parts, ir[at:]])


def _without_comment(line: str) -> str:
    """Return a line of IR or PTX up to a ``//`` that is not before or in a string."""
    at = line.find("//", line.rfind('"') + 1)
    return (line if at < 0 else line[:at]).rstrip()


def _without_asides(line: str) -> str:
    """Return a line of LLVM IR or PTX without comments and references to metadata."""
    line = _without_comment(line)
    comment = _SEMICOLON.search(line, line.rfind('"') + 1)
    return _METADATA.sub("", line[: comment.start()] if comment else line).rstrip()


_LABEL = lazy_pattern(r"^(\d+):", re.MULTILINE)
_DEBUG_LINE = lazy_pattern(
    r"^\s*(?:![\w.]+ = |source_filename|\.loc\b|\.file\b|\.section\s+\.debug|\.b\d+ )"
)


# --- values, blocks and symbols -------------------------------------------------------------------


@define
class _Names:
    """Old names → new names, which are numbered in the order in which a text defines them."""

    aliases: _Aliases
    private: dict[str, str]
    """Private function → new name."""
    values: dict[str, str] = field(factory=dict)
    awaited: set[str] = field(factory=set)
    """New names of values that were used before they were defined."""
    blocks: dict[str, str] = field(factory=dict)
    counts: Counter[str] = field(factory=Counter)

    def rename(self, line: str) -> str:
        """Return a line with new names. The names that it defines apply from the next line on."""
        if _FUNCTION.match(line):
            self.values, self.awaited, self.blocks, self.counts = {}, set(), {}, Counter()
        match = _RESULTS.match(line)
        if match is None:
            return _TOKEN.sub(self._token, line)
        rest = _TOKEN.sub(self._token, match["rest"])
        results = []
        for result in match["names"].split(", "):
            name, colon, count = result.partition(":")
            results.append(self._define(name, match["op"].strip('"'), rest) + colon + count)
        return f"{match['indent']}{', '.join(results)} = {match['op']}{rest}"

    def _define(self, name: str, op: str, rest: str) -> str:
        existing = self.values.get(name)
        if existing in self.awaited:
            self.awaited.discard(existing)
            return existing
        short = op.rpartition(".")[2]
        if short == "constant":
            value = rest.strip()
            value = value if len(value) <= _SHORT else f"{value[: _SHORT // 2]}…{_digest(value)}"
            self.values[name] = f"%{{{value}}}"
        else:
            self.values[name] = self._next(f"%{short}")
        return self.values[name]

    def _next(self, prefix: str) -> str:
        self.counts[prefix] += 1
        return f"{prefix}.{self.counts[prefix] - 1}"

    def _token(self, match: re.Match[str]) -> str:
        token = match[0]
        if token[0] == "%":
            return self._value(token, match["defined"] or "")
        if token[0] == "^":
            return self.blocks.setdefault(token, f"^block.{len(self.blocks)}")
        if token[0] == "@":
            return self.private.get(token, token)
        return self.aliases.use(token) if token[0] in "#!" else token

    def _value(self, token: str, defined: str) -> str:
        name = token.removesuffix(defined) if defined else token
        if defined:  # an argument of a block, a function or a loop
            new = self.values.get(name)
            if new in self.awaited:
                self.awaited.discard(new)
            else:
                new = self.values[name] = self._next("%arg")
            return new + defined
        if name not in self.values:
            self.values[name] = self._next("%later")
            self.awaited.add(self.values[name])
        return self.values[name]


def _private(lines: list[str]) -> dict[str, str]:
    """Return private function → its number.

    Every release mangles the names of private functions in another way.
    """
    matches = (_FUNCTION.match(line) for line in lines)
    symbols = [
        function["symbol"]
        for function in matches
        if function and function["private"] and function["symbol"]
    ]
    return {symbol: f"@private.{number}" for number, symbol in enumerate(dict.fromkeys(symbols))}


# --- aliases --------------------------------------------------------------------------------------


@define
class _Aliases:
    """The attribute and type aliases of a text, renamed after what they mean."""

    meanings: dict[str, str]
    renamed: dict[str, str] = field(factory=dict)
    used: dict[str, str] = field(factory=dict)
    """New name → meaning, for the used names."""

    @classmethod
    def of(cls, lines: list[str]) -> _Aliases:
        matches = (_ALIAS.match(line) for line in lines)
        return cls({alias["name"]: _sorted_entries(alias["meaning"]) for alias in matches if alias})

    def use(self, token: str) -> str:
        """Return the new name of an alias, or any other token unchanged."""
        if token not in self.meanings:
            return token
        if token not in self.renamed:
            self.renamed[token] = token  # an alias that leads to itself ends here
            meaning = _TOKEN.sub(self._replace_token, self.meanings[token])
            kind = re.match(r"[#!]\w+\.(\w+)", meaning)
            self.renamed[token] = f"{token[0]}{kind[1] if kind else 'alias'}.{_digest(meaning)}"
            self.used[self.renamed[token]] = meaning
        return self.renamed[token]

    def _replace_token(self, match: re.Match[str]) -> str:
        return self.use(match[0]) if match[0][0] in "#!" else match[0]

    def definitions(self) -> list[str]:
        return sorted(f"{name} = {meaning}" for name, meaning in self.used.items())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:4]


# --- order ----------------------------------------------------------------------------------------


def _sorted_entries(line: str) -> str:
    """Return a line with the entries of its innermost dictionaries in the order of their names."""
    return _DICTIONARY.sub(_sorted_dictionary, line)


def _sorted_dictionary(match: re.Match[str]) -> str:
    entries = _split(match["entries"]) if "=" in match["entries"] else [""]
    if not all(_KEYED.match(entry) for entry in entries):
        return match[0]
    return "{" + ", ".join(sorted(entries)) + "}"


def _split(text: str) -> list[str]:
    """Return the parts of a text between commas outside of brackets and strings."""
    parts: list[list[str]] = [[]]
    depth = 0
    for piece in re.findall(rf"{_STRING}|->|.", text, re.DOTALL):
        if piece == "," and depth == 0:
            parts.append([])
            continue
        depth += {"[": 1, "(": 1, "<": 1, "]": -1, ")": -1, ">": -1}.get(piece, 0)
        parts[-1].append(piece)
    return ["".join(part).strip() for part in parts]


def _constants_sorted(lines: list[str]) -> list[str]:
    runs = [(is_constant, list(run)) for is_constant, run in groupby(lines, key=_is_constant)]
    return [line for is_constant, run in runs for line in (sorted(run) if is_constant else run)]


def _is_constant(line: str) -> bool:
    return line.lstrip().startswith("%{")
