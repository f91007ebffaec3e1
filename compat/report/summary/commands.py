"""Commands that show a result again, or go on from it; ``options`` are those with which they read the same files."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from packaging.version import InvalidVersion, Version

from compat import toolchains
from compat.bisect.answers import CellAnswer
from compat.bisect.probes import ReleaseAnswer, Transition
from compat.bisect.request import Axis
from compat.config.selection import PAIRS
from compat.model import Cell
from compat.pairs.records import Pair
from compat.text import lazy_pattern, printable
from compat.toolchains import Toolchain


def matrix_command(cell: Cell, options: Sequence[str]) -> str:
    """Compiles a variant in one env, for one target, in all of its cases."""
    run = ["compat", "matrix", "--kernel", cell.spec.kernel, "--variant", cell.spec.variant]
    return shlex.join([*run, "--target", cell.target.name, "--envs", cell.env.name, *options])


def explain_command(cell: Cell, options: Sequence[str]) -> str:
    """Shows all that is known of a cell."""
    return shlex.join(["compat", "explain", cell.id, *options])


def fix_command(cell: Cell, options: Sequence[str]) -> str:
    """The command that looks for an edit for a cell's failure; ``options`` are those with which it reads the same files."""
    return shlex.join(["compat", "fix", cell.id, *options])


def pair_command(pair: Pair, options: Sequence[str]) -> str:
    """Tries the programs of a pair, which its env has installed."""
    return shlex.join(["compat", "matrix", "--kernel", PAIRS, "--envs", pair.env, *options])


# --- bisections -------------------------------------------------------------------------------------------------------------------


_COMMIT = lazy_pattern(r"git\.?([0-9a-f]{6,40})\b")


def repeat_command(answer: ReleaseAnswer, options: tuple[str, ...] = (), ends: tuple[str, ...] = ()) -> str:
    """The command that finds the same for this kernel alone, in the narrowest range that shows it, else between ``ends``."""
    spec = answer.spec
    argv = ["compat", "bisect", "--kernel", spec.kernel, "--variant", spec.variant, "--case", spec.case]
    argv += ["--target", answer.target.name]
    if answer.bracket is not None:
        change = answer.bracket
        good, bad = (change.after, change.before) if change.is_fix else (change.before, change.after)
        ends = ("--good", good.release, "--bad", bad.release, *(["--fixed"] if change.is_fix else []))
    return printable(shlex.join((*argv, *ends, *options)))


def repeat_inside(answer: CellAnswer, axis: Axis, options: tuple[str, ...] = ()) -> str:
    """The command that finds the same of this kernel alone, along an axis inside its failure."""
    spec = answer.cell.spec
    argv = ["compat", "bisect", "--axis", str(axis), "--kernel", spec.kernel, "--variant", spec.variant, "--case", spec.case]
    return printable(shlex.join((*argv, "--target", answer.cell.target.name, *options)))


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
