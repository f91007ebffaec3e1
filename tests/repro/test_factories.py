"""Bundles of kernels from factories and classes: the code of the original, or one clear reason."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from compat import toolchains
from compat.bundle.bundle import Bundle, bundle
from compat.errors import ConfigError
from compat.model import BuiltEnv, Cell, CompileSpec, Specialization
from compat.source.closure import read_source
from compat.store.store import Store
from compat.workers.attempt import KEEPING_IR
from compat.workers.watch import attempt
from tests.cells import worker
from tests.repro.bundling import HEAD, body, spec_of
from tests.targets import TARGETS
from tests.together import for_each
from tests.toolchains.compiling import LIMITS, failure_text

JIT = "    @triton.jit\n    def kernel(p, N: tl.constexpr):\n"
RETURNED = f"{JIT}        pass\n    return kernel\n"


def written(folder: Path, text: str, function: str) -> Specialization:
    source = folder / "main.py"
    source.write_text(HEAD + text)
    return spec_of(
        source,
        function,
        variant=re.sub(r"\W", "_", function),
        closure=read_source(source).closure,
        compile=CompileSpec(signature={"p": "*fp32"}, constexprs={"N": 64}, divisible_by_16=("p",)),
    )


def bundled(folder: Path, text: str, function: str) -> Bundle:
    return toolchains.bundle_of(written(folder, text, function))


KERNEL = "@triton.jit\ndef kernel(p, N: tl.constexpr):\n    tl.store(p, N)"


@pytest.mark.parametrize(
    ("factory", "function"),
    [
        ("def make():\n", "make()"),
        ("def make(width, act='relu'):\n    other = width\n", "make(64)"),
        ("def make(width=None):\n    if width is None:\n        width = 4\n", "make(width=3)"),
    ],
)
def test_unused_code_of_a_factory_is_not_bundled(
    factory: str, function: str, tmp_path: Path
) -> None:
    kernel_bundle = bundled(
        tmp_path, f"{factory}{JIT}        tl.store(p, N)\n    return kernel\n", function
    )
    assert kernel_bundle.spec.function == "kernel"
    assert body(kernel_bundle) == KERNEL


def test_values_in_the_closure_of_a_kernel_are_bundled(tmp_path: Path) -> None:
    text = """
width = tl.constexpr(3)

@triton.jit
def scaled(x):
    return x * width

def make(width, max=2):
    if width is None:
        width = 16
    width = tl.constexpr(width * max)

    @triton.jit
    def twice(x):  # of the factory
        return scaled(x) + width

    # Said of the kernel.
    @triton.autotune([], key=[])
    @triton.jit
    def kernel(p, N: tl.constexpr):
        '''Several
        lines.'''
        tl.store(p, twice(width))

    return kernel
"""
    assert (
        body(bundled(tmp_path, text, "make(None)")) == "width = tl.constexpr(3)\n"
        "@triton.jit\ndef scaled(x):\n    return x * width\n"
        "width_2 = None\n"
        "width_2 = 16\n"
        "max_2 = 2\n"
        "width_2 = tl.constexpr(width_2 * max_2)\n"
        "@triton.jit\ndef twice(x):  # of the factory\n    return scaled(x) + width_2\n"
        "# Said of the kernel.\n@triton.jit\ndef kernel(p, N: tl.constexpr):\n"
        "    '''Several\n        lines.'''\n"
        "    tl.store(p, twice(width_2))"
    )


def test_kernel_that_a_factory_returns_as_an_attribute_is_bundled(tmp_path: Path) -> None:
    text = f"""
import types

def make(width):
    import triton
    import triton.language as tl

{JIT}        tl.store(p, width)
    return types.SimpleNamespace(fast=kernel, other=None)
"""
    assert body(bundled(tmp_path, text, "make(4).fast")) == (
        "width = 4\n@triton.jit\ndef kernel(p, N: tl.constexpr):\n    tl.store(p, width)"
    )
    with pytest.raises(ConfigError, match=re.escape("does not say what `make(4).slow` is")):
        bundled(tmp_path, text, "make(4).slow")


HOLDERS = """
import dataclasses
import os

@dataclasses.dataclass(frozen=True)
class Made:
    works: bool
    fast: object
    slow: object = None

class Own:
    works: bool
    fast: object
    def __init__(self, fast, works):
        self.fast = fast
"""


@for_each(
    ("early", "returned"),
    [
        ("", "Made(True, kernel)"),
        ("", "Made(True, fast=kernel)"),
        ("if os.cpu_count() == 0: return Made(False, None)", "Made(True, kernel)"),
        ("if os.cpu_count() == 0: return None", "Made(True, kernel)"),
        ("if os.cpu_count() == 0: raise OSError", "Made(True, kernel)"),
        ("if os.cpu_count(): import os\n    else: return", "Made(True, kernel)"),
        ("try: import triton\n    except ImportError: return None", "Made(True, kernel)"),
        ("try: import triton\n    except ImportError: raise", "Made(True, kernel)"),
        ("try: pass\n    except OSError: return\n    else: x = 1", "Made(True, kernel)"),
    ],
)
def test_a_kernel_of_an_object_that_a_factory_returns_is_bundled(
    early: str, returned: str, tmp_path: Path
) -> None:
    text = (
        f"{HOLDERS}\ndef make():\n    {early}\n{JIT}        tl.store(p, N)\n    return {returned}"
    )
    assert body(bundled(tmp_path, text, "make().fast")) == KERNEL


def test_a_kernel_of_a_tuple_that_a_factory_returns_is_bundled(tmp_path: Path) -> None:
    text = f"def make():\n{JIT}        tl.store(p, N)\n    return len, kernel\n"
    assert body(bundled(tmp_path, text, "make()[1]")) == KERNEL
    with pytest.raises(ConfigError, match=re.escape("does not say what `make()[2]` is")):
        bundled(tmp_path, text, "make()[2]")


CHOSEN = """
def make(kind, dtype=tl.float16):
    if kind == "one":
        @triton.jit
        def one(p, N: tl.constexpr):
            tl.store(p, 1)
        return one
    if dtype == tl.float32 or dtype in (tl.int8, tl.int32):
        raise ValueError(dtype)
    @triton.jit
    def two(p, N: tl.constexpr):
        tl.store(p, 2)
    @triton.jit
    def three(p, N: tl.constexpr):
        tl.store(p, 3)
    chosen = two if kind == "two" else three
    return triton.autotune([], key=[])(chosen)

kernel = make("two")

class Holder:
    class Inner:
        @staticmethod
        @triton.jit
        def kernel(p, N: tl.constexpr):
            tl.store(p, 4)
    kernel = make("three")
"""


@for_each(
    ("function", "name", "value"),
    [
        ("make('one')", "one", 1),
        ("make('two')", "two", 2),
        ("make(kind='three')", "three", 3),
        ("kernel", "two", 2),
        ("Holder.Inner.kernel", "kernel", 4),
    ],
)
def test_a_bundle_has_the_kernel_that_the_source_chooses(
    function: str, name: str, value: int, tmp_path: Path
) -> None:
    kernel_bundle = bundled(tmp_path, CHOSEN, function)
    assert kernel_bundle.spec.function == name
    assert (
        body(kernel_bundle)
        == f"@triton.jit\ndef {name}(p, N: tl.constexpr):\n    tl.store(p, {value})"
    )


def test_a_kernel_of_a_factory_in_another_file_is_bundled(tmp_path: Path) -> None:
    (tmp_path / "makers.py").write_text(
        f"{HEAD}SIZE = tl.constexpr(2)\ndef make():\n{JIT}        tl.store(p, SIZE)\n    return"
        " kernel\n"
    )
    assert body(
        bundled(tmp_path, "import makers\n", "makers.make()")
    ) == f"SIZE = tl.constexpr(2)\n{KERNEL}".replace("p, N)", "p, SIZE)")
    assert "SIZE" in body(bundled(tmp_path, "from makers import make as build\n", "build()"))


@for_each(
    ("text", "function", "message"),
    [
        (
            (
                "import os\ndef make():\n    kernel = None\n    if os.name:\n        return"
                f" kernel\n{RETURNED}"
            ),
            "make()",
            "depends on line 6",
        ),
        (
            f"{HOLDERS}\ndef make():\n{JIT}        pass\n    return Own(True, kernel)\n",
            "make().fast",
            "does not say what `make\\(\\).fast` is",
        ),
        (
            (
                "import os\ndef make():\n    if os.name:\n        return other()\n"
                f"{JIT}        pass\n    return Made(True, kernel)\n"
            ),
            "make().fast",
            "depends on line 5, which has to run",
        ),
        (
            (
                "def make():\n    try:\n        import triton\n    except ImportError:\n"
                f"        x = 3\n        return other()\n{RETURNED}"
            ),
            "make()",
            "depends on line 4, which has to run",
        ),
        (
            f"def make(n):\n{RETURNED}",
            "make()",
            "cannot match the parameters of `make` with `make\\(\\)`",
        ),
        (
            f"def make(*n):\n{RETURNED}",
            "make()",
            "cannot match the parameters of `make` with `make\\(\\)`",
        ),
        (f"def make():\n    global x\n{RETURNED}", "make()", "has a `global` statement, line 4"),
        ("def make():\n    pass\n", "make()", "`make\\(\\)` returns nothing"),
        ("def make():\n    raise ValueError\n", "make()", "raises an exception, line 4"),
        (
            f"def make():\n{JIT}        pass\n    return [kernel][0]\n",
            "make()",
            "does not say what `\\[kernel\\]\\[0\\]` is",
        ),
        (
            f"def make(n):\n    c = n\n    n = 3\n{RETURNED}",
            "make(2)",
            "`n` gets another value after",
        ),
        (
            f"def trace(f):\n    return f\n@trace\ndef make():\n{RETURNED}",
            "make()",
            "`make` has decorators",
        ),
        (
            "class Base:\n    pass\nclass Holder(Base):\n    pass\n",
            "Holder.kernel",
            "does not itself define a function kernel",
        ),
        (
            (
                f"class Holder:\n    SIZE = 4\n{JIT.replace('constexpr)', 'constexpr = SIZE)')}    "
                "    pass\n"
            ),
            "Holder.kernel",
            "uses `SIZE` of",
        ),
        ("kernel = other\nother = kernel\n", "kernel", "takes too many steps"),
        ("kernel = print\n", "kernel", "does not define a function print"),
    ],
)
def test_a_kernel_that_cannot_be_copied_is_an_error_with_the_reason(
    text: str, function: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        bundled(tmp_path, text, function)
    assert str(caught.value).startswith(
        f"{tmp_path}/main.py: cannot copy the kernel out of its file: "
    )


# --- on real wheels -------------------------------------------------------------------------------

REAL = """
@triton.jit
def relu(x):
    return tl.where(x > 0, x, 0.0)

def make(width, act="relu", dtype=tl.float16, bias=True):
    COUNT = tl.constexpr(width * 2)
    KIND = tl.constexpr(dtype)
    BIAS = tl.constexpr(bias)

    if act == "relu":
        activate = relu
    else:
        @triton.jit
        def activate(x):
            return x * 2.0

    @triton.jit
    def kernel(p, N: tl.constexpr):
        at = tl.arange(0, N)
        x = activate(tl.load(p + at)).to(KIND)
        if BIAS:
            x += COUNT
        tl.store(p + at, x)

    return kernel

def plain(double):
    if double:
        @triton.jit
        def kernel(p, N: tl.constexpr):
            at = tl.arange(0, N)
            tl.store(p + at, relu(tl.load(p + at)) * 2)
    else:
        @triton.jit
        def kernel(p, N: tl.constexpr):
            at = tl.arange(0, N)
            tl.store(p + at, relu(tl.load(p + at)) * 3)
    return kernel

class Holder:
    @staticmethod
    @triton.jit
    def kernel(p, N: tl.constexpr):
        at = tl.arange(0, N)
        tl.store(p + at, relu(tl.load(p + at)) + 1)

def lazy():
    import types
    import triton
    import triton.language as local_tl

    @triton.jit
    def kernel(p, N: local_tl.constexpr):
        local_tl.store(p + local_tl.arange(0, N), 5.0)

    return types.SimpleNamespace(fast=kernel)
"""


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["3.1.0", "3.4.0", "3.9.0"])
def test_a_bundle_compiles_to_the_same_ptx_as_the_original(
    release: str, tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> None:
    """Triton does not support closures before 3.4.0.

    A bundle, with the values of a factory frozen into it, compiles there. The original does not.
    """
    env = built(f"triton-{release}")
    assert env.python
    closures = (
        ("make(8)", "make(8, act='twice', bias=False)", "lazy().fast") if release >= "3.4" else ()
    )
    originals = [
        written(tmp_path, REAL, function)
        for function in ("plain(True)", "plain(False)", "Holder.kernel", *closures)
    ]
    alone = []
    for number, spec in enumerate(originals):
        (tmp_path / str(number)).mkdir()
        alone.append(bundle(spec).write(tmp_path / str(number) / "main.py"))
    codes = []
    for specs in (originals, alone):
        cells = [Cell(env=env.env, target=TARGETS["sm_90"], spec=spec) for spec in specs]
        ptx_texts = []
        with worker(env) as server, Store(tmp_path / "state") as store:
            for cell in cells:
                ((_, evidence),) = attempt(
                    server, [cell], LIMITS, stop=threading.Event(), mode=KEEPING_IR, keep=store.keep
                )
                assert evidence.has_binary, failure_text(evidence)
                ptx_texts.append(
                    without_lines((store.artifacts / evidence.artifacts["ptx"]).read_text())
                )
        codes.append(ptx_texts)
    assert codes[0] == codes[1]
    assert len(set(codes[0])) == len(originals)


def without_lines(ptx: str) -> str:
    """The code without files and lines, which differ between a bundle and the original."""
    code = ptx.partition(".section")[0]
    return "\n".join(
        line.partition("//")[0].rstrip()
        for line in code.splitlines()
        if not re.match(r"\s*\.(loc|file)\b", line)
    )


@pytest.mark.wheels
def test_originals_with_closures_fail_before_3_4(
    tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> None:
    env = built("triton-3.1.0")
    assert env.python
    cell = Cell(
        env=env.env, target=TARGETS["sm_90"], spec=evolve(written(tmp_path, REAL, "make(8)"))
    )
    with worker(env) as server:
        ((_, evidence),) = attempt(server, [cell], LIMITS, stop=threading.Event())
    assert "is not defined" in failure_text(evidence)
