"""A bundle has what the kernel uses, from whatever file, and nothing else.

Its outcome is the same as that of the original.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from compat import toolchains
from compat.bundle.bundle import Bundle, bundle
from compat.config.kernel_files import load_kernels
from compat.engine import run
from compat.errors import ConfigError
from compat.model import BuiltEnv, Cell, CompileSpec, Specialization
from compat.source.closure import read_source
from compat.store.store import Store
from compat.toolchains.triton.language import DECORATORS
from tests.cells import context_of
from tests.repro.bundling import HEAD, body, spec_of
from tests.targets import TARGETS
from tests.together import for_each

KERNELS = Path(__file__).parent.parent.parent / "kernels"


def bundled(folder: Path, main: str, function: str = "kernel", **files: str) -> Bundle:
    return toolchains.bundle_of(written(folder, main, function, **files))


def written(folder: Path, main: str, function: str = "kernel", **files: str) -> Specialization:
    for name, text in files.items():
        path = folder / f"{name.replace('_in_', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(HEAD + text)
    source = folder / "main.py"
    source.write_text(HEAD + main)
    compile_spec = CompileSpec(signature={"p": "*fp32"}, constexprs={"N": 4})
    return spec_of(source, function, compile=compile_spec)


FOLD = "@triton.jit\ndef fold(x):\n    return x + 1\n"


def test_bundle_has_only_used_definitions_before_their_uses(tmp_path: Path) -> None:
    main = """
import torch
UNUSED = torch.zeros(1)
SIZE = tl.constexpr(4)


@triton.autotune([], key=[])
@triton.heuristics({"N": lambda args: 4})
@triton.jit
def kernel(p, N: tl.constexpr):  # fmt: skip
    # A comment of the author's.
    tl.store(p, helper(SIZE))


# Said of the helper.
@triton.jit
def helper(x):
    return x


@triton.jit
def other(x):
    return x
"""
    assert (
        body(bundled(tmp_path, main))
        == "# Said of the helper.\n@triton.jit\ndef helper(x):\n    return x\nSIZE ="
        " tl.constexpr(4)\n@triton.jit\ndef kernel(p, N: tl.constexpr):\n    # A comment of the"
        " author's.\n    tl.store(p, helper(SIZE))"
    )


@for_each(
    ("globals_", "bundled_globals"),
    [
        ("import torch; Q = 1; R = 2", "Q = 1\nR = 2"),
        ("Q = 1; R = 2  # rows", "Q = 1\nR = 2  # rows"),
        ("Q = 1; \\\n  R = 2;", "Q = 1\nR = 2"),
        ("Q = 1 \\\n; R = 2", "Q = 1\nR = 2"),
        ("Q = \\\n3; R = (4,\n5)[0]", "Q = \\\n3\nR = (4,\n5)[0]"),
        ("é = 'é'; Q = len(é); R = Q", "é = 'é'\nQ = len(é)\nR = Q"),
    ],
)
def test_statements_that_share_lines_are_bundled_once(
    globals_: str, bundled_globals: str, tmp_path: Path
) -> None:
    kernel = "@triton.jit\ndef kernel(p, N: tl.constexpr):\n    tl.store(p, Q + R)"
    text = body(bundled(tmp_path, f"{globals_}\n\n{kernel}\n"))
    assert text == f"{bundled_globals}\n{kernel}"


@for_each(
    ("imported", "used"),
    [
        ("from helpers import fold", "fold"),
        ("from helpers import fold as bend", "bend"),
        ("from helpers import *", "fold"),
        ("import helpers", "helpers.fold"),
        ("import helpers as h", "h.fold"),
        ("from tools import fold", "fold"),
        ("import tools.shapes", "tools.shapes.fold"),
        ("from tools import shapes", "shapes.fold"),
        ("from tools.shapes import fold as f", "f"),
    ],
)
def test_helpers_of_other_files_are_bundled_under_their_own_name(
    imported: str, used: str, tmp_path: Path
) -> None:
    main = (
        f"{imported}\n\n@triton.jit\ndef kernel(p, N: tl.constexpr):\n    tl.store(p, {used}(N))\n"
    )
    files = {
        "helpers": FOLD,
        "tools_in___init__": "from .shapes import fold\n",
        "tools_in_shapes": FOLD,
    }
    expected = FOLD + "@triton.jit\ndef kernel(p, N: tl.constexpr):\n    tl.store(p, fold(N))"
    assert body(bundled(tmp_path, main, **files)) == expected


def test_two_helpers_with_the_same_name_stay_separate(tmp_path: Path) -> None:
    main = (
        f"import helpers\n{FOLD}\n@triton.jit\ndef kernel(p, N: tl.constexpr):\n    tl.store(p,"
        " fold(helpers.fold(N)))\n"
    )
    other = FOLD.replace("+ 1", "* 2")
    text = body(bundled(tmp_path, main, helpers=other))
    assert text.endswith("tl.store(p, fold(fold_2(N)))")
    assert "def fold_2(x):\n    return x * 2" in text
    assert "def fold(x):\n    return x + 1" in text


def test_a_variable_with_the_name_of_a_helper_does_not_hide_it(tmp_path: Path) -> None:
    main = (
        "import helpers\n@triton.jit\ndef kernel(p, N: tl.constexpr):\n    fold = helpers.fold(N)\n"
        "    tl.store(p, fold)\n"
    )
    assert "fold = fold_2(N)" in body(bundled(tmp_path, main, helpers=FOLD))


def test_a_local_variable_is_not_a_use_of_the_global_of_its_name(tmp_path: Path) -> None:
    main = (
        "big = open('/nowhere')\n@triton.jit\ndef kernel(p, N: tl.constexpr):\n    big = N\n   "
        " tl.store(p, big)\n"
    )
    assert "nowhere" not in bundled(tmp_path, main).text


def test_a_constant_of_another_module_becomes_a_constexpr(tmp_path: Path) -> None:
    main = (
        "import sizes\n@triton.jit\ndef kernel(p, N: tl.constexpr):\n    tl.store(p, sizes.BIG)\n"
    )
    text = body(bundled(tmp_path, main, sizes="HALF = 64\nBIG = HALF * 2\n"))
    assert text.startswith("HALF = 64\nBIG = HALF * 2\nBIG = tl.constexpr(BIG)\n")
    assert "tl.store(p, BIG)" in text


def test_a_constant_is_unchanged_if_kernels_may_read_any_global(
    tmp_path: Path,
) -> None:
    main = "import sizes\n@cute.kernel\ndef kernel(p):\n    p[0] = sizes.BIG\n"
    spec = evolve(written(tmp_path, main, sizes="BIG = 64\n"), toolchain="cute")
    assert "BIG = 64\n\n\n@" in toolchains.bundle_of(spec).text


def test_only_used_names_of_installed_packages_are_imported(tmp_path: Path) -> None:
    imports = "from triton.language import load, store\nimport math, os\n"
    main = f"{imports}@triton.jit\ndef kernel(p, N: tl.constexpr):\n    store(p, math.pi)\n"
    text = bundled(tmp_path, main).text
    assert "import math\n" in text
    assert "from triton.language import store\n" in text
    assert "load" not in text
    assert "os" not in text


@for_each(
    ("mine", "helper_code", "imports", "use"),
    [
        (
            "from math import log",
            "from cmath import log",
            "from cmath import log as log_2",
            "log_2",
        ),
        (
            "from math import exp as log",
            "from math import log",
            "from math import log as log_2",
            "log_2",
        ),
        ("import math as log", "import cmath as log", "import cmath as log_2", "log_2"),
        (
            "def log(x):\n    return x",
            "from math import log",
            "from math import log as log_2",
            "log_2",
        ),
        ("from math import log", "from math import log", "from math import log", "log"),
        ("import os.path", "import os", "import os", "os"),
    ],
)
def test_different_imports_with_the_same_name_stay_separate(
    mine: str, helper_code: str, imports: str, use: str, tmp_path: Path
) -> None:
    name = "os" if "os" in mine else "log"
    main = (
        f"{mine}\nfrom helpers import SIZE\nHERE = {name}\n@triton.jit\n"
        "def kernel(p, N: tl.constexpr):\n    tl.store(p, HERE, SIZE)\n"
    )
    text = bundled(tmp_path, main, helpers=f"{helper_code}\nSIZE = {name}\n").text
    assert f"{imports}\n" in text
    assert f"SIZE = {use}\n" in text
    assert f"HERE = {name}\n" in text
    assert f"{mine}\n" in text


def test_a_definition_does_not_take_the_name_of_an_import(tmp_path: Path) -> None:
    main = (
        "import helpers\nfrom math import fold\nHERE = fold\n@triton.jit\n"
        "def kernel(p, N: tl.constexpr):\n    tl.store(p, HERE, helpers.fold(N))\n"
    )
    text = body(bundled(tmp_path, main, helpers=FOLD))
    assert "HERE = fold\n" in text
    assert "def fold_2(x):" in text
    assert text.endswith("tl.store(p, HERE, fold_2(N))")


def test_a_name_that_another_file_imports_is_used_directly(tmp_path: Path) -> None:
    main = (
        "import helpers\n@triton.jit\ndef kernel(p, N: tl.constexpr):\n"
        "    tl.store(p, helpers.tau)\n"
    )
    text = body(bundled(tmp_path, main, helpers="from math import tau\n"))
    assert "from math import tau" in text
    assert text.endswith("tl.store(p, tau)")


def test_a_conditional_definition_is_bundled_with_its_condition(tmp_path: Path) -> None:
    branch = (
        "if hasattr(tl, 'x'):\n    @triton.jit\n    def f(x):\n        return x\nelse:\n    f ="
        " None\n"
    )
    assert branch.rstrip() in body(
        bundled(tmp_path, f"{branch}@triton.jit\ndef kernel(p, N: tl.constexpr):\n    f(N)\n")
    )


GUARDED = """
import math, os
try:
    import torch
    IS_THERE = True
except ImportError:
    torch, IS_THERE = None, False

if IS_THERE and os.name != "nt":
    import math
    from helpers import *

    ONE = tl.constexpr(math.floor(1.5))
    KIND = 1
    TEXT = tl.constexpr('''a
        b''')
    if len(os.sep) == 1:
        # squares
        @triton.jit
        def square(x):  # fmt: skip
            return x * x

    @triton.autotune([triton.Config({})], [])
    @triton.jit
    def kernel(p, N: tl.constexpr):
        tl.static_assert(TEXT.value.endswith("b"))
        tl.store(p, square(shift(N)) + ONE)

    def launch(p):
        kernel[(1,)](p, N=1)
else:
    KIND = 2
    TEXT = None
    ONE = None

    def square(*_):
        raise NotImplementedError

    def launch(p):
        raise NotImplementedError
"""


def test_a_kernel_in_a_branch_is_bundled_without_the_condition(tmp_path: Path) -> None:
    """Python has executed this branch, so the bundle does not check whether the package exists."""
    shift = "if triton:\n    @triton.jit\n    def shift(x):\n        return x + 1\n"
    text = bundled(tmp_path, GUARDED, helpers=shift).text
    assert [line for line in text.splitlines() if line] == [
        "import math",
        *HEAD.splitlines(),
        "TEXT = tl.constexpr('''a",
        "        b''')",
        "# squares",
        "@triton.jit",
        "def square(x):",
        "    return x * x",
        "@triton.jit",
        "def shift(x):",
        "    return x + 1",
        "ONE = tl.constexpr(math.floor(1.5))",
        "@triton.jit",
        "def kernel(p, N: tl.constexpr):",
        '    tl.static_assert(TEXT.value.endswith("b"))',
        "    tl.store(p, square(shift(N)) + ONE)",
    ]


@for_each(
    "branch",
    [
        "if 1: FACTOR = 2",
        "if 1:\n    FACTOR = 2\nelse: FACTOR = 3",
        "if 0:\n    pass\nelse: FACTOR = 3",
        "FACTOR = 2\nif 1:\n    FACTOR = 3",
        "if hasattr(tl, 'x'):\n    FACTOR = 2",
        "def new():\n    import triton\n    return triton.x\nif new():\n    FACTOR = 2",
        "NEW = triton.__version__ >= '3.1'\nif NEW:\n    FACTOR = 2",
        "try:\n    from triton.language import x\n    FACTOR = 2\nexcept ImportError:\n    pass",
        "try:\n    FACTOR = tl.x\nexcept AttributeError:\n    FACTOR = 2",
        "if TYPE_CHECKING:\n    FACTOR = 2",
    ],
)
def test_a_conditional_constant_keeps_its_condition(tmp_path: Path, branch: str) -> None:
    text = f"{branch}\n@triton.jit\ndef kernel(p, N: tl.constexpr):\n    tl.store(p, FACTOR)\n"
    assert branch in body(bundled(tmp_path, text))


def test_an_autotune_call_after_the_kernel_is_not_bundled(tmp_path: Path) -> None:
    main = (
        "@triton.jit\ndef kernel(p, N: tl.constexpr):\n    tl.store(p, N)\nkernel ="
        " triton.autotune([], key=[])(kernel)\n"
    )
    assert "autotune" not in bundled(tmp_path, main).text


@pytest.mark.parametrize(
    "assigned",
    [
        "triton.jit(kernel)\nkernel = triton.heuristics({})(kernel)",
        "triton.autotune([], key=[])(triton.jit(kernel))",
    ],
)
def test_jit_in_an_assignment_after_the_kernel_becomes_its_decorator(
    assigned: str, tmp_path: Path
) -> None:
    main = f"def kernel(p):\n    tl.store(p, 0)\n\n\nkernel = {assigned}\n"
    assert body(bundled(tmp_path, main)) == "@triton.jit\ndef kernel(p):\n    tl.store(p, 0)"


@pytest.mark.parametrize(
    "made",
    [
        "kernel = triton.jit(plain)",
        "kernel = triton.autotune([], key=[])(triton.jit(plain))",
        "def make():\n    return triton.jit(plain)\n\n\nkernel = make()",
        "from other import make as jit\nmade = triton.jit(plain)\nkernel = made",
    ],
)
def test_jit_in_an_assignment_of_another_name_becomes_a_decorator(
    made: str, tmp_path: Path
) -> None:
    kernel_bundle = bundled(tmp_path, f"def plain(p):\n    tl.store(p, 0)\n\n\n{made}\n")
    assert body(kernel_bundle) == "@triton.jit\ndef plain(p):\n    tl.store(p, 0)"
    assert kernel_bundle.spec.function == "plain"


def test_jit_of_a_function_in_another_file_keeps_its_meaning_or_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("jit = 3\n\n\ndef plain(p):\n    tl.store(p, jit)\n")
    main = "from plain import plain\nfrom triton import jit\nkernel = {}(plain)\n"
    text = bundled(tmp_path, main.format("triton.jit")).text
    assert text.startswith("import triton\n")
    assert text.endswith("@triton.jit\ndef plain(p):\n    tl.store(p, jit)\n")
    with pytest.raises(ConfigError, match="`jit` means something else in the file of plain"):
        bundled(tmp_path, main.format("jit"))


def test_decorators_are_bundled_on_request_with_what_they_use(tmp_path: Path) -> None:
    main = """
import sizes
import sizes as other


@triton.autotune(
    configs=sizes.configs(),  # all of them
    key=["N"],
)
@triton.heuristics({"N": lambda args: other.WARPS * few()})
@triton.jit
def kernel(p, N: tl.constexpr):
    tl.store(p, helper(N))


@triton.autotune([], key=[])
@triton.jit
def helper(x):
    return x


def few():
    return 4
"""
    sizes = "WARPS = 4\n\n\ndef configs():\n    return [triton.Config({}, num_warps=WARPS)]\n"
    kernel_bundle = bundle(
        written(tmp_path, main, sizes=sizes), decorated=True, decorators=DECORATORS
    )
    text = body(kernel_bundle)
    assert kernel_bundle.decorated
    assert text.endswith("""
@triton.autotune(
    configs=configs(),  # all of them
    key=["N"],
)
@triton.heuristics({"N": lambda args: WARPS * few()})
@triton.jit
def kernel(p, N: tl.constexpr):
    tl.store(p, helper(N))""")
    assert "def configs():\n    return [triton.Config({}, num_warps=WARPS)]" in text
    assert text.count("autotune") == 1, "of what it calls it has the functions alone"


def test_a_bundle_of_a_bundle_is_identical(tmp_path: Path) -> None:
    specs = {
        (spec.source, spec.function, spec.compile.functions): spec
        for spec in load_kernels(["*.toml"], KERNELS)
    }
    for spec in specs.values():
        once = bundle(spec)
        assert bundle(once.write(tmp_path / "once.py")).text == once.text


def test_a_missing_function_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not define a function missing"):
        bundled(tmp_path, "X = 1\n", "missing")


# --- on real wheels -------------------------------------------------------------------------------


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["triton-3.0.0", "triton-3.9.0"])
def test_a_bundle_has_the_same_outcome_as_the_original(
    release: str, tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> None:
    env, target = built(release), TARGETS["sm_90"]
    specs = {
        spec.variant: small(spec)
        for spec in load_kernels(["*.toml"], KERNELS)
        if spec.case in ("d64", "few")
    }
    originals = [Cell(env=env.env, target=target, spec=spec) for spec in specs.values()]
    moved = []
    for number, cell in enumerate(originals):
        folder = tmp_path / str(number)
        folder.mkdir()
        moved.append(
            evolve(
                cell,
                spec=evolve(
                    bundle(cell.spec).write(folder / "alone.py"), variant=f"alone-{number}"
                ),
            )
        )
    with Store(tmp_path / "state") as store:
        context = context_of(store, env)
        before, after = (
            run.run(cells, evolve(context, stop=threading.Event())) for cells in (originals, moved)
        )
    for one, other in zip(before, after, strict=True):
        assert one.outcome.status is other.outcome.status, one.cell.id
        failures = [
            result.outcome.failure
            and (result.outcome.failure.failure_class, result.outcome.failure.fingerprint)
            for result in (one, other)
        ]
        assert failures[0] == failures[1]
    assert {result.outcome.status.value for result in after} >= {"ok", "rejected", "crashed"}


def small(spec: Specialization) -> Specialization:
    """The same with blocks of 16, one range and one stage, which compiles faster."""
    constexprs = {
        name: 16 if name.startswith("BLOCK") else 1 if name == "NUM_RANGES" else value
        for name, value in spec.compile.constexprs.items()
    }
    options = {**spec.compile.options, "num_stages": 1}
    return evolve(spec, compile=evolve(spec.compile, constexprs=constexprs, options=options))


@pytest.mark.wheels
@pytest.mark.parametrize("release", ["triton-3.0.0", "triton-3.9.0"])
def test_constants_and_helpers_of_modules_compile(
    release: str, tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> None:
    main = """
import sizes
from helpers import fold as bend
HERE = tl.constexpr(2)


@triton.jit
def kernel(p, N: tl.constexpr):
    at = tl.arange(0, sizes.BIG)
    tl.store(p + at, bend(tl.load(p + at)) * HERE + sizes.scale(1.0))
"""
    helper = "@triton.jit\ndef scale(x):\n    return x * 2\n"
    moved = tmp_path / "alone"
    moved.mkdir()
    kernel_bundle = bundled(tmp_path, main, helpers=FOLD, sizes=f"BIG = 64\n{helper}")
    spec = kernel_bundle.write(moved / "alone.py")
    env = built(release)
    original = evolve(
        spec,
        source=str(tmp_path / "main.py"),
        closure=read_source(tmp_path / "main.py").closure,
        variant="original",
    )
    cells = [
        Cell(env=env.env, target=TARGETS["sm_90"], spec=specialization)
        for specialization in (spec, original)
    ]
    with Store(tmp_path / "state") as store:
        results = run.run(cells, context_of(store, env))
    assert [result.outcome.status.value for result in results] == ["ok", "ok"], results[
        0
    ].outcome.failure
