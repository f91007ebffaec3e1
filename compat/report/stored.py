"""What stands in a ``matrix.json``, as records: those of its keys that reports are made of. All others are passed over.

What a later version has added has a default here, so that files that were written before are read, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen
from packaging.version import Version

from compat.api.packing import Packed
from compat.model import DEFAULT_TOOLCHAIN, NOT_RUN, CompileSpec, Latency, Noticed, Numbers, Package, Status, StoodIn
from compat.pairs.records import Pair
from compat.records import KEY


@frozen(kw_only=True)
class StoredTool:
    """What wrote the file."""

    version: str


@frozen(kw_only=True)
class StoredExpectation:
    """A declared failure."""

    status: Status
    class_: str | None = field(default=None, metadata={KEY: "class"})
    reason: str = ""
    strict: bool | None = None
    """``None`` in files that do not say it."""


@frozen(kw_only=True)
class StoredFailure:
    """Why a cell is not ``ok``."""

    class_: str = field(metadata={KEY: "class"})
    fingerprint: str
    excerpt: str
    stage: str
    pass_: str | None = field(default=None, metadata={KEY: "pass"})
    op: str | None = None
    location: str | None = None
    reproducer: str | None = None
    ir: str | None = None
    advice: str = ""
    prediction: bool = False


@frozen(kw_only=True)
class StoredCell:
    """A cell and what came of it."""

    kernel: str
    variant: str
    case: str
    target: str
    env: str
    guessed: bool = False
    status: Status
    expected: bool
    expectation: StoredExpectation | None = None
    stage: str
    failure: StoredFailure | None = None
    flaky: bool = False
    attempts: tuple[str, ...] = ()
    warnings: tuple[Noticed, ...] = ()
    metrics: Mapping[str, Any] = field(factory=dict)
    stages: Mapping[str, float] = field(factory=dict)
    seconds: float = 0.0
    cached: bool = False
    stood_in: StoodIn | None = None
    numbers: Numbers = NOT_RUN
    latency: Latency | None = None


@frozen(kw_only=True)
class StoredInterval:
    """Neighbouring releases that behave the same."""

    first: str = field(metadata={KEY: "from"})
    last: str = field(metadata={KEY: "to"})
    status: Status
    class_: str | None = field(default=None, metadata={KEY: "class"})
    fingerprint: str | None = None


@frozen(kw_only=True)
class StoredVerdict:
    """Of a verdict what the cells do not say: what earlier runs found, and which releases there are."""

    kernel: str
    variant: str
    case: str
    target: str
    intervals: tuple[StoredInterval, ...] = ()
    not_tried: tuple[Version, ...] = ()
    flaky: tuple[str, ...] = ()
    deprecated: tuple[str, ...] = ()
    remembered: tuple[Version, ...] = ()


@frozen(kw_only=True)
class StoredEnv:
    """An env as it was found."""

    name: str
    toolchain: str = DEFAULT_TOOLCHAIN
    distribution: str | None = None
    """``None`` in files that do not say it."""
    release: Version | None = None
    """Under the name of the toolchain in the file."""
    torch: Version | None = None
    python: str | None = None
    packages: tuple[Package, ...] = ()
    digest: str = ""
    error: str | None = None


@frozen(kw_only=True)
class StoredKernel:
    """A kernel in one variant and case, and where it is."""

    kernel: str
    variant: str
    case: str
    toolchain: str = DEFAULT_TOOLCHAIN
    source: str = ""
    function: str = ""
    package: str = ""
    origin: str = ""
    summary: str = ""
    compile: CompileSpec = field(factory=CompileSpec)


@frozen(kw_only=True)
class StoredTarget:
    """What code was generated for."""

    name: str
    backend: str
    arch: int | str
    warp_size: int
    shared_memory: int


@frozen(kw_only=True)
class StoredSource:
    """The text of a kernel's source."""

    path: str
    text: str


@frozen(kw_only=True)
class StoredAttachment:
    """What a kept artifact holds."""

    name: str
    gzip: str
    """As base64."""


@frozen(kw_only=True)
class StoredMatrix:
    """The whole file."""

    tool: StoredTool
    command: str
    options: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    shards: tuple[str, ...] = ()
    earlier: int = 0
    seconds: float
    api: Packed | None = None
    cells: tuple[StoredCell, ...]
    verdicts: tuple[StoredVerdict, ...]
    envs: tuple[StoredEnv, ...]
    kernels: tuple[StoredKernel, ...] = ()
    helpers: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Source → the files of its tree that it imports."""
    variants: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Kernel → its variants, in the order in which they are declared."""
    targets: tuple[StoredTarget, ...] = ()
    existing: Mapping[str, tuple[Version, ...]] = field(factory=dict)
    sources: tuple[StoredSource, ...] = ()
    attachments: tuple[StoredAttachment, ...] = ()
    pairs: tuple[Pair, ...] = ()
