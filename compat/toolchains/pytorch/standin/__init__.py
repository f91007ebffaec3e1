"""Import of kernels whose modules need packages that an env lacks, PyTorch above all.

Input: the path of a kernel's module, the roots of its source tree, the target. Output: the kernel,
or the error of its import, and a record of the stand-ins.

The package runs inside a foreign env: it uses the standard library only, supports Python 3.8 to
3.14, and imports none of the driver's code. :class:`ImportedSource` imports a kernel's module from
its live tree and finds the kernel in it. It tries up to three ways, each only if the one before it
fails:

1. as Python imports it;
2. with stand-ins for the packages whose absence the tree does not handle itself (:mod:`.finder`);
3. leniently, statement by statement, leaving out statements that fail (:mod:`.tree`).

A value of a stand-in is of one of three kinds, and :mod:`.ledger` records its use:

- **true of the target**: PyTorch's dtypes, the version that belongs to the toolchain's release,
  compute capability, warp size (:mod:`.pytorch`);
- **assumed**: the name of a GPU and its number of multiprocessors, which differ between GPUs of one
  architecture. Such a value has a type of its own (:class:`.opaque.AssumedInt`);
- **unknown** (:class:`.opaque.Opaque`): it can be called, indexed, or be a decorator or a base
  class, but has no truth value, equals nothing, has no type and is no number. Code that needs its
  value, or asks whether it exists, gets :class:`.opaque.UnavailableValue`, which no ``except
  Exception`` catches. Code that catches it anyway is left out, too. :mod:`.opaque` and :mod:`.tree`
  detect the questions that Python answers without asking the value. :mod:`.effects` finds what else
  is left out with a statement.

Before a kernel is compiled, :mod:`.reach` checks everything that the kernel reaches. If any of it
is unknown, assumed, or was left out because it failed, the kernel cannot be imported in this env,
and that is the answer.
"""

from .finder import hide
from .ledger import LEDGER, Ledger
from .opaque import UnavailableValue
from .source import ImportedSource
from .tree import has_foreign, orphans

__all__ = [
    "LEDGER",
    "ImportedSource",
    "Ledger",
    "UnavailableValue",
    "has_foreign",
    "hide",
    "orphans",
]
