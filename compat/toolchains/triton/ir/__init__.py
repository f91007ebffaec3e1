"""Triton's intermediate representations: their parts, how a dump of them is read, and their form
without names.
"""
