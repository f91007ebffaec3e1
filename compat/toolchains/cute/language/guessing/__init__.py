"""Guesses the arguments of CuTe DSL kernels from their source."""
