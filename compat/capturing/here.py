"""Capturing in a process that goes on: a block of it, or a whole run of pytest."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import define, evolve

from compat.capturing.assembling import check_writable
from compat.capturing.capturing import Capture, made_of
from compat.capturing.kernels import Configs
from compat.capturing.settings import CodeCheck, Options, capturing, in_environment, recorder_settings, variables
from compat.scratch import Folder


def is_captured() -> bool:
    """Whether this process was started by one that captures, and therefore is recorded for that."""
    return capturing().package in sys.modules


@define(kw_only=True)
class CapturedBlock:
    """What a block launches."""

    capture: Capture | None = None
    """What there is, once the block has ended."""


@contextmanager
def capture(
    output: str | Path = "captured",
    *,
    target: str | None = None,
    configs: str = "all",
    with_values: bool = False,
    problems: bool = False,
    check: str = "kernels",
    fake: bool | None = None,
) -> Iterator[CapturedBlock]:
    """Capture what this process, and those that it starts, launch inside of a ``with`` block; as a decorator, inside of a function.

    Where the whole process is captured already, such as by ``compat capture``, that goes on, and the block has nothing of its own.
    Libraries are best imported inside of it, since some ask for the GPU while they are imported. What the options mean is said in
    :class:`~compat.capturing.settings.Options`. The kernel files are there when the block has ended, however it does. Raises
    SelectionError for a target that there is not, and StoreError where nothing can be written, before the block if possible.
    """
    options = Options(
        output=Path(output),
        target=target,
        configs=Configs(configs),
        with_values=with_values,
        problems=problems,
        check=CodeCheck(check),
        fake=fake,
    )
    block, began = CapturedBlock(), time.monotonic()
    if is_captured():
        yield block
        return
    check_writable(options.output)
    with Folder("compat-capture-") as folder:
        records = folder / "records"
        records.mkdir()
        settings = recorder_settings(options, records)
        try:
            with in_environment(variables(settings, folder / "cache" if options.is_fake else None)):
                recording = capturing().begin(settings)
                try:
                    yield block
                finally:
                    recording.stop()
        finally:
            block.capture = evolve(made_of(records, options, None), seconds=time.monotonic() - began)
