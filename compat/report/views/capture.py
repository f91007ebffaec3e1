"""The result of a capture, as lines for a reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from compat import toolchains
from compat.capturing.capturing import Capture
from compat.capturing.checking import Agreement, capturable_toolchains
from compat.capturing.records import ProgramRecords
from compat.text import amount
from compat.toolchains.base import Toolchain

_LISTED = 12
"""The largest number of names in a list."""


def capture_lines(capture: Capture, output: str) -> Iterator[str]:
    """The summary of a capture whose files are in ``output``, line by line."""
    captured = capture.files
    recorded = captured.records
    toolchain = toolchains.look_up(recorded.toolchain)
    if recorded.release is None:
        yield f"nothing was captured: {_why_nothing(recorded, toolchain)}"
        yield from _how_it_ended(capture)
        return
    where = (
        "on a GPU"
        if not capture.options.is_fake
        else "without a GPU: kernels did not run, and the program's numbers are meaningless"
    )
    processes = f"{recorded.processes} processes" if recorded.processes != 1 else "1 process"
    releases = ", ".join(recorded.interpreters)
    framework = (
        f", {toolchain.framework.title} {recorded.framework_release}"
        if recorded.framework_release
        else ""
    )
    yield f"captured with {toolchain.title} {releases}{framework}, {processes}, {where}"
    yield from _how_it_ended(capture)
    compiled = f", {captured.only_compiled} only compiled" if captured.only_compiled else ""
    yield (
        f"{amount(captured.launched_count, 'kernel')} launched{compiled},"
        f" {len(captured.kernels)} captured as {amount(captured.cases, 'case')},"
        f" {len(captured.not_captured)} not, in {capture.seconds:.1f} s"
    )
    yield from _name_lines(
        "not captured", [str(kernel) for kernel in captured.not_captured], every=True
    )
    yield from _problems(capture)
    yield from _live(capture)
    yield from _code(capture)
    yield from _name_lines(
        "decided at import, and fixed in the captured kernels",
        [str(conditional) for conditional in captured.conditionals],
    )
    never = [f"{module}:{name}" for module, name in captured.never_launched]
    yield from _name_lines(
        f"never launched, {amount(len(never), 'jit function')} of the same packages", never
    )
    yield from _name_lines(
        f"not overwritten in {output}, because no capture wrote them", captured.in_the_way
    )
    if captured.kernels:
        yield f"wrote {output}: {amount(len(captured.kernels), 'kernel file')}, and index.json"
        releases = f"{toolchain.name}-releases" if toolchain.only_named else "releases"
        yield f"next: compat matrix --spec '{output}/**/*.toml' --envs {releases}"


def _why_nothing(recorded: ProgramRecords, toolchain: Toolchain) -> str:
    if not recorded.pythons:
        return (
            "the program started no Python that can be recorded; the options -I, -E and -S prevent"
            " recording"
        )
    others = " or ".join(
        f"--toolchain {other.name}" for other in capturable_toolchains() if other is not toolchain
    )
    instead = f"; to capture launches of another toolchain, use {others}" if others else ""
    if recorded.not_imported:
        return f"in the program's environment {toolchain.title} {recorded.not_imported}{instead}"
    return f"no process of the program imported {toolchain.title}{instead}"


def _how_it_ended(capture: Capture) -> Iterator[str]:
    ended, recorded = capture.program_end, capture.files.records
    if ended is None:
        return
    if ended.timed_out:
        yield "--timeout ended the program; its launches until then are captured"
    elif ended.interrupted:
        yield "the program was interrupted; its launches until then are captured"
    elif ended.signal:
        yield f"{ended.signal} ended the program; its launches until then are captured"
    elif ended.exit_code:
        yield f"the program ended with exit code {ended.exit_code}, and so does this command"
    early = recorded.processes - recorded.ended
    if early > 0:
        many = f"{early} of {recorded.processes} processes"
        yield (
            f"{many} ended by os._exit or a signal: their launches are captured, but their code is"
            " not compared"
        )


def _live(capture: Capture) -> Iterator[str]:
    if not capture.options.live:
        return
    kernels = capture.files.kernels
    packages = dict.fromkeys(
        kernel.live.package for kernel in kernels if kernel.live and kernel.live.package
    )
    libraries = f", of {', '.join(packages)}" if packages else ""
    yield (
        "imported from their own files, on every release:"
        f" {sum(kernel.live is not None for kernel in kernels)}{libraries}"
    )
    yield from _name_lines(
        "as bundles", [str(kernel) for kernel in capture.files.not_live], every=True
    )


def _problems(capture: Capture) -> Iterator[str]:
    if not capture.options.problems:
        return
    captured = capture.files
    there = captured.cases - len(captured.without_problem)
    yield (
        f"can run again as recorded, with invented floating-point numbers: {there} of"
        f" {amount(captured.cases, 'case')}"
    )
    others = Counter(why for _, _, why in captured.without_problem)
    yield from _name_lines(
        "cannot", [f"{amount(count, 'case')}: {why}" for why, count in others.items()], every=True
    )


def _code(capture: Capture) -> Iterator[str]:
    if not capture.comparisons:
        return
    compared = [
        comparison
        for comparison in capture.comparisons
        if comparison.agreement is not Agreement.UNKNOWN
    ]
    equal = sum(comparison.agreement is Agreement.EQUAL for comparison in compared)
    agreement = (
        f"{equal} of {len(compared)} compared cases"
        if compared
        else "not known, since no case could be compared"
    )
    yield f"same code as the program's own compile: {agreement}"
    others = [
        f"{comparison.kernel}/{comparison.case}: {comparison.why}"
        for comparison in capture.comparisons
        if comparison.agreement is Agreement.DIFFERENT
    ]
    yield from _name_lines("not the same", others, every=True)
    unknown = Counter(
        comparison.why
        for comparison in capture.comparisons
        if comparison.agreement is Agreement.UNKNOWN
    )
    yield from _name_lines(
        "not compared",
        [f"{amount(count, 'case')}: {why}" for why, count in unknown.items()],
        every=True,
    )


def _name_lines(what: str, names: Sequence[str], *, every: bool = False) -> Iterator[str]:
    if names:
        yield f"{what}:"
        shown = names if every else names[:_LISTED]
        yield from (f"  {name}" for name in shown)
        if len(names) > len(shown):
            yield f"  … and {len(names) - len(shown)} more, in index.json"
