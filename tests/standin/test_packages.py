"""Kernels in packages: the worker imports them as Python does, from the live tree.

An edit of a file that they import compiles them again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from compat.bundle.bundle import bundle
from compat.config.kernel_files import load_kernels
from compat.engine.run import run
from compat.model import BuiltEnv, Cell, Result, Specialization, Status
from compat.store.store import Store
from tests.cells import context_of
from tests.commands import run as run_command
from tests.standin.packages import HEADER, KERNEL, outcome, spec, written
from tests.targets import TARGETS
from tests.together import for_each

ROOT = Path(__file__).parents[2]
PLAIN = "import triton\nimport triton.language as tl\n"
HELPER = PLAIN + "@triton.jit\ndef double(x):\n    return x * {}\n"
TREE = {
    "src/mylib/__init__.py": "from . import ops\n",
    "src/mylib/ops/__init__.py": "from mylib.ops.act import kernel\n",
    "src/mylib/ops/act.py": (
        HEADER + "from .helpers import double\nfrom mylib.constants import SHIFT\nfrom .. import"
        " constants\n"
        + KERNEL.format(value="double(tl.load(source + at)) + SHIFT + constants.SHIFT")
    ),
    "src/mylib/ops/helpers.py": HELPER.format(2),
    "src/mylib/constants.py": "import triton.language as tl\nSHIFT = tl.constexpr(1)\n",
    "src/mylib/unused.py": "raise RuntimeError\n",
}
SOURCES = (
    'source = "../src/mylib/ops/act.py"',
    'module = "mylib.ops.act"\npath = ["../src"]',
    'module = "mylib.ops.act"\ninstall = ["-e .."]',
)
KERNEL_FILE = """schema = 1
kernel = "act"
{source}
[signature]
source = "*fp32"
result = "*fp32"
size = "i32"
[constexprs]
BLOCK = 64
[[case]]
name = "only"
[[variant]]
name = "as_written"
function = "{function}"
"""


def results(
    specs: list[Specialization], env: BuiltEnv, store: Store, targets: tuple[str, ...] = ("sm_90",)
) -> tuple[Result, ...]:
    cells = [
        Cell(env=env.env, target=TARGETS[target], spec=specialization)
        for specialization in specs
        for target in targets
    ]
    return run(cells, context_of(store, env, slots=2))


def read(folder: Path, source: str, function: str = "kernel") -> Specialization:
    written(folder, {"kernels/act.toml": KERNEL_FILE.format(source=source, function=function)})
    (specialization,) = load_kernels(["kernels/act.toml"], folder)
    return specialization


@pytest.mark.wheels
def test_a_folder_without_an_init_is_imported_again_with_its_package(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """The path of the folder depends on the package, which is absent after its import failed."""
    path = tmp_path / "src/mylib/inner/act.py"
    tree = {
        "src/mylib/__init__.py": "from mylib.inner.shift import SHIFT\nimport another_package\n",
        "src/mylib/inner/shift.py": PLAIN + "SHIFT = tl.constexpr(1)\n",
        "src/mylib/inner/act.py": (
            HEADER
            + "from .shift import SHIFT\n"
            + KERNEL.format(value="tl.load(source + at) + SHIFT")
        ),
    }
    written(tmp_path, tree)
    specialization = evolve(spec(path), roots=(str(tmp_path / "src"),))
    compile_outcome = outcome(built("triton-3.9.0"), specialization)
    assert compile_outcome.status is Status.OK, compile_outcome
    assert compile_outcome.stood_in is not None
    assert "another_package" in compile_outcome.stood_in.packages


PLATFORMS = """
_current = None

class Platform:
    def kind(self):
        return "a"

    def answer(self):
        import torch
        self.known = torch.ops.mylib.answer() == 3
        return self.known

def __getattr__(name):
    global _current
    if name != "current":
        raise AttributeError(name)
    if _current is None:
        _current = Platform()
    return _current
"""


@pytest.mark.wheels
def test_a_name_that_a_module_lacks_after_a_failure_has_the_reason_of_that_failure(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """The failed statement may have changed the platform, so that its module loses the name."""
    path = tmp_path / "src/mylib/act.py"
    tree = {
        "src/mylib/__init__.py": "",
        "src/mylib/platforms.py": PLATFORMS,
        "src/mylib/asking.py": (
            "from mylib.platforms import current\n"
            "def ask():\n    return current.answer()\nANSWER = ask()\n"
        ),
        "src/mylib/act.py": (
            HEADER
            + "from mylib.asking import ANSWER\n"
            + "from mylib.platforms import current\n"
            + "SHIFT = tl.constexpr(1 if current.kind() == 'a' else 2)\n"
            + KERNEL.format(value="tl.load(source + at) + SHIFT")
        ),
    }
    written(tmp_path, tree)
    specialization = evolve(spec(path), roots=(str(tmp_path / "src"),))
    failure = outcome(built("triton-3.9.0"), specialization).failure
    assert failure is not None
    assert failure.failure_class == "source-needs-package", failure
    assert "torch.ops.mylib.answer" in failure.excerpt, failure


@pytest.mark.wheels
def test_a_package_that_asks_for_its_own_version_in_vain_gets_advice(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    path = tmp_path / "src/mylib/act.py"
    tree = {
        "src/mylib/__init__.py": "",
        "src/mylib/importing.py": (
            "import torch\nfrom importlib.metadata import version\n"
            "class triton:\n    jit = staticmethod(lambda function: function)\n"
            "try:\n    version('mylib')\n    import triton\nexcept Exception:\n    pass\n"
            "class tl:\n    constexpr = None\n"
        ),
        "src/mylib/act.py": (
            "from mylib.importing import tl, triton\n" + KERNEL.format(value="tl.load(source + at)")
        ),
    }
    written(tmp_path, tree)
    specialization = evolve(spec(path), roots=(str(tmp_path / "src"),))
    failure = outcome(built("triton-3.9.0"), specialization).failure
    assert failure is not None
    assert failure.failure_class == "source-import", failure
    assert failure.advice.startswith(
        "mylib/importing.py:6 asks `importlib.metadata.version('mylib')`, and the folder of the"
        " package has no metadata."
    ), failure.advice
    written(tmp_path, {"src/mylib.egg-info/PKG-INFO": "Metadata-Version: 2.1\nVersion: 1.0\n"})
    answered = outcome(built("triton-3.9.0"), specialization)
    assert answered.failure is None or "metadata" not in answered.failure.advice


@pytest.fixture(params=["triton-3.0.0", "triton-3.9.0"])
def env(request: pytest.FixtureRequest, built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built(request.param)


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("env", "source"),
    [("triton-3.0.0", SOURCES[0]), *(("triton-3.9.0", source) for source in SOURCES)],
    indirect=["env"],
)
def test_relative_and_absolute_imports_work_and_an_edit_compiles_again(
    env: BuiltEnv, tmp_path: Path, source: str
) -> None:
    written(tmp_path, TREE)
    with Store(tmp_path / "store") as store:
        (first,) = results([read(tmp_path, source)], env, store)
        assert first.outcome.status is Status.OK, first.outcome
        (second,) = results([read(tmp_path, source)], env, store)
        assert second.cached
        for name in ("ops/helpers.py", "constants.py", "__init__.py", "ops/__init__.py"):
            path = tmp_path / "src/mylib" / name
            path.write_text(path.read_text().replace("* 2", "* 3") + "\n# edited\n")
            (again,) = results([read(tmp_path, source)], env, store)
            assert (again.cached, again.outcome.status) == (False, Status.OK), name
        (tmp_path / "src/mylib/unused.py").write_text("")
        assert results([read(tmp_path, source)], env, store)[0].cached


@pytest.mark.wheels
def test_projects_with_modules_of_the_same_name_are_isolated(env: BuiltEnv, tmp_path: Path) -> None:
    written(tmp_path / "one", TREE)
    written(tmp_path / "two", {**TREE, "src/mylib/ops/helpers.py": "no_double = 1\n"})
    specs = [
        evolve(spec(tmp_path / name / "src/mylib/ops/act.py"), kernel=name)
        for name in ("one", "two", "one", "two")
    ]
    specs = [
        evolve(specialization, case=str(number)) for number, specialization in enumerate(specs)
    ]
    with Store(tmp_path / "store") as store:
        cell_results = results(specs, env, store, ("sm_80", "sm_90"))
    statuses = {(result.cell.spec.kernel, result.outcome.status) for result in cell_results}
    assert statuses == {("one", Status.OK), ("two", Status.SOURCE_BROKEN)}


@pytest.mark.wheels
def test_a_bundle_of_a_kernel_in_a_package_does_not_need_the_package(
    env: BuiltEnv, tmp_path: Path
) -> None:
    written(tmp_path, TREE)
    kernel_bundle = bundle(spec(tmp_path / "src/mylib/ops/act.py"))
    assert "mylib" not in kernel_bundle.text
    (tmp_path / "alone").mkdir()
    alone = kernel_bundle.write(tmp_path / "alone" / "act.py")
    assert outcome(env, alone).status is Status.OK


def indented(text: str, depth: int = 1) -> str:
    return "".join(f"{'    ' * depth}{line}\n" for line in text.strip().split("\n"))


FORMS = {
    "Holder.kernel": "class Holder:\n" + indented(KERNEL.format(value="at")),
    "make(3)": (
        "def make(kind):\n    if kind == 3:\n"
        + indented(KERNEL.format(value="tl.load(source + at)"), 2)
        + "    else:\n        kernel = None\n    return kernel\n"
    ),
    "make()[1]": (
        "def make():\n    import types\n"
        + indented(KERNEL.format(value="at"))
        + "    return types, kernel\n"
    ),
    "holder.inner.kernel": (
        "import types\n"
        + KERNEL.format(value="at")
        + "holder = types.SimpleNamespace(inner=types.SimpleNamespace(kernel=kernel))\n"
    ),
}


@pytest.mark.wheels
@pytest.mark.parametrize("form", FORMS)
def test_kernels_in_classes_objects_and_factories_compile(
    env: BuiltEnv, tmp_path: Path, form: str
) -> None:
    written(tmp_path, {"kernels/act.py": PLAIN + FORMS[form]})
    compile_outcome = outcome(env, read(tmp_path, 'source = "act.py"', form))
    assert compile_outcome.status is Status.OK, compile_outcome


@for_each("form", ["make(x)", "make(3)[x]", "gone.kernel", "Holder[0]", "make(3", "lambda: 1"])
def test_an_invalid_function_is_an_error_of_the_kernel_file(tmp_path: Path, form: str) -> None:
    written(tmp_path, {"kernels/act.py": PLAIN + FORMS["make(3)"]})
    with pytest.raises(
        Exception, match=r"variant\[0\]\.function: act\.py (has no|does not define a) function"
    ):
        read(tmp_path, 'source = "act.py"', form)


@pytest.mark.wheels
def test_an_invalid_kernel_file_does_not_stop_the_others(tmp_path: Path) -> None:
    """The command prints the error, leaves out the file's kernels, and exits with 2.

    It compiles a kernel only for the targets of its kernel file.
    """
    good = KERNEL_FILE.format(source='source = "act.py"\ntargets = ["sm_8*"]', function="kernel")
    bad = good.replace('"act"', '"bad"').replace('source = "act.py"', 'source = "gone.py"')
    matrix = 'schema = 1\nkernels = ["k/*.toml"]\nenv = [{ triton = "3.9.0" }]\n'
    matrix += '[defaults]\nenvs = ["*"]\ntargets = ["sm_80", "sm_90"]\n'
    files = {
        "k/act.py": PLAIN + KERNEL.format(value="at"),
        "k/good.toml": good,
        "k/bad.toml": bad,
        "matrix.toml": matrix,
    }
    written(tmp_path, files)
    done = run_command("matrix", cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 2, done
    assert (
        "error: k/bad.toml: source: there is no file 'gone.py' next to this one; its kernels are"
        " left out" in done.stderr
    )
    assert "1 cell in" in done.stdout
