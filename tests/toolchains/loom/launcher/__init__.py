"""The program that weaves a folder of ``compat build``, on any machine.

It uses only the standard library.
"""
