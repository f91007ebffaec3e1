"""Verdicts ``needs`` and ``removed`` of real kernels on all real releases.

They do not depend on how the front end of each release words its errors.

``EXPECTED`` has every kernel of ``tests/kernels/api.py``, with its verdict over the ten minor
releases from 3.0 to 3.9. The test tries a kernel in all releases that do not compile it, since each
may have its own words for that. Of consecutive releases that compile it, the test tries the first
and the last.
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from packaging.version import Version

from compat.config.matrix import MatrixConfig
from compat.diagnosis import classify
from compat.history.account import Word
from compat.history.verdict import Verdict, verdicts
from compat.model import BuiltEnv, Result
from compat.processes.supervisor import AVAILABLE_CORES
from compat.source.parsing import tree_of
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.workers.attempt import Limits
from compat.workers.watch import attempt
from tests.cells import KERNELS, cell, worker

pytestmark = pytest.mark.wheels

EXPECTED = {
    "needs ≥ 3.2.0": "assume range_loop_unroll_factor add_function",
    "needs ≥ 3.3.0": (
        """gather gather_method range_flatten range_disallow_acc_multi_buffer sum_dtype tuple_of
        ravel_reorder dot_scaled dot_scaled_fast_math list_of index_into_tuple star_arguments"""
    ),
    "needs ≥ 3.4.0": (
        """make_tensor_descriptor descriptor_atomic_add store_tensor_descriptor histogram_mask topk
        range_warp_specialize reduce_or cumsum_dtype sum_method dot_scaled_k_pack item_method
        softmax_dim"""
    ),
    "needs ≥ 3.5.0": (
        "descriptor_padding map_elementwise target_info range_disable_licm gdc_wait condition"
    ),
    "needs ≥ 3.6.0": "dot_bf16x3 mul_function",
    "needs ≥ 3.7.0": "squeeze unsqueeze cat_without_reorder cat_along to_tensor full_of_float8",
    "needs ≥ 3.8.0": "walrus topk_ascending",
    "needs ≥ 3.9.0": "chained_comparison cumprod_dtype fdiv_approx atomic_load",
    "removed in 3.4.0": "experimental_descriptor_load",
    "removed in 3.9.0": "block_pointer advance load_boundary_check store_boundary_check",
    "needs ≥ 3.2.0, removed in 3.4.0": "tensormap_create",
    "needs ≥ 3.3.0, removed in 3.4.0": "experimental_make_descriptor",
    "needs ≥ 3.4.0, removed in 3.6.0": "async_task",
    # assert_mask exists in 3.0 and 3.1, and again from 3.5. flip fails in 3.4 to 3.8, by a defect
    # in Triton's own library.
    "intermittent": "assert_mask flip",
    "works": (
        """histogram swizzle2d dot_max_num_imprecise_acc dot_allow_tf32 dot_out_dtype max_tie_break
        max_keep_dims sort_descending reduce_keep_dims scan_reverse cumsum_reverse cast_function
        cast_rounding atomic_scope print_hex float8e4b8 attribute_t extra_libdevice inline_asm
        permute_method"""
    ),
}


PHRASES = {name: phrase for phrase, names in EXPECTED.items() for name in names.split()}


def tried_in(name: str, releases: Sequence[Version]) -> list[Version]:
    """Those of the ordered releases in which the test tries a kernel.

    It tries an intermittent kernel, and one without an expected verdict, in all releases.
    """
    phrase = PHRASES.get(name, "intermittent")
    if phrase == "intermittent":
        return [*releases]
    needs, removed = (re.search(rf"{word} ([\d.]+)", phrase) for word in ("needs ≥", "removed in"))
    supported_releases = [
        release
        for release in releases
        if not (needs and release < Version(needs[1]))
        and not (removed and release >= Version(removed[1]))
    ]
    return [release for release in releases if release not in supported_releases[1:-1]]


def functions() -> Iterator[str]:
    """The names of the kernels in ``api.py``."""
    for node in tree_of((KERNELS / "api.py").read_text()).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name


@pytest.mark.long
def test_every_kernel_has_its_expected_verdict(
    config: MatrixConfig, built: Callable[[str], BuiltEnv]
) -> None:
    kernel_verdicts = verdicts_by_kernel(config, built)
    assert {name: verdict.phrase for name, verdict in kernel_verdicts.items()} == PHRASES
    changed = [name for name, phrase in PHRASES.items() if phrase not in ("works", "intermittent")]
    assert len(changed) >= 40
    assert not {kernel_verdicts[name].word for name in changed} & {Word.FIXED, Word.REGRESSED}
    came_and_went_by_classes_that_say_so(kernel_verdicts)


def verdicts_by_kernel(
    config: MatrixConfig, built: Callable[[str], BuiltEnv]
) -> dict[str, Verdict]:
    """Compile one batch in each env, without confirmation.

    The answers of the front end are enough here.
    """
    envs = [
        built(env.name)
        for env in config.envs
        if "releases" in env.groups and env.release and not env.release.micro
    ]
    releases = sorted(env.env.release for env in envs if env.env.release)
    assert len(releases) >= 10

    def results_on(env: BuiltEnv) -> list[Result]:
        cells = [
            cell(env, "api", name, constexprs={"BLOCK": 32}, options={"num_warps": 1})
            for name in functions()
            if env.env.release in tried_in(name, releases)
        ]
        with worker(env) as server:
            attempts = attempt(
                server, cells, Limits(deadline=60, memory=4 << 30), stop=threading.Event()
            )
            return [
                Result(
                    cell=batch_cell,
                    built=env,
                    outcome=classify.classify(
                        [evidence], target=batch_cell.target, knowledge=KNOWLEDGE
                    ),
                )
                for batch_cell, evidence in attempts
            ]

    with ThreadPoolExecutor(AVAILABLE_CORES) as executor:
        results = [result for of_env in executor.map(results_on, envs) for result in of_env]
    return {verdict.kernel: verdict for verdict in verdicts(results)}


def came_and_went_by_classes_that_say_so(kernel_verdicts: dict[str, Verdict]) -> None:
    """Check the failure classes: only ``flip`` fails by a defect, not by what a release lacks."""
    classes = {
        name: {interval.failure_class for interval in verdict.intervals if interval.failure_class}
        for name, verdict in kernel_verdicts.items()
    }
    assert "unclassified" not in set[str].union(*classes.values())
    assert [
        name
        for name, failure_classes in classes.items()
        if not all(KNOWLEDGE.by_name[name_].missing_feature for name_ in failure_classes)
    ] == ["flip"]
