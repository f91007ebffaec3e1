"""The taxonomy as data: complete, consistent, documented."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest
from attrs import asdict

from compat.evidence.symptoms import Symptoms
from compat.evidence.taxonomy import KINDS, Kind, recognise
from compat.model import Status

DOCUMENT = Path(__file__).parents[2] / "docs" / "failure-classes.md"
NAMES = [
    "install",
    "import",
    "timeout",
    "out-of-memory",
    "toolchain-missing",
    "target-unknown",
    "mlir-bitwidth-assert",
    "compiler-assert",
    "ptxas",
    "ir-parse",
    "verifier",
    "pass-failure",
    "shared-memory",
    "static-assert",
    "unsupported-syntax",
    "undefined-name",
    "unusable-global",
    "api-removed",
    "api-missing",
    "api-changed",
    "constexpr-required",
    "loop-carried-type",
    "shape-mismatch",
    "type-error",
    "unclassified",
]
ALWAYS_KNOWN = {"target", "stage"}
GREEDY = {"compiler-assert", "type-error"}
"""Classes with a sign that takes whatever the classes before it left."""


def test_these_are_the_classes_in_this_order() -> None:
    assert list(KINDS) == NAMES


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
class TestKind:
    def test_says_all_there_is_to_say(self, kind: Kind) -> None:
        assert kind.title
        assert kind.meaning.endswith(".")
        assert kind.advice.endswith(".")
        assert kind.status is not Status.OK

    def test_its_signs_name_every_fact_that_its_advice_wants(self, kind: Kind) -> None:
        wanted = {field for _, field, _, _ in Formatter().parse(kind.advice) if field} - ALWAYS_KNOWN
        for sign in kind.signs:
            named = {name for pattern in asdict(sign).values() if pattern for name in re.compile(pattern).groupindex}
            assert wanted <= named

    def test_its_signs_read_symptoms_that_exist(self, kind: Kind) -> None:
        for sign in kind.signs:
            assert sign.words in {field.name for field in Symptoms.__attrs_attrs__}
            sign.match(Symptoms(stage="ast"))

    def test_is_documented(self, kind: Kind) -> None:
        section = sections()[kind.name]
        assert kind.meaning.replace("{target}", "the target") in section
        assert f"**Status** `{kind.status}`" in section
        assert f"**usually** {kind.blame}" in section


def sections() -> dict[str, str]:
    """Class → its section of the document."""
    parts = re.split(r"^## `([\w-]+)`", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_nothing_else_is_documented() -> None:
    assert list(sections()) == NAMES


def test_saying_nothing_is_no_symptom() -> None:
    assert recognise(Symptoms(stage="ttgir")) is None


def test_a_cause_outranks_its_consequence() -> None:
    failed = Symptoms(stage="ttgir", error="RuntimeError", message="PassManager::run failed")
    asserted = Symptoms(stage="ttgir", error="RuntimeError", message="PassManager::run failed", assertion="false")
    kinds = [found[0].name for found in (recognise(failed), recognise(asserted)) if found]
    assert kinds == ["pass-failure", "compiler-assert"]
