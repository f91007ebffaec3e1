"""Well-behaved and hostile kernels, each with its expected outcome, for :mod:`bench.hostile`.

A *behaviour* is Python code that runs in a worker's child process, either when the worker takes the
kernel out of its file or when it imports the file. Hostile functions are in the same files as good
ones, so the same processes compile both.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

OK, REJECTED, CRASHED = ("ok",), ("rejected",), ("crashed",)
LOST, HANGS, HOG, UNIMPORTABLE = ("lost",), ("timed_out",), ("out_of_memory",), ("source_broken",)

KERNELS = """
import triton
import triton.language as tl


@triton.jit
def scale(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at, mask=at < size) * 2.0, mask=at < size)


@triton.jit
def shift(source, result, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + at, tl.load(source + at + 1, mask=at < size) + 1.0, mask=at < size)


@triton.jit
def total(source, result, size, BLOCK: tl.constexpr):
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, size, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(source + at, mask=at < size, other=0.0)
    tl.store(result, tl.sum(sums, 0))


@triton.jit
def missing_name(source, result, size, BLOCK: tl.constexpr):
    tl.store(result, tl.no_such_function(source))


@triton.jit
def mismatched(source, result, size, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK), tl.arange(0, BLOCK * 2)
    tl.store(result + rows, tl.load(source + rows + columns))


@triton.jit
def block_typed_bound(source, result, size, BLOCK: tl.constexpr):
    bound = tl.load(source + tl.arange(0, 1)).to(tl.int32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, bound, BLOCK):
        total += tl.load(source + start + tl.arange(0, BLOCK))
    tl.store(result + tl.arange(0, BLOCK), total)
"""
"""The source at the beginning of every generated file."""

HONEST: Mapping[str, tuple[str, ...]] = {
    "scale": OK,
    "shift": OK,
    "total": OK,
    "missing_name": REJECTED,
    "mismatched": REJECTED,
    "block_typed_bound": CRASHED,
}
"""Function → its allowed statuses, the same in every release."""

TAKEN = '''

class Taken:
    """Acts when the worker takes the kernel out of its file."""

    def __init__(self, act):
        self.act = act

    @property
    def parse(self):
        return self.act()
'''


@frozen(kw_only=True)
class Behaviour:
    """One kind of misbehaviour of a kernel or a file."""

    name: str
    code: str
    """The body of a function, or with ``at_import`` the last statements of the file."""
    statuses: tuple[str, ...]
    """The allowed statuses of the cell."""
    at_import: bool = False
    weight: int = 4
    """The frequency relative to other behaviours; those that take seconds are rare."""


HOSTILE = (
    Behaviour(name="leaves", code="import os; os._exit(0)", statuses=LOST),
    Behaviour(name="leaves_with_code", code="import os; os._exit(7)", statuses=LOST),
    Behaviour(name="raises_exit", code="raise SystemExit(0)", statuses=REJECTED),
    Behaviour(name="raises_interrupt", code="raise KeyboardInterrupt", statuses=REJECTED),
    Behaviour(name="segfaults", code="import ctypes; ctypes.string_at(0)", statuses=CRASHED),
    Behaviour(name="aborts", code="import os; os.abort()", statuses=CRASHED),
    Behaviour(
        name="is_killed",
        code="import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        statuses=LOST,
    ),
    Behaviour(
        name="is_terminated",
        code="import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        statuses=LOST,
    ),
    Behaviour(
        name="forges",
        code="""
import json, os
answer = {"event": "done", "actions": [{"do": "compile"}], "nonce": "0", "stages": {}}
answer |= {"warnings": [], "output": 0}
answer = json.dumps(answer).encode()
for fd in range(3, 64):
    try:
        os.write(fd, answer + b"\\n")
        os.write(fd, b"\\xff\\xfe no event\\n" + b"[" * 5000 + b"\\n")
    except OSError:
        pass
os._exit(0)""",
        statuses=LOST,
    ),
    Behaviour(
        name="closes_everything",
        code="import os; os.closerange(0, 256); os._exit(0)",
        statuses=LOST,
    ),
    Behaviour(
        name="answers_twice",
        code="""
import os
if os.fork() == 0:
    raise ValueError("the copy answers, too")
os.wait()
raise ValueError("the original answers")""",
        statuses=REJECTED + LOST,
    ),
    Behaviour(
        name="leaves_a_child",
        code="""
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(900)
    os._exit(0)
raise ValueError("somebody else goes on")""",
        statuses=REJECTED,
    ),
    Behaviour(name="hangs", code="import time; time.sleep(900)", statuses=HANGS, weight=1),
    Behaviour(
        name="hangs_with_child",
        code="import subprocess; subprocess.run(['sleep', '900'])",
        statuses=HANGS,
        weight=1,
    ),
    Behaviour(
        name="ignores_signals",
        code="""
import signal, time
for number in set(range(1, 64)) - {9, 19, 32, 33}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
time.sleep(900)""",
        statuses=HANGS,
        weight=1,
    ),
    Behaviour(
        name="hoards",
        code="""
import time
hoard = []
while True:
    hoard.append(bytearray(64 << 20))
    time.sleep(0.005)""",
        statuses=HOG,
        weight=1,
    ),
    Behaviour(
        name="shouts", code="print('x' * 2_000_000); raise ValueError('shouted')", statuses=REJECTED
    ),
    Behaviour(
        name="long_message", code="raise ValueError('deadbeef' * 250_000)", statuses=REJECTED
    ),
    Behaviour(
        name="escapes",
        code="raise ValueError('\\x1b[2J\\x00\\x9b31m\\u202e hidden')",
        statuses=REJECTED,
    ),
    Behaviour(name="surrogates", code="raise ValueError('\\udcff\\ud800')", statuses=REJECTED),
    Behaviour(
        name="no_message",
        code="""
class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no")
raise Unspeakable""",
        statuses=REJECTED,
    ),
    Behaviour(
        name="long_chain",
        code="""
def raised(depth):
    try:
        if depth:
            raised(depth - 1)
        raise ValueError(str(depth))
    except ValueError as error:
        raise KeyError(depth) from error
raised(120)""",
        statuses=REJECTED,
    ),
    Behaviour(
        name="recurses", code="def deeper():\n    return deeper()\ndeeper()", statuses=REJECTED
    ),
    Behaviour(
        name="changes_all_on_import",
        code="""
import builtins, os, sys
tl.load = tl.store = tl.arange = None
triton.compile = None
builtins.print = None
os.environ["TRITON_INTERPRET"] = "1"
os.chdir("/")
sys.path.clear()
raise ValueError("changed")""",
        statuses=UNIMPORTABLE,
        at_import=True,
    ),
    Behaviour(
        name="imports_a_package",
        code="import no_such_package_anywhere",
        statuses=OK,
        at_import=True,
    ),
    Behaviour(
        name="needs_a_package",
        code=(
            "import no_such_package_anywhere\nscale = shift = total ="
            " no_such_package_anywhere.wrapped(scale)"
        ),
        statuses=UNIMPORTABLE,
        at_import=True,
    ),
    Behaviour(
        name="catches_what_it_lacks",
        code="""import no_such_package_anywhere
try:
    scale = shift = total = [scale, shift][int(no_such_package_anywhere.number)]
except:
    pass""",
        statuses=UNIMPORTABLE,
        at_import=True,
    ),
    Behaviour(
        name="exits_on_import", code="raise SystemExit(0)", statuses=UNIMPORTABLE, at_import=True
    ),
    Behaviour(
        name="dies_on_import",
        code="import ctypes; ctypes.string_at(0)",
        statuses=UNIMPORTABLE,
        at_import=True,
    ),
    Behaviour(
        name="leaves_on_import", code="import os; os._exit(0)", statuses=LOST, at_import=True
    ),
    Behaviour(
        name="deletes_its_folder",
        code=(
            "import os, shutil; shutil.rmtree(os.environ['TMPDIR'], ignore_errors=True);"
            " os._exit(0)"
        ),
        statuses=LOST,
    ),
)
