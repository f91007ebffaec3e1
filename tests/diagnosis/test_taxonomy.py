"""The taxonomy as data: complete, consistent, documented."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from compat.diagnosis.failure_class import FailureClass
from compat.diagnosis.symptoms import Symptoms
from compat.model import Status
from compat.toolchains.triton.failures import KNOWLEDGE

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
    "mlir-bitwidth-assert",
    "dtype-unsupported",
    "invalid-option",
    "inline-asm",
    "compiler-assert",
    "assembler-crash",
    "compiler-crash",
    "device-library",
    "target-feature",
    "ptxas",
    "ir-parse",
    "verifier",
    "pass-failure",
    "shared-memory",
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
ALWAYS_KNOWN = {"target", "stage", "called"}


def test_these_are_the_classes_in_this_order() -> None:
    assert list(KNOWLEDGE.by_name) == NAMES


@pytest.mark.parametrize("failure_class", KNOWLEDGE.by_name.values(), ids=lambda failure_class: failure_class.name)
class TestFailureClass:
    def test_says_all_there_is_to_say(self, failure_class: FailureClass) -> None:
        assert failure_class.title
        assert failure_class.meaning.endswith(".")
        assert failure_class.advice.endswith(".")
        assert failure_class.status is not Status.OK

    def test_its_signs_name_every_fact_that_its_advice_wants(self, failure_class: FailureClass) -> None:
        for sign in failure_class.signs:
            said = f"{sign.advice or failure_class.advice}{sign.means or ''}"
            wanted = {field for _, field, _, _ in Formatter().parse(said) if field} - ALWAYS_KNOWN
            named = {name for pattern in sign.patterns.values() for name in re.compile(pattern).groupindex}
            assert wanted <= named

    def test_its_signs_read_symptoms_that_exist(self, failure_class: FailureClass) -> None:
        for sign in failure_class.signs:
            assert sign.words in {field.name for field in Symptoms.__attrs_attrs__}
            sign.match(Symptoms(stage="ast"))

    def test_is_documented(self, failure_class: FailureClass) -> None:
        section = sections()[failure_class.name]
        assert failure_class.meaning.replace("{target}", "the target") in section
        assert f"**Status** `{failure_class.status}`" in section
        assert f"**usually** {failure_class.blame}" in section


def sections() -> dict[str, str]:
    """Class → its section of the document."""
    parts = re.split(r"^## `([\w-]+)`", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_nothing_else_is_documented() -> None:
    assert list(sections()) == NAMES


def test_the_document_names_the_classes_that_say_what_a_release_lacks() -> None:
    paragraph = DOCUMENT.read_text(encoding="utf-8").partition("say that a release *lacks*")[2].partition(". Of such failures")[0]
    assert set(re.findall(r"`([\w-]+)`", paragraph)) == {
        failure_class.name for failure_class in KNOWLEDGE.by_name.values() if failure_class.lacks
    }


def test_saying_nothing_is_no_symptom() -> None:
    assert KNOWLEDGE.recognise(Symptoms(stage="ttgir")) is None


def test_a_cause_outranks_its_consequence() -> None:
    failed = Symptoms(stage="ttgir", error="RuntimeError", message="PassManager::run failed")
    asserted = Symptoms(stage="ttgir", error="RuntimeError", message="PassManager::run failed", assertion="false")
    recognised = [found[0].name for found in (KNOWLEDGE.recognise(failed), KNOWLEDGE.recognise(asserted)) if found]
    assert recognised == ["pass-failure", "compiler-assert"]
