"""The launcher: a program that runs on a GPU host and launches the folder of ``compat build``.

It needs the standard library, PyTorch, and the driver's library (libcuda). It needs no compiler,
and no code of triton-compat outside of the folder. It runs on Python 3.8 and newer.
``python FOLDER/launch.py`` starts it. ``--help`` lists the options.

The folder
==========

- ``index.json``: ``{"schema": 1, "target": {"name", "backend", "arch"}, "needs": "torch",
  "problems": {DIGEST: {"source": "problems/…/x.py", "function", "dtype", "parameters"}}, "cells":
  […], "left_out": [{"cell", "why"}]}``. A cell is ``{"cell": id, "identity", "series", "object",
  "problem": DIGEST, "launch": {…}}``. Cells of one ``series`` differ only in the release, and are
  in the order of the releases. Cells with a ``contest``, the name of a workload, are configs that
  are tuned. Their ``launch`` has ``varied``, the constexprs that the problem does not know.
- ``objects/SHA256``: the binaries, each once.
- ``launch`` of a cell: ``{"entry", "block": [x, y, z], "shared", "num_ctas", "cluster": [x, y, z]
  or null, "grid_scale": [x, y, z], "non_portable", "cooperative", "pdl", "parameters": […],
  "multiples": {NAME: a factor of the argument}, "constants": {NAME: the value of the argument},
  "defaults": {NAME: the argument if the problem does not have it}, "settings": {NAME: constexpr or
  option, for a grid that is a function}}``.
- A parameter is an argument or scratch memory. An argument is ``{"name", "type", "packing",
  "size"}``. Its ``packing`` is ``address``, ``integer``, ``f16``, ``bf16``, ``f32`` or ``f64``. A
  pointer also has ``"element_bytes"``, the size of the elements that it points to. Scratch memory
  is ``{"scratch", "size", "bytes", "align"}``: a pointer to ``bytes`` for every block of the
  grid, or null if ``bytes`` is 0. A tensor descriptor has several parameters with its name and
  type. Their ``packing`` is ``tensor_map``, with ``"map": {"swizzle", "element", "element_bytes",
  "block", "fp4_padded"}`` and the ``"options"`` of the problem's ``descriptors`` that the release
  can pass; ``shape`` or ``stride``, with the ``"axis"``; or ``option``, a flag for the
  ``"option"``.
- ``launch`` of a cell whose launches were recorded during the compile: ``{"block", "shared"}``, the
  maximum over all launches, ``{"multiples", "constants"}``, and ``"recorded": [{"arguments": {NAME:
  {"shape", "strides", "bytes"} or {"value"}}, "launches": […]}]``: the launches, in order, for
  arguments of these sizes, with ``bytes`` per element. A launch is ``{"entry", "grid", "block",
  "shared", "cluster", "cluster_policy", "cooperative", "pdl", "non_portable", "parameters":
  [{"data": bytes in hexadecimal digits, "patches": [[offset, NAME, addend]]}]}``. The address of an
  argument plus the addend replaces the bytes at each offset.
- ``compat_launch``: this package. ``compat_numerics``: the code that makes and compares tensors.
  ``problems``: the modules with problems.

The results
===========

The launcher writes a JSON object per cell and line: ``{"schema": 1, "cell", "identity", "object",
"problem", "check": {"status", "max_abs", "max_rel", "where", "reason", "launches", "differing"},
"latency": {"us", "spread", "baseline_us", "ratio", "problem", "samples", "first_us"} or null,
"device": {"name", "cc", "driver", "cuda", "clocks", "torch", "torch_cuda"} or null}``. It skips
cells that the file already has, except ``lost`` ones. If the file has several lines for one cell,
the last one counts.

With ``--problems``, it launches nothing. For every problem, it prints a line on standard output:
``{"problem": DIGEST, "small", "large", "why"}``. ``small`` and ``large`` are the numbers of
problems that the function yields. They are null if only a launch can count them, and ``why`` has
the reason.

Statuses: ``ok``; ``wrong``; ``unstable`` (launches differ); ``faulted`` (with the driver's name of
the error); ``launch_refused``; ``timed_out``; ``lost`` (there is no answer about the cell).

How it works
============

The parent imports PyTorch, and never uses a GPU. For every problem it forks a child. The child
makes inputs and references once, checks cell by cell, and then times the right cells in turn. It
sends the parent one JSON object per line: ``ready``, ``begin`` (of a cell), ``checked``, ``round``
(every cell was timed once more), ``timed``, ``alive``, ``canary``, ``device``, ``unable``,
``stopped``, ``end``. A child ends at an error that its context does not survive. The parent kills
it if a cell exceeds its deadline. The parent then runs that cell again in a child of its own, and
the other cells in another child.
"""
