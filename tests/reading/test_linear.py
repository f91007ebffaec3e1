"""Reading the output of compilers, kernels and installers takes time linear in its length."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from compat.diagnosis import classify, pipeline, symptoms
from compat.diagnosis.failure_class import Sign
from compat.model import Evidence, RaisedException
from compat.processes.supervisor import ProcessResult
from compat.report.render import markdown
from compat.report.summary import compact
from compat.repro import issue, verify
from compat.text import printable
from compat.toolchains.mlir import canonical
from compat.toolchains.mlir import dumps as mlir_dumps
from compat.toolchains.triton import failures
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.toolchains.triton.ir import dumps
from tests.reading.adversarial import LARGE, SMALL, general, offence, offenders, patterns_in
from tests.targets import TARGETS

SIGNS = [sign for kind in KNOWLEDGE.by_name.values() for sign in kind.signs]


def attempt_with_text(text: str, kind: str = "ValueError", stage: str = "ttgir") -> Evidence:
    """An attempt that printed and raised the text."""
    return Evidence(
        answered=True,
        alone=True,
        stage=stage,
        raised=(RaisedException(type=kind, message=text),),
        stderr=text,
    )


def _recognised(text: str) -> object:
    return KNOWLEDGE.recognise(symptoms.of(attempt_with_text(text), KNOWLEDGE.wording))


def _normalised(text: str) -> object:
    return symptoms.normalise(text, KNOWLEDGE.wording.forget)


def _classified(text: str) -> object:
    rewritten = f"at 1:2:\n  x\n  ^\nValueError({text!r})"
    attempts = [
        attempt_with_text(text),
        attempt_with_text(rewritten, "triton.compiler.errors.CompilationError", "ast"),
    ]
    return classify.classify(attempts, target=TARGETS["sm_90"], knowledge=KNOWLEDGE)


def _promised(text: str) -> object:
    alike = [
        verify.searched_output(evidence)
        for evidence in (
            attempt_with_text(text),
            attempt_with_text(f"{text}!"),
            attempt_with_text(f"?{text}"),
        )
    ]
    return verify.promise(
        verify.sayings(attempt_with_text(text), KNOWLEDGE),
        alike,
        [verify.searched_output(attempt_with_text(f"other {text}"))],
    )


def _verified(text: str) -> object:
    return verify.failure_of(
        ProcessResult(exit_code=1, output=text), TARGETS["sm_90"], "ast", KNOWLEDGE
    )


def _diagnosed(text: str) -> object:
    return pipeline.add_diagnosis(
        Evidence(answered=True, stage="ttgir", in_passes=True),
        dumps.READER.read(text),
        None,
        dumps.READER,
    )


def _in_markdown(text: str) -> object:
    return markdown.escape(text), markdown.prose(text), markdown.code(text), markdown.fence(text)


READERS: dict[str, tuple[Callable[[str], object], list[str]]] = {
    "recognise": (_recognised, patterns_in(symptoms, failures)),
    "classify": (_classified, []),
    "normalise": (_normalised, patterns_in(symptoms, failures)),
    "diagnose": (_diagnosed, patterns_in(dumps)),
    "dumps": (dumps.read, patterns_in(mlir_dumps)),
    "canonical": (canonical.canonical, patterns_in(canonical)),
    "code": (canonical.canonical_code, patterns_in(canonical)),
    "promise": (_promised, []),
    "verify": (_verified, patterns_in(verify)),
    "issue": (lambda text: issue.short(text, "k", dumps.READER), patterns_in(issue, verify)),
    "places": (verify.without_places, patterns_in(verify)),
    "one line": (compact.one_line, patterns_in(compact)),
    "Markdown": (_in_markdown, []),
    "printable": (printable, []),
    "reproducer": (lambda text: dumps.one_pass(f"{{-#\n{text}", text, "cse"), patterns_in(dumps)),
}


@pytest.mark.parametrize("name", READERS)
def test_reading_time_grows_linearly_with_the_length(name: str) -> None:
    read, patterns = READERS[name]
    assert offenders(read, patterns) == []


def test_no_sign_of_a_failure_class_backtracks() -> None:
    """Searches for each sign in texts made of its own pieces.

    The test above searches for all signs in general texts.
    """

    def offences(sign: Sign) -> list[str]:
        patterns = list(sign.patterns.values())
        return offenders(
            lambda text: sign.match(symptoms.of(attempt_with_text(text), KNOWLEDGE.wording)),
            patterns,
            of_them_alone=True,
        )

    assert {sign: slow_texts for sign in SIGNS if (slow_texts := offences(sign))} == {}


def test_the_harness_notices_a_pattern_that_backtracks() -> None:
    slow = re.compile(r"(?P<file>[^\s:]+):(?P<line>\d+): Assertion")
    small, large = (dict(general(size))["one word of hex"] for size in (SMALL, LARGE))
    assert offence(slow.search, "one word of hex", small, large)
