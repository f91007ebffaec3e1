"""A value of a stand-in reaches a kernel's compile only if it is true of the target.

Otherwise the kernel cannot be imported here.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compat.model import BuiltEnv, Status
from tests.forking import write_python
from tests.standin.packages import (
    HEADER,
    KERNEL,
    PLAIN,
    attempted,
    attempted_each,
    meaning,
    outcome,
    spec,
    written,
)

pytestmark = pytest.mark.wheels

ROOT = Path(__file__).parents[2]
SCALED = KERNEL.format(value="tl.load(source + at) * SCALE")


def scaled(value: str, before: str = "") -> str:
    """A module whose kernel multiplies by a constant of this value."""
    return f"{HEADER}{before}SCALE = tl.constexpr({value})\n{SCALED}"


BLOCK = "BLOCK: tl.constexpr"
NUMBER = "int(torch.get_num_threads())"
MULTIPROCESSORS = "torch.cuda.get_device_properties(0).multi_processor_count"
HELPER = "@triton.jit\ndef helper(x):\n    return x * SCALE\n"
LEAKS = {
    "a constant": scaled("torch.backends.mine.scale"),
    "what is computed from it": scaled("torch.get_num_threads() * 2"),
    "a branch": (
        HEADER
        + "if torch.backends.cuda.matmul.allow_tf32:\n    SCALE = tl.constexpr(2)\nelse:\n    SCALE"
        " = tl.constexpr(3)\n" + SCALED
    ),
    "a conditional expression": scaled("2 if torch.get_num_threads() > 4 else 3"),
    "a default": (
        HEADER + PLAIN.replace(BLOCK, f"{BLOCK}, OTHER: tl.constexpr = torch.backends.mine.scale")
    ),
    "an annotation": HEADER + PLAIN.replace("size,", "size: torch.SomeType,"),
    "a name in the kernel": (
        HEADER + KERNEL.format(value="tl.load(source + at) * torch.finfo(torch.mine).eps")
    ),
    "a helper's constant": (
        HEADER
        + "SCALE = tl.constexpr(torch.backends.mine.scale)\n"
        + HELPER
        + KERNEL.format(value="helper(tl.load(source + at))")
    ),
    "a decorator of the kernel": (
        HEADER + "import einops\n" + PLAIN.replace("@triton.jit", "@einops.wrap\n@triton.jit")
    ),
    "the kernel handed to it": HEADER + PLAIN + "kernel = torch.library.wrap_triton(kernel)\n",
    "a decorator that is known": (
        HEADER + PLAIN.replace("@triton.jit", "@torch.compile\n@triton.jit")
    ),
    "an assumed number": scaled(MULTIPROCESSORS),
    "what is computed from an assumed number": scaled(f"2 * {MULTIPROCESSORS} + 1"),
    "whether there is such a thing": scaled("2 if hasattr(torch, 'something_new') else 3"),
    "a default for what is absent": scaled("getattr(torch, 'something_new', 3)"),
    "an error that is caught": (
        HEADER + f"try:\n    SCALE = tl.constexpr({NUMBER})\nexcept Exception:\n    SCALE ="
        " tl.constexpr(3)\n" + SCALED
    ),
    "an error on the way": (
        HEADER
        + f"SCALE = tl.constexpr(3)\ntry:\n    SCALE = tl.constexpr({NUMBER})\nfinally:\n    pass\n"
        + SCALED
    ),
    "a text": scaled("len(f'{torch.get_num_threads()}')"),
    "an earlier value": scaled(NUMBER, "SCALE = tl.constexpr(3)\n"),
    "a list that was not filled": scaled("found[-1]", f"found = [3]\nfound.append({NUMBER})\n"),
    "what a loop did not come to": scaled(
        "found.get(7, 2)", f"found = {{}}\nfor number in (1, 2, {NUMBER}):\n    found[number] = 1\n"
    ),
    "another package": scaled("scale", "from transformers.utils import scale\n"),
    "a version that is not known": scaled(
        "2 if transformers.__version__ > '4' else 3", "import transformers\n"
    ),
    "types of typing that have it": scaled(
        "2 if List[torch.some] == List[torch.some] else 3", "from typing import List\n"
    ),
    "a type of typing that has it, as a key": scaled(
        "{List[List[torch.some]]: 2}.get(List[List[torch.some]], 3)", "from typing import List\n"
    ),
    "the text of a type of typing that has it": scaled(
        "2 if '8' in repr(List[torch.some]) else 3", "from typing import List\n"
    ),
    "a version of what is not known": scaled(
        "2 if Version(transformers.__version__) >= Version('4') else 3",
        "import transformers\nfrom packaging.version import Version\n",
    ),
    "equality": scaled("2 if torch.get_num_threads() == 8 else 3"),
    "membership": scaled("2 if torch.get_num_threads() in (8, 16) else 3"),
    "a class that derives from it": (
        HEADER
        + "import transformers\nclass Settings(transformers.Settings):\n    pass\n"
        + KERNEL.format(value="tl.load(source + at) * Settings.scale")
    ),
    "what a factory encloses": (
        HEADER
        + "def make(scale):\n"
        + "\n".join(
            f"    {line}"
            for line in KERNEL.format(value="tl.load(source + at) * scale").strip().split("\n")
        )
        + "\n    return kernel\nkernel = make(torch.get_num_threads())\n"
    ),
    "a factory that handles it": (
        HEADER
        + f"def make(kind):\n    try:\n        assert {NUMBER}\n    except:\n        pass\n   "
        " return kernel\n" + PLAIN
    ),
    # Code that catches the error although it is not an Exception.
    "a bare except": (
        HEADER
        + f"try:\n    SCALE = tl.constexpr({NUMBER})\nexcept:\n    SCALE = tl.constexpr(3)\n"
        + SCALED
    ),
    "a function that catches all": scaled(
        "number()",
        f"def number():\n    try:\n        return {NUMBER}\n    except BaseException:\n       "
        " return 3\n",
    ),
    "a function that returns on the way": scaled(
        "number()", f"def number():\n    try:\n        {NUMBER}\n    finally:\n        return 3\n"
    ),
    "what is suppressed": scaled(
        "found[-1]",
        "import contextlib\nfound = [3]\nwith contextlib.suppress(BaseException):\n   "
        f" found.append({NUMBER})\n",
    ),
    "an error in a thread": scaled(
        "found[-1]",
        "import threading\nfound = [3]\nthread = threading.Thread(target=lambda:"
        f" found.append({NUMBER}))\nthread.start()\nthread.join()\n",
    ),
    # Questions that Python answers without asking the value, or by its hash.
    "a set": scaled("2 if torch.get_num_threads() in {8, 16} else 3"),
    "a key": scaled("{8: 2}.get(torch.get_num_threads(), 3)"),
    "a key that is made of it": scaled("{torch.get_num_threads(): 2}.get(8, 3)"),
    "an instance": scaled("2 if isinstance(torch.get_num_threads(), int) else 3"),
    "a type": scaled("2 if type(torch.get_num_threads()) is int else 3"),
    "a class": scaled("2 if torch.get_num_threads().__class__ == int else 3"),
    "nothing": scaled("2 if torch.backends.mine is None else 3"),
    "the same thing": scaled("2 if torch.backends.mine is torch.backends.mine else 3"),
    "what can be called": scaled("2 if callable(torch.backends.mine) else 3"),
    "a function of Python's": scaled(
        "2 if inspect.isfunction(torch.backends.mine) else 3", "import inspect\n"
    ),
    "a name": scaled("2 if torch.backends.mine.__name__ == 'mine' else 3"),
    "a representation": scaled("2 if '8' in repr(torch.get_num_threads()) else 3"),
    "a formatted representation": scaled("2 if '8' in '%r' % torch.get_num_threads() else 3"),
    # Questions whether a name exists.
    "a list of names": scaled("2 if 'something_new' in dir(torch) else 3"),
    "a dictionary of names": scaled("vars(torch).get('something_new', 3)"),
    "a name that is tried": (
        HEADER
        + "try:\n    torch.something_new\n    SCALE = tl.constexpr(2)\nexcept AttributeError:\n   "
        " SCALE = tl.constexpr(3)\n" + SCALED
    ),
    "an import that is tried": (
        HEADER + "try:\n    from torch import something_new\n    SCALE = tl.constexpr(2)\nexcept"
        " ImportError:\n    SCALE = tl.constexpr(3)\n" + SCALED
    ),
    "a module that is tried": (
        HEADER
        + "try:\n    import torch.something_new\n    SCALE = tl.constexpr(2)\nexcept ImportError:\n"
        "    SCALE = tl.constexpr(3)\n" + SCALED
    ),
    "a module that is looked for": scaled(
        "2 if importlib.util.find_spec('torch.something_new') else 3", "import importlib.util\n"
    ),
    "a package that is looked for": scaled(
        "version('transformers')", "import transformers\nfrom importlib.metadata import version\n"
    ),
    "a method of a class that is known": scaled(
        "2 if hasattr(torch.Tensor, 'something_new') else 3"
    ),
    "an attribute of a class that derives from it": scaled(
        "getattr(Settings, 'scale', 3)",
        "import transformers\nclass Settings(transformers.Settings):\n    pass\n",
    ),
    "an attribute of an object": scaled(
        "getattr(Settings(), 'scale', 3)",
        "import transformers\nclass Settings(transformers.Settings):\n    pass\n",
    ),
    "whatever a package has": (
        HEADER
        + "from transformers import *\n"
        + KERNEL.format(value="helper(tl.load(source + at))")
    ),
    # Effects of a function that a statement calls.
    "a global": scaled(
        "NUMBER", f"NUMBER = 3\ndef set_up():\n    global NUMBER\n    NUMBER = {NUMBER}\nset_up()\n"
    ),
    "a global, two functions away": scaled(
        "NUMBER",
        "NUMBER = 3\ndef inner():\n    global NUMBER\n    NUMBER = 2\n"
        f"def set_up():\n    if {NUMBER} > 4:\n        inner()\nset_up()\n",
    ),
    "a global, of a function inside": scaled(
        "NUMBER",
        "NUMBER = 3\ndef set_up():\n    def inner():\n        global NUMBER\n"
        f"        NUMBER = 2\n    if {NUMBER} > 4:\n        inner()\nset_up()\n",
    ),
    "what a function fills": scaled(
        "found[-1]", f"found = [3]\ndef set_up():\n    found.append({NUMBER})\nset_up()\n"
    ),
    "what a function fills, by another name": scaled(
        "other[-1]", f"found = other = [3]\ndef set_up():\n    found.append({NUMBER})\nset_up()\n"
    ),
    "what a function fills after it looked into it": scaled(
        "found[0]",
        f"found = [3]\ndef set_up():\n    if 3 in found:\n        found[0] = {NUMBER}\nset_up()\n",
    ),
    "an item of a table that a function reads": scaled(
        "table['a'][-1]",
        f"table = {{'a': [3]}}\ndef set_up():\n    table['a'].append({NUMBER})\nset_up()\n",
    ),
    "an item of a tuple in a table that a function reads": scaled(
        "table['a'][0][-1]",
        "table = {'a': ([3],)}\ndef set_up():\n    for (item,) in table.values():\n"
        f"        item.append({NUMBER})\nset_up()\n",
    ),
    "a global, of a function in a table that a function reads": scaled(
        "NUMBER",
        "NUMBER = 3\ndef inner():\n    global NUMBER\n    NUMBER = 2\nTABLE = {'a': inner}\n"
        f"def set_up():\n    if {NUMBER} > 4:\n        TABLE['a']()\nset_up()\n",
    ),
    "what a method sets of its class": scaled(
        "Settings.scale",
        "class Settings:\n    scale = 3\n    @classmethod\n    def set_up(cls):\n"
        f"        cls.scale = {NUMBER}\nSettings.set_up()\n",
    ),
    "what a decorator sets": scaled(
        "NUMBER",
        f"NUMBER = 3\ndef mark(f):\n    global NUMBER\n    NUMBER = {NUMBER}\n    return"
        " f\n@mark\ndef launch(): ...\n",
    ),
    "what making an object sets": scaled(
        "Settings.scale",
        "class Settings:\n    scale = 3\n    def __init__(self):\n        Settings.scale ="
        f" {NUMBER}\nSettings()\n",
    ),
    # Numbers computed from an assumed number.
    "an assumed number as another": scaled(f"int({MULTIPROCESSORS})"),
    "half an assumed number": scaled(f"{MULTIPROCESSORS} / 2"),
    "a rounded half": scaled(f"math.ceil({MULTIPROCESSORS} / 2)", "import math\n"),
}
FUNCTIONS = {"a factory that handles it": "make(1)"}


RELEASES = ["triton-3.0.0", "triton-3.3.1", "triton-3.9.0"]
OLDEST_AND_NEWEST = pytest.mark.parametrize("env", [RELEASES[0], RELEASES[-1]], indirect=True)


@pytest.fixture(params=RELEASES)
def env(request: pytest.FixtureRequest, built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built(request.param)


def test_a_kernel_that_needs_an_unknown_value_is_source_broken(
    env: BuiltEnv, tmp_path: Path
) -> None:
    paths = [
        written(tmp_path / str(number), {"leaking.py": text}) / "leaking.py"
        for number, text in enumerate(LEAKS.values())
    ]
    specs = [
        spec(path, FUNCTIONS.get(leak, "kernel")) for leak, path in zip(LEAKS, paths, strict=True)
    ]
    for leak, attempt in zip(LEAKS, attempted_each(env, specs), strict=True):
        outcome = meaning(env, attempt)
        assert outcome.status is Status.SOURCE_BROKEN, (leak, outcome)
        assert outcome.failure is not None
        assert outcome.failure.failure_class in ("source-needs-package", "source-import"), (
            leak,
            outcome,
        )
        excerpt = outcome.failure.excerpt
        assert re.search(
            r"`(torch|transformers|einops)\b.* this env lacks|on the GPU that is assumed", excerpt
        ), (leak, excerpt)


def test_an_unknown_value_that_python_refuses_names_no_other_package(
    env: BuiltEnv, tmp_path: Path
) -> None:
    text = scaled("len(bytes.fromhex(torch.some))", "import einops\nrearrange = einops.rearrange\n")
    compile_outcome = outcome(env, spec(written(tmp_path, {"hex.py": text}) / "hex.py"))
    assert compile_outcome.failure is not None
    assert "einops" not in compile_outcome.failure.excerpt, compile_outcome


NAMES_OF_ANOTHER = {
    "mine/__init__.py": "",
    "mine/constants.py": (
        "import torch\nimport triton.language as tl\nSCALE ="
        " tl.constexpr(int(torch.get_num_threads()))\n"
    ),
    "mine/settings.py": "import torch\nSCALE = 3\n",
    "mine/kernels.py": HEADER + "from .constants import *\n" + SCALED,
    "mine/sets.py": (
        HEADER + "from . import settings\nsettings.SCALE = int(torch.get_num_threads())\nSCALE ="
        " tl.constexpr(settings.SCALE)\n" + SCALED
    ),
    "mine/optional.py": (
        "try:\n    import einops\n    SCALE = 2\nexcept ImportError:\n    SCALE = 3\n"
    ),
    "mine/needs.py": "import torch\nassert int(torch.get_num_threads())\nimport einops\n",
    "mine/late.py": (
        HEADER + "from .optional import SCALE as NUMBER\nfrom . import needs\nSCALE ="
        " tl.constexpr(NUMBER)\n"
        + SCALED.replace("at) * SCALE", "at) * (SCALE if SCALE == 2 else not_that)")
    ),
}


def test_modules_of_one_tree_see_the_same_of_an_absent_package(
    env: BuiltEnv, tmp_path: Path
) -> None:
    """A value that one module lacks is absent in the others, whichever way it gets there.

    A package exists for all modules or for none.
    """
    folder = written(tmp_path, NAMES_OF_ANOTHER)
    specs = [spec(folder / "mine" / f"{name}.py") for name in ("kernels", "sets", "late")]
    kernels, sets, late = (meaning(env, attempt) for attempt in attempted_each(env, specs))
    assert kernels.status is sets.status is Status.SOURCE_BROKEN, (kernels, sets)
    assert late.status is Status.OK, late


FINE = {
    "types": (
        "NAMES = {torch.float16: 'half', torch.bfloat16: 'bf16'}\ndef launch(x: torch.Tensor) ->"
        " 'torch.Tensor | None': ...\n"
    ),
    "decorators": (
        "@torch.no_grad()\ndef a(): ...\n@torch.compile(dynamic=True)\ndef b(): ...\n"
        "@torch.jit.script\ndef c(x: int): ...\n"
        "@torch.inference_mode\ndef d(): ...\n"
    ),
    "operators": (
        "@torch.library.custom_op('mine::op', mutates_args=())\ndef op(x: torch.Tensor) ->"
        " torch.Tensor: ...\n@op.register_fake\ndef fake(x):"
        " ...\ntorch.library.define('mine::other', '(Tensor x) ->"
        " Tensor')\n@torch.library.register_fake('mine::other')\ndef other(x):"
        " ...\nop.register_autograd(fake, setup_context=fake)\nlibrary ="
        " torch.library.Library('ours', 'DEF')\nlibrary.define('f(Tensor x) ->"
        " Tensor')\nlibrary.impl('f', fake, 'CUDA')\n"
    ),
    "types of typing": (
        "from typing import Dict, List, Optional, Union\n"
        "def launch(a: List[List[torch.tensor]], b: Optional[torch.nn.Parameter],"
        " c: Union[torch.cuda.Event, torch.nn.Linear, int], d: Dict[str, torch.Generator]): ...\n"
    ),
    "classes": (
        "class Layer(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\nclass"
        " Op(torch.autograd.Function):\n    @staticmethod\n   "
        " @torch.amp.custom_fwd(device_type='cuda')\n    def forward(ctx, x): ...\n   "
        " @staticmethod\n    @torch.amp.custom_bwd(device_type='cuda')\n    def backward(ctx, dy):"
        " ...\napply = Op.apply\nclass Mine(torch.nn.Linear): ...\n"
    ),
    "other packages": (
        "import transformers.models.llama as llama\nfrom einops import rearrange, repeat\n"
        "class Mine(llama.Attention): ...\n"
        "@rearrange.something\ndef f(): ...\n"
    ),
    "what fails and is not needed": (
        "assert torch.cuda.get_device_name() == 'none'\nNUMBER = int(torch.get_num_threads())\n"
        "OTHER = NUMBER + 1\nraise RuntimeError('not here')\n"
    ),
}


KNOWN = {
    "no determinism": scaled("None if torch.are_deterministic_algorithms_enabled() else 2"),
    "determinism that a module sets": scaled(
        "2 if torch.are_deterministic_algorithms_enabled() else None",
        "torch.use_deterministic_algorithms(True, warn_only=True)\n",
    ),
    "the limits of a dtype": scaled(
        "2 if NUMBERS.max == 65504.0 and torch.iinfo(torch.int8).min == -128 else None",
        "NUMBERS = torch.finfo(torch.float16)\n",
    ),
    "the limits of the default dtype": scaled("2 if torch.finfo().bits == 32 else None"),
    "that a dtype has no such limits": scaled(
        "NUMBER",
        "try:\n    torch.finfo(torch.int8)\nexcept TypeError:\n    NUMBER = 2\n",
    ),
    "no XCCL": scaled("None if torch.distributed.is_xccl_available() else 2"),
    "a package with a second name": scaled(
        "2", "import sys, transformers\nsys.modules['of_ours'] = transformers\n"
    ),
    "Triton": scaled("2 if has_triton() else None", "from torch.utils._triton import has_triton\n"),
    "no device of an extension": scaled(
        "None if any(hasattr(torch, name) for name in ('corex', 'mlu', 'npu')) else 2"
    ),
    "a build from source control": scaled("2 if hasattr(torch.version, 'git_version') else None"),
    "a table that a function looks into": scaled(
        "TABLE['a'] if '1' in ON else None",
        "TABLE, ON = {'a': 2, 'b': (3, 4)}, {'1', 'on'}\ndef is_on(name):\n    return name in ON\n"
        "def set_up():\n    if ON and is_on('x'):\n        print(TABLE['a'], TABLE.get('c'))\n"
        "    for name, value in TABLE.items():\n"
        f"        print(TABLE[str(name)] == value, {NUMBER})\nset_up()\n",
    ),
    "a name of Triton that an object has, too": scaled(
        "2",
        "class Layer:\n    def __init__(self):\n        self.language = tl\n"
        f"        self.load = {NUMBER}\nLayer()\n",
    ),
    "the name of a module, while a function's name is unknown": scaled(
        "2",
        "import sys\nthis = sys.modules[__name__]\ndef wrap(f):\n    f.__name__ ="
        " str(int(torch.get_num_threads()))\n    return this\nwrap(print)\n",
    ),
    "the path of a module that a statement was to read": scaled(
        "2 if __file__.endswith('.py') else None",
        "import transformers\ntransformers.tag(open(__file__), int(torch.get_num_threads()))\n",
    ),
}
"""Modules whose kernel multiplies by 2. With another answer it would multiply by None, which no
release compiles.
"""


@OLDEST_AND_NEWEST
@pytest.mark.parametrize("answer", KNOWN)
def test_a_known_value_reaches_the_kernel(answer: str, env: BuiltEnv, tmp_path: Path) -> None:
    evidence = attempted(env, spec(written(tmp_path, {"known.py": KNOWN[answer]}) / "known.py"))
    assert meaning(env, evidence).status is Status.OK


@OLDEST_AND_NEWEST
@pytest.mark.parametrize("preamble", FINE)
def test_code_that_the_kernel_does_not_need_does_not_stop_it(
    env: BuiltEnv, tmp_path: Path, preamble: str
) -> None:
    path = written(tmp_path, {"fine.py": HEADER + FINE[preamble] + PLAIN}) / "fine.py"
    compile_outcome = outcome(env, spec(path))
    assert compile_outcome.status is Status.OK, compile_outcome
    assert compile_outcome.stood_in is not None
    assert any(package.startswith("torch ") for package in compile_outcome.stood_in.packages)
    assert bool(compile_outcome.stood_in.skipped) == (preamble == "what fails and is not needed")


LIMITS = """
import json, os, sys
import torch
sys.path.insert(0, sys.argv[1])
from compat.worker import adapter

dtypes = sys.modules[adapter.load_standin().__name__ + ".dtypes"]
names = ("bits", "min", "max", "eps", "tiny", "smallest_normal", "resolution", "dtype")


def told(limits, kind):
    try:
        found = limits(kind)
        return {name: getattr(found, name, None) for name in names}
    except TypeError as error:
        return str(error)


ours = dtypes.dtypes(tuple(map(int, torch.__version__.split(".")[:2])))
found = {}
for name, kind in ours.items():
    real = getattr(torch, name)
    if name not in ("float8_e8m0fnu", "float4_e2m1fn_x2"):
        found[name] = [told(dtypes.FloatingLimits, kind), told(torch.finfo, real)]
    found[name + " as a number"] = [told(dtypes.iinfo, kind), told(torch.iinfo, real)]
print(json.dumps(found), flush=True)
os._exit(0)  # destroying the objects of PyTorch takes half a second
"""


def test_the_limits_of_a_dtype_are_those_of_pytorch(pair_python: str, tmp_path: Path) -> None:
    (tmp_path / "limits.py").write_text(LIMITS)
    forking = write_python(tmp_path / "python", pair_python, "torch")
    program = [forking, str(tmp_path / "limits.py"), str(ROOT)]
    answers = json.loads(subprocess.run(program, check=True, stdout=subprocess.PIPE).stdout)
    assert len(answers) > 40
    # Releases of PyTorch disagree about one number.
    answers["float8_e5m2fnuz"][1]["eps"] = None
    assert {name: standin_limits for name, (standin_limits, _) in answers.items()} == {
        name: real for name, (_, real) in answers.items()
    }


def test_failures_next_to_a_stand_in_keep_their_class(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """On the way to an error, Python looks up names in all modules.

    These lookups are not questions of the kernel.
    """
    env = built("triton-3.0.0")
    path = written(tmp_path, {"fine.py": HEADER + PLAIN}) / "fine.py"
    compile_outcome = outcome(env, spec(path), "gfx942")
    assert compile_outcome.failure is not None
    assert (compile_outcome.status, compile_outcome.failure.failure_class) == (
        Status.UNSUPPORTED,
        "toolchain-missing",
    )
    path = (
        written(tmp_path, {"wrong.py": HEADER + KERNEL.format(value="nowhere_defined")})
        / "wrong.py"
    )
    compile_outcome = outcome(env, spec(path))
    assert compile_outcome.failure is not None
    assert (compile_outcome.failure.failure_class, compile_outcome.failure.location) == (
        "undefined-name",
        "wrong.py:8",
    )


def test_a_kernel_may_call_classes_of_pytorch(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """Triton accepts a class there from 3.2.0 on. Before, it refuses the name of PyTorch."""
    value = "torch.finfo(torch.float32).max - torch.iinfo(torch.int8).max"
    path = written(tmp_path, {"limits.py": HEADER + KERNEL.format(value=value)}) / "limits.py"
    assert outcome(built("triton-3.5.1"), spec(path)).status is Status.OK
    failure = outcome(built("triton-3.1.0"), spec(path)).failure
    assert failure is not None
    assert 'Function "finfo" is being called' in failure.excerpt


def test_answers_that_depend_on_the_target_are_reported_for_each_target(
    env: BuiltEnv, tmp_path: Path
) -> None:
    """An `if` of a module takes the right branch for each target, and both answers are reported."""
    text = (
        HEADER
        + "if torch.cuda.get_device_capability() >= (9, 0):\n    SCALE = tl.constexpr(2.0)\nelse:\n"
        "    SCALE = tl.constexpr(3.0)\n"
    )
    alone = "import triton\nimport triton.language as tl\nSCALE = tl.constexpr({})\n" + SCALED
    files = {
        "asks.py": text + SCALED,
        "two/asks.py": alone.format("2.0"),
        "three/asks.py": alone.format("3.0"),
    }
    folder = written(tmp_path, files)
    for target, same, scale in (("sm_90", "two", "(9, 0)"), ("sm_80", "three", "(8, 0)")):
        evidence, reference = (
            attempted(env, spec(folder / name), target) for name in ("asks.py", f"{same}/asks.py")
        )
        assert evidence.done
        assert evidence.done[0].outputs["ttir"].size > 0
        assert evidence.metrics["artifacts"]["cubin"] == reference.metrics["artifacts"]["cubin"]
        assert evidence.stood_in is not None
        assert reference.stood_in is None
        assert evidence.stood_in.answers == (
            f"torch.cuda.get_device_capability() is {scale} (asks.py:4)",
        )


def test_a_kernel_with_a_dtype_of_pytorch_compiles_with_a_stand_in(
    env: BuiltEnv, tmp_path: Path
) -> None:
    text = HEADER.replace("import torch\n", "") + PLAIN.replace(
        "BLOCK: tl.constexpr", "BLOCK: tl.constexpr, KIND: tl.constexpr"
    ).replace("tl.load(source + at)", "tl.load(source + at) * (2.0 if KIND == 1 else 3.0)")
    path = written(tmp_path, {"typed.py": text}) / "typed.py"
    compile_outcome = outcome(env, spec(path, constexprs={"KIND": {"torch_dtype": "float16"}}))
    assert compile_outcome.status is Status.OK, compile_outcome
    assert compile_outcome.stood_in is not None


def test_a_package_whose_absence_the_module_handles_has_no_stand_in(
    env: BuiltEnv, tmp_path: Path
) -> None:
    text = (
        "import triton\nimport triton.language as tl\ntry:\n    import torch\nexcept ImportError:\n"
        "    torch = None\nSCALE = tl.constexpr(2.0 if torch is None else"
        " int(torch.get_num_threads()))\n" + SCALED
    )
    compile_outcome = outcome(env, spec(written(tmp_path, {"handles.py": text}) / "handles.py"))
    assert (compile_outcome.status, compile_outcome.stood_in) == (Status.OK, None)


@pytest.mark.parametrize(
    ("alone", "pair"),
    [("triton-3.0.0", "triton-3.0.0-torch-2.4.1"), ("triton-3.5.1", "triton-3.5.1-torch-2.9.1")],
)
@pytest.mark.long
def test_a_real_torch_and_a_stand_in_give_the_same_code(
    built: Callable[[str], BuiltEnv], tmp_path: Path, alone: str, pair: str
) -> None:
    """The worker uses PyTorch if the env has it. The code is the same, byte by byte.

    Triton does not treat a module as a global value.
    """
    harmless = "".join(FINE[preamble] for preamble in ("types", "decorators", "operators"))
    harmless = harmless.replace("@torch.jit.script\ndef c(x: int): ...\n", "")
    if alone == "triton-3.0.0":  # the import of PyTorch's compiler takes seconds
        harmless = harmless.replace("@torch.compile(dynamic=True)\ndef b(): ...\n", "")
    text = HEADER + harmless + PLAIN.replace("(source,", "(source: torch.Tensor,")
    path = written(tmp_path, {"both.py": text}) / "both.py"
    without, real = (attempted(built(name), spec(path)) for name in (alone, pair))
    assert without.stood_in is not None
    assert without.stood_in.packages == (f"torch {pair.rpartition('-')[2]}",)
    assert real.complete, real.raised
    assert real.stood_in is None
    assert without.done[0].outputs == real.done[0].outputs
