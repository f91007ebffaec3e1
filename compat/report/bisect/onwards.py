"""How to repeat a bisect, and how to go on from releases to commits."""

from __future__ import annotations

import re
import shlex

from packaging.version import Version

from compat.axes.history import ReleaseAnswer, Transition

_TREE = "https://github.com/triton-lang/triton"
_COMMIT = re.compile(r"git\.?([0-9a-f]{6,40})\b")


def repeat_command(answer: ReleaseAnswer, options: tuple[str, ...] = ()) -> str:
    """The command that finds the same for this kernel alone, in the narrowest range that shows it."""
    spec = answer.spec
    words = ["compat", "bisect", "--kernel", spec.kernel, "--variant", spec.variant, "--case", spec.case]
    words += ["--target", answer.target.name]
    if answer.bracket is not None:
        change = answer.bracket
        good, bad = (change.after, change.before) if change.is_fix else (change.before, change.after)
        words += ["--good", good.release, "--bad", bad.release, *(["--fixed"] if change.is_fix else [])]
    return shlex.join((*words, *options))


def compare_url(change: Transition) -> str | None:
    """Where all commits between the two releases can be seen; ``None`` where nothing says which commits they are made from."""
    refs = [_ref(probe.release) for probe in (change.before, change.after)]
    return f"{_TREE}/compare/{refs[0]}...{refs[1]}" if all(refs) else None


def commits_command(change: Transition) -> str | None:
    """The command of tritonparse that goes on within this range, one build of Triton per commit."""
    refs = [ref for probe in (change.before, change.after) if (ref := _ref(probe.release))]
    if len(refs) < 2:
        return None
    words = ["tritonparseoss", "bisect", "--triton-dir", "triton", "--test-script", "test.py", "--good", refs[0], "--bad", refs[1]]
    return shlex.join(words)


def commits_advice(change: Transition) -> str:
    """What has to be known before that command is run."""
    ends = "0 where it still fails and 1 where it compiles" if change.is_fix else "0 where the kernel compiles and 1 where it fails"
    turned = " (it looks for the commit that mended it, so the answers are turned about)" if change.is_fix else ""
    return (
        f"`triton` is a clone of {_TREE}; `test.py` has to exit with {ends}{turned}, and never with 128 or more, "
        "so compile in a child process where the compiler may be killed. Release tags lie on branches of their own: "
        "the first commit tried is where the two branches part."
    )


def _ref(release: str) -> str | None:
    version = Version(release)
    if version.local is None:
        return f"v{version}"
    commit = _COMMIT.search(version.local)
    return commit[1] if commit else None
