"""NVIDIA's machine code: facts from a cubin without a GPU and without a disassembler."""
