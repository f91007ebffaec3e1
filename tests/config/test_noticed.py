"""Which edits of the files that are imported with a kernel it can notice.

Its stored results stay valid after all other edits.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.source import import_effects
from compat.source.closure import read_source

HEADER = "import torch\nimport triton\nimport triton.language as tl\n"
SOFTMAX = (
    HEADER
    + '''
from .utils import scaled


@triton.autotune(configs=[triton.Config({"BLOCK": b}) for b in (64, 128)], key=["n"])
@triton.jit
def softmax_fwd(x, n, BLOCK: tl.constexpr):
    """A softmax."""
    at = tl.arange(0, BLOCK)
    tl.store(x + at, scaled(tl.load(x + at)) + 1.0)


def reference(x):
    return torch.softmax(x, -1)


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        softmax_fwd[(1,)](x, x.numel())
        return reference(x)


softmax = Softmax.apply
WIDTH = 64

if __name__ == "__main__":
    print(reference(torch.ones(4)))
'''
)
FILES = {
    "pkg/__init__.py": (
        "from .softmax import Softmax, softmax, softmax_fwd\nfrom .norm import norm_fwd\n__all__ ="
        " ['softmax']\n"
    ),
    "pkg/softmax.py": SOFTMAX,
    "pkg/norm.py": (
        HEADER
        + "from .utils import scaled\n\n\n@triton.jit\ndef norm_fwd(x, BLOCK: tl.constexpr):\n   "
        " tl.store(x, scaled(x))\n"
    ),
    "pkg/utils.py": HEADER + "FACTOR = 2\n\n\n@triton.jit\ndef scaled(x):\n    return x * FACTOR\n",
}
BODY = ("+ 1.0)", "+ 2.0)")
UNNOTICED = {
    "a kernel's body": BODY,
    "more lines in it": (
        '"""A softmax."""\n',
        '"""A softmax."""\n    size = BLOCK * 2\n    size += 1\n',
    ),
    "a wrapper's body": ("softmax_fwd[(1,)]", "softmax_fwd[(2,)]"),
    "a helper's body": ("torch.softmax(x, -1)", "torch.softmax(x, 0)"),
    "an f-string": ("    return torch.softmax(x, -1)", "    return f'{x.shape}: {x[0]!r:>10}'"),
    "what only a program runs": ("torch.ones(4)", "torch.ones(8)"),
}
NOTICED = {
    "an import that may fail": (
        "import triton\n",
        "import triton\nimport triton.tools.tensor_descriptor\n",
    ),
    "a constant": ("WIDTH = 64", "WIDTH = 128"),
    "a decorator": ("(64, 128)", "(64, 256)"),
    "a parameter": ("softmax_fwd(x, n, ", "softmax_fwd(x, n, m, "),
    "a default": ("def reference(x)", "def reference(x, y=1 // 0)"),
    "a function more": ("WIDTH = 64", "def another():\n    pass\n\n\nWIDTH = 64"),
    "a patch": ("WIDTH = 64", "tl.my_new_api = softmax_fwd\nWIDTH = 64"),
    "what is no Python": ("+ 1.0)", "+ )"),
    "what only newer Pythons take": (
        "torch.softmax(x, -1)",
        "[match for match in x]\n    match x:\n        case 1: pass",
    ),
    "what only newer Pythons take in an f-string": ("torch.softmax(x, -1)", "f'{x[*x]}'"),
    "what some Pythons warn of": ("torch.softmax(x, -1)", "'\\d'"),
    "a comment that ends the indentation": (
        "return reference(x)",
        "pass\n# out\n        return reference(x)",
    ),
    "an assertion": ("WIDTH = 64", "WIDTH = 64\nassert WIDTH"),
}
LEADS = {
    "it is called": "reference(1)",
    "it is called by a name that it has here": "again = reference\nagain(1)",
    "it is handed on": "atexit = [].append(reference)",
    "its class is made": "Softmax()",
    "its method is called": "object.forward",
    "it is called by a function that is": "def run():\n    return reference(1)\n\n\nrun()",
    "in a comprehension": "[each for each in (reference,)]",
    "a loop": "for each in [reference]:\n    each(1)",
    "a class": "class Holder:\n    made = reference(1)",
    "a default": "def f(x=reference(1)):\n    pass",
    "an annotation": "def f(x: reference(1)):\n    pass",
    "a decorator of the tree": "@reference\ndef f():\n    pass",
    "globals": "globals()['reference'](1)",
    "getattr": "import sys\ngetattr(sys.modules[__name__], 'refer' + 'ence')",
    "the file itself": "open(__file__).read()",
    "eval": "eval('refer' 'ence(1)')",
    "a patch of a decorator": "triton.jit = print",
    "setattr": "setattr(triton, 'j' + 'it', print)",
    "a library that scans": "import venusian\nvenusian.scan(__name__)",
    "a library that has the package": "import pkg.softmax\nimport venusian\nvenusian.scan(pkg)",
    "a library that has the module": (
        "from . import softmax as one\nimport venusian\nvenusian.scan(one)"
    ),
    "a library that has the module of a package": (
        "import pkg\nimport venusian\nvenusian.scan(pkg.softmax)"
    ),
    "importlib": "import importlib\nimportlib.import_module('pkg.softmax')",
}
DECORATORS = {
    "unknown": "@torch.compiler.disable\n",
    "of the tree": "@scaled\n",
    "rebound": "triton.jit = print\n@triton.jit\n",
    "of another name": "import functools as triton\n@triton.jit\n",
    "perhaps of a star": "from .utils import *\n@triton.jit\n",
    "made": "@[print][0]\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def noticed(folder: Path, name: str = "norm") -> str:
    return read_source(folder / f"pkg/{name}.py").closure.rpartition(":")[2]


def change(folder: Path, name: str, edit: tuple[str, str]) -> None:
    path = folder / "pkg" / name
    text = path.read_text(encoding="utf-8")
    assert edit[0] in text
    path.write_text(text.replace(*edit), encoding="utf-8")


def is_noticed(
    folder: Path, *edits: tuple[str, str], name: str = "softmax.py", by: str = "norm"
) -> bool:
    before = noticed(folder, by)
    for edit in edits:
        change(folder, name, edit)
    return noticed(folder, by) != before


@pytest.mark.parametrize("what", UNNOTICED)
def test_edit_of_code_that_import_does_not_run_is_not_noticed(folder: Path, what: str) -> None:
    closure = read_source(folder / "pkg/norm.py").closure
    assert not is_noticed(folder, UNNOTICED[what])
    assert read_source(folder / "pkg/norm.py").closure != closure, (
        "a failure is only known while all is the same"
    )


@pytest.mark.parametrize("what", UNNOTICED)
def test_kernel_in_the_edited_file_notices_the_edit(folder: Path, what: str) -> None:
    assert is_noticed(folder, UNNOTICED[what], by="softmax")


@pytest.mark.parametrize("what", NOTICED)
def test_edit_that_can_change_the_import_is_noticed(folder: Path, what: str) -> None:
    assert is_noticed(folder, NOTICED[what])


@pytest.mark.parametrize("what", LEADS)
def test_edit_of_a_body_that_may_run_on_import_is_noticed(folder: Path, what: str) -> None:
    """Code in each of the imported files can lead to the body."""
    for name in ("softmax.py", "utils.py", "__init__.py"):
        path = folder / "pkg" / name
        text = path.read_text(encoding="utf-8")
        path.write_text(f"{text}\n{LEADS[what]}\n", encoding="utf-8")
        edit = UNNOTICED["a helper's body"]
        assert is_noticed(folder, edit), name
        change(folder, "softmax.py", edit[::-1])
        path.write_text(text, encoding="utf-8")
    assert not is_noticed(folder, UNNOTICED["a helper's body"])


@pytest.mark.parametrize("what", DECORATORS)
def test_edit_of_a_body_that_a_decorator_may_read_is_noticed(folder: Path, what: str) -> None:
    change(folder, "softmax.py", ("def reference", DECORATORS[what] + "def reference"))
    assert is_noticed(folder, UNNOTICED["a helper's body"])


@pytest.mark.parametrize(
    "uses",
    [
        "from .softmax import reference",
        "from . import softmax",
        "from pkg.softmax import *",
        "import pkg.softmax as other",
        "from pkg import softmax_fwd",
        "from pkg import softmax as other",
        "import pkg",
        "import pkg.utils",
        "from pkg import *",
        "from .again import reference",
        "from .again import *",
        (
            "try:\n    from .fast import reference\nexcept ImportError:\n    from .softmax import"
            " reference"
        ),
        "def late():\n    from .softmax import reference",
        "import sys\ndef late():\n    return sys.modules['pkg.softmax']",
    ],
)
def test_edit_of_a_body_in_a_file_that_the_kernel_uses_is_noticed(folder: Path, uses: str) -> None:
    (folder / "pkg/again.py").write_text(
        "from .softmax import reference, softmax_fwd\n", encoding="utf-8"
    )
    change(
        folder, "norm.py", ("from .utils import scaled\n", f"from .utils import scaled\n{uses}\n")
    )
    assert is_noticed(folder, BODY)


def test_edit_of_what_a_kernel_uses_from_another_file_is_noticed(folder: Path) -> None:
    """Edits a constant, a helper, and the body of a kernel in the file of an imported constant."""
    assert is_noticed(folder, ("FACTOR = 2", "FACTOR = 3"), name="utils.py")
    assert is_noticed(folder, ("return x * FACTOR", "return FACTOR * x"), name="utils.py")
    change(folder, "utils.py", ("FACTOR = 3\n", "from .softmax import WIDTH as FACTOR\n"))
    assert is_noticed(folder, BODY)


def test_edit_of_a_function_that_replaces_a_helper_is_noticed(folder: Path) -> None:
    change(folder, "softmax.py", ("WIDTH = 64", "from . import utils\nutils.scaled = softmax_fwd"))
    assert is_noticed(folder, BODY)


def test_import_through_a_package_ignores_its_other_imports(folder: Path) -> None:
    change(folder, "norm.py", ("from .utils import", "from pkg.shared import"))
    shared = folder / "pkg/shared"
    shared.mkdir()
    (shared / "__init__.py").write_text(
        "from ..softmax import softmax_fwd\nfrom ..utils import *\n", encoding="utf-8"
    )
    assert is_noticed(folder, ("return x * FACTOR", "return FACTOR * x"), name="utils.py")
    assert not is_noticed(folder, BODY)


@pytest.mark.parametrize("name", ["triton", "torch"])
def test_edit_is_noticed_beside_a_folder_named_like_an_installed_package(
    folder: Path, name: str
) -> None:
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("", encoding="utf-8")
    assert is_noticed(folder, BODY)


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_edit_is_unnoticed_with_crlf_and_noticed_with_cr_line_ends(
    folder: Path, ending: str
) -> None:
    (folder / "pkg/softmax.py").write_bytes(SOFTMAX.replace("\n", ending).encode())
    before = noticed(folder)
    (folder / "pkg/softmax.py").write_bytes(SOFTMAX.replace(*BODY).replace("\n", ending).encode())
    assert (noticed(folder) == before) == (ending == "\r\n")


@pytest.mark.parametrize(
    "deep",
    [
        "+".join("1" * 900),
        "+".join("1" * 3000),
        "(" * 80 + ")" * 80,
        "if 1:\n    pass\n" + "elif 1:\n    pass\n" * 900,
    ],
)
def test_deeply_nested_file_can_be_read(folder: Path, deep: str) -> None:
    change(folder, "softmax.py", ("WIDTH = 64", f"WIDTH = 64\n{deep}\n"))
    assert is_noticed(folder, ("WIDTH = 64", "WIDTH = 65"))


def test_import_name_that_is_too_long_for_a_file_can_be_read(folder: Path) -> None:
    change(folder, "norm.py", ("import torch\n", f"import torch\nimport {'a' * 300}.b\n"))
    assert not is_noticed(folder, BODY)
    assert is_noticed(folder, ("WIDTH = 64", "WIDTH = 65"))


def test_closure_is_the_same_after_moving_the_folder(folder: Path, tmp_path: Path) -> None:
    before = read_source(folder / "pkg/norm.py").closure
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = (folder / "pkg").rename(elsewhere / "pkg")
    assert read_source(moved / "norm.py").closure == before


def test_files_after_one_that_finds_anything_are_not_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outlined: list[bytes] = []
    outline = import_effects.outline

    def recording(content: bytes) -> import_effects.Outline | None:
        outlined.append(content)
        return outline(content)

    monkeypatch.setattr(import_effects, "outline", recording)
    assert ":" in read_source(folder / "pkg/norm.py").closure
    everything = len(outlined)
    outlined.clear()
    norm = folder / "pkg/norm.py"
    norm.write_text(f"import sys\nprint(sys.modules)\n{norm.read_text()}")
    assert ":" not in read_source(norm).closure
    assert len(outlined) < everything
