"""What CuTe DSL's kernels do on a GPU host."""
