"""Edits of a file of a package: which of its kernels are compiled again, and their statuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from compat.engine.run import run
from compat.model import BuiltEnv, Cell, CompileSpec, Specialization
from compat.source.closure import read_source
from compat.store.store import Store
from compat.workers.attempt import Limits
from tests.cells import context_of
from tests.standin.packages import written
from tests.targets import TARGETS

pytestmark = pytest.mark.wheels

LIMITS = Limits(deadline=60, memory=4 << 30)
HEADER = "import triton\nimport triton.language as tl\nfrom .utils import scaled\n"
KERNEL = """

@triton.jit
def {name}(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, scaled(tl.load(x + at)) + 1.0)


def reference():
    return None
"""
NAMES = ("softmax", "norm", "gemm", "rope")
FILES = {
    "pkg/__init__.py": "".join(f"from .{name} import {name}\n" for name in NAMES),
    "pkg/utils.py": "import triton\n\n\n@triton.jit\ndef scaled(x):\n    return x * 2\n",
    **{f"pkg/{name}.py": HEADER + KERNEL.format(name=name) for name in NAMES},
}
OTHERS = ("gemm", "norm", "rope")
OK, REJECTED = "ok", "rejected"


class Project:
    """A package of four kernels, whose results are kept."""

    def __init__(self, folder: Path, built: BuiltEnv, store: Store) -> None:
        self.folder, self.built, self.store = written(folder, FILES), built, store

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.folder / "pkg" / f"{name}.py"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def run(self) -> tuple[set[str], set[str]]:
        """The kernels that were compiled, and the kernels with the status ``ok``."""
        cells = [
            Cell(env=self.built.env, target=TARGETS["sm_90"], spec=self.spec(name))
            for name in NAMES
        ]
        results = run(cells, context_of(self.store, self.built, limits=LIMITS, slots=1))
        compiled = {result.cell.spec.kernel for result in results if not result.cached}
        assert {str(result.outcome.status) for result in results} <= {OK, REJECTED}
        return compiled, {
            result.cell.spec.kernel for result in results if result.outcome.status == OK
        }

    def spec(self, name: str) -> Specialization:
        source = self.folder / "pkg" / f"{name}.py"
        compiled = CompileSpec(signature={"x": "*fp32", "n": "i32"}, constexprs={"BLOCK": 64})
        return Specialization(
            kernel=name,
            variant="as_written",
            case="only",
            source=str(source),
            function=name,
            compile=compiled,
            closure=read_source(source).closure,
        )


@pytest.fixture
def project(built: Callable[[str], BuiltEnv], tmp_path: Path) -> Iterator[Project]:
    with Store(tmp_path / "store") as store:
        project = Project(tmp_path / "project", built("triton-3.2.0"), store)
        assert project.run() == (set(NAMES), set(NAMES))
        yield project


def test_edit_of_a_body_recompiles_only_the_kernel_of_its_file(project: Project) -> None:
    project.edit("softmax", "+ 1.0", "+ 2.0")
    assert project.run() == ({"softmax"}, set(NAMES))
    project.edit("softmax", "+ 2.0", "+ tl.no_such_function(x)")
    assert project.run() == ({"softmax"}, set(OTHERS))
    project.edit("softmax", "+ tl.no_such_function(x)", "+ 1.0")
    assert project.run() == (set(), set(NAMES)), "as it was before"


@pytest.mark.parametrize(
    ("name", "old", "new", "fine"),
    [
        (
            "softmax",
            "import triton\n",
            "import triton\nfrom triton.tools.tensor_descriptor import TensorDescriptor\n",
            set(),
        ),
        ("utils", "x * 2", "x * 3", set(NAMES)),
        ("softmax", "def reference", "tl.load = None\n\n\ndef reference", set()),
        (
            "softmax",
            "return None",
            "return None\n\n\nfrom . import utils\nutils.scaled = reference",
            {"softmax"},
        ),
    ],
    ids=["an import that fails", "a helper", "a patch of the language", "a patch of a helper"],
)
def test_edit_with_effects_on_other_files_recompiles_all_kernels(
    project: Project, name: str, old: str, new: str, fine: set[str]
) -> None:
    project.edit(name, old, new)
    assert project.run() == (set(NAMES), fine)


def test_edit_of_code_that_runs_on_import_recompiles_all_kernels(project: Project) -> None:
    project.edit("softmax", "return None", "return None\n\n\nreference()")
    assert project.run() == (set(NAMES), set(NAMES))
    project.edit("softmax", "return None", "from triton.no_such_module import anything")
    assert project.run() == (set(NAMES), set())


def test_failed_import_is_kept_only_while_all_files_are_the_same(project: Project) -> None:
    """The failure names lines of the files."""
    project.edit(
        "softmax", "def reference", "from triton.no_such_module import anything\n\n\ndef reference"
    )
    assert project.run() == (set(NAMES), set())
    assert project.run() == (set(), set())
    project.edit("softmax", "+ 1.0", "+ 2.0")
    assert project.run() == (set(NAMES), set())
