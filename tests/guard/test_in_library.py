"""The written guard as a library uses it.

The tests run it on every Python that any release has wheels for, and next to all kinds of Triton
installations and GPUs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from attrs import evolve

from compat.envs.interpreters import present
from compat.guard import Request, guard_text, make_guard
from compat.model import BuiltEnv
from compat.toolchains.triton.inside import guard as code
from tests.records import OK, RELEASES, REMOVED, TARGETS, bad, env
from tests.report.factory import always, report, results_of

OLDEST, NEWEST = (3, 8), (3, 14)
"""The oldest and the newest Python that releases have wheels for.

The tests use those of them that this machine has.
"""
PYTHONS = [minor for minor in sorted(present()) if OLDEST <= minor <= NEWEST]

ASK = """
import json, sys
before = set(sys.modules)
import _triton_guard as guard
imported = sorted(set(sys.modules) - before - {"_triton_guard"})
best = [guard.best_variant("k", *arguments) for arguments in json.loads(sys.argv[1])]
print(json.dumps([imported, best, guard.why("k")]))
"""
ASKED = [
    ["3.8.0", "sm_90"],
    ["3.9", "sm_90"],
    ["3.9.0", [9, 0]],
    ["3.10.0", "sm_90"],
    ["3.9.0", "sm_100"],
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a guard for a kernel of two variants.

    One variant uses block pointers, which 3.9.0 removed. The other one uses loops.
    """
    envs = [env(release) for release in RELEASES if release != "3.5.0"]
    results = [
        *results_of(
            "k",
            "block_ptr",
            lambda r, _: bad(REMOVED) if r == "3.9.0" else OK,
            envs=envs,
            targets=TARGETS[:2],
        ),
        *results_of("k", "loop_1d", always(OK), envs=envs[6:], targets=TARGETS[:2]),
    ]
    folder = tmp_path_factory.mktemp("library")
    (folder / "_triton_guard.py").write_text(
        guard_text(make_guard(report(results), Request())), encoding="utf-8"
    )
    return folder


@pytest.fixture
def facts(library: Path) -> dict[str, object]:
    names: dict[str, object] = {}
    exec((library / "_triton_guard.py").read_text(encoding="utf-8"), names)
    facts = names["FACTS"]
    assert isinstance(facts, dict)
    return facts


def guard_answers(
    python: str, library: Path, *more: str, environ: Mapping[str, str] | None = None
) -> list[object]:
    command = [python, *more, "-c", ASK, json.dumps(ASKED)]
    done = subprocess.run(
        command, cwd=library, capture_output=True, text=True, env=environ, check=False
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert isinstance(answers, list)
    return answers


# --- Pythons and Tritons --------------------------------------------------------------------------


@pytest.mark.parametrize("minor", PYTHONS, ids=lambda minor: f"{minor[0]}.{minor[1]}")
def test_guard_answers_on_every_python_and_imports_only_future(
    minor: tuple[int, int], library: Path
) -> None:
    imported, answers, why = guard_answers(present()[minor][0], library)
    assert imported == ["__future__"]
    assert answers == ["block_ptr", "loop_1d", "loop_1d", None, None]
    assert why == "Triton is not installed"


@pytest.mark.wheels
@pytest.mark.parametrize(
    ("name", "answer"), [("triton-3.0.0", "block_ptr"), ("triton-3.9.0", "loop_1d")]
)
def test_guard_finds_the_installed_triton_without_importing_it(
    name: str, answer: str, library: Path, built: Callable[[str], BuiltEnv]
) -> None:
    python = built(name).python
    assert python is not None
    *_, why = guard_answers(python, library)
    assert why == "there is no GPU that PyTorch knows of"
    program = (
        "import _triton_guard as g, sys; print(g.best_variant('k', target='sm_90'),"
        " g.installed_triton(), 'triton' in sys.modules)"
    )
    done = subprocess.run(
        [python, "-c", program], cwd=library, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [answer, name.removeprefix("triton-"), "False"]


def run_here(statements: str, *folders: Path) -> str:
    """The output of a program that imports from these folders first.

    The program also has the standard library.
    """
    program = f"import sys; sys.path[:0] = {list(map(str, folders))}; {statements}"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def distribution(folder: Path, name: str, version: str, *, files: bool = True) -> None:
    """Write a Triton as an installer leaves it."""
    (folder / "triton").mkdir(parents=True, exist_ok=True)
    (folder / "triton" / "__init__.py").write_text(f"__version__ = {version.partition('+')[0]!r}\n")
    if files:
        info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "RECORD").write_text("triton/__init__.py,,\n")


@pytest.mark.parametrize(
    ("name", "version", "files", "expected"),
    [
        ("triton", "3.5.1", True, "3.5.1"),
        ("triton", "3.5.1+git1234", True, "3.5.1+git1234"),
        ("pytorch-triton-rocm", "3.5.1", True, "pytorch-triton-rocm 3.5.1"),
        ("triton", "3.5.1", False, "3.5.1+local"),
    ],
)
def test_installed_fork_is_not_taken_for_a_release(
    name: str, version: str, files: bool, expected: str, library: Path, tmp_path: Path
) -> None:
    distribution(tmp_path, name, version, files=files)
    program = (
        f"import sys; sys.path[:0] = [{str(library)!r}, {str(tmp_path)!r}]; import _triton_guard as"
        " g; print(g.installed_triton())"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == expected


def test_imported_checkout_takes_precedence_over_the_installed_triton(
    library: Path, tmp_path: Path
) -> None:
    distribution(tmp_path / "site", "triton", "3.5.1")
    distribution(tmp_path / "checkout", "triton", "3.6.0", files=False)
    program = "import triton, _triton_guard as g; print(g.installed_triton())"
    assert run_here(program, library, tmp_path / "checkout", tmp_path / "site") == "3.6.0+local"


# --- GPUs -----------------------------------------------------------------------------------------

TORCH = """
class _Properties:
    gcnArchName = "gfx942:sramecc+:xnack-"

class cuda:
    is_available = staticmethod(lambda: {available})
    current_device = staticmethod(lambda: 0)
    get_device_capability = staticmethod(lambda device: {capability})
    get_device_properties = staticmethod(lambda device: _Properties)

class version:
    hip = {hip}
"""
"""The part of PyTorch that a guard uses.

No machine of the tests has a GPU, let alone one of each maker.
"""


@pytest.mark.parametrize(
    ("available", "capability", "hip", "expected"),
    [
        (True, (9, 0), None, "sm_90"),
        (True, (12, 0), None, "sm_120"),
        (True, (9, 4), "6.2", "gfx942"),
        (False, (9, 0), None, None),
    ],
)
def test_present_target_follows_from_the_gpu(
    available: bool,
    capability: tuple[int, int],
    hip: str | None,
    expected: str | None,
    library: Path,
    tmp_path: Path,
) -> None:
    (tmp_path / "torch.py").write_text(
        TORCH.format(available=available, capability=capability, hip=repr(hip))
    )
    program = (
        f"import sys; sys.path[:0] = [{str(library)!r}, {str(tmp_path)!r}]; import _triton_guard as"
        " g; print(g.present_target())"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(expected)


TWO = """
class cuda:
    current = 0
    is_available = staticmethod(lambda: True)
    current_device = staticmethod(lambda: cuda.current)
    get_device_capability = staticmethod(lambda device: [(8, 0), (9, 0)][device])

class version:
    hip = None
"""


def test_present_target_follows_the_current_gpu(library: Path, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(TWO)
    program = (
        "import torch, _triton_guard as g; a = g.present_target(); torch.cuda.current = 1; print(a,"
        " g.present_target())"
    )
    assert run_here(program, library, tmp_path) == "sm_80 sm_90"


@pytest.mark.parametrize("target", ["sm_90", "sm_90a", (9, 0)])
def test_target_may_be_a_name_or_a_compute_capability(
    facts: dict[str, object], target: object
) -> None:
    assert code.decide(facts, "k", "3.8.0", target).variant == "block_ptr"


@pytest.mark.parametrize("target", ["h100", "", 90, (9,), object()])
def test_invalid_target_is_an_error(facts: dict[str, object], target: object) -> None:
    with pytest.raises(ValueError, match="name one such as 'sm_90'"):
        code.decide(facts, "k", "3.8.0", target)


def test_unknown_kernel_or_policy_is_an_error(facts: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="this guard does not know the kernel 'j'; it knows k"):
        code.decide(facts, "j", "3.8.0", "sm_90")
    with pytest.raises(
        ValueError, match="unknown policy 'brave'; choose one of pessimistic, optimistic"
    ):
        code.decide(facts, "k", "3.8.0", "sm_90", "brave")


def test_custom_target_is_found_by_capability_and_by_name() -> None:
    own = evolve(TARGETS[1], name="ours")
    matrix = report(results_of("k", "v", always(OK), envs=[env("3.9.0")], targets=[own]))
    guard = make_guard(matrix, Request())
    assert code.decide(guard.decision_data, "k", "3.9.0", (9, 0)).variant == "v"
    assert code.decide(guard.decision_data, "k", "3.9.0", "ours").variant == "v"


# --- policies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "target", "optimistic"),
    [
        ("3.10.0", "sm_90", "loop_1d"),  # newer than the newest: as the newest
        ("4.0.0rc1", "sm_90", "loop_1d"),
        ("3.5.0", "sm_90", "block_ptr"),  # between two tested releases
        ("3.5.1.post2", "sm_90", "block_ptr"),
        ("3.8.1", "sm_90", "loop_1d"),  # block pointers worked in 3.8.0 and not in 3.9.0
        ("3.9.0rc1", "sm_90", "loop_1d"),
        ("3.8.0+git1", "sm_90", "block_ptr"),  # forks
        ("pytorch-triton 3.9.0", "sm_90", "loop_1d"),
        ("3.8.0", "sm_100", "block_ptr"),  # another GPU of the same maker
        ("3.9.0", (12, 0), "loop_1d"),
        ("3.8.0", "gfx942", None),  # no GPU of that maker was tested
        ("2.3.1", "sm_90", None),  # older than the oldest
        ("3.0.0rc1", "sm_90", None),
        ("main", "sm_90", None),  # no version
    ],
)
def test_untested_release_or_target_is_answered_only_optimistically(
    facts: dict[str, object], version: str, target: object, optimistic: str | None
) -> None:
    assert code.decide(facts, "k", version, target).variant is None
    assert code.decide(facts, "k", version, target, "pessimistic").variant is None
    assert code.decide(facts, "k", version, target, "optimistic").variant == optimistic


@pytest.mark.parametrize("version", ["3.8", "3.8.0", "v3.8.0", "3.8.0.0"])
def test_spellings_of_a_release_give_the_same_answer(
    facts: dict[str, object], version: str
) -> None:
    assert code.decide(facts, "k", version, "sm_90").variant == "block_ptr"


def test_decision_states_its_reason(facts: dict[str, object]) -> None:
    reasons = {
        ("3.8.0", "sm_90", None): "block_ptr: works with Triton 3.8.0 for sm_90",
        (
            "3.10.0",
            "sm_90",
            "optimistic",
        ): (
            "loop_1d: was not tested with Triton 3.10.0, and works with 3.9.0, the newest that was "
            "tested for sm_90"
        ),
        (
            "3.10.0",
            "sm_90",
            None,
        ): (
            "no variant of k is known to work with Triton 3.10.0 on sm_90 (policy: pessimistic): "
            "block_ptr, loop_1d: was not tested with Triton 3.10.0 for sm_90"
        ),
        (
            "3.9.0",
            "gfx942",
            None,
        ): (
            "no variant of k is known to work with Triton 3.9.0 on gfx942 (policy: pessimistic): "
            "block_ptr, loop_1d: was not tested for gfx942"
        ),
    }
    for (version, target, policy), reason in reasons.items():
        assert code.decide(facts, "k", version, target, policy).why == reason


def test_versions_are_ordered_as_they_are_released() -> None:
    line = [
        "2.3.1",
        "3.0.0.dev1",
        "3.0.0a1",
        "3.0.0b2",
        "3.0.0rc1",
        "3.0.0rc2",
        "3.0",
        "3.0.0.post1",
        "3.0.1",
        "3.1",
        "3.10.0",
    ]
    orders = [code._order(version) for version in line]
    assert orders == sorted(orders)
    assert code._order("3.0") == code._order("3.0.0") == code._order("v3.0.0+git1")
    assert code._order("main") is None
