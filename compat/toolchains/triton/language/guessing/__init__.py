"""Guesses the arguments of Triton kernels from their source."""
