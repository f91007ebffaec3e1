"""How the memory of a driver grows with its cells.

``python -m bench.many`` measures larger numbers of cells.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MOST = {"run": 800, "run at most": 1080, "reading": 760, "reading at most": 600}
"""The most bytes per cell: a fifth more than was measured."""


def test_a_cell_takes_few_bytes_in_a_run_and_in_a_report_that_is_read(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.large.growth", str(tmp_path), "520", "1040"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
    )
    cell_bytes = json.loads(done.stdout)
    assert {
        name: bytes_ for name, bytes_ in cell_bytes.items() if not 0 < bytes_ < MOST[name]
    } == {}
