"""Triton's intermediate representations: their parts, reading dumps, and the form without names."""
