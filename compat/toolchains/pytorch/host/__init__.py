"""The launcher: a program that runs on a GPU host and launches the folder of ``compat build``.

It needs the standard library, PyTorch, and the driver's library (libcuda); no compiler, and nothing
of ours but what lies in the folder. It runs on Python 3.8 and newer. ``python FOLDER/launch.py``
starts it; ``--help`` tells the options.

The folder
==========

- ``index.json``: ``{"schema": 1, "target": {"name", "backend", "arch"}, "needs": "torch",
  "problems": {DIGEST: {"source": "problems/…/x.py", "function", "dtype", "parameters"}}, "cells":
  […], "left_out": [{"cell", "why"}]}``. A cell is ``{"cell": id, "identity", "series", "object",
  "problem": DIGEST, "launch": {…}}``. Cells of one ``series`` differ in the release alone, and
  stand in the order of the releases. Cells with a ``contest``, the name of a workload, are configs
  that are tuned. Their ``launch`` has ``varied``, the constexprs that the problem does not know.
- ``objects/SHA256``: the binaries, each once.
- ``launch`` of a cell: ``{"entry", "block": [x, y, z], "shared", "num_ctas", "cluster": [x, y, z]
  or null, "grid_scale": [x, y, z], "non_portable", "cooperative", "pdl", "parameters": […],
  "multiples": {NAME: of what the argument is a multiple}, "constants": {NAME: what it is},
  "settings": {NAME: constexpr or option, for a grid that is a function}}``. A
  parameter is ``{"name", "type", "packing", "size"}``, an argument, whose ``packing`` is
  ``address``, ``integer``, ``f16``, ``bf16``, ``f32`` or ``f64``; or ``{"scratch", "size", "bytes",
  "align"}``, a pointer to ``bytes`` for every block of the grid, null where that is 0. Of a tensor
  descriptor, each parameter has its name and type: ``tensor_map``, with ``"map": {"swizzle",
  "element", "element_bytes", "block", "fp4_padded"}`` and the ``"options"`` of the problem's
  ``descriptors`` that the release can pass; ``shape`` and ``stride``, with their ``"axis"``; and
  ``option``, a flag of the ``"option"``.
- ``launch`` of a cell whose launches were written down where it was compiled: ``{"block",
  "shared"}``, the most of all launches, ``{"multiples", "constants"}``, and ``"recorded":
  [{"arguments": {NAME: {"shape", "strides", "bytes"} or {"value"}}, "launches": […]}]``: what is
  launched, in order, for arguments of these sizes, with elements of so many bytes. A launch is
  ``{"entry", "grid", "block", "shared", "cluster", "cluster_policy", "cooperative", "pdl",
  "non_portable", "parameters": [{"data": bytes in hexadecimal digits, "patches": [[offset, NAME,
  addend]]}]}``: at the offsets come the addresses of arguments, plus the addends.
- ``compat_launch``: this package. ``compat_numerics``: what makes and compares tensors.
  ``problems``: the modules with problems.

What it writes
==============

A JSON object per cell and line: ``{"schema": 1, "cell", "identity", "object", "problem", "check":
{"status", "max_abs", "max_rel", "where", "reason", "launches", "differing"}, "latency": {"us",
"spread", "baseline_us", "ratio", "problem", "samples", "first_us"} or null, "device": {"name",
"cc", "driver", "cuda", "clocks", "torch", "torch_cuda"} or null}``. Cells that the file has already
are not launched again, but for those that are ``lost``; of several lines for one cell the last
counts.

With ``--problems``, nothing is launched. For every problem, a line on standard output
has ``{"problem": DIGEST, "small", "large", "why"}``: how many problems its function yields, or null
and the reason where only a launch finds that out.

Statuses: ``ok``; ``wrong``; ``unstable`` (launches differ); ``faulted`` (with the driver's name of
the error); ``launch_refused``; ``timed_out``; ``lost``, where nothing is known of the cell.

How it is done
==============

The parent imports PyTorch, and never uses a GPU. For every problem it forks a child, which makes
inputs and references once, checks cell by cell, and times those that are right, in turn. Child →
parent, one JSON object per line: ``ready``, ``begin`` (of a cell), ``checked``, ``round`` (every
cell was timed once more), ``timed``, ``alive``, ``canary``, ``device``, ``unable``, ``stopped``,
``end``. A child ends at an error that its context does not survive, and is killed where a cell
takes longer than its deadline; that cell is run again in a child of its own, and the others go on
in another.
"""
