"""The worker: a program that runs inside a foreign env and compiles kernels there.

It needs only the standard library and the toolchain under test, and runs on Python 3.8 to 3.14. No
other module of this project can be imported inside it. ``python -I path/to/worker FOLDER CONTROL_FD
ADAPTER`` starts it (see ``__main__``), for the one driver that holds the other end of that socket.
``ADAPTER`` is the folder of the toolchain's adapter (see :mod:`.adapter`), the only code that knows
the toolchain. ``FOLDER`` is private to the worker, and contains the listening socket, if there is
one. The worker removes the folder in the end. Further arguments are one of these:

- ``LISTEN_FD SECONDS``: the worker also accepts drivers that connect to the listening socket. It
  stays until no driver has been connected for that many seconds.
- ``interpret``: the worker prepares its toolchain's interpreter, and runs kernels instead of
  compiling them. This needs PyTorch, too.

The contract
============

**Control socket** (``AF_UNIX``/``SOCK_SEQPACKET``, one JSON object per packet), one for each
driver.

- server → driver, once, one of these: ``{"event": "ready", "toolchain": "triton", "version":
  "3.1.0", "python": "3.11.7", "pid": 4711, "threads": 1, "seconds": 0.1}``; ``{"event": "broken",
  "raised": [...]}`` if the toolchain cannot be imported; or ``{"event": "stale"}`` from a server
  that stayed, if files that it has loaded have changed since. A stale server accepts no more
  drivers, and ends with its last driver.
- driver → server: ``{"do": "batch", "directory": PRIVATE_TMP}`` with four file descriptors
  attached, in this order: *jobs* (a file, read to its end: the batch as JSON), *events* (a pipe's
  write end), *output* (a file, becomes descriptors 1 and 2), *exit* (a pipe's write end).
- driver → server: ``{"do": "serve", "directory": PRIVATE_TMP, "package": PACKAGE}`` with one file
  descriptor attached, the control socket of a new server. ``PACKAGE`` is ``{"root", "name",
  "roots", "target"}``. The server forks a copy of itself. The copy imports the package, sends
  ``ready`` or ``broken``, and serves jobs of the package's modules and of that target for the
  driver that asked. Such a server forks others, for packages in that package. It ends with its
  socket, or with the server that forked it. If the server cannot fork, it closes the socket.
- driver → server: ``{"do": "end", "directory": PRIVATE_TMP}``: kill the server that was forked with
  this directory, even while it imports.
- driver → server: ``{"do": "leave"}``: accept no more drivers, and end with the last one.
- End of file on the socket means that the driver is gone. The server then kills everything that it
  started for the driver, and removes the directories of those batches. If no driver is left, and
  the server does not stay, it exits.

**Exit pipe** of a batch. Only the server writes to it: ``{"pid": 4711}`` when it has forked the
child, which leads its own process group; then ``{"exit_code": 0}`` or ``{"signal": "SIGABRT"}``
when it has reaped the child and killed all processes that the child had started, however they hid
(see :mod:`.descendants`). If no child could be forked, the server writes ``{"refused": [...]}``
instead, with a chain as in an answer. The driver relies on this pipe, because processes that a
child leaves may hold the others open.

**Events pipe** of a batch. Only the forked child writes to it, one JSON object per line, each with
the ``nonce`` of its job:

- ``{"event": "start", "output": 120, "target_known": true}``: the cell is in flight, and its output
  begins at this offset of the output file. With ``diagnose``, ``target_known`` states whether an
  assembler that the toolchain brings knows the target. Otherwise it is ``null``.
- ``{"event": "stage", "stage": "ttgir", "cpu": 0.8}``: a stage began when the child had used so
  many CPU seconds.
- ``{"event": "imported", "files": [...]}``, for the first job of a source: the files that were
  imported for it, as in ``imported`` of the answer.
- ``{"event": "done", "actions": [{"do": "compile", "made": {"ttir": {"bytes": 812, "sha256": ...},
  ...}, "requires": []}], "stages": {...}, "metrics": {...}, "warnings": [...], "imported": [...],
  "output": 340}``: the answer, exactly one per cell. ``actions`` are those that succeeded, in
  order: what each stage ``made``, and which devices it ``requires``, which are none so far. If an
  action failed, there are also ``"raised": [{"type": ..., "message": ..., "traceback": ...},
  ...]`` and ``"at": {"path": ..., "line": 12}``. ``raised`` is the chain of exceptions, outermost
  first. A ``traceback`` has the frames in Python's own form, limited in length. ``at`` is the line
  of the kernel's file that the failure is about, or ``null``. ``stages`` has the CPU seconds of
  each finished stage, including those of processes that the child started and waited for, such as
  an assembler. ``imported`` are the files that were imported, or read during imports, and that no
  env's digest covers, including the source itself.
- ``{"event": "refused", "cannot": ["launch"]}``, instead of ``start`` and all that follows: the job
  asks for actions that this worker does not know. Nothing was done.
- ``{"event": "unable", "raised": [...]}``, with the nonce of the first job and before any cell: the
  child cannot begin, for example because the disk is full.

An ``OSError`` in ``raised`` has its ``errno``, too, because a refusal by the machine is no answer
about a kernel. Only the child that the server forked writes. If a kernel file forks a copy of it,
the copy ends before it would write.

The nonce is random per job, and the kernel does not know it. So a line that a kernel or a compiler
happens to print there never counts as an answer. A child that ends without an answer has given
none, whatever its exit code. A child may end before it has done all of its jobs. It does so after a
job that left modules which the next job would find, as a failed import does. The driver then starts
another child for the rest.

**Jobs**: ``{"directory": PRIVATE_TMP, "diagnose": false, "variables": {}, "hidden": [], "places":
[], "jobs": [{"nonce", "source", "function", "signature", "launch", "constexprs", "divisible_by_16",
"equal_to_1", "pointer_range_32", "options", "target": {"backend", "arch", "warp_size",
"shared_memory"}, "problem": null, "actions": [...]}]}``. A job has a problem if the toolchain's
launches are recorded, or if kernels are interpreted. A target also has the facts that are assumed
if code asks for them (:meth:`compat.toolchains.base.Toolchain.facts`): a GPU of the target, and the
framework. A job has either a signature with hints, or a launch with the passed arguments. The
adapter reads the JSON forms of constexprs and of launch arguments. A source is imported once. If it
queries the GPU's driver then, the answers are for the target of the first job with this source. The
directory becomes the toolchain's cache and ``TMPDIR``. The child keeps a *beacon* in it (see
:mod:`.beacon`). With ``diagnose`` the compiler leaves its MLIR reproducer there, and prints the IR
before every pass. ``variables`` are set in the child's environment. Packages in ``hidden`` are
absent there. ``places`` are pairs of a folder on this machine and its name on the requesting
machine, inner folders first. Compiled code contains the latter's paths, except with ``diagnose``.

**Actions** are done in order, until one fails. Files that they name are in ``directory/given``.

- ``{"do": "compile", "ir": null, "keep_ir": false}``: compile the function. If ``ir`` is the name
  of an IR file, compile this file instead. With ``keep_ir`` the result of each stage is written to
  ``directory/kept/NONCE/STAGE`` as soon as it is made, and what the compiler states about a launch
  is written to ``metadata`` there. The action succeeds if it made a binary.
- ``{"do": "interpret", "seed": 0}``: run the function on its ``problem``, ``{"source", "function",
  "dtype", "parameters"}``, in the toolchain's interpreter, in the stages ``interpret`` and
  ``check``. The action succeeds if the function ran on all of its problems, or on its problems up
  to the first one without right results. The metrics are ``check``
  (``toolchains/pytorch/numerics/outputs.py``), ``problems``, the number of problems that ran,
  ``problem``, the name of the last one, and ``uses``, if the last one's results are not right:
  the features of the interpreter that the kernel needed, in the adapter's words. A failed action
  has metrics, too. The beacon has the name and the number of the problem in flight. A mistake in a
  problem raises ``ProblemError``.
"""
