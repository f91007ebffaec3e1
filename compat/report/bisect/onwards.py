"""How to repeat a bisect, and how to go on from releases to commits."""

from __future__ import annotations

import shlex

from packaging.version import InvalidVersion, Version

from compat import toolchains
from compat.bisect.answers import CellAnswer
from compat.bisect.probes import ReleaseAnswer, Transition
from compat.bisect.request import Axis
from compat.patterns import lazy_pattern
from compat.printable import printable
from compat.toolchains import Toolchain

_COMMIT = lazy_pattern(r"git\.?([0-9a-f]{6,40})\b")


def repeat_command(answer: ReleaseAnswer, options: tuple[str, ...] = (), ends: tuple[str, ...] = ()) -> str:
    """The command that finds the same for this kernel alone, in the narrowest range that shows it, else between ``ends``."""
    spec = answer.spec
    words = ["compat", "bisect", "--kernel", spec.kernel, "--variant", spec.variant, "--case", spec.case]
    words += ["--target", answer.target.name]
    if answer.bracket is not None:
        change = answer.bracket
        good, bad = (change.after, change.before) if change.is_fix else (change.before, change.after)
        ends = ("--good", good.release, "--bad", bad.release, *(["--fixed"] if change.is_fix else []))
    return printable(shlex.join((*words, *ends, *options)))


def repeat_inside(answer: CellAnswer, axis: Axis, options: tuple[str, ...] = ()) -> str:
    """The command that finds the same of this kernel alone, along an axis inside its failure."""
    spec = answer.cell.spec
    words = ["compat", "bisect", "--axis", str(axis), "--kernel", spec.kernel, "--variant", spec.variant, "--case", spec.case]
    return printable(shlex.join((*words, "--target", answer.cell.target.name, *options)))


def compare_url(change: Transition) -> str | None:
    """Where all commits between the two releases can be seen; ``None`` where nothing says which commits they are made from."""
    tree = _toolchain(change).repository
    refs = [_ref(probe.release) for probe in (change.before, change.after)]
    return f"{tree}/compare/{refs[0]}...{refs[1]}" if tree and all(refs) else None


def commits_command(change: Transition) -> str | None:
    """The command that goes on within this range, one build of the toolchain per commit; ``None`` where none is known."""
    command = _toolchain(change).commits_command
    refs = [ref for probe in (change.before, change.after) if (ref := _ref(probe.release))]
    return shlex.join([*command, "--good", refs[0], "--bad", refs[1]]) if command and len(refs) == 2 else None


def commits_advice(change: Transition) -> str:
    """What has to be known before that command is run."""
    ends = "0 where it still fails and 1 where it compiles" if change.is_fix else "0 where the kernel compiles and 1 where it fails"
    turned = " (the search is for the commit that fixed it, so the exit codes are inverted)" if change.is_fix else ""
    toolchain = _toolchain(change)
    return (
        f"`{toolchain.name}` is a clone of {toolchain.repository}; "
        f"`test.py` has to exit with {ends}{turned}, and never with 128 or more, "
        "so compile in a child process where the compiler may be killed. Release tags are on their own branches: "
        "the first commit tested is the merge base of the two."
    )


def _toolchain(change: Transition) -> Toolchain:
    return toolchains.of(change.after.result.cell.env)


def _ref(release: str) -> str | None:
    try:
        version = Version(release)
    except InvalidVersion:  # a fork under another name
        return None
    if version.local is None:
        return f"v{version}"
    commit = _COMMIT.search(version.local)
    return commit[1] if commit else None
