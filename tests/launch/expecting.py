"""The statuses of the kernels in ``kernels/`` on a GPU.

    python -m tests.launch.expecting RESULTS

compares a file of results with them. The results are of a host that has no toolchain.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

KERNELS = Path(__file__).parent / "kernels" / "launching.toml"
EXPECTED = {
    "plus_one/right": {"ok"},
    "plus_one/wrong": {"wrong"},
    "plus_one/beside": {"wrong"},
    "plus_one/racy": {"unstable", "wrong"},  # the last writer may be the same in all launches
    "plus_one/out_of_bounds": {"faulted"},
    "plus_one/hangs": {"timed_out"},
    "ticket/as_written": {"unstable"},
    "product/too_much_shared": {"launch_refused"},
    "product/clustered": {"ok"},
    "product/plain": {"ok"},
}
"""Kernel and variant → the statuses that are right."""


def statuses(results: Path) -> dict[str, set[str]]:
    """Kernel and variant → the statuses of their cells in a file of results."""
    outcomes = defaultdict[str, set[str]](set)
    for line in results.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        outcomes["/".join(record["cell"].split("/")[:2])].add(record["check"]["status"])
    return dict(outcomes)


if __name__ == "__main__":
    for variant, seen in sorted(statuses(Path(sys.argv[1])).items()):
        print(
            "as expected" if seen <= EXPECTED[variant] else "NOT EXPECTED", variant, *sorted(seen)
        )
