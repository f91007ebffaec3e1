"""Kernel files that cannot be imported.

The result is no answer about the kernel. It gives the reason, and is tried again the next time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from compat.engine.run import run
from compat.model import BuiltEnv, Cell, CompileSpec, Result, Specialization, Status
from compat.source.closure import read_source
from compat.store import keys
from compat.store.store import Store
from compat.workers.attempt import Limits
from tests.cells import KERNELS, context_of
from tests.sqlite import column
from tests.targets import TARGETS

pytestmark = pytest.mark.wheels

SOURCE = KERNELS / "unimportable.py"


@pytest.fixture(params=["triton-3.0.0", "triton-3.9.0"])
def env(request: pytest.FixtureRequest, built: Callable[[str], BuiltEnv]) -> BuiltEnv:
    return built(request.param)


def cells(
    env: BuiltEnv, source: Path, targets: tuple[str, ...] = ("sm_90",), function: str = "kernel"
) -> list[Cell]:
    spec = Specialization(
        kernel="unimportable",
        variant="as_written",
        case="only",
        source=str(source),
        function=function,
        compile=CompileSpec(
            signature={"source": "*fp32", "result": "*fp32", "size": "i32"},
            constexprs={"BLOCK": 128},
            options={"num_warps": 8},
        ),
        closure=read_source(source).closure,
    )
    return [Cell(env=env.env, target=TARGETS[target], spec=spec) for target in targets]


def written(folder: Path, reason: str) -> Path:
    path = folder / f"{reason}.py"
    path.write_text(SOURCE.read_text().replace('REASON = "none"', f'REASON = "{reason}"'))
    return path


def results(cells: list[Cell], env: BuiltEnv, store: Store, **changes: float) -> tuple[Result, ...]:
    limits = Limits(**({"deadline": 30, "memory": 4 << 30} | changes))  # type: ignore[arg-type]
    return run(cells, context_of(store, env, limits=limits, slots=1))


def test_a_missing_package_is_named(env: BuiltEnv, tmp_path: Path) -> None:
    with Store(tmp_path / "store") as store:
        (result,) = results(cells(env, written(tmp_path, "package")), env, store)
    assert (result.outcome.status, result.expected) == (Status.SOURCE_BROKEN, False)
    failure = result.outcome.failure
    assert failure is not None
    excerpt = (
        "UnavailableValue: `kernel` uses `torch.get_num_threads(…)`, and this env lacks `torch`:"
        " install it there"
    )
    assert (failure.failure_class, failure.excerpt) == ("source-needs-package", excerpt)
    assert "`torch`" in failure.advice
    assert "--envs pairs" in failure.advice


def test_an_exception_keeps_its_traceback(env: BuiltEnv, tmp_path: Path) -> None:
    with Store(tmp_path / "store") as store:
        (result,) = results(cells(env, written(tmp_path, "raises")), env, store)
    (attempts,) = column(tmp_path / "store", "attempts")
    assert result.outcome.failure is not None
    assert (result.outcome.status, result.outcome.failure.failure_class) == (
        Status.SOURCE_BROKEN,
        "source-import",
    )
    assert "raises.py" in attempts
    assert "/worker/" not in attempts


def test_a_slow_import_has_a_deadline_of_its_own(env: BuiltEnv, tmp_path: Path) -> None:
    """The import does not use up the deadline of the compile.

    A run does not wait for every cell of a file that cannot be imported.
    """
    slow = written(tmp_path, "slow")
    quick = tmp_path / "quick.py"
    quick.write_text(slow.read_text().replace("time.sleep(600)", "time.sleep(2.5)"))
    with Store(tmp_path / "store") as store:
        (fine,) = results(cells(env, quick), env, store, deadline=2)
        began = time.monotonic()
        hung = results(
            [*cells(env, slow, function="kernel"), *cells(env, slow, function="other")],
            env,
            store,
            import_deadline=1,
        )
        waited = time.monotonic() - began
    assert fine.outcome.status is Status.OK
    outcomes = {
        (
            result.outcome.status,
            result.outcome.failure.failure_class if result.outcome.failure else None,
        )
        for result in hung
    }
    assert outcomes == {(Status.SOURCE_BROKEN, "source-timeout")}
    assert all(
        "within 1 s" in result.outcome.failure.excerpt for result in hung if result.outcome.failure
    )
    assert waited < 600


def test_broken_source_is_tried_again_and_an_answer_is_not(env: BuiltEnv, tmp_path: Path) -> None:
    """What a source lacks may exist the next time, although nothing in its key has changed."""
    source = tmp_path / "looks.py"
    source.write_text(
        "from pathlib import Path\nassert Path(__file__).with_name('data.txt').exists()\n"
        + SOURCE.read_text()
    )
    with Store(tmp_path / "store") as store:
        (before,) = results(cells(env, source), env, store)
        (tmp_path / "data.txt").write_text("here")
        (after,) = results(cells(env, source), env, store)
        (repeat,) = results(cells(env, source), env, store)
    statuses = [(result.outcome.status, result.cached) for result in (before, after, repeat)]
    assert statuses == [(Status.SOURCE_BROKEN, False), (Status.OK, False), (Status.OK, True)]


@pytest.mark.parametrize(
    "read",
    ["Path({path!r}).read_text()", "os.read(os.open({path!r}, os.O_RDONLY), 9)", "helper.read()"],
)
def test_nothing_is_kept_while_a_file_that_a_source_reads_has_just_changed(
    env: BuiltEnv, tmp_path: Path, read: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine takes longer from one line to the next than the usual margin.
    monkeypatch.setattr(keys, "_MARGIN", 3600.0)
    source, data = tmp_path / "reads.py", tmp_path / "data.txt"
    (tmp_path / "helper.py").write_text(
        f"from pathlib import Path\ndef read():\n    return Path({str(data)!r}).read_text()\n"
    )
    imports = "import os\nfrom pathlib import Path\nimport helper\n"
    source.write_text(
        imports + f"assert int({read.format(path=str(data))}) == 64\n" + SOURCE.read_text()
    )
    runs = []
    with Store(tmp_path / "store") as store:
        for number in ("64", "64", "63", "64"):
            data.write_text(number)
            # Two cells of one process, which imports the source once.
            runs.append(
                [
                    (result.outcome.status, result.cached)
                    for result in results(cells(env, source, ("sm_90", "sm_90")), env, store)
                ]
            )
    fine, broken = [(Status.OK, False)] * 2, [(Status.SOURCE_BROKEN, False)] * 2
    assert runs == [fine, fine, broken, fine]


def test_result_of_a_source_that_was_edited_since_its_key_is_not_kept(
    env: BuiltEnv, tmp_path: Path
) -> None:
    """The file changes after its key is made and before it is compiled."""
    edited = tmp_path / "edited.py"
    edited.write_text(SOURCE.read_text())
    with Store(tmp_path / "store") as store:
        stale = cells(env, edited)
        edited.write_text(SOURCE.read_text() + "\n# edited since\n")
        results(stale, env, store)
        again = results(stale, env, store)
    assert [(result.outcome.status, result.cached) for result in again] == [(Status.OK, False)]


DYNAMIC = """import importlib
import os
import sys
from pathlib import Path
here = Path(__file__).parent
sys.path.append(str(here / "editable" / "src"))  # as a .pth file of an editable install does
import installed_as_a_link
for path in sorted(here.glob("plugins/*.py")):
    importlib.import_module("plugins." + path.stem)
import tempfile
made = tempfile.mkdtemp()  # in the private folder of the process
(Path(made) / "made_by_source.py").write_text("")
sys.path.append(made)
importlib.import_module("made_by_source")
tempfile.NamedTemporaryFile(dir=here / "cache").close()
assert os.stat in os.supports_follow_symlinks  # which shutil.copystat relies on
try:
    open(here / "tuned" / "sm_90.json")
except FileNotFoundError:
    print((here / "tuned.json").exists())
"""


def test_result_is_kept_while_its_dynamic_imports_are_unchanged(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    """The modules are known after the first import.

    A result is kept while they are unchanged, no new file is beside them, and the files that the
    source asked for in vain are still missing.
    """
    env, dynamic, plugin = (
        built("triton-3.9.0"),
        tmp_path / "dynamic.py",
        tmp_path / "plugins" / "one.py",
    )
    linked = tmp_path / "editable" / "src" / "installed_as_a_link.py"
    texts = {dynamic: DYNAMIC + SOURCE.read_text(), plugin: "", linked: ""}
    for path, text in {**texts, tmp_path / "cache" / "kept": ""}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with Store(tmp_path / "store") as store:

        def cached() -> bool:
            time.sleep(0.15)  # a file that changed just now may have changed after its import
            (result,) = results(cells(env, dynamic), env, store)
            assert result.outcome.status is Status.OK
            return result.cached

        assert [cached(), cached()] == [False, True]
        (tmp_path / "reports").mkdir()
        (tmp_path / "reports" / "index.html").write_text("")
        assert cached(), "a folder without modules is not noticed"
        linked.write_text("# edited\n")
        assert [cached(), cached()] == [False, True]
        (plugin.parent / "two.py").write_text("")
        assert not cached()
        plugin.unlink()
        assert [cached(), cached()] == [False, True]
        (tmp_path / "tuned.json").write_text("{}")
        assert not cached(), "the file was missing before"
        (tmp_path / "tuned").mkdir()
        (tmp_path / "tuned" / "sm_90.json").write_text("{}")
        assert [cached(), cached()] == [False, True]


def test_parameters_that_differ_from_the_kernel_file_are_named(
    env: BuiltEnv, tmp_path: Path
) -> None:
    """A file may define its function with other parameters for this release."""
    (cell,) = cells(env, SOURCE)
    gathering = tmp_path / "gathering.py"
    gathering.write_text(SOURCE.read_text().replace("seed=2**31,", "seed=2**31,\n    *args,"))
    types = {name: kind for name, kind in cell.spec.compile.signature.items() if name != "size"}
    with Store(tmp_path / "store") as store:
        for source, signature, message in (
            (SOURCE, types, "kernel has a parameter size in this env, which has no type or value"),
            (SOURCE, {**types, "size": "i32", "n": "i32"}, "kernel has no parameter n in this env"),
            (gathering, {**types, "size": "i32"}, "any number of arguments as args"),
        ):
            compile_spec = evolve(cell.spec.compile, signature=signature)
            spec = evolve(cell.spec, compile=compile_spec, source=str(source))
            other = evolve(cell, spec=evolve(spec, closure=read_source(source).closure))
            (result,) = results([other], env, store)
            assert result.outcome.status is Status.SOURCE_BROKEN
            assert result.outcome.failure is not None
            assert message in result.outcome.failure.excerpt


def test_result_is_not_kept_if_a_module_changed_after_its_import(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    env, helper, dynamic = (
        built("triton-3.9.0"),
        tmp_path / "helper_of_mine.py",
        tmp_path / "dynamic.py",
    )
    helper.write_text("from pathlib import Path\nPath(__file__).write_text('')\n")
    dynamic.write_text(
        "import importlib\nimportlib.import_module('helper' + '_of_mine')\n" + SOURCE.read_text()
    )
    time.sleep(0.15)
    with Store(tmp_path / "store") as store:
        runs = [results(cells(env, dynamic), env, store)[0] for _ in range(2)]
    # The module overwrites itself in the first run, and does nothing in the second run.
    assert [(result.outcome.status, result.cached) for result in runs] == [(Status.OK, False)] * 2


def test_crash_is_kept_only_while_its_dynamic_imports_are_unchanged(
    built: Callable[[str], BuiltEnv], tmp_path: Path
) -> None:
    env, helper, dynamic = (
        built("triton-3.9.0"),
        tmp_path / "helper_of_mine.py",
        tmp_path / "dynamic.py",
    )
    helper.write_text("import os\nimport triton\ntriton.compile = lambda *_, **__: os.abort()\n")
    dynamic.write_text(
        "import importlib\nimportlib.import_module('helper' + '_of_mine')\n" + SOURCE.read_text()
    )
    with Store(tmp_path / "store") as store:
        time.sleep(0.15)
        crashed, repeat = (results(cells(env, dynamic), env, store)[0] for _ in range(2))
        helper.write_text("")
        (fine,) = results(cells(env, dynamic), env, store)
    statuses = [(result.outcome.status, result.cached) for result in (crashed, repeat, fine)]
    assert statuses == [(Status.CRASHED, False), (Status.CRASHED, True), (Status.OK, False)]


def test_cells_with_one_key_are_compiled_once(env: BuiltEnv, tmp_path: Path) -> None:
    (one,) = cells(env, written(tmp_path, "none"))
    alike = [one, evolve(one, spec=evolve(one.spec, case="twin"))]
    with Store(tmp_path / "store") as store:
        first = results(alike, env, store)
        second = results(alike, env, store)
    assert [result.cell.spec.case for result in first] == ["only", "twin"]
    assert [result.outcome.status for result in first] == [Status.OK, Status.OK]
    assert first[0].outcome.seconds == first[1].outcome.seconds
    assert [result.cached for result in second] == [True, True]
    assert len(column(tmp_path / "store")) == 1


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("False", "AttributeError: conditional.py defines no other in this env"),
        ("True", "TypeError: other is not a jit function: @triton.jit is missing"),
        (
            "triton := types.SimpleNamespace(jit=lambda function: function)",
            "TypeError: other is not a jit function: its decorator @triton.jit returned a plain"
            " function",
        ),
    ],
)
def test_function_that_is_no_kernel_of_its_file_is_source_broken(
    condition: str, message: str, env: BuiltEnv, tmp_path: Path
) -> None:
    source = tmp_path / "conditional.py"
    decorator = "@str.lower and (lambda function: function)\n    @triton.jit\n    "
    decorator = decorator if "jit" in condition else ""
    source.write_text(
        f"{SOURCE.read_text()}\nimport types\nif {condition}:\n"
        f"    {decorator}def other(x):\n        pass\n"
    )
    with Store(tmp_path / "store") as store:
        broken, fine = results(
            [*cells(env, source, function="other"), *cells(env, source)], env, store
        )
    assert broken.outcome.failure is not None
    assert broken.outcome.failure.excerpt == message
    assert (broken.outcome.status, fine.outcome.status) == (Status.SOURCE_BROKEN, Status.OK)
