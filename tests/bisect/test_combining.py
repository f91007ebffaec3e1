"""The side of a failure that crossings prove, and the assembler that a release uses."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from compat.bisect.answers import Effect
from compat.bisect.attempts import effect_on
from compat.bisect.combining import Crossing, Side
from compat.model import BuiltEnv, Env, Failure, Outcome, Package, Status
from compat.toolchains.triton.ir.dumps import ptxas_of
from tests.targets import TARGETS
from tests.together import for_each

OK, SAME, UNKNOWN = Effect.OK, Effect.SAME, Effect.UNKNOWN


@for_each(
    ("into_bad", "into_good", "side"),
    [
        (SAME, OK, Side.BEHIND),
        (SAME, UNKNOWN, Side.BEHIND),
        (UNKNOWN, OK, Side.BEHIND),
        (OK, SAME, Side.BEFORE),
        (OK, UNKNOWN, Side.BEFORE),
        (UNKNOWN, SAME, Side.BEFORE),
        (SAME, SAME, Side.EITHER),
        (OK, OK, Side.BOTH),
        (UNKNOWN, UNKNOWN, Side.UNKNOWN),
    ],
)
def test_crossing_proves_the_side_of_a_failure(
    into_bad: Effect, into_good: Effect, side: Side
) -> None:
    assert Crossing(into_bad=into_bad, into_good=into_good).side is side


@pytest.mark.parametrize("control", [OK, UNKNOWN])
def test_crossing_proves_nothing_if_its_control_does_not_fail(control: Effect) -> None:
    for one, other in itertools.product(Effect, Effect):
        assert Crossing(into_bad=one, into_good=other, control=control).side is Side.UNKNOWN


def outcome(status: Status, fingerprint: str | None = None, flaky: bool = False) -> Outcome:
    failure = (
        Failure(failure_class="k", stage="llir", fingerprint=fingerprint, excerpt="", advice="")
        if fingerprint
        else None
    )
    return Outcome(status=status, stage="llir", failure=failure, flaky=flaky)


def test_another_failure_is_never_ok() -> None:
    failing = outcome(Status.CRASHED, "k:1")
    assert effect_on(failing, outcome(Status.OK)) is OK
    assert effect_on(failing, outcome(Status.CRASHED, "k:1")) is SAME
    assert effect_on(failing, outcome(Status.REJECTED, "k:1")) is SAME
    assert effect_on(failing, outcome(Status.CRASHED, "k:2")) is UNKNOWN
    assert effect_on(failing, outcome(Status.LOST)) is UNKNOWN
    assert effect_on(failing, outcome(Status.ENV_BROKEN, "k:1")) is UNKNOWN
    assert effect_on(failing, outcome(Status.OK, "launch:1")) is UNKNOWN, (
        "it compiled, but would not launch"
    )
    assert effect_on(failing, outcome(Status.CRASHED, "k:1", flaky=True)) is UNKNOWN


def env_with(folder: Path, release: str, *names: str) -> BuiltEnv:
    tools = folder / "lib/python3.11/site-packages/triton/backends/nvidia/bin"
    tools.mkdir(parents=True)
    for name in names:
        (tools / name).touch()
    packages = (Package(name="triton", version=release, digest=""),)
    return BuiltEnv(env=Env(name="some"), python=str(folder / "bin/python"), packages=packages)


@for_each(
    ("release", "target", "name"),
    [
        ("3.3.1", "sm_90", "ptxas"),
        ("3.3.1", "sm_100", "ptxas-blackwell"),
        ("3.8.0", "sm_90", "ptxas"),
        ("3.9.0", "sm_90", "ptxas-blackwell"),
        ("3.9.0+git1a2b3c", "sm_90", "ptxas-blackwell"),
        ("3.9.0", "sm_80", "ptxas"),
    ],
)
def test_the_assembler_that_a_release_uses(
    tmp_path: Path, release: str, target: str, name: str
) -> None:
    assembler = ptxas_of(env_with(tmp_path, release, "ptxas", "ptxas-blackwell"), TARGETS[target])
    assert assembler is not None
    assert assembler.name == name


def test_releases_with_one_assembler_or_none(tmp_path: Path) -> None:
    one = ptxas_of(env_with(tmp_path / "one", "3.5.1", "ptxas"), TARGETS["sm_100"])
    assert one is not None
    assert one.name == "ptxas"
    assert ptxas_of(env_with(tmp_path / "none", "3.5.1"), TARGETS["sm_90"]) is None
    assert ptxas_of(env_with(tmp_path / "amd", "3.5.1", "ptxas"), TARGETS["gfx942"]) is None
    assert ptxas_of(BuiltEnv(env=Env(name="broken"), error="no"), TARGETS["sm_90"]) is None
