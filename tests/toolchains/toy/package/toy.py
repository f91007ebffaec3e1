"""A compiler for tests. Its programs have one word per line."""

__version__ = "1.0"
WORDS = {"load", "add", "store"}


class CompileError(Exception):
    """The program is invalid."""


def compile_program(program, arch, enter):
    """Return the program as bytes, and call ``enter`` with each stage."""
    enter("words")
    words = program.split()
    for word in words:
        if word not in WORDS:
            raise CompileError(f"unknown word {word!r}")
    enter("blob")
    return f"{arch}: {' '.join(words)}".encode()
