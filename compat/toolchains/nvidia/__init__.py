"""Machine code of NVIDIA: what a cubin says without a GPU and without a disassembler."""
