"""Kernel sources as text: what a file imports from beside it, and the one self-contained module that holds a kernel."""
