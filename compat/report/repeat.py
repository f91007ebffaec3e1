"""The commands that show a result again; ``options`` are those with which they read the same files."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from compat.config.selection import PAIRS
from compat.model import Cell
from compat.pairs.records import Pair


def matrix_command(cell: Cell, options: Sequence[str]) -> str:
    """Compiles a variant in one env, for one target, in all of its cases."""
    run = ["compat", "matrix", "--kernel", cell.spec.kernel, "--variant", cell.spec.variant]
    return shlex.join([*run, "--target", cell.target.name, "--envs", cell.env.name, *options])


def explain_command(cell: Cell, options: Sequence[str]) -> str:
    """Shows all that is known of a cell."""
    return shlex.join(["compat", "explain", cell.id, *options])


def pair_command(pair: Pair, options: Sequence[str]) -> str:
    """Tries the programs of a pair, which its env has installed."""
    return shlex.join(["compat", "matrix", "--kernel", PAIRS, "--envs", pair.env, *options])
