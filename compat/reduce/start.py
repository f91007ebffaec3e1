"""The candidate that a reduction starts from: the kernel alone in a module, with what it needs."""

from __future__ import annotations

from compat.bundle.bundle import bundle
from compat.errors import ConfigError
from compat.model import Specialization
from compat.reduce.candidate import Candidate
from compat.reduce.module import extracted


def start_of(spec: Specialization) -> Candidate:
    """A kernel without comments, annotations, and the rest of its file. Raises ConfigError where it cannot be parsed."""
    try:
        alone = bundle(spec)
        function = alone.spec.function
        annotated = (function,) if spec.compile.launch else ()  # what a launch makes of an argument depends on its annotation
        return Candidate.of(alone.spec, extracted(alone.text, function, *spec.compile.functions, annotated=annotated))
    except SyntaxError as error:
        raise ConfigError(f"the kernel cannot be parsed: {error.msg}", where=spec.source) from error
