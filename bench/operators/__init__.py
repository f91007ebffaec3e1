"""Operators of libraries, each once, forward and backward where it has that, with small inputs.

``compat capture --python PYTHON -- -m bench.operators LIBRARY…``, in the folder of this repository;
``PYTHON`` is of an environment with PyTorch and the libraries. Why an operator does not run is
printed.
"""
