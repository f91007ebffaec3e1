"""Importing kernels whose modules need packages that an env lacks: PyTorch above all.

In: the path of a kernel's module, the roots of its tree, the target. Out: the kernel, or the error
that importing it comes to; and what was stood in for.

Runs inside a foreign env: standard library only, Python 3.8 to 3.14, imports nothing of ours.
:class:`ImportedSource` imports a kernel's module from its live tree and finds the kernel in it, in
up to three ways, each only where the one before it fails:

1. as Python does it;
2. with stand-ins for the packages whose absence the tree does not handle itself (:mod:`.finder`);
3. leniently, statement by statement, so that what fails is left out (:mod:`.tree`).

What a stand-in says is one of three things, and each is written down (:mod:`.ledger`):

- **true of the target**: PyTorch's dtypes, the version that belongs to the toolchain's release,
  compute capability, warp size (:mod:`.pytorch`);
- **assumed**: the name of a GPU and its number of multiprocessors, which GPUs of one architecture
  differ in. Such a value is known by its type (:class:`.opaque.AssumedInt`);
- **unknown** (:class:`.opaque.Opaque`): it can be called, indexed, or be a decorator or a base
  class, but has no truth value, equals nothing, is of no type and is no number. Whoever needs its
  value, or asks whether it exists, gets :class:`.opaque.UnavailableValue`, which no ``except
  Exception`` catches; what catches it all the same is left out, too (:mod:`.opaque` and
  :mod:`.tree` find the questions that a value does not hear of, :mod:`.effects` what goes with a
  statement).

Before a kernel is compiled, all that it reaches is looked through (:mod:`.reach`): where that is
unknown, assumed, or was left out because it failed, the kernel cannot be imported here, and that is
the answer.
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
