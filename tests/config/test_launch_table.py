"""The launch tables of kernel files: how they are read, and the errors for invalid content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat.config.kernel_files import load_kernels
from compat.errors import ConfigError
from compat.model import HINTS, Specialization, arguments
from compat.toolchains.triton.language.types import DTYPES
from tests.together import for_each

SOURCE = """
import triton
import triton.language as tl

@triton.jit
def kernel(x, n, bias, BLOCK: tl.constexpr):
    pass
"""
HEAD = 'schema = 1\nkernel = "kernel"\nsource = "k.py"\nconstexprs = { BLOCK = 64 }\n'
LAUNCH = 'launch = { x = "*fp16", n = 4096, bias = { none = true } }\n'
TENSORS = st.builds(
    arguments.tensor, st.sampled_from(DTYPES), aligned=st.booleans(), large=st.booleans()
)
DESCRIPTORS = st.builds(
    "tensordesc<{}[{},{}]>".format,
    st.sampled_from(DTYPES),
    st.integers(1, 512),
    st.integers(1, 512),
)
CONSTANTS = st.sampled_from([64, True, None, "relu", (1, (2,)), {"dtype": "fp16"}]).map(
    lambda value: {"constexpr": value}
)
NUMBERS = st.one_of(st.booleans(), st.integers(-(1 << 63), (1 << 64) - 1), st.floats())
ARGUMENTS = st.recursive(
    st.one_of(NUMBERS, st.none(), TENSORS, DESCRIPTORS, CONSTANTS),
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from(["x", "tensor", "fields"]), inner).map(
            lambda fields: {"fields": fields}
        )
    ),
    max_leaves=5,
)

Load = Callable[[str], tuple[Specialization, ...]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    (tmp_path / "k.py").write_text(SOURCE, encoding="utf-8")

    def write_and_load(text: str) -> tuple[Specialization, ...]:
        (tmp_path / "k.toml").write_text(text, encoding="utf-8")
        return load_kernels(["k.toml"], tmp_path)

    return write_and_load


@for_each(
    ("written", "read"),
    [
        ("4096", 4096),
        ("0.5", 0.5),
        ("true", True),
        ("18446744073709551615", 2**64 - 1),
        ("{ none = true }", None),
        ('"*fp16"', "*fp16"),
        ('{ tensor = "fp16" }', "*fp16"),
        ('{ tensor = "fp16", aligned = true, large = false }', "*fp16"),
        ('{ tensor = "bf16", aligned = false }', {"tensor": "bf16", "aligned": False}),
        (
            '{ large = true, tensor = "i8", aligned = false }',
            {"tensor": "i8", "aligned": False, "large": True},
        ),
        ('"tensordesc<fp16[64, 32]>"', "tensordesc<fp16[64,32]>"),
        ('[4, [1.5, "*i32"], { none = true }]', (4, (1.5, "*i32"), None)),
        ("[]", ()),
        (
            '{ fields = { x = "*fp16", fields = { fields = {} }, none = [{ none = true }] } }',
            {"fields": {"x": "*fp16", "fields": {"fields": {}}, "none": (None,)}},
        ),
        ("[{ constexpr = [1, { none = true }] }, 2]", ({"constexpr": (1, None)}, 2)),
    ],
)
def test_every_form_of_an_argument_is_read(load: Load, written: str, read: object) -> None:
    (spec,) = load(HEAD + LAUNCH.replace("4096", written))
    assert repr(spec.compile.launch["n"]) == repr(read)
    assert (spec.compile.signature, spec.compile.hints, spec.assumed) == (
        {},
        dict.fromkeys(HINTS, ()),
        (),
    )


def test_a_case_overrides_arguments_of_the_launch(load: Load) -> None:
    first, other = load(
        HEAD
        + LAUNCH
        + '[[case]]\nname = "a"\n[[case]]\nname = "b"\nlaunch = { n = 1, bias = "*fp16" }\n'
    )
    assert first.compile.launch == {"x": "*fp16", "n": 4096, "bias": None}
    assert other.compile.launch == {"x": "*fp16", "n": 1, "bias": "*fp16"}
    assert first.compile != other.compile


def test_the_order_of_fields_is_kept(load: Load) -> None:
    cases = (
        f'[[case]]\nname = "{name}"\nlaunch = {{ n = {{ fields = {{ {fields} }} }} }}\n'
        for name, fields in (("a", "x = 1, y = 2"), ("b", "y = 2, x = 1"))
    )
    first, other = load(HEAD + LAUNCH + "".join(cases))
    assert first.compile != other.compile
    assert repr(first.compile.document()) != repr(other.compile.document())


def test_one_case_may_have_a_launch_and_another_case_a_signature(load: Load) -> None:
    cases = (
        '[[case]]\nname = "a"\n{}[[case]]\nname = "b"\nsignature = {{ x = "*fp16", n = "i32", bias'
        ' = "*fp16" }}\n'
    )
    launch, signature = load(HEAD + cases.format(LAUNCH))
    assert (launch.compile.signature, signature.compile.launch) == ({}, {})
    assert signature.compile.divisible_by_16 == ("x", "bias")


FORMS = arguments.FORMS
HINTLESS = (
    'A [launch] lists the values that were passed: n = 4096, or x_ptr = { tensor = "fp16", aligned'
    " = false }."
)
ERRORS = [
    (
        LAUNCH.replace("4096", '"i32"'),
        "launch.n: 'i32' is a type, and a launch passes values Write the number itself",
    ),
    (
        LAUNCH.replace("4096", '"*fp17"'),
        "launch.n: 'fp17' is not an element type Choose one of: fp16.",
    ),
    (LAUNCH.replace("4096", '"*kfp16"'), "launch.n: '*kfp16' is a type Write \"*fp16\":"),
    (LAUNCH.replace("4096", '"relu"'), "launch.n: 'relu' is not an argument of a launch " + FORMS),
    (
        LAUNCH.replace("4096", "36893488147419103232"),
        "launch.n: a number of 66 bits does not fit any type " + FORMS,
    ),
    (
        LAUNCH.replace("4096", "{ tensor = 1 }"),
        "launch.n: 1 is not an element type Choose one of: ",
    ),
    (
        LAUNCH.replace("4096", '{ tensor = "fp16", small = true }'),
        "launch.n: a tensor has no 'small' Choose one of: aligned, large.",
    ),
    (
        LAUNCH.replace("4096", '{ tensor = "fp16", large = 1 }'),
        "launch.n: large is the number 1; expected true or false",
    ),
    (
        LAUNCH.replace("4096", "{ value = 1 }"),
        "launch.n: a table is not an argument of a launch " + FORMS,
    ),
    (
        LAUNCH.replace("4096", "{ fields = { def = 1 } }"),
        "launch.n: a table is not an argument of a launch " + FORMS,
    ),
    (
        LAUNCH.replace("4096", "{ fields = { x = { fields = { y = 2020-01-01 } } } }"),
        "launch.n.x.y: a date is not an argument of a launch " + FORMS,
    ),
    (
        LAUNCH.replace("4096", "[1, [2020-01-01]]"),
        "launch.n[1][0]: a date is not an argument of a launch " + FORMS,
    ),
    (
        LAUNCH.replace("4096", "[{ constexpr = [1, {}] }]"),
        "launch.n[0].constexpr[1]: a table is not a valid constexpr value ",
    ),
    (
        LAUNCH.replace("4096", '{ constexpr = { function = "add" } }'),
        "kernel (case default): a constexpr names the function 'add', which k.py does not define ",
    ),
    (
        LAUNCH.replace("n =", "m ="),
        "kernel (case default) has no parameter 'm', but the tables give it a type or a value ",
    ),
    (
        LAUNCH.replace(", bias", ", BLOCK = 64, bias"),
        "kernel (case default): 'BLOCK' is in the launch and among the constexprs",
    ),
    (
        LAUNCH + 'signature = { x = "*fp16", n = "i32" }\n',
        (
            "launch: kernel (case default) has both a launch and a signature (x, n) "
            "Give either a [signature] with the types, or a [launch] with the values."
        ),
    ),
    (
        LAUNCH + "hints = { equal_to_1 = [] }\n",
        "hints: hints belong to a [signature], and this kernel has a [launch] ",
    ),
    (
        LAUNCH + 'hints = "none"\n',
        "hints: hints belong to a [signature], and this kernel has a [launch] " + HINTLESS,
    ),
    (
        '[[case]]\nname = "a"\n'
        + LAUNCH
        + '[[case]]\nname = "b"\nsignature = { x = "i32", n = "i32", bias = "i32" }\n'
        '[[variant]]\nname = "v"\nfunction = "kernel"\nhints = { equal_to_1 = ["n"] }\n',
        "variant[0].hints: hints belong to a [signature], and this kernel has a [launch] "
        + HINTLESS,
    ),
]


@for_each(("text", "message"), ERRORS)
def test_an_error_names_the_path_of_the_key(load: Load, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(HEAD + text)
    assert f"{raised.value} {raised.value.hint or ''}".startswith(f"k.toml: {message}")


@given(ARGUMENTS)
def test_an_argument_is_read_as_it_was_written(argument: object) -> None:
    assert repr(arguments.read(arguments.plain(argument), DTYPES)) == repr(argument)
    assert arguments.argument_text(argument)
