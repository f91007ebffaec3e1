"""NVIDIA's assembler, and facts from a cubin without a GPU and without a disassembler."""
