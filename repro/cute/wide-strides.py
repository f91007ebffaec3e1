# /// script
# requires-python = ">=3.10"
# dependencies = ["nvidia-cutlass-dsl==4.3.0"]
# ///
#
# Since CuTe DSL 4.3.0 the dynamic strides of a tensor have 64 bits, where they had 32. The kernel
# below, RMS norm of rows, is slower with them on an H100. This script compiles it for sm_90a with
# strides of 64 bits, which is the default, and with `use_32bit_stride=True`. It counts the
# instructions of both, and times both if there is a GPU.
#
# `uv run wide-strides.py` runs it on Linux, where compiling needs neither a GPU nor a driver.
# `wide-strides.py --keep FOLDER` keeps the binaries, and `wide-strides.py --time FOLDER` times them
# on another machine, which needs a driver and Python alone. Exit code 0: the default has more
# instructions and, if it was timed, takes at least 1.03 times as long; 1: that is not so.
import ctypes
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS, COLUMNS, THREADS = 4096, 8192, 1024
EPSILON = 1e-6
WIDTHS = {"64": "strides of 64 bits, the default", "32": "strides of 32 bits"}


def compile_to(path, width):
    """Compile with strides of a width, write the binary, and end this process."""
    import cutlass
    import cutlass.cute as cute
    from cutlass.base_dsl.compiler import Compiler
    from cutlass.cute import runtime
    from cutlass.utils import SmemAllocator

    @cute.jit
    def rms_norm(x: cute.Tensor, w: cute.Tensor, y: cute.Tensor):
        norm(x, w, y).launch(grid=(x.shape[0], 1, 1), block=(THREADS, 1, 1), smem=THREADS // 8)

    @cute.kernel
    def norm(x: cute.Tensor, w: cute.Tensor, y: cute.Tensor):
        thread, _, _ = cute.arch.thread_idx()
        row, _, _ = cute.arch.block_idx()
        columns = x.shape[1]
        layout = cute.make_layout(THREADS // 32)
        sums = SmemAllocator().allocate_tensor(cutlass.Float32, layout, 16)
        total = cutlass.Float32(0.0)
        for column in range(thread, columns, THREADS):
            value = x[row, column].to(cutlass.Float32)
            total += value * value
        for step in cutlass.range_constexpr(5):
            total += cute.arch.shuffle_sync_bfly(total, offset=1 << step)
        if thread % 32 == 0:
            sums[thread // 32] = total
        cute.arch.barrier()
        square = cutlass.Float32(0.0)
        for warp in cutlass.range_constexpr(THREADS // 32):
            square += sums[warp]
        scale = cute.math.rsqrt(square / columns + EPSILON)
        for column in range(thread, columns, THREADS):
            normed = x[row, column].to(cutlass.Float32) * scale
            y[row, column] = (normed * w[column].to(cutlass.Float32)).to(y.element_type)

    release = Compiler.compile

    def compile_and_end(self, module, pipeline, *rest, **options):
        release(self, module, pipeline, *rest, **options)
        if "to-nvvm" in pipeline:
            Path(path).write_bytes(binary_of(module))
            os._exit(0)

    Compiler.compile = compile_and_end
    rows, columns = cute.sym_int(), cute.sym_int(divisibility=8)

    def tensor(*shape):
        return runtime.make_fake_compact_tensor(
            cutlass.Float16,
            shape,
            stride_order=tuple(reversed(range(len(shape)))),
            assumed_align=16,
            use_32bit_stride=width == "32",
        )

    cute.compile(rms_norm, tensor(rows, columns), tensor(columns), tensor(rows, columns))


def binary_of(module):
    """The ELF file in a compiled module, where it is an escaped string."""
    quoted = re.search(r'"((?:P\\EDU\\BA|\\7FELF)(?:[^"\\]|\\.)*)"', str(module))[1]
    data = re.sub(
        rb"\\([0-9A-Fa-f]{2}|\\)",
        lambda byte: b"\\" if byte[1] == b"\\" else bytes([int(byte[1], 16)]),
        quoted.encode("utf-8", "surrogateescape"),
    )
    return data[data.index(b"\x7fELF") :]


def code_of(binary):
    """The kernel's name, and how many instructions it has, from the ELF's table of sections."""
    (table,) = struct.unpack_from("<Q", binary, 40)
    size, count, names = struct.unpack_from("<HHH", binary, 58)
    headers = [struct.unpack_from("<IIQQQQ", binary, table + size * n) for n in range(count)]
    for name_at, _, _, _, _, length in headers:
        begin = headers[names][4] + name_at
        name = binary[begin : binary.index(b"\0", begin)].decode()
        if name.startswith(".text."):
            return name.removeprefix(".text."), length // 16
    raise ValueError("the binary has no code")


class Gpu:
    """The first GPU, by the driver's own functions."""

    def __init__(self):
        self._cuda = ctypes.CDLL("libcuda.so.1")
        context, device = ctypes.c_void_p(), ctypes.c_int()
        self._call("cuInit", 0)
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", context)
        title = ctypes.create_string_buffer(100)
        self._call("cuDeviceGetName", title, 100, device)
        self.title = title.value.decode()

    def _call(self, name, *arguments):
        code = getattr(self._cuda, name)(*arguments)
        if code:
            sys.exit(f"{name} failed with {code}")

    def memory(self, size):
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        # Halves of 1.0: 0x3C00 each.
        self._call("cuMemsetD16_v2", address, ctypes.c_ushort(0x3C00), ctypes.c_size_t(size // 2))
        return address.value

    def function(self, binary):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(module), binary)
        name = code_of(binary)[0].encode()
        self._call("cuModuleGetFunction", ctypes.byref(function), module, name)
        return function

    def launch(self, function, parameters):
        held = [ctypes.create_string_buffer(each, len(each)) for each in parameters]
        pointers = [ctypes.cast(each, ctypes.c_void_p) for each in held]
        array = (ctypes.c_void_p * len(held))(*pointers)
        shape = (ROWS, 1, 1, THREADS, 1, 1)
        self._call("cuLaunchKernel", function, *shape, THREADS // 8, None, array, None)

    def microseconds(self, function, parameters):
        begin, end, took = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_float()
        for event in (begin, end):
            self._call("cuEventCreate", ctypes.byref(event), 0)
        self._call("cuEventRecord", begin, None)
        for _ in range(10):
            self.launch(function, parameters)
        self._call("cuEventRecord", end, None)
        self._call("cuEventSynchronize", end)
        self._call("cuEventElapsedTime", ctypes.byref(took), begin, end)
        return took.value * 100

    def halves(self, address, count):
        values = (ctypes.c_ushort * count)()
        self._call("cuMemcpyDtoH_v2", values, ctypes.c_uint64(address), ctypes.c_size_t(2 * count))
        return values


def timed(folder):
    """Microseconds of a launch by width: the medians of launches in turn. None without a GPU."""
    try:
        gpu = Gpu()
    except OSError:
        return None
    x, w, y = gpu.memory(2 * ROWS * COLUMNS), gpu.memory(2 * COLUMNS), gpu.memory(2 * ROWS * COLUMNS)
    took = {width: [] for width in WIDTHS}
    launches = {}
    for width in WIDTHS:
        # A tensor is its address, its sizes and its strides.
        table = "<QiiQ" if width == "64" else "<Qiii4x"
        large = [struct.pack(table, address, ROWS, COLUMNS, COLUMNS) for address in (x, y)]
        parameters = [large[0], struct.pack("<Qi4x", w, COLUMNS), large[1]]
        function = gpu.function((folder / f"{width}.cubin").read_bytes())
        launches[width] = (function, parameters)
    for _ in range(200):
        for width, launch in launches.items():
            took[width].append(gpu.microseconds(*launch))
    if set(gpu.halves(y, ROWS * COLUMNS)) != {0x3C00}:
        sys.exit("wrong numbers: the norm of ones is one")
    print(f"on one {gpu.title}:")
    return {width: statistics.median(times[50:]) for width, times in took.items()}


def main(folder):
    instructions = {w: code_of((folder / f"{w}.cubin").read_bytes())[1] for w in WIDTHS}
    took = timed(folder)
    for width, title in WIDTHS.items():
        time = f", {took[width]:.1f} µs" if took else ""
        print(f"{title:32} {instructions[width]:4} instructions{time}")
    if took:
        print(f"{took['64'] / took['32']:.3f} times as long")
    shows = instructions["64"] > instructions["32"]
    shows = shows and (took is None or took["64"] >= 1.03 * took["32"])
    print("reproduced" if shows else "not reproduced")
    return 0 if shows else 1


if __name__ == "__main__":
    how, folder = (sys.argv[1:3] + ["", ""])[:2]
    if how in WIDTHS:
        compile_to(folder, how)
    if how == "--time":
        sys.exit(main(Path(folder)))
    with tempfile.TemporaryDirectory() as temporary:
        kept = Path(folder or temporary)
        kept.mkdir(exist_ok=True)
        variables = {"CUTE_DSL_ARCH": "sm_90a", "CUTE_DSL_DISABLE_FILE_CACHING": "1"}
        for each in WIDTHS:
            command = [sys.executable, "-W", "ignore", __file__, each, str(kept / f"{each}.cubin")]
            subprocess.run(command, env={**os.environ, **variables}, check=True)
        sys.exit(main(kept))
