"""Fingerprints: equal for all wordings of one defect, different for different defects."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compat.diagnosis.classify import classify
from compat.diagnosis.symptoms import DIGITS, fingerprint, normalise
from compat.model import Evidence, RaisedException
from compat.toolchains.triton.failures import KNOWLEDGE
from tests.targets import TARGETS
from tests.together import for_each

OWN = KNOWLEDGE.wording.forget
MESSAGES = (
    "Cannot make_shape_compatible: incompatible dimensions at index 0: 128 and 64",
    "Cannot make_shape_compatible: incompatible dimensions at index 1: 128 and 64",
    "only integers and floats have a bitwidth",
    "module 'triton.language' has no attribute 'make_tensor_descriptor'",
    "module 'triton.language' has no attribute 'gather'",
    "load() got an unexpected keyword argument 'cache'",
    "dot() got an unexpected keyword argument 'precision'",
    "'tt.atomic_cas' op requires the same shape for all operands and results",
    "'llvm.and' op requires the same type for all operands and results",
    "Loop-carried variable total has initial type int32 but is re-assigned to fp32 in loop!",
    "Loop-carried variable total has initial type fp16 but is re-assigned to fp32 in loop!",
    "operand #0 must be ranked tensor of floating-point values",
    "operand #1 must be ranked tensor of floating-point values",
    "Value 'sm_100' is not defined for option 'gpu-name'",
    "Value 'sm_120' is not defined for option 'gpu-name'",
    "arange's range must be a power of 2",
    "Unsupported lhs dtype int32",
    "Unsupported lhs dtype int16",
)

folders = st.lists(
    st.from_regex(r"[a-z][a-z0-9_.-]{0,8}", fullmatch=True), min_size=1, max_size=5
).map(lambda parts: "/" + "/".join(parts))
numbers = st.integers(0, 10**6)


@st.composite
def decorations(draw: st.DrawFn) -> tuple[str, ...]:
    """Text around a message that does not matter. Its form is fixed, and its contents vary."""
    path, line, column = draw(folders), draw(numbers), draw(numbers)
    address, value = draw(numbers), draw(st.from_regex(r"[a-z0-9_]{1,6}", fullmatch=True))
    return (
        f"{path}/kernel.py:{line}:{column}: ",
        f' %{value}#{line} at 0x{address:x} loc("{path}/kernel.py":{line}:{column}) line {line}',
    )


@given(message=st.sampled_from(MESSAGES), one=decorations(), other=decorations())
def test_paths_lines_addresses_and_values_do_not_matter(
    message: str, one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    assert normalise(f"{one[0]}{message}{one[1]}", OWN) == normalise(
        f"{other[0]}{message}{other[1]}", OWN
    )


@given(
    one=st.tuples(st.sampled_from(tuple(KNOWLEDGE.by_name)), st.sampled_from(MESSAGES)),
    other=st.tuples(st.sampled_from(tuple(KNOWLEDGE.by_name)), st.sampled_from(MESSAGES)),
    around=decorations(),
)
def test_different_classes_and_messages_have_different_fingerprints(
    one: tuple[str, str], other: tuple[str, str], around: tuple[str, ...]
) -> None:
    fingerprints = [
        fingerprint(kind, f"{around[0]}{message}{around[1]}", OWN) for kind, message in (one, other)
    ]
    assert (fingerprints[0] == fingerprints[1]) == (one == other)


@given(m=st.sampled_from((16, 32, 64, 128)), n=st.sampled_from((16, 32, 64, 128)))
def test_block_size_does_not_change_the_normalised_message(m: int, n: int) -> None:
    template = "Cannot make_shape_compatible: incompatible dimensions at index 1: {} and {}"
    assert normalise(template.format(m, n), OWN) == normalise(template.format(128, 64), OWN)


@for_each(
    ("one", "other"),
    [
        ("type <[128], fp32>", "type <['64'], fp32>"),
        ("shape (['constexpr[16]', 'constexpr[32]'])", "shape ([constexpr[16], constexpr[32]])"),
        (
            "got multiple values for argument '_builder'",
            "got multiple values for argument '_semantic'",
        ),
        ("tensor<16x16xi8, #triton_gpu.blocked>", "tensor<32x64xi8, #ttg1.blocked>"),
        ("Mismatched type", "mismatched type"),
        ("no version of triton==3.99.0", "no version of triton==4.1"),
    ],
)
def test_spellings_of_different_releases_are_normalised(one: str, other: str) -> None:
    assert normalise(one, OWN) == normalise(other, OWN)


@given(message=st.sampled_from(MESSAGES), line=st.integers(1, 999), indent=st.integers(0, 60))
def test_wrapped_and_chained_errors_have_the_same_fingerprint(
    message: str, line: int, indent: int
) -> None:
    """The error is a repr in the text (to 3.8), the cause alone (3.0 to 3.5), or both (3.9)."""
    where = f"at {line}:{indent}:\ndef kernel(source):\n    something(source)\n{' ' * indent}^"
    compilation = "triton.compiler.errors.CompilationError"
    faces = (
        (RaisedException(type=compilation, message=f"{where}\n{ValueError(message)!r}"),),
        (
            RaisedException(type=compilation, message=where),
            RaisedException(type="ValueError", message=message),
        ),
        (
            RaisedException(type=compilation, message=f"{where}\n{message}"),
            RaisedException(type="ValueError", message=message),
        ),
    )
    outcomes = [
        classify(
            [Evidence(answered=True, stage="ast", raised=raised)],
            target=TARGETS["sm_90"],
            knowledge=KNOWLEDGE,
        )
        for raised in faces
    ]
    assert len({outcome.failure.fingerprint for outcome in outcomes if outcome.failure}) == 1
    assert len({outcome.failure.excerpt for outcome in outcomes if outcome.failure}) == 1


@given(text=st.text())
def test_any_text_has_a_fingerprint(text: str) -> None:
    mark = fingerprint("unclassified", text)
    assert mark.startswith("unclassified:")
    assert len(mark) == len("unclassified:") + DIGITS


def test_number_of_the_operand_is_kept() -> None:
    template = "operand #{} must be ranked tensor of floating-point values"
    assert normalise(template.format(0)) != normalise(template.format(1))
