"""MLIR, which several toolchains use: output of its pass managers, and its IR without names."""
