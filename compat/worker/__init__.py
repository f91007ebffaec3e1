"""The worker: a program that runs inside a foreign env and compiles kernels there.

It needs the standard library and the toolchain under test, nothing else; it runs on Python 3.8 to
3.14; nothing of ours can be imported from inside it. ``python -I path/to/worker FOLDER CONTROL_FD
ADAPTER`` starts it (see ``__main__``), for the one driver that has the other end of that socket.
``ADAPTER`` is the folder of the toolchain's adapter (see :mod:`.adapter`), which is all that knows
the toolchain. With ``LISTEN_FD SECONDS`` after it the worker also takes drivers that connect to the
listening socket, and stays until none has been there for so many seconds. With ``PACKAGE`` in their
place, ``{"root", "name", "roots", "target"}`` as JSON, it imports that package before it is ready,
for jobs of its modules and of that target alone; where that fails it is ``broken``. Such a server
forks others, for packages in that package. With
``{"interpret": true}`` there it makes its toolchain's interpreter ready, and runs kernels instead
of compiling them; that needs PyTorch, too. ``FOLDER`` is private to it and holds that socket; in
the end it removes it.

The contract
============

**Control socket** (``AF_UNIX``/``SOCK_SEQPACKET``, one JSON object per packet), one for each
driver.

- server → driver, once: ``{"event": "ready", "toolchain": "triton", "version": "3.1.0", "python":
  "3.11.7", "pid": 4711, "threads": 1, "seconds": 0.1}``; ``{"event": "broken", "raised": [...]}``
  when the toolchain cannot be imported; or, of a server that stayed, ``{"event": "stale"}`` when
  files that it has loaded have changed since: it takes nobody any more, and ends with its last
  driver.
- driver → server: ``{"do": "batch", "directory": PRIVATE_TMP}`` with four file descriptors
  attached, in this order: *jobs* (a file, read to its end: the batch as JSON), *events* (a pipe's
  write end), *output* (a file, becomes descriptors 1 and 2), *exit* (a pipe's write end).
- driver → server: ``{"do": "serve", "directory": PRIVATE_TMP, "package": PACKAGE}`` with one file
  descriptor attached, the control socket of a new server. A copy of this server becomes that one:
  it imports the package, says ``ready`` or ``broken``, and serves the driver who asked. It ends
  with that socket, or with this server. The socket ends where nothing can be forked.
- driver → server: ``{"do": "end", "directory": PRIVATE_TMP}``: kill the server that was forked with
  this directory, also while it imports.
- driver → server: ``{"do": "leave"}``: take no more drivers, end with the last one.
- End of file on the socket means that the driver is gone: the server kills all that it started for
  it, and removes the directories of those batches. When no driver is left, and it is not to stay,
  it exits.

**Exit pipe** of a batch, written by the server alone: ``{"pid": 4711}`` when the child was forked
(it leads its own process group), then ``{"exit_code": 0}`` or ``{"signal": "SIGABRT"}`` when it was
reaped and nothing is left of what it had started, however that hid (see :mod:`.descendants`).
``{"refused": [...]}`` in their place, a chain as in an answer, says that none could be forked. The
driver goes by this pipe: what a child leaves may hold the others open.

**Events pipe** of a batch, written by the forked child alone, one JSON object per line, each with
the ``nonce`` of its job:

- ``{"event": "start", "output": 120, "target_known": true}``: the cell is in flight; its output
  begins at this offset of the output file. With ``diagnose`` it says whether an assembler that the
  toolchain brings has heard of the target, else ``null``.
- ``{"event": "stage", "stage": "ttgir", "cpu": 0.8}``: a stage was entered, when the child had used
  so many CPU seconds.
- ``{"event": "imported", "files": [...]}``, of the first job with a source: what was imported for
  it, as the answer says it.
- ``{"event": "done", "actions": [{"do": "compile", "made": {"ttir": {"bytes": 812, "sha256": ...},
  ...}, "requires": []}], "stages": {...}, "metrics": {...}, "warnings": [...], "imported": [...],
  "output": 340}``: the answer. Exactly one per cell. ``actions`` are those that were done, in
  order: what each stage ``made``, and which devices it ``requires``: none so far. Where one of
  those asked for is missing, there are ``"raised": [{"type": ..., "message": ..., "traceback":
  ...}, ...]`` and ``"at": {"path": ..., "line": 12}``. ``raised`` is the chain of exceptions,
  outermost first; a ``traceback`` is its frames in Python's own form, bounded, and of an
  ``OSError`` there is ``errno``. ``at`` is the line of the kernel's file that it is about, or
  ``null``. ``stages`` has the CPU seconds of each finished stage, those of what the child started
  and waited for among them: an assembler's. ``imported`` are the files that were imported, or read
  on the way, and that no env's digest covers, the source itself among them.
- ``{"event": "refused", "cannot": ["launch"]}``, in the place of ``start`` and the rest: the job
  asks for actions that this worker does not know. Nothing was done.
- ``{"event": "unable", "raised": [...]}``, with the nonce of the first job and before any cell: the
  child cannot begin, as on a full disk.

A link of ``raised`` that is an ``OSError`` has its ``errno``, too: what the machine refuses is no
answer about a kernel. Only the child that the server forked writes: a copy of it, made by a kernel
file, ends when it would.

The nonce is random per job and not known to the kernel, so that a line which a kernel or a compiler
happens to print there is never taken for an answer. A child that ends without an answer has given
none, whatever its exit code. A child may end before it comes to all of its jobs: after one that
left modules which the next would find, as an import does that fails half-way. The driver has
another child do the rest.

**Jobs**: ``{"directory": PRIVATE_TMP, "diagnose": false, "variables": {}, "hidden": [], "places":
[], "jobs": [{"nonce", "source", "function", "signature", "launch", "constexprs", "divisible_by_16",
"equal_to_1", "pointer_range_32", "options", "target": {"backend", "arch", "warp_size",
"shared_memory"}, "problem": null, "actions": [...]}]}``. There is a problem where the toolchain's
launches are written down, or kernels are interpreted. A target also has what is assumed where code
asks for it (:meth:`compat.toolchains.base.Toolchain.facts`): a GPU of it, and the framework. There
is either a signature, with hints, or a launch, which has what is passed. Constexprs and what a
launch passes have JSON forms that the adapter reads. A source is imported once, and what it asks
the GPU's driver is answered for the target of the first job that names it. The directory becomes
the toolchain's cache and ``TMPDIR``; in it the child keeps a *beacon* (see :mod:`.beacon`), and
with ``diagnose`` the compiler leaves its MLIR reproducer there and prints the IR before every pass.
``variables`` are set in the child's environment. Packages that are ``hidden`` are absent there.
``places`` are pairs of folders, as they are called here and by whoever asked, inner ones first:
what is compiled has the latter's paths, except with ``diagnose``.

**Actions** are done in order, until one fails; files that they name are in ``directory/given``.

- ``{"do": "compile", "ir": null, "keep_ir": false}``: compile the function. ``ir``, the name of an
  IR file, is compiled instead. With ``keep_ir`` every stage's result is written to
  ``directory/kept/NONCE/STAGE`` as soon as it is made, and to ``metadata`` there what the compiler
  says of a launch. Done means that a binary came out.
- ``{"do": "interpret", "seed": 0}``: run the function on its ``problem``, ``{"source", "function",
  "dtype", "parameters"}``, in the toolchain's interpreter, in the stages ``interpret`` and
  ``check``. Done means that it was run on all of its problems, or on as many as came out right and
  one that did not. The metrics are ``check`` (``toolchains/pytorch/numerics/outputs.py``),
  ``problems``, how many were run, ``problem``, the last one's name, and, where that did not come
  out right, ``uses``: what the kernel needed of the interpreter, in words of the adapter's. They
  are there where it raised, too; the beacon has the name and the number of the problem in flight. A
  mistake in a problem raises ``ProblemError``.
"""
