"""Which jit functions are helpers: those that other jit functions call, from any file."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.errors import ConfigError
from compat.guess import finding, guess_sources
from compat.guess.finding import project_sources
from compat.guess.guessing import load_sources

HELPER = (
    "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef add_one(p):\n    tl.store(p,"
    " tl.load(p) + 1)\n"
)
KERNEL = "import triton\n{imported}\n\n\n@triton.jit\ndef kernel(p):\n    {call}(p)\n"
LAUNCH = "from helpers import add_one\n\n\ndef run(p):\n    add_one[(1,)](p)\n"
CALLS = {
    "from helpers import add_one": "add_one",
    "from helpers import add_one as plus": "plus",
    "import helpers": "helpers.add_one",
    "from . import helpers as h": "h.add_one",
}


@pytest.mark.parametrize("imported", CALLS)
def test_call_from_a_file_that_is_not_guessed_makes_a_helper(imported: str, tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(HELPER)
    (tmp_path / "kernels.py").write_text(KERNEL.format(imported=imported, call=CALLS[imported]))
    (source,) = guess_sources([tmp_path / "helpers.py"], (), [tmp_path / "kernels.py"])
    assert (source.kernels, source.helpers) == ((), ("add_one",))
    (alone,) = guess_sources([tmp_path / "helpers.py"])
    assert [kernel.name for kernel in alone.kernels] == ["add_one"]


HANDS_ON = (
    "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n"
    "{imported}\n\n\n@gluon.jit\ndef kernel(p):\n"
    "    gl.warp_specialize([({function}, (p,)), (helper, (p,))], [1], [40])\n\n\n"
    "@gluon.jit\ndef helper(p):\n    gl.store(p, 1)\n"
)


@pytest.mark.parametrize(
    ("imported", "function"),
    [("from helpers import add_one as plus", "plus"), ("from .helpers import add_one", "add_one")],
)
def test_functions_that_are_passed_to_warp_specialize_are_helpers(
    imported: str, function: str, tmp_path: Path
) -> None:
    (tmp_path / "helpers.py").write_text(HELPER)
    (tmp_path / "kernels.py").write_text(HANDS_ON.format(imported=imported, function=function))
    helpers, kernels = guess_sources([tmp_path / "helpers.py", tmp_path / "kernels.py"])
    assert (helpers.kernels, helpers.helpers) == ((), ("add_one",))
    assert ([kernel.name for kernel in kernels.kernels], kernels.helpers) == (
        ["kernel"],
        ("helper",),
    )


def test_launched_function_is_a_kernel_even_if_a_kernel_calls_it(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(HELPER)
    (tmp_path / "kernels.py").write_text(
        KERNEL.format(imported="from helpers import add_one", call="add_one")
    )
    (tmp_path / "wrapper.py").write_text(LAUNCH)
    others = [tmp_path / name for name in ("kernels.py", "wrapper.py", "gone.py")]
    (source,) = guess_sources([tmp_path / "helpers.py"], (), others)
    assert [kernel.name for kernel in source.kernels] == ["add_one"]


@pytest.mark.parametrize("mark", ["pyproject.toml", "lib/__init__.py", None])
def test_callers_are_searched_in_project_package_and_source_folder(
    mark: str | None, tmp_path: Path
) -> None:
    (tmp_path / "lib" / "ops").mkdir(parents=True)
    if mark:
        (tmp_path / mark).touch()
        (tmp_path / "lib" / "ops" / "__init__.py").touch()
    (tmp_path / "lib" / "ops" / "helpers.py").write_text(HELPER)
    caller = tmp_path / "lib" / ("kernels.py" if mark else "ops/kernels.py")
    caller.write_text(KERNEL.format(imported="from lib.ops.helpers import add_one", call="add_one"))
    assert caller in project_sources([tmp_path / "lib" / "ops" / "helpers.py"])
    with pytest.raises(ConfigError, match="defines no Triton kernel") as refused:
        load_sources(["lib/ops/helpers.py"], tmp_path)
    assert (
        refused.value.hint
        == "These functions cannot be compiled by themselves: add_one: kernels call it, or it"
        " returns a value."
    )
    (tmp_path / "both.py").write_text(HELPER + "\n\n@triton.jit\ndef kernel(p):\n    add_one(p)\n")
    with pytest.raises(
        ConfigError, match="this jit function cannot be compiled by itself"
    ) as refused:
        load_sources(["both.py::add_one"], tmp_path)
    assert refused.value.hint == "Available: kernel."


def test_number_of_files_read_from_a_project_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "_MOST_IN_PROJECT", 3)
    (tmp_path / ".git").touch()
    for name in ("a", "b", "c", "d", "e"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.py").write_text(KERNEL.format(imported="", call=""))
    read = project_sources([tmp_path / "a" / "kernel.py"])
    assert [path.parent.name for path in read] == ["a", "b", "c"]
