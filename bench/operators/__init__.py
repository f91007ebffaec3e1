"""Calls of libraries' operators with small inputs: each once, forward and if possible backward.

Run ``compat capture --python PYTHON -- -m bench.operators LIBRARY…`` in the folder of this
repository. ``PYTHON`` belongs to an environment with PyTorch and the libraries. The program prints
why an operator fails.
"""
