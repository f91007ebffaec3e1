"""The time to read a compile's output: ``python -m bench.reading [--megabytes N]``.

The benchmark writes each kind of output into a file, as a compiling child process does, and reads
it as after a failure. It compresses the output, separates the words from the IR, looks for the
failing pass, and classifies the failure.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import click

from compat.diagnosis import classify, pipeline
from compat.files import read_ends
from compat.model import Evidence, RaisedException
from compat.toolchains.mlir.dumps import HEADING_BEGINS
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.toolchains.triton.ir.dumps import READER
from compat.workers.evidence import PRINTED_LIMIT, keep_printed
from tests.targets import TARGETS

_HEADING = b"// -----// IR Dump Before CSE (cse) ('builtin.module' operation) //----- //\n"
_IR = b"  %0 = arith.constant dense<1.0> : tensor<128x64xf32, #blocked> loc(#loc)\n"
OUTPUTS: Mapping[str, bytes] = {
    "IR before every pass": _HEADING + b"module {\n" + _IR * 500 + b"}\n",
    "diagnostics": (
        b"/home/me/kernel.py:12:3: error: 'tt.dot' op operand #0 must be x, but got"
        b" 'tensor<128x64xf32>'\n"
    ),
    "one word": b"deadbeef",
    "short lines": b"x\n",
    "assertions": b"python: /root/Types.cpp:126: unsigned f(): Assertion `x",
}
"""Name → the bytes that the output repeats."""


@click.command()
@click.option("--megabytes", default=100, show_default=True, help="How much of each kind.")
@click.option(
    "--rounds", default=3, show_default=True, help="Measurements of each; medians are printed."
)
def main(megabytes: int, rounds: int) -> None:
    """Measure how long it takes to read what a compile printed."""
    for name, piece in OUTPUTS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "output")
            path.write_bytes(piece * (megabytes * 1024 * 1024 // len(piece)))
            seconds = statistics.median(read(path) for _ in range(rounds))
        click.echo(f"{megabytes} MB, {name:<22} {seconds:6.2f} s")


def read(path: Path) -> float:
    """The CPU seconds of reading a file as the output of a failed cell."""
    started = time.process_time()
    fd = os.open(path, os.O_RDONLY)
    try:
        text = read_ends(fd, 0, None, PRINTED_LIMIT, HEADING_BEGINS)
    finally:
        os.close(fd)
    keep_printed(text, _keep)
    raised = (RaisedException(type="RuntimeError", message="PassManager::run failed"),)
    evidence = Evidence(answered=True, stage="ttgir", raised=raised, in_passes=True)
    classify.classify(
        [pipeline.add_diagnosis(evidence, READER.read(text), _keep, READER)],
        target=TARGETS["sm_90"],
        knowledge=KNOWLEDGE,
    )
    return time.process_time() - started


def _keep(suffix: str, data: bytes) -> str:
    return suffix


if __name__ == "__main__":
    main()
