"""MLIR, which several toolchains are made with: what its pass managers print, and its IR in a form
in which names do not matter.
"""
