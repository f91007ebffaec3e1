"""The GPU that PyTorch is made to believe in: what it is told of it (:mod:`.gpu`), and how a whole
program is (:mod:`.program`).
"""
