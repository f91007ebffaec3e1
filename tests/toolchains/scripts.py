"""Runs repro scripts inside an env: ``python scripts.py SCRIPT...``.

Each script compiles in a process of its own, forked after one import of Triton.
"""

import os
import runpy
import sys

import triton

for module in (triton.compiler.compiler, triton.runtime.cache):
    # A process computes the hash of the whole package once.
    getattr(module, "triton_key", bool)()
for script in sys.argv[1:]:
    if os.fork() == 0:
        sys.argv = [script, "compile"]
        runpy.run_path(script, run_name="__main__")
        sys.stdout.flush()
        os._exit(0)  # Python's own end would copy the memory of all modules
    if os.wait()[1] != 0:
        sys.exit(f"{script} failed")
