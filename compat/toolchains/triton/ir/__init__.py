"""Triton's intermediate representations: which stages print them, and what can be exchanged between releases."""

from compat.toolchains.base import IntermediateForms
from compat.toolchains.triton.ir.parts import PARTS
from compat.toolchains.triton.ir.reproducers import one_pass

IR = IntermediateForms(texts=("ttir", "ttgir", "llir", "ptx", "amdgcn"), parts=PARTS, suffix="mlir", cut_reproducer=one_pass)
