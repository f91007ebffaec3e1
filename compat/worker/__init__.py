"""The worker: a program that runs inside a foreign env and compiles kernels there.

It needs the standard library and the toolchain under test, nothing else; it runs on Python 3.8 to 3.14; nothing of ours can be
imported from inside it. ``python -I path/to/worker FOLDER CONTROL_FD`` starts it (see ``__main__``), for the one driver that has
the other end of that socket. With ``FOLDER CONTROL_FD LISTEN_FD SECONDS`` it also takes drivers that connect to the listening
socket, and stays until none has been there for so many seconds. ``FOLDER`` is private to it and holds that socket; in the end it
removes it.

The contract
============

**Control socket** (``AF_UNIX``/``SOCK_SEQPACKET``, one JSON object per packet), one for each driver.

- server → driver, once: ``{"event": "ready", "toolchain": "triton", "version": "3.1.0", "python": "3.11.7", "pid": 4711,
  "threads": 1, "seconds": 0.1}``; ``{"event": "broken", "raised": [...]}`` when the toolchain cannot be imported; or, of a server
  that stayed, ``{"event": "stale"}`` when files that it has loaded have changed since: it takes nobody any more, and ends with its
  last driver.
- driver → server: ``{"do": "batch", "directory": PRIVATE_TMP}`` with four file descriptors attached, in this order: *jobs* (a
  file, read to its end: the batch as JSON), *events* (a pipe's write end), *output* (a file, becomes descriptors 1 and 2), *exit*
  (a pipe's write end).
- driver → server: ``{"do": "leave"}``: take no more drivers, end with the last one.
- End of file on the socket means that the driver is gone: the server kills every process group it started for it, and removes the
  directories of those batches. When no driver is left, and it is not to stay, it exits.

**Exit pipe** of a batch, written by the server alone: ``{"pid": 4711}`` when the child was forked (it leads its own process
group), then ``{"exit_code": 0}`` or ``{"signal": "SIGABRT"}`` when it was reaped.

**Events pipe** of a batch, written by the forked child alone, one JSON object per line, each with the ``nonce`` of its job:

- ``{"event": "start", "output": 120}``: the cell is in flight; its output begins at this offset of the output file.
- ``{"event": "stage", "stage": "ttgir"}``: a stage was entered.
- ``{"event": "done", "built": true, "stages": {...}, "metrics": {...}, "warnings": [...], "output": 340}`` or
  ``{"event": "done", "built": false, "raised": [{"type": ..., "message": ...}, ...], ...}``: the answer. Exactly one per cell.

The nonce is random per job and not known to the kernel, so that a line which a kernel or a compiler happens to print there is
never taken for an answer. A child that ends without an answer has given none, whatever its exit code.

**Jobs**: ``{"directory": PRIVATE_TMP, "diagnose": false, "variables": {}, "jobs": [{"nonce", "source", "function", "signature",
"constexprs", "divisible_by_16", "equal_to_1", "options", "target": {"backend", "arch", "warp_size"}, "ir": null, "keep_ir":
false}]}``. The directory becomes the toolchain's cache and ``TMPDIR``; in it the child keeps a *beacon* (see :mod:`.beacon`), and
with ``diagnose`` the compiler leaves its MLIR reproducer there and prints the IR before every pass. ``variables`` are set in the
child's environment. ``ir``, the path of an IR file, is compiled in place of the function. With ``keep_ir`` every stage's result is
written to ``directory/kept/NONCE/STAGE`` as soon as it is made.
"""
