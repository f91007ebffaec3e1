"""Programs that a PyTorch compiles with a Triton, on a machine without a GPU.

It runs inside of an env, and needs the standard library, PyTorch and Triton.

``python -I FOLDER SETTINGS`` takes one JSON object::

    {"answers": FILE, "launches": FILE, "library": FILE, "before": FOLDER or null,
     "programs": ["pointwise", ...],
     "gpu": {"backend", "arch", "warp_size", "shared_memory", "gpu", "multiprocessors"}}

``library`` is the stand-in for libcuda (``libcuda.c``, built). ``launches`` is the file that it
writes to (``$COMPAT_LAUNCHES``). ``before`` is a folder whose packages come before those of the
env: another Triton. The program appends lines of JSON to the file of answers::

    {"begin": "import"}
    {"torch": "2.9.1+cu128", "release": "3.5.1", "arch": 90, "static_launcher": true}
    {"program": "softmax", "stage": "launched", "wanted": ["triton_"], "own": [],
     "errors": [], "logged": [], "seconds": 0.4,
     "launched": [["triton_per_fused_0", 512, 1, 1, 256, 1, 1, 32]]}

``begin`` is ``import`` before anything is imported, and the name of each program before it.
``stage`` is ``import`` (then it is the only answer), ``compile`` or ``launch``, whichever failed,
else ``launched``. ``errors`` has the exceptions, the outermost first: ``type``, ``message``, and
the place that raised it: ``at`` (file and line), ``in`` (function) and ``code``. ``logged`` has
those that PyTorch swallowed and logged. ``wanted`` are the beginnings of the names of the kernels
that the graph must launch, each for one launch of its own, and ``own`` those of them that a user
wrote. ``launched`` has name, grid, block and shared memory of each launch.
"""
