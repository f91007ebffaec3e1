"""The process that uses the GPU, and the one that forked it."""

from __future__ import annotations

import pytest

from compat.toolchains.pytorch.host.forked_process import Channel, ForkedProcess


def _answer_when_nobody_listens(channel: Channel) -> None:
    """Wait for the end of the questions. The other process has closed both pipes by then."""
    assert not list(channel.questions())
    channel.send({"kind": "late"})


def test_answer_that_nobody_reads_prints_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    process = ForkedProcess(_answer_when_nobody_listens)
    process.end()
    assert capfd.readouterr() == ("", "")
