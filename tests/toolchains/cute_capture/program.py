"""A program that compiles and launches kernels of CuTe DSL: a function, and objects of classes, with static and dynamic tensors."""

import ctypes
import sys

import cutlass
import cutlass.cute as cute
import made
from cutlass.cute.runtime import from_dlpack
from made import Extra, Mode

SHIFT = 1


@cute.jit
def shifted(x):
    return made.twice(x) + SHIFT


@cute.kernel
def copy_kernel(src: cute.Tensor, dst: cute.Tensor, n: cutlass.Int32, THREADS: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    index = block * THREADS + thread
    if index < n:
        dst[index] = shifted(src[index]).to(dst.element_type)


@cute.jit
def copy(src: cute.Tensor, dst: cute.Tensor, n: cutlass.Int32, THREADS: cutlass.Constexpr):
    copy_kernel(src, dst, n, THREADS).launch(grid=((n + THREADS - 1) // THREADS, 1, 1), block=(THREADS, 1, 1))


class Base:
    def __init__(self, threads: int, dtype=cutlass.Float16):
        self.threads = threads
        self.dtype = dtype
        self.kind = None


class Rows(Base):
    def __init__(self, *arguments, step: int = 1, **options):
        super().__init__(*arguments, **options)
        self.factor = made.Step().other().factor * made.Step.factor * step

    @cute.jit
    def __call__(self, x: cute.Tensor, y: cute.Tensor, extra: cutlass.Constexpr):
        self.kind = x.element_type  # which no constructor is given
        if cutlass.const_expr(extra.mode == Mode.PLAIN):
            self.kernel(x, y, 1).launch(grid=(x.shape[0], 1, 1), block=(self.threads, 1, 1))
        else:
            self.kernel(x, y, 2).launch(grid=(x.shape[0], 1, 1), block=(self.threads, 1, 1))

    @cute.kernel
    def kernel(self, x: cute.Tensor, y: cute.Tensor, FACTOR: cutlass.Constexpr):
        thread, _, _ = cute.arch.thread_idx()
        row, _, _ = cute.arch.block_idx()
        for column in range(thread, x.shape[1], self.threads):
            y[row, column] = (x[row, column] * (FACTOR * self.factor)).to(self.dtype)


class Method:
    @cute.jit
    def run(self, x: cute.Tensor):
        copy_kernel(x, x, 1, 32).launch(grid=(1, 1, 1), block=(32, 1, 1))


class _Managed(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


KEPT = []


class InMemory:
    """A tensor of fp16 in main memory, as a library of tensors would hand it over."""

    def __init__(self, *shape):
        strides, below = [], 1
        for size in reversed(shape):
            strides.insert(0, below)
            below *= size
        numbers = ctypes.c_int64 * len(shape)
        self.numbers = numbers(*shape), numbers(*strides)
        self.managed = _Managed(1 << 40, (1, 0), len(shape), 2, 16, 1, *self.numbers, 0, None, None)
        KEPT.append(self)

    def __dlpack__(self, **_):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor", None)

    def __dlpack_device__(self):
        return 1, 0


def tensor(*shape, align=16):
    return from_dlpack(InMemory(*shape), assumed_align=align)


def rows(m, n):
    """Rows that are known at run time only, of a multiple of 8 elements."""
    made_dynamic = tensor(m, n).mark_layout_dynamic(leading_dim=1)
    return made_dynamic.mark_compact_shape_dynamic(mode=1, stride_order=(0, 1), divisibility=8)


for size in (128, 256, 77):
    copy(tensor(size).mark_layout_dynamic(), tensor(size).mark_layout_dynamic(), size, 128)
options = {} if len(sys.argv) > 1 else {"options": "--opt-level 2"}
cute.compile(copy, tensor(1024), tensor(1024), 1024, 64, **options)(tensor(1024), tensor(1024), 1024)
kernel = Rows(64)
cute.compile(kernel, rows(64, 128), rows(64, 128), Extra())
cute.compile(kernel, rows(32, 64), rows(32, 64), Extra())
Rows(128, dtype=cutlass.BFloat16, step=2)(tensor(64, 128, align=32), tensor(64, 128), Extra(mode=Mode.DOUBLED))
cute.compile(Method().run, tensor(64))
print("ended")
