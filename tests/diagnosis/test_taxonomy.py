"""The failure classes as data: complete, consistent, documented."""

from __future__ import annotations

import os
import re
from pathlib import Path
from string import Formatter
from textwrap import fill

from compat.diagnosis.classify import broken_env_outcome, classify
from compat.diagnosis.failure_class import FailureClass
from compat.diagnosis.symptoms import Symptoms
from compat.model import Status
from compat.toolchains.triton.failures import KNOWLEDGE
from tests.diagnosis.captured_failures import all_captured_failures, installers_words
from tests.together import for_each

DOCUMENT = Path(__file__).parents[2] / "docs" / "failure-classes.md"
NAMES = [
    "install",
    "import",
    "toolchain-damaged",
    "machine",
    "source-needs-package",
    "source-import",
    "source-timeout",
    "timeout",
    "out-of-memory",
    "toolchain-missing",
    "target-unknown",
    "layout",
    "mlir-bitwidth-assert",
    "dtype-unsupported",
    "invalid-option",
    "inline-asm",
    "target-feature",
    "function-name",
    "compiler-assert",
    "assembler-crash",
    "compiler-crash",
    "device-library",
    "shared-memory",
    "ptxas",
    "ir-parse",
    "verifier",
    "pass-failure",
    "block-threads",
    "block-registers",
    "cluster-size",
    "tensor-memory",
    "sass-descriptor",
    "static-assert",
    "unsupported-syntax",
    "recursion",
    "undefined-name",
    "unusable-global",
    "api-removed",
    "api-missing",
    "api-changed",
    "constexpr-required",
    "loop-carried-type",
    "branch-types",
    "block-condition",
    "loop-bounds",
    "dot-operands",
    "pointer-or-value",
    "scalar-pointer",
    "descriptor-rules",
    "block-size",
    "shape-mismatch",
    "block-indexing",
    "signature-type",
    "invalid-argument",
    "number-range",
    "python-value",
    "type-error",
    "internal-error",
    "unclassified",
]
_LIST = re.compile(r"(?<=<!-- classes -->\n).*?(?=<!-- end -->)", re.DOTALL)
ALWAYS_KNOWN = {"target", "stage", "called"}


def test_failure_classes_have_this_order() -> None:
    assert list(KNOWLEDGE.by_name) == NAMES


@for_each("failure_class", KNOWLEDGE.by_name.values())
def test_a_failure_class_has_a_title_a_meaning_and_advice(failure_class: FailureClass) -> None:
    assert failure_class.title
    assert failure_class.meaning.endswith(".")
    assert failure_class.advice.endswith(".")
    assert failure_class.status is not Status.OK


@for_each("failure_class", KNOWLEDGE.by_name.values())
def test_signs_name_every_fact_that_the_advice_needs(failure_class: FailureClass) -> None:
    for sign in failure_class.signs:
        template = f"{sign.advice or failure_class.advice}{sign.means or ''}"
        fields = {field for _, field, _, _ in Formatter().parse(template) if field} - ALWAYS_KNOWN
        named = {
            fact for pattern in sign.patterns.values() for fact in re.compile(pattern).groupindex
        }
        assert fields <= named


@for_each("failure_class", KNOWLEDGE.by_name.values())
def test_signs_read_existing_symptoms(failure_class: FailureClass) -> None:
    for sign in failure_class.signs:
        assert sign.words in {field.name for field in Symptoms.__attrs_attrs__}
        sign.match(Symptoms(stage="ast"))


class _Facts(dict[str, str]):
    """The text of the page for the facts of a failure: their names in capitals."""

    def __missing__(self, name: str) -> str:
        return name.upper()


def wrapped(text: str) -> str:
    """A paragraph in lines of 100 columns, none of which begins in the middle of code."""
    paragraph = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "\0"), text)
    return fill(paragraph, 100, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def shortened(message: str) -> str:
    """A message in one line of at most 110 characters, with a mark if more follows."""
    return message if len(message) <= 110 else f"{message[:109].rpartition(' ')[0]} …"


def section(failure_class: FailureClass, example: str | None) -> str:
    """The section of a class in the document."""
    facts = _Facts(target="the target", stage="…")
    meaning, advice = (
        text.format_map(facts) for text in (failure_class.meaning, failure_class.advice)
    )
    marks = [
        f"`{failure_class.status}`",
        str(failure_class.blame),
        *(["lacks"] if failure_class.missing_feature else []),
    ]
    paragraphs = [
        f"## `{failure_class.name}`",
        wrapped(f"**{failure_class.title}.** {meaning}"),
        ", ".join(marks),
        wrapped(advice[0].upper() + advice[1:]),
        *([f"```text\n{shortened(example)}\n```"] if example else []),
    ]
    return "\n\n".join(paragraphs) + "\n"


def examples() -> dict[str, str]:
    """Class → the message of its first captured failure."""
    outcomes = [
        classify(captured.attempts, target=captured.target, knowledge=KNOWLEDGE)
        for captured in reversed(all_captured_failures())
    ]
    outcomes.append(broken_env_outcome(installers_words()[0], KNOWLEDGE.toolchain))
    return {
        outcome.failure.failure_class: outcome.failure.excerpt.splitlines()[-1].strip()
        for outcome in outcomes
        if outcome.failure
    }


def test_document_has_the_texts_of_the_classes_in_order() -> None:
    """``COMPAT_REGOLD=1`` writes the texts of the classes into the document."""
    shown = examples()
    sections = (
        "\n"
        + "\n".join(
            section(failure_class, shown.get(name))
            for name, failure_class in KNOWLEDGE.by_name.items()
        )
        + "\n"
    )
    text = DOCUMENT.read_text(encoding="utf-8")
    if os.environ.get("COMPAT_REGOLD") == "1":
        DOCUMENT.write_text(_LIST.sub(lambda _: sections, text), encoding="utf-8")
    else:
        (listed,) = _LIST.findall(text)
        assert listed == sections, "a class has changed; run again with COMPAT_REGOLD=1"


def test_empty_symptoms_have_no_class() -> None:
    assert KNOWLEDGE.recognise(Symptoms(stage="ttgir")) is None


def test_a_cause_outranks_its_consequence() -> None:
    failed = Symptoms(stage="ttgir", error="RuntimeError", message="PassManager::run failed")
    asserted = Symptoms(
        stage="ttgir", error="RuntimeError", message="PassManager::run failed", assertion="false"
    )
    recognised = [
        match[0].name
        for match in (KNOWLEDGE.recognise(failed), KNOWLEDGE.recognise(asserted))
        if match
    ]
    assert recognised == ["pass-failure", "compiler-assert"]
