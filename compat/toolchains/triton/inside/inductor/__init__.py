"""Programs that PyTorch compiles with Triton, on a machine without a GPU.

This package runs inside an env, and needs the standard library, PyTorch and Triton.

``python -I FOLDER SETTINGS`` takes one JSON object::

    {"answers": FILE, "launches": FILE, "library": FILE, "before": FOLDER or null,
     "programs": ["pointwise", ...],
     "gpu": {"backend", "arch", "warp_size", "shared_memory", "gpu", "multiprocessors"}}

``library`` is the stand-in for libcuda, built from ``libcuda.c``. ``launches`` is the file that the
stand-in writes to (``$COMPAT_LAUNCHES``). ``before`` is a folder whose packages replace those of
the env: another Triton. The program appends lines of JSON to the file of answers::

    {"begin": "import"}
    {"torch": "2.9.1+cu128", "release": "3.5.1", "arch": 90, "static_launcher": true}
    {"program": "softmax", "stage": "launched", "wanted": ["triton_"], "own": [],
     "errors": [], "logged": [], "seconds": 0.4,
     "launched": [["triton_per_fused_0", 512, 1, 1, 256, 1, 1, 32]]}

``begin`` is ``import`` before anything is imported, and the name of each program before that
program. ``stage`` is the stage that failed: ``import`` (then there is no other answer),
``compile`` or ``launch``, or else ``launched``. ``errors`` has the exceptions, the outermost first:
``type``, ``message``, and the place that raised it: ``at`` (file and line), ``in`` (function) and
``code``. ``logged`` has the exceptions that PyTorch swallowed and logged. ``wanted`` has the
beginnings of the names of the kernels that the graph must launch, each for one launch of its own,
and ``own`` has those of them that a user wrote. ``launched`` has name, grid, block and shared
memory of each launch.
"""
