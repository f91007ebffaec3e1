"""A small library of kernels, which launches them in the ways that libraries do."""
