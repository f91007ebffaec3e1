"""``pytest -p compat.pytest_plugin`` captures the kernels that a test suite launches.

In: a run of pytest, on this machine or on workers of pytest-xdist. Out: the kernel files that
:func:`compat.capturing.capturing.capture` writes, and its summary below that of the tests.
Recording begins before the first ``conftest.py``, which may import libraries.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from compat.capturing.capturing import CapturedBlock, capture
from compat.errors import CompatError
from compat.model import DEFAULT_TOOLCHAIN
from compat.report.views.capture import capture_lines

_OF_CAPTURE = re.compile(r"--(?=(?:output|toolchain|target)\b)")
"""The beginning of an option of ``compat capture`` that an error names."""
_CAPTURING = pytest.StashKey[tuple[ExitStack, CapturedBlock]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of ``compat capture``, with a name that no test suite has."""
    group = parser.getgroup("compat", "kernels (compat)")
    group.addoption(
        "--compat-output",
        default="captured",
        metavar="FOLDER",
        help="Folder for the kernel files [captured].",
    )
    group.addoption(
        "--compat-toolchain",
        default=DEFAULT_TOOLCHAIN,
        metavar="NAME",
        help="The toolchain whose launches to capture [triton].",
    )
    group.addoption(
        "--compat-target",
        metavar="TARGET",
        help="The GPU that the stand-in pretends to be [sm_90].",
    )
    group.addoption(
        "--compat-configs",
        choices=("all", "chosen", "first"),
        default="all",
        help="The configurations of an autotuner that become cases.",
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, object, object]:
    """Begin the capture before the first ``conftest.py`` is imported."""
    options = early_config.known_args_namespace
    capturing = capture(
        options.compat_output,
        toolchain=options.compat_toolchain,
        target=options.compat_target,
        configs=options.compat_configs,
    )
    with ExitStack() as stack:
        stack.enter_context(_errors_of_use())
        block = stack.enter_context(capturing)
        early_config.stash[_CAPTURING] = stack.pop_all(), block
    return (yield)


@contextmanager
def _errors_of_use() -> Iterator[None]:
    """Make errors of use of the begin and the end of a capture those of pytest."""
    try:
        yield
    except CompatError as error:
        text = f"{error}\n{error.hint or ''}".rstrip()
        raise pytest.UsageError(_OF_CAPTURE.sub("--compat-", text)) from error


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a plugin that a ``conftest.py`` names, because it is loaded too late."""
    if _CAPTURING not in config.stash:
        raise pytest.UsageError(
            "compat.pytest_plugin is loaded after the first conftest.py; load it with -p"
            " compat.pytest_plugin"
        )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """End the capture, and print its summary."""
    stack, block = config.stash[_CAPTURING]
    stack.close()
    if block.capture is not None:
        terminalreporter.section("captured kernels")
        for line in capture_lines(block.capture, str(block.capture.options.output)):
            terminalreporter.line(line)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the capture if there was no summary, as on workers."""
    if _CAPTURING in config.stash:
        config.stash[_CAPTURING][0].close()
