"""The text of a guard, and its reader. The reader takes the text as data, and never runs it."""

from __future__ import annotations

import ast
import json
import shlex
from collections.abc import Iterator, Mapping
from functools import cached_property
from string import ascii_letters
from textwrap import indent, wrap

from attrs import Factory, asdict, frozen

from compat import __version__, toolchains
from compat.errors import StoreError
from compat.files import templates
from compat.guard.configs import Configs
from compat.guard.facts import (
    WORKS,
    GuardFacts,
    Request,
    convert_rows,
    find_facts,
    guarding_of,
    toolchain_of,
)
from compat.model.codec import RecordError, structure
from compat.report.summary.record import Report
from compat.source.parsing import tree_of
from compat.text import join_words, text_digest
from compat.toolchains.base import Toolchain

_GOOD, _UNKNOWN, _ANY = "+", "?", "-"
"""Marks of a release: the variant works; unknown; it fails, and there is no letter left for the
reason.
"""
_WIDTH = 100
_HEAD_WIDTH = 120
USUAL = "reports/matrix.json"
"""The default report."""
_NAME = "FACTS"
_HINT = "Name a file that `compat guard --out` wrote."


@frozen(kw_only=True)
class Guard:
    """The facts of a written guard, and its origin."""

    facts: GuardFacts
    request: Request
    toolchain: Toolchain
    version: str = __version__
    """The version of triton-compat that made it."""
    configs: Configs = Factory(dict)
    """The best configs, if the guard has them."""

    @property
    def policy(self) -> str:
        """The assumption about untested combinations."""
        return self.request.policy or guarding_of(self.toolchain).policies[0]

    def answer(self, kernel: str, release: str, target: str) -> str | None:
        """Return the variant that this guard chooses for a library; ``None`` for none."""
        variant: str | None = (
            guarding_of(self.toolchain)
            .decide(self.decision_data, kernel, release, target, self.policy)
            .variant
        )
        return variant

    @cached_property
    def decision_data(self) -> dict[str, object]:
        """The data by which the code in the file decides."""
        facts, letters = self.facts, _letters(self.facts)
        return {
            "policy": self.policy,
            "releases": facts.releases,
            "targets": dict(facts.targets),
            "reasons": {letter: reason for reason, letter in letters.items() if letter != _ANY},
            "kernels": convert_rows(
                facts.kernels, lambda row: "".join(_marks(facts, row, letters))
            ),
            **({"configs": self.configs} if self.configs else {}),
        }


def make_guard(report: Report, request: Request, configs: Configs | None = None) -> Guard:
    """Make the guard for chosen kernels of a report.

    Args:
        report: The results of a matrix.
        request: The kernels, and what the guard assumes.
        configs: The best configs of kernels; those of other kernels are left out.

    Returns:
        The guard.

    Raises:
        SelectionError: The report has no such kernel, the kernels are of several toolchains, or
            their toolchain does not support guards.
    """
    toolchain = toolchain_of(report, request)
    guarding_of(toolchain)
    facts = find_facts(report, request, toolchain)
    chosen = {kernel: of for kernel, of in (configs or {}).items() if kernel in facts.kernels}
    return Guard(facts=facts, request=request, toolchain=toolchain, configs=chosen)


# --- writing --------------------------------------------------------------------------------------


def guard_text(guard: Guard) -> str:
    """Return the text of a guard file: its description, the facts and the code."""
    before, _, code = (
        guarding_of(guard.toolchain).code.read_text(encoding="utf-8").partition(f"{_NAME}: ")
    )
    annotation = code.partition(" = ")[0]
    imports = before[before.index("from __future__") :]
    return "".join(
        (
            _head(guard),
            "\n",
            imports,
            f"{_NAME}: {annotation} = {_literal(_document(guard))}\n",
            code.partition("\n")[2],
        )
    )


def _head(guard: Guard) -> str:
    kernels = list(guard.facts.kernels)
    return (
        templates("compat.guard")
        .get_template("head.py.j2")
        .render(
            title=guard.toolchain.title,
            policy=guard.policy,
            example=f'"{_inside_quotes(kernels[0] if kernels else "kernel")}"',
            kernels=_inside_quotes_wrapped(f"Kernels: {join_words(kernels)}."),
            command=_inside_quotes(command_of(guard)),
            cases=(
                _inside_quotes_wrapped(f"{', '.join(guard.request.cases)}.")
                if guard.request.cases
                else ""
            ),
        )
    )


def _inside_quotes(text: str) -> str:
    """Return a text escaped for a Python string in double quotes."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _inside_quotes_wrapped(text: str) -> str:
    """Return an escaped text in several lines, without broken words."""
    return "\n".join(
        wrap(_inside_quotes(text), _HEAD_WIDTH, break_long_words=False, break_on_hyphens=False)
    )


def command_of(guard: Guard, out: str = "FILE", report: str = "") -> str:
    """Return the command that makes a guard again.

    It names the report only if that is not the default one.
    """
    request = guard.request
    globbed = (
        ("--kernel", request.kernels),
        ("--variant", request.variants),
        ("--case", request.cases),
    )
    arguments = [word for option, globs in globbed for glob in globs for word in (option, glob)]
    arguments += ["--prefer", ",".join(request.prefer)] if request.prefer else []
    arguments += ["--policy", request.policy] if request.policy else []
    arguments += ["--tuned", "TUNED.json"] if guard.configs else []
    named = [] if report in ("", USUAL) else [report]
    return shlex.join(["compat", "guard", *named, *arguments, "--out", out])


def _document(guard: Guard) -> dict[str, object]:
    provenance = {
        "by": guard.version,
        "toolchain": guard.toolchain.name,
        "request": asdict(guard.request, recurse=False),
        "digest": text_digest(json.dumps(guard.decision_data, sort_keys=True)),
    }
    return {**guard.decision_data, "origin": provenance}


def _letters(facts: GuardFacts) -> dict[str, str]:
    """Return reason → its letter in the marks."""
    reasons = dict.fromkeys(
        row[release]
        for row in facts.rows
        for release in facts.releases
        if row.get(release, WORKS) != WORKS
    )
    return {
        reason: ascii_letters[at] if at < len(ascii_letters) else _ANY
        for at, reason in enumerate(reasons)
    }


def _marks(facts: GuardFacts, row: Mapping[str, str], letters: Mapping[str, str]) -> Iterator[str]:
    for release in facts.releases:
        yield (
            _UNKNOWN
            if release not in row
            else _GOOD
            if row[release] == WORKS
            else letters[row[release]]
        )


def _literal(value: object, room: int = _WIDTH) -> str:
    """Return a value as a Python literal.

    A mapping has a line for each entry. So does a tuple that is longer than ``room`` characters.
    """
    if isinstance(value, Mapping) and value:
        entries = (
            f"{_literal(key)}: {_literal(element, room - 8)}" for key, element in value.items()
        )
        return "{\n" + indent("".join(f"{entry},\n" for entry in entries), "    ") + "}"
    if isinstance(value, tuple) and value:
        parts = [_literal(element) for element in value]
        line = f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        return (
            line
            if len(line) <= room
            else "(\n" + indent("".join(f"{part},\n" for part in parts), "    ") + ")"
        )
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


# --- reading --------------------------------------------------------------------------------------


@frozen(kw_only=True)
class _StoredOrigin:
    by: str
    toolchain: str
    request: Request
    digest: str


@frozen(kw_only=True)
class _StoredFacts:
    policy: str
    releases: tuple[str, ...]
    targets: Mapping[str, tuple[str | int, ...]]
    reasons: Mapping[str, str]
    kernels: Mapping[str, Mapping[str, Mapping[str, str]]]
    origin: _StoredOrigin
    configs: Configs = Factory(dict)


def read_guard(text: str, where: str = "guard") -> Guard:
    """Read the facts from a text that :func:`guard_text` made.

    Args:
        text: The text of the file.
        where: Name of the file in errors.

    Raises:
        StoreError: The text is not a guard.
    """
    try:
        value = _facts_of(tree_of(text, where))
        stored = structure(json.loads(json.dumps(value)), _StoredFacts, more=True)
        return _guard(stored)
    except (SyntaxError, ValueError, TypeError, RecursionError) as error:
        raise StoreError(f"the file is not a guard: {error}", where=where, hint=_HINT) from error


def _facts_of(tree: ast.Module) -> object:
    for node in tree.body:
        if (
            isinstance(node, ast.AnnAssign)
            and node.value
            and isinstance(node.target, ast.Name)
            and node.target.id == _NAME
        ):
            return ast.literal_eval(node.value)
    raise RecordError(f"it has no {_NAME}")


def _guard(stored: _StoredFacts) -> Guard:
    provenance = stored.origin
    if provenance.toolchain not in {toolchain.name for toolchain in toolchains.every()}:
        raise RecordError(f"the toolchain {provenance.toolchain!r} is not installed here")
    if stored.policy not in guarding_of(toolchains.look_up(provenance.toolchain)).policies:
        raise RecordError(f"unknown policy {stored.policy!r}")
    return Guard(
        facts=GuardFacts(
            releases=stored.releases,
            targets={name: _target(name, target) for name, target in stored.targets.items()},
            kernels=convert_rows(stored.kernels, lambda marks: dict(_states(stored, marks))),
        ),
        request=provenance.request,
        toolchain=toolchains.look_up(provenance.toolchain),
        version=provenance.by,
        configs=stored.configs,
    )


def _target(name: str, parts: tuple[str | int, ...]) -> tuple[str, int | str]:
    if len(parts) != 2 or not isinstance(parts[0], str):
        raise RecordError(f"targets.{name}: expected a backend and an architecture")
    return parts[0], parts[1]


def _states(stored: _StoredFacts, marks: str) -> Iterator[tuple[str, str]]:
    for release, mark in zip(stored.releases, marks, strict=False):
        if mark != _UNKNOWN:
            yield release, WORKS if mark == _GOOD else stored.reasons.get(mark, "it fails")


def is_intact(text: str, guard: Guard) -> bool:
    """Whether a file is equal to the text that this version writes for its facts.

    Its layout does not matter.
    """
    written = guard_text(guard)
    return text == written or ast.dump(tree_of(text)) == ast.dump(tree_of(written))
