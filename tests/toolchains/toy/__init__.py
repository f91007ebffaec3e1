"""A second toolchain: all that the program needs to know of a compiler that it has never heard of."""

from __future__ import annotations

import re
from pathlib import Path

from compat.diagnosis import common
from compat.diagnosis.failure_class import Blame, FailureClass, Sign
from compat.diagnosis.knowledge import Knowledge
from compat.diagnosis.symptoms import Wording
from compat.model import Status, Target
from compat.toolchains import Toolchain, Types

UNKNOWN_WORD = FailureClass(
    name="unknown-word",
    title="Word not known",
    meaning="The program has a word that this release does not have.",
    status=Status.REJECTED,
    advice="Write `{name}` in other words.",
    blame=Blame.KERNEL,
    lacks=True,
    signs=(Sign(error=r"^CompileError$", message=r"^unknown word '(?P<name>\w+)'", means="{name}"),),
)

TOY = Toolchain(
    name="toy",
    title="Toy",
    distribution="toy",
    adapter=Path(__file__).parent / "adapter",
    stages=("words", "blob"),
    targets=(Target(name="toy_t1", backend="toy", arch="t1", warp_size=1, shared_memory=1024),),
    types=Types(pattern=re.compile("word"), known=("word",), examples='"word"'),
    knowledge=Knowledge(classes=(*common.EVERYWHERE, UNKNOWN_WORD, common.UNCLASSIFIED), wording=Wording(package="toy")),
)
