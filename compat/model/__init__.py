"""The records that all parts of the program share.

Every record is frozen and keyword-only. It is created once at a boundary (a TOML file, a worker's
answer, the result store) and passed on unchanged::

    Env × Target × Specialization = Cell ─▶ Evidence, one per attempt ─▶ Outcome ─▶ Result

In: nothing. Out: the records, each in the module of its name. The account of results over the
releases is in :mod:`compat.history`. Nothing here reads a file, starts a process or decides.
"""

from __future__ import annotations

from compat.model.cell import (
    DEFAULT_FRAMEWORK,
    DEFAULT_TOOLCHAIN,
    HINTS,
    ONLY_CASE,
    RECORDED,
    TABLES,
    BuiltEnv,
    Cell,
    CompileSpec,
    Env,
    Package,
    Problem,
    Specialization,
    Target,
    TuningRanges,
)
from compat.model.evidence import (
    LATER_STAGES,
    SOURCE_STAGE,
    CompletedAction,
    Diagnosis,
    Evidence,
    RaisedException,
    StageOutput,
    StandInPackages,
    ToolchainWarning,
)
from compat.model.outcome import Failure, Outcome, Result
from compat.model.status import (
    BAD_NUMBERS,
    NOT_RUN,
    Check,
    Expectation,
    Latency,
    Numbers,
    Sample,
    Status,
)
