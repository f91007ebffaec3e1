"""``[tune]`` of kernel files, and the workloads and configs that it gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from compat.config.kernel_files import load_kernels
from compat.config.kernel_writer import write_kernel_file
from compat.errors import ConfigError
from compat.init import initialize
from compat.model import Specialization
from compat.tune.configs import Workload, workloads_of
from tests.together import for_each

KERNEL = """
import triton
@triton.jit
def add(x_ptr, n, D: tl.constexpr, BLOCK: tl.constexpr):
    pass
"""
PROBLEMS = "def add(parameters, dtype, seed, device, large):\n    yield {}\n"
HEAD = """
schema = 1
kernel = "add"
source = "add.py"
signature = { x_ptr = "*fp16", n = "i32" }
constexprs = { D = 64, BLOCK = 128 }
options = { num_warps = 4 }
problem = { source = "problems.py", function = "add" }
"""


def loaded(
    folder: Path, text: str, head: str = HEAD, source: str = KERNEL
) -> tuple[Specialization, ...]:
    (folder / "add.py").write_text(source)
    (folder / "problems.py").write_text(PROBLEMS)
    (folder / "add.toml").write_text(head + text)
    return load_kernels(["add.toml"], folder)


def settings(workload: Workload) -> dict[str, dict[str, object]]:
    return {config.spec.case: dict(config.settings) for config in workload.configs}


def test_ranges_are_crossed_and_the_case_itself_is_a_config(tmp_path: Path) -> None:
    text = "[tune]\nconstexprs = { BLOCK = [64, 128] }\noptions = { num_warps = [4, 8] }\n"
    (workload,) = workloads_of(loaded(tmp_path, text))
    assert workload.name == "default"
    assert settings(workload) == {
        "default": {"BLOCK": 128, "num_warps": 4},
        "default_64_w4": {"BLOCK": 64, "num_warps": 4},
        "default_64_w8": {"BLOCK": 64, "num_warps": 8},
        "default_128_w8": {"BLOCK": 128, "num_warps": 8},
    }
    by_case = {config.spec.case: config.spec for config in workload.configs}
    assert by_case["default_64_w8"].compile.constexprs == {"D": 64, "BLOCK": 64}
    assert by_case["default_64_w8"].compile.options == {"num_warps": 8}
    assert by_case["default_64_w8"].varied == ("BLOCK",)
    assert by_case["default_128_w8"].varied == ()
    # All run on one problem, so that their numbers are compared and they are timed together.
    assert {spec.problem for spec in by_case.values()} == {workload.problem}
    assert workload.problem.parameters == {"D": 64, "BLOCK": 128}
    assert workload.configs[1].label == "BLOCK=64, num_warps=4"


def test_cases_that_differ_in_tuned_settings_are_configs_of_one_workload(tmp_path: Path) -> None:
    text = """
tune = { constexprs = { BLOCK = [] } }
case = [
  { name = "small", constexprs = { BLOCK = 32 }, options = { num_warps = 2 } },
  { name = "large", constexprs = { BLOCK = 256 } },
  { name = "same_as_large", constexprs = { BLOCK = 256 } },
  { name = "wide", constexprs = { D = 128 } },
]
"""
    first, wide = workloads_of(loaded(tmp_path, text))
    assert (first.name, wide.name) == ("small", "wide")
    assert settings(first) == {
        "small": {"BLOCK": 32, "num_warps": 2},
        "large": {"BLOCK": 256, "num_warps": 4},
    }
    assert [config.spec.varied for config in first.configs] == [(), ("BLOCK",)]
    assert first.problem.parameters["BLOCK"] == 32
    assert list(settings(wide)) == ["wide"]


def test_a_config_has_a_name_that_no_case_has(tmp_path: Path) -> None:
    text = """
tune = { options = { num_warps = [4, 8] } }
case = [{ name = "a" }, { name = "a_w8", options = { num_warps = 2 } }]
"""
    (both,) = workloads_of(loaded(tmp_path, text))
    assert settings(both) == {
        "a": {"num_warps": 4},
        "a_w8": {"num_warps": 2},
        "a_w8+": {"num_warps": 8},
    }


def test_declared_failures_apply_to_cases_and_not_to_configs(tmp_path: Path) -> None:
    text = 'tune = { options = { num_warps = [8] } }\nexpect = [{ status = "rejected" }]\n'
    specs = loaded(tmp_path, text)
    assert specs[0].expectations
    (workload,) = workloads_of(specs)
    assert [config.spec.expectations for config in workload.configs] == [(), ()]


def test_a_variant_without_a_tuned_constexpr_is_tuned_without_it(tmp_path: Path) -> None:
    text = """
tune = { constexprs = { BLOCK = [64] }, options = { num_warps = [8] } }
variant = [
  { name = "blocks", function = "add" },
  { name = "whole", function = "whole", constexprs = { BLOCK = { drop = true } } },
]
"""
    source = f"{KERNEL}\n@triton.jit\ndef whole(x_ptr, n, D: tl.constexpr):\n    pass\n"
    blocks, whole_variant = loaded(tmp_path, text, source=source)
    assert blocks.tuning.constexprs == {"BLOCK": (64,)}
    assert whole_variant.tuning.constexprs == {}
    assert [len(work.configs) for work in workloads_of([blocks, whole_variant])] == [2, 2]


def test_recorded_launches_have_no_workload(tmp_path: Path) -> None:
    (spec,) = loaded(tmp_path, "")
    assert spec.problem is not None
    recorded = evolve(spec.problem, parameters={"recorded": {}})
    assert workloads_of([evolve(spec, problem=recorded)]) == ()


def test_constexprs_are_part_of_a_workload_unless_they_are_tuned(tmp_path: Path) -> None:
    text = 'case = [{ name = "a" }, { name = "b", constexprs = { BLOCK = 64 } }]\n'
    assert [work.name for work in workloads_of(loaded(tmp_path, text))] == ["a", "b"]
    options = 'case = [{ name = "a" }, { name = "b", options = { num_warps = 8 } }]\n'
    (both,) = workloads_of(loaded(tmp_path, options))
    assert list(settings(both)) == ["a", "b"]


def test_hints_and_problems_are_part_of_a_workload(tmp_path: Path) -> None:
    text = 'case = [{ name = "a" }, { name = "b", hints = { divisible_by_16 = [] } }]\n'
    assert len(workloads_of(loaded(tmp_path, text))) == 2
    text = 'case = [{ name = "a" }, { name = "b", problem = { parameters = { n = 1 } } }]\n'
    assert len(workloads_of(loaded(tmp_path, text))) == 2


def test_a_kernel_without_a_problem_has_no_workload(tmp_path: Path) -> None:
    assert workloads_of(loaded(tmp_path, "", HEAD.partition("problem =")[0])) == ()


def test_later_tables_override_earlier_ones_and_values_count_once(tmp_path: Path) -> None:
    text = """
[tune]
constexprs = { BLOCK = [64] }
options = { num_warps = [4] }
[[case]]
name = "a"
tune = { options = { num_warps = [8, 8, 16] } }
"""
    (spec,) = loaded(tmp_path, text)
    assert spec.tuning.constexprs == {"BLOCK": (64,)}
    assert spec.tuning.options == {"num_warps": (8, 16)}


@for_each(
    ("table", "where", "says"),
    [
        ("constexprs = { BLOK = [64] }", "tune.constexprs.BLOK", "not a constexpr of the kernel"),
        ("constexprs = { BLOCK = 64 }", "tune.constexprs.BLOCK", "expected an array"),
        ("constexprs = { BLOCK = [[1, 2]] }", "tune.constexprs.BLOCK", "expected numbers"),
        ("options = { num_warps = [3] }", "tune.options.num_warps", "must be a power of two"),
        ("option = { num_warps = [4] }", "tune.option", "unknown key"),
        (
            f"constexprs = {{ BLOCK = {list(range(1, 40))}, D = {list(range(1, 40))} }}",
            "tune",
            "has 1,521 combinations, and at most 1,024 are allowed",
        ),
    ],
)
def test_invalid_tune_table_names_its_key(
    tmp_path: Path, table: str, where: str, says: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        loaded(tmp_path, f"[tune]\n{table}\n")
    assert raised.value.where == f"add.toml: {where}"
    assert says in str(raised.value)


def test_a_written_file_is_read_back(tmp_path: Path) -> None:
    text = """
[tune]
constexprs = { BLOCK = [64, 128] }
[[case]]
name = "a"
tune = { options = { num_warps = [8] } }
[[case]]
name = "b"
"""
    specs = loaded(tmp_path, text)
    assert [spec.tuning for spec in write_kernel_file(specs, tmp_path / "again.toml")] == [
        spec.tuning for spec in specs
    ]


def test_autotuner_in_a_source_is_guessed_as_configs(tmp_path: Path) -> None:
    source = """
import triton
import triton.language as tl

@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64}, num_warps=4),
        triton.Config({"BLOCK": 128}, num_warps=8),
    ],
    key=["n"],
)
@triton.jit
def add(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 0.0, mask=at < n)
"""
    (tmp_path / "add.py").write_text(source)
    initialize(tmp_path, ["add.py"])
    (path,) = tmp_path.glob("**/add.toml")
    text = path.read_text()
    (tmp_path / "problems.py").write_text(PROBLEMS)
    path.write_text(text + '[problem]\nsource = "../problems.py"\nfunction = "add"\n')
    (workload,) = workloads_of(load_kernels([str(path)], tmp_path))
    assert list(settings(workload).values()) == [
        {"BLOCK": 64, "num_warps": 4, "num_stages": 3},
        {"BLOCK": 128, "num_warps": 8, "num_stages": 3},
    ]
