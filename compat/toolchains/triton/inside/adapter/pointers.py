"""The width of pointers into shared memory, which some releases get right from a process's second kernel on.

3.2.0 to 3.3.1 tell LLVM to use 32 bits for them (``nvptx-short-ptr``) when a kernel becomes PTX. That holds for the process from
then on, and what the data layout is gets asked before it: the first kernel that a process compiles has 64 bits, with other
instructions, registers and times, and all others have 32. 3.0 and 3.1 do not ask for it, and from 3.4.0 on it is the same for all.
"""

from __future__ import annotations

from typing import Any

_FLAG = "nvptx-short-ptr"
_MODULE = 'target triple = "nvptx64-nvidia-cuda"\n'


def settle(nvidia: Any) -> None:
    """Have a process's first kernel compiled as all that come after it, by making PTX of a module with nothing in it."""
    if not _sets_it_late(nvidia.compiler):
        return
    from triton._C.libtriton import llvm

    llvm.init_targets()
    llvm.translate_to_asm(_MODULE, "nvptx64-nvidia-cuda", "sm_80", "", [_FLAG], True, False)


def _sets_it_late(compiler: Any) -> bool:
    """Whether PTX is made with the option, and the data layout is asked for without."""
    lowers, prints = (getattr(getattr(compiler, name, None), "__code__", None) for name in ("make_llir", "make_ptx"))
    return (
        lowers is not None
        and prints is not None
        and "attach_datalayout" in lowers.co_names
        and _FLAG not in lowers.co_consts
        and _FLAG in prints.co_consts
    )
