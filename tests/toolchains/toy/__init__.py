"""A second toolchain: all that triton-compat must know about a compiler that is not part of it."""

from __future__ import annotations

import re
from pathlib import Path

from compat.diagnosis import common
from compat.diagnosis.failure_class import Blame, FailureClass, Knowledge, Sign
from compat.diagnosis.symptoms import MessagePatterns
from compat.model import Status, Target
from compat.toolchains.base import ArgumentTypes, Device, Language, Toolchain

UNKNOWN_WORD = FailureClass(
    name="unknown-word",
    title="Word not known",
    meaning="The program has a word that this release does not have.",
    status=Status.REJECTED,
    advice="Write `{name}` in other words.",
    blame=Blame.KERNEL,
    missing_feature=True,
    signs=(
        Sign(error=r"^CompileError$", message=r"^unknown word '(?P<name>\w+)'", means="{name}"),
    ),
)

TOY = Toolchain(
    name="toy",
    title="Toy",
    distribution="toy",
    adapter=Path(__file__).parent / "adapter",
    stages=("words", "blob"),
    language=Language(
        types=ArgumentTypes(pattern=re.compile("word"), known=("word",), examples='"word"')
    ),
    device=Device(
        targets=(
            Target(
                name="toy_t1",
                toolchain="toy",
                backend="toy",
                arch="t1",
                warp_size=1,
                shared_memory=1024,
            ),
        )
    ),
    failures=Knowledge(
        toolchain="toy",
        classes=(*common.EVERYWHERE, UNKNOWN_WORD, common.UNCLASSIFIED),
        wording=MessagePatterns(package="toy"),
    ),
)
