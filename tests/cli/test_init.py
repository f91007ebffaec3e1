"""``compat init``, and commands that take Python sources like kernel files, in an empty folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from compat.cli.commands import main
from compat.config.kernel_files import load_kernels
from compat.guess.guessing import load_sources
from compat.model import BuiltEnv, Specialization
from compat.processes.supervisor import AVAILABLE_CORES
from compat.text import in_time
from tests import commands
from tests.together import for_each

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "tests" / "guess" / "sources"
KERNEL = """
import triton
import triton.language as tl

@triton.jit
def fill(p, N: tl.constexpr):
    tl.store(p + tl.arange(0, N), 1.0)
"""


def compat(folder: Path, *arguments: str, code: int = 0) -> tuple[str, str]:
    """What a command prints on standard output and error."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "160"}
    ran = commands.run(*arguments, cwd=folder, env=environment, timeout=280)
    assert ran.returncode == code, ran.stdout + ran.stderr
    return ran.stdout, ran.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a source in a package."""
    (tmp_path / "src" / "mylib" / "ops").mkdir(parents=True)
    for package in ("mylib", "mylib/ops"):
        (tmp_path / "src" / package / "__init__.py").touch()
    shutil.copy(SOURCES / "softmax.py", tmp_path / "src" / "mylib" / "ops")
    return tmp_path


def test_init_writes_only_missing_files(project: Path) -> None:
    output, _ = compat(project, "init", "src/mylib/ops/softmax.py")
    assert output.splitlines() == [
        "wrote kernels/softmax.toml: softmax_kernel",
        "wrote matrix.toml",
        "wrote noxfile.py",
        "wrote .gitignore",
        "8 types and values are guesses, each marked `# guessed` with its reason",
        output.splitlines()[-1],
    ]
    assert output.splitlines()[-1].startswith(
        "next: compat matrix    (39 cells: 13 envs, 3 targets; about "
    )
    assert (
        'source = "../src/mylib/ops/softmax.py"' in (project / "kernels/softmax.toml").read_text()
    )
    assert (
        project / "noxfile.py"
    ).read_text() == "from compat.nox import matrix, sessions\n\nmatrix(sessions())\n"
    assert (project / ".gitignore").read_text().splitlines() == [
        *("/.compat/", "/.nox/", "/reports/index.html", "/reports/matrix.*")
    ]
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    shutil.copy(SOURCES / "vector_add.py", project / "src")
    output, _ = compat(project, "init")
    assert output.splitlines()[0] == "wrote kernels/vector_add.toml: add_kernel"
    assert "kept  matrix.toml, which exists" in output
    for path, content in before.items():
        assert path.read_bytes() == content, path
    output, _ = compat(project, "init")
    assert "wrote" not in output
    assert (
        "kept  kernels/vector_add.toml, which exists: it has the kernels of src/vector_add.py"
        in output
    )


def test_init_keeps_existing_content_and_reports_it(project: Path) -> None:
    (project / "kernels").mkdir()
    (project / "kernels" / "__init__.py").touch()
    (project / "matrix.toml").write_text('schema = 1\nkernels = ["mine.toml"]\n')
    (project / ".gitignore").write_text("*.o\n.compat")
    output, _ = compat(project, "init", "src")
    assert "wrote compat-kernels/softmax.toml: softmax_kernel" in output
    assert 'kept  matrix.toml, which exists: add "compat-kernels/*.toml" to its kernels' in output
    assert (
        project / ".gitignore"
    ).read_text() == "*.o\n.compat\n/.nox/\n/reports/index.html\n/reports/matrix.*\n"
    output, _ = compat(project, "init", "src")  # matrix.toml still lacks the pattern
    assert "wrote" not in output
    assert "kept  compat-kernels/softmax.toml, which exists: it has the kernels of" in output
    assert 'kept  matrix.toml, which exists: add "compat-kernels/*.toml" to its kernels' in output


def test_init_keeps_every_byte_of_a_gitignore(project: Path) -> None:
    """Its link, line ends and bytes that are not UTF-8."""
    (project / "ignored").write_bytes(b"# caf\xe9\r\n/.compat/\r\n")
    (project / ".gitignore").symlink_to("ignored")
    compat(project, "init", "src")
    assert (project / ".gitignore").is_symlink()
    assert (project / "ignored").read_bytes() == (
        b"# caf\xe9\r\n/.compat/\r\n/.nox/\r\n/reports/index.html\r\n/reports/matrix.*\r\n"
    )


HELPER = KERNEL.replace("def fill", "def add_one")


def test_init_does_not_take_a_helper_in_a_new_file_for_a_kernel(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(
        KERNEL.replace("@triton", "from helpers import add_one\n\n@triton") + "    add_one(p, N)\n"
    )
    compat(tmp_path, "init", "kernels.py")
    (tmp_path / "helpers.py").write_text(HELPER)
    for arguments in ((), ("--github",)):
        output, _ = compat(tmp_path, "init", *arguments)
        assert "helpers.toml" not in output
        assert (
            "kept  kernels/kernels.toml, which exists: it has the kernels of kernels.py" in output
        )
    _, output = compat(tmp_path, "init", "helpers.py", code=2)
    assert "helpers.py add_one: kernels call it, or it returns a value" in output
    assert [path.name for path in (tmp_path / "kernels").iterdir()] == ["kernels.toml"]


def test_init_estimates_the_first_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPAT_ENVS", str(tmp_path / "no-envs"))
    for number in range(15):
        (tmp_path / f"k{number}.py").write_text(KERNEL.replace("def fill", f"def fill_{number}"))
    output, _ = compat(tmp_path, "init")
    cores = AVAILABLE_CORES
    last = output.splitlines()[-1]
    assert last.startswith(
        "next: compat matrix    (585 cells: 13 envs, 3 targets; about 9.0 GB of envs to install;"
        " about "
    )
    assert last.endswith(f"; about {in_time((585 * 0.44 + 13 * 5) / cores)})")
    assert "then: " not in output
    (tmp_path / "matrix.toml").write_text("schema = 9\n")
    (tmp_path / "k15.py").write_text(KERNEL)
    assert compat(tmp_path, "init", "k15.py")[0].endswith("next: compat matrix\n")


def test_init_proposes_a_short_run_before_a_long_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPAT_ENVS", str(tmp_path / "no-envs"))
    monkeypatch.setattr("compat.init.AVAILABLE_CORES", 1)
    monkeypatch.chdir(tmp_path)
    kernels = [KERNEL.replace("def fill", f"def fill_{number}") for number in range(40)]
    Path("kernels.py").write_text("\n".join(kernels))
    output = CliRunner().invoke(main, ["init"]).stdout
    assert output.splitlines()[-2:] == [
        "next: compat matrix --envs triton-3.9.0 --target sm_80    (40 cells: 1 env, 1 target;"
        " about 690.0 MB of envs to install; about 23 s)",
        "then: compat matrix    (1,560 cells: 13 envs, 3 targets; about 9.0 GB of envs to install;"
        " about 13 min)",
    ]
    # A run of one release and one target has no shorter one.
    monkeypatch.setattr("compat.init._LONG", 1.0)
    Path("matrix.toml").write_text(
        'schema = 1\nkernels = ["kernels/*.toml"]\n'
        '[defaults]\nenvs = ["3.9.0"]\ntargets = ["sm_90"]\n'
    )
    Path("more.py").write_text(KERNEL)
    last = CliRunner().invoke(main, ["init", "more.py"]).stdout.splitlines()[-1]
    assert last.startswith("next: compat matrix    (41 cells: 1 env, 1 target;")


def test_init_skips_environments_builds_and_tests_unless_named(tmp_path: Path) -> None:
    for folder in (".venv/lib", "env", "build", "tests", "lib/site-packages/x"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.py").write_text(KERNEL)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    _, stderr = compat(tmp_path, "init", code=2)
    assert "there is no Triton or CuTe DSL kernel in any Python source here" in stderr
    assert not (tmp_path / "matrix.toml").exists()
    compat(tmp_path, "init", "tests")
    assert (tmp_path / "kernels" / "a.toml").exists()


def test_init_skips_the_folders_that_commands_write(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(KERNEL)
    for folder in ("captured", "repro", "reduced"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "fill.py").write_text(KERNEL)
    compat(tmp_path, "init")
    assert [path.name for path in (tmp_path / "kernels").iterdir()] == ["a.toml"]


@for_each(
    ("argument", "message"),
    [
        ("sofmax.py", "error: sofmax.py: no such file"),
        ("broken.py", "error: broken.py, line 1: cannot be parsed as Python: "),
        ("in/broken.py", "error: in/broken.py, line 1: cannot be parsed as Python: "),
        ("null.py", "error: null.py"),
        ("notes.txt", "error: notes.txt: is not a Python source\n  hint: Name Python sources"),
        (
            "empty.py",
            "error: empty.py: there is no Triton or CuTe DSL kernel in any Python source here",
        ),
        ("a.py::fill", "error: a.py::fill: a kernel file needs a whole source"),
        (
            "nested.py",
            (
                "error: nested.py: no jit function here can be compiled by itself: nested.py:4"
                " inner: it is defined inside of make"
            ),
        ),
    ],
)
def test_an_unusable_argument_is_one_error_and_nothing_is_written(
    tmp_path: Path, argument: str, message: str
) -> None:
    (tmp_path / "in").mkdir()
    for broken in ("broken.py", "in/broken.py"):
        (tmp_path / broken).write_text("def f(:\n")
    (tmp_path / "null.py").write_text('"""triton"""\0\n')
    (tmp_path / "notes.txt").write_text("triton")
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "a.py").write_text(KERNEL)
    (tmp_path / "nested.py").write_text(
        "import triton\ndef make():\n    @triton.jit\n    def inner(x):\n        pass\n"
    )
    before = sorted(tmp_path.iterdir())
    _, stderr = compat(tmp_path, "init", argument, code=2)
    assert stderr.startswith(message)
    assert sorted(tmp_path.iterdir()) == before


def test_init_leaves_out_a_source_that_cannot_be_parsed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(KERNEL)
    (tmp_path / "broken.py").write_text("import triton\ndef f(:\n")
    (tmp_path / "latin.py").write_bytes(b"import triton  # \xe4\n")
    output, _ = compat(tmp_path, "init")
    assert "wrote kernels/a.toml: fill\n" in output
    assert "left out broken.py, line 2: cannot be parsed as Python: invalid syntax\n" in output
    assert "left out latin.py, line 1: cannot be parsed as Python: cannot be decoded: " in output
    output, _ = compat(tmp_path, "init", "--json")
    broken, latin = json.loads(output)["left_out"]
    assert (broken["source"], latin["source"]) == ("broken.py", "latin.py")
    assert [path.name for path in (tmp_path / "kernels").iterdir()] == ["a.toml"]
    output, errors = compat(tmp_path, "list", "kernels", "--spec", ".")
    assert "fill" in output
    assert errors.startswith(
        "error: broken.py, line 2: cannot be parsed as Python: invalid syntax;"
    )


def test_init_says_which_helpers_it_leaves_out(tmp_path: Path) -> None:
    helpers = "".join(
        f"\n\n@triton.jit\ndef helper_{number}(x):\n    return x + {number}\n"
        for number in range(9)
    )
    (tmp_path / "a.py").write_text(KERNEL + helpers)
    output, _ = compat(tmp_path, "init")
    assert "wrote kernels/a.toml: fill\n" in output
    assert (
        "left out helpers, which kernels call or which return values: helper_0, helper_1,"
        " helper_2, helper_3, helper_4, helper_5, helper_6, helper_7 and 1 more\n"
    ) in output
    (tmp_path / "kernels/a.toml").unlink()
    output, _ = compat(tmp_path, "init", "--json")
    assert {
        (item["source"], item["line"], item["name"], item["why"])
        for item in json.loads(output)["left_out"]
    } == {
        ("a.py", None, f"helper_{number}", "kernels call it, or it returns a value")
        for number in range(9)
    }


def test_init_shortens_long_lists_but_not_the_next_steps(tmp_path: Path) -> None:
    for number in range(25):
        (tmp_path / f"k{number}.py").write_text(KERNEL.replace("def fill", f"def fill_{number}"))
    (tmp_path / "matrix.toml").write_text('kernels = ["mine.toml"]\n')
    output, _ = compat(tmp_path, "init")
    assert output.count("wrote kernels/") == 20
    assert "… and 5 more\n" in output
    assert 'kept  matrix.toml, which exists: add "kernels/*.toml" to its kernels\n' in output
    (tmp_path / "matrix.toml").write_text('kernels = ["kernels/*.toml"]\n')
    output, _ = compat(tmp_path, "init")
    assert output.count("kept  kernels/") == 20
    assert output.endswith("all files exist; next: compat matrix\n")


def test_an_unwritable_output_folder_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(KERNEL)
    (tmp_path / "kernels").write_text("a file where the folder would be")
    (tmp_path / "compat-kernels").write_text("another")
    _, stderr = compat(tmp_path, "init", code=5)
    assert "kernels/a.toml: cannot be written: " in stderr
    assert (
        "hint: Run the command in a writable folder with free space, and name the sources by their"
        " paths." in stderr
    )


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "a.py::fil",
            "error: a.py::fil: there is no such jit function\n  hint: Did you mean fill?",
        ),
        ("b.py", "error: b.py: no such file"),
        ("nothing", "error: nothing: no Python source here mentions Triton"),
    ],
)
def test_a_wrong_source_name_is_an_error(tmp_path: Path, pattern: str, message: str) -> None:
    (tmp_path / "nothing").mkdir()
    (tmp_path / "a.py").write_text(KERNEL)
    (tmp_path / "matrix.toml").write_text(
        'schema = 1\nkernels = ["a.py"]\nenv = [{ triton = "3.9.0" }]\ndefaults.envs = ["*"]\n'
    )
    _, stderr = compat(tmp_path, "list", "cells", "--spec", pattern, code=2)
    assert stderr.startswith(message)
    listed, stderr = compat(tmp_path, "list", "cells", "--target", "sm_90")
    assert listed == "fill/as_written/default/sm_90/triton-3.9.0\n"
    note = (
        "note: the arguments of the kernels in a.py are guessed, and others may give other"
        " results; "
    )
    assert (
        stderr
        == f"{note}`compat init a.py` writes them into a kernel file, where you can edit them\n"
    )


def test_a_note_names_functions_of_a_source_that_cannot_be_compiled(tmp_path: Path) -> None:
    nested = "".join(f"    {line}\n" for line in KERNEL.splitlines() if "import" not in line)
    (tmp_path / "a.py").write_text(f"{KERNEL}\n\ndef make(width):\n{nested}    return fill\n")
    _, stderr = compat(tmp_path, "list", "kernels", "a.py")
    assert re.search(
        r"^note: left out a\.py:\d+ fill: it is defined inside of make$", stderr, re.MULTILINE
    )
    for choice in (["a.py::fill"], ["a.py", "--kernel", "fill"]):
        _, stderr = compat(tmp_path, "list", "kernels", *choice)
        assert "left out" not in stderr, choice


def test_a_kernel_that_a_function_returns_is_chosen_by_its_name_or_by_the_call(
    tmp_path: Path,
) -> None:
    nested = "".join(f"    {line}\n" for line in KERNEL.splitlines())
    (tmp_path / "a.py").write_text(f"def make():\n{nested}    return fill\n")
    (tmp_path / "b.py").write_text(f"def make():\n{nested}    return triton, fill\n")
    for choice in ("a.py::fill", "a.py::make()", "b.py::fill", "b.py::make()[1]"):
        listed, _ = compat(
            tmp_path, "list", "cells", "--spec", choice, "--envs", "3.9", "--target", "sm_90"
        )
        assert listed == "fill/as_written/default/sm_90/triton-3.9.0\n"
    _, stderr = compat(tmp_path, "list", "cells", "--spec", "a.py::full", code=2)
    assert stderr.endswith("there is no such jit function\n  hint: Available: make().\n")
    compat(tmp_path, "init", "a.py")
    kernel_file = tomllib.loads((tmp_path / "kernels" / "a.toml").read_text())
    assert (kernel_file["kernel"], kernel_file["function"]) == ("fill", "make()")


def test_the_hint_for_a_wrong_function_says_if_the_source_has_no_kernel(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(KERNEL)
    (tmp_path / "none.py").write_text("import triton\n")
    _, stderr = compat(
        tmp_path, "list", "cells", "--spec", "a.py", "--spec", "none.py::fill", code=2
    )
    assert stderr.endswith("there is no such jit function\n  hint: Available: none.\n")


@pytest.mark.parametrize("name", sorted(path.stem for path in SOURCES.glob("*.py")))
def test_a_named_source_has_the_specializations_of_its_kernel_file(
    name: str, tmp_path: Path
) -> None:
    """The store therefore finds earlier results after ``compat init``.

    A key has no other parts.
    """
    shutil.copy(SOURCES / f"{name}.py", tmp_path)
    compat(tmp_path, "init", f"{name}.py")
    written = load_kernels(["kernels/*.toml"], tmp_path)
    named = load_sources([f"{name}.py"], tmp_path)
    assert [_key(spec) for spec in written] == [_key(spec) for spec in named]
    assert {spec.origin for spec in named} == {f"{name}.py::{spec.function}" for spec in written}
    assert {spec.guessed for spec in named} == {True}


def _key(spec: Specialization) -> str:
    return json.dumps([spec.closure, spec.function, spec.compile.document()])


# --- real wheels ----------------------------------------------------------------------------------

ENVS = {
    "3.0.0": '{ triton = "3.0.0", torch = "2.4.1" }',  # whose autotuner imports PyTorch
    "3.9.0": '{ triton = "3.9.0" }',
}
NAMES = {"3.0.0": "triton-3.0.0-torch-2.4.1", "3.9.0": "triton-3.9.0"}
COMPANIONS = """
[[companion]]
triton = "<3.3"
install = ["setuptools<81"]
why = "Triton 3.0 to 3.2 imports setuptools without declaring it."

[[companion]]
torch = ">=2"
install = ["numpy==1.26.4; python_version < '3.13'", "numpy<2.4; python_version >= '3.13'"]
why = "Triton's interpreter computes with NumPy."
"""


@pytest.mark.wheels
@pytest.mark.parametrize("release", ENVS)
@pytest.mark.long
def test_written_kernel_files_of_tutorial_kernels_compile_without_an_edit(
    release: str, tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> None:
    """One config of each kernel, and for odd sizes, too.

    Without the matrix multiplication, whose many configs ``test_new_user.py`` compiles.
    """
    built(NAMES[release])
    for path in SOURCES.glob("*.py"):
        if path.stem != "matmul":
            shutil.copy(path, tmp_path)
    compat(tmp_path, "init")
    with (tmp_path / "matrix.toml").open("a") as file:
        file.write(
            f'env = [{ENVS[release]}]\ndefaults = {{ envs = ["*"], targets = ["sm_90"]'
            f" }}\n{COMPANIONS}"
        )
    compat(tmp_path, "matrix", "--no-build", "--case", "default,64x32_*")
    cells = json.loads((tmp_path / "reports" / "matrix.json").read_text())["cells"]
    assert len({cell["kernel"] for cell in cells}) == 9
    assert {cell["status"] for cell in cells} == {"ok"}


@pytest.mark.wheels
@pytest.mark.long
def test_commands_take_a_source_without_a_kernel_file(
    tmp_path: Path, built: Callable[[str], BuiltEnv]
) -> None:
    built("triton-3.9.0")
    shutil.copy(SOURCES / "vector_add.py", tmp_path)
    (tmp_path / "matrix.toml").write_text(
        'schema = 1\nkernels = ["vector_add.py"]\nenv = [{ triton = "3.9.0" }]\ndefaults.envs ='
        ' ["*"]\n'
    )
    compat(
        tmp_path, "matrix", "--no-build", "--target", "sm_90", "--spec", "vector_add.py::add_kernel"
    )
    output, _ = compat(tmp_path, "explain", "add_kernel/*/sm_90/*", "--spec", "vector_add.py")
    assert "(guessed from vector_add.py::add_kernel)" in output
    assert "the arguments are guessed, and may be the reason for a failure" in " ".join(
        output.split()
    )
    compat(tmp_path, "init", "vector_add.py")
    again, _ = compat(
        tmp_path, "matrix", "--no-build", "--target", "sm_90", "--spec", "kernels/vector_add.toml"
    )
    assert "(1 from the store)" in again


@pytest.mark.parametrize(("conditions", "code"), [(600, 0), (2500, 2)])
def test_long_chain_of_conditions_is_read_or_an_error(
    conditions: int, code: int, tmp_path: Path
) -> None:
    chain = "".join(f"    elif N == {number}:\n        {{0}}\n" for number in range(1, conditions))
    body, launch = (
        f"    if N == 0:\n        {line}\n{chain.replace('{0}', line)}"
        for line in ("tl.store(p, N)", "fill[(1,)](p, N)")
    )
    source = f"{KERNEL}\n    {body.lstrip()}\ndef run(p, N):\n{launch}"
    (tmp_path / "fill.py").write_text(source)
    output, errors = compat(tmp_path, "init", "fill.py", code=code)
    assert ("wrote kernels/fill.toml: fill" in output) == (code == 0)
    lines = errors.splitlines()  # a slow machine adds "reading sources, 10 s"
    assert ("error: a source or another file is nested too deeply" in lines) == (code == 2)
