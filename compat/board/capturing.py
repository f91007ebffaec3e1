"""Captures the kernels of a library's version with the program that the board names.

The program runs once for each target, without a GPU, in an env with PyTorch, the library, and the
program's other requirements. The library's kernels go into one kernel file,
``board/captured/fla-core-0.6.0.toml``, in which each names the targets that it was captured for. A
kernel that no file can name by its module is left out.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile

from attrs import define, evolve, frozen
from packaging.utils import canonicalize_name

from compat.board.data import CompiledVersion
from compat.board.declaration import BoardDeclaration, BoardLibrary, CaptureProgram
from compat.capturing.assembling import CapturedFiles
from compat.capturing.capturing import Capture, capture_program
from compat.capturing.checking import CodeCheck, Options, toolchain_of
from compat.capturing.kernels import Configs
from compat.config.kernel_files import load_kernels
from compat.config.kernel_writer import write_kernel_file
from compat.errors import CompatError, StoreError
from compat.files import TemporaryFolder, read_end
from compat.interruption import Stopped
from compat.model import BuiltEnv, Env, Specialization, Target
from compat.processes.supervisor import SHOWN
from compat.project import Listener

_DEADLINE = 3600.0
"""Seconds that a program may take for one target."""


@frozen(kw_only=True)
class VersionCapture:
    """The capture of one version of a library."""

    board: BoardDeclaration
    library: BoardLibrary
    version: str
    program: CaptureProgram
    pair: Env
    """An env with PyTorch."""
    targets: tuple[Target, ...]
    """The targets of the board that have a stand-in for a GPU."""

    @property
    def path(self) -> Path:
        """The kernel file."""
        return self.board.captured_file(self.library, self.version)

    @property
    def origin(self) -> str:
        """The program, its requirements and the targets, as text. A change captures again."""
        program, targets = self.program, (target.name for target in self.targets)
        parts = (shlex.join(program.command), program.env, *program.install, *targets)
        return ", ".join(filter(None, parts))

    def is_new(self, before: CompiledVersion) -> bool:
        """Whether the version has to be captured.

        If the version was never captured or compiled, an existing file with all targets is enough.
        Otherwise it has to be captured if the program failed, or if another program made the file.
        """
        is_known = bool(before.captured or before.columns)
        return before.captured != self.origin and (is_known or not self._is_there)

    @property
    def _is_there(self) -> bool:
        """Whether all targets were captured already. A file that cannot be read has none."""
        if not self.path.exists():
            return False
        try:
            specs = load_kernels((str(self.path),), self.path.parent, where=None)
        except CompatError:
            return False
        return {target.name for target in self.targets} <= {
            name for spec in specs for name in spec.targets
        }

    @property
    def requirement(self) -> str:
        """The requirement of the version for installers: ``liger-kernel==0.6.4``."""
        return f"{self.library.name}=={self.version}"

    def has(self, spec: Specialization) -> bool:
        """Whether a kernel is one of the library, and not of a package that it uses."""
        return canonicalize_name(spec.package.partition("==")[0]) == self.library.name

    @property
    def env(self) -> Env:
        """The pair with the library and the program's requirements."""
        install = (*self.pair.install, self.requirement, *self.program.install)
        name = f"{self.pair.name}-with-{self.library.name}-{self.version}"
        return evolve(self.pair, name=name, install=install, lock=(), groups=())


def captured_targets(env: Env, targets: Sequence[Target]) -> tuple[Target, ...]:
    """The targets of an env's toolchain that have a stand-in for a GPU."""
    toolchain = toolchain_of(env.toolchain)
    return tuple(
        target
        for target in targets
        if target in toolchain.device.targets and target.name in toolchain.device.models
    )


def capture_version(version: VersionCapture, built: BuiltEnv, listener: Listener) -> str:
    """Run the program for each target, and write the kernel file.

    Args:
        version: The version to capture.
        built: The env that the program runs in.
        listener: Receives progress, and the targets without a launch of the library's kernels.

    Returns:
        The failures of the program in words, or nothing. Its launches before them are captured.

    Raises:
        SelectionError: The program does not exist.
        StoreError: The file cannot be written.
        Stopped: The command was asked to end.
    """
    problems: list[str] = []
    captures: dict[Target, CapturedFiles] = {}
    with (
        TemporaryFolder("compat-board-") as folder,
        listener.step(f"capturing {version.requirement}") as tell,
    ):
        for target in version.targets:
            tell(f"for {target.name}")
            capture, output = _capture_target(version, built, target, folder / target.name)
            captures[target] = capture.files
            problems += _problems(capture, target, output)
            if not any(version.has(spec) for spec, *_ in capture.files.specs.values()):
                message = f"the program launches none of its kernels for {target.name}"
                listener.say(f"{version.requirement}: {message}")
        with StoreError.for_os_errors("cannot be written", where=version.path):
            _write(version, captures)
    return "; ".join(problems)


def _capture_target(
    version: VersionCapture, built: BuiltEnv, target: Target, folder: Path
) -> tuple[Capture, str]:
    """Run the program for a target; return its launches, and the last line that it wrote."""
    options = Options(
        toolchain=built.env.toolchain,
        output=folder,
        target=target.name,
        configs=Configs.FIRST,
        live=True,
        check=CodeCheck.NOTHING,
        fake=True,
    )
    with TemporaryFile() as output:
        capture = capture_program(
            version.program.command,
            options,
            python=built.python,
            folder=version.board.path.parent,
            output=output,
            timeout=_DEADLINE,
        )
        lines = read_end(output.fileno(), SHOWN).strip().splitlines()
    if capture.program_end and capture.program_end.interrupted:
        raise Stopped
    return capture, lines[-1] if lines else ""


def _problems(capture: Capture, target: Target, output: str) -> Iterator[str]:
    """The failure of the program for a target in words; nothing if it did not fail."""
    ended = capture.program_end
    assert ended is not None
    if ended.timed_out:
        yield f"the program was stopped for {target.name} after {_DEADLINE:,.0f} s"
    elif ended.exit_code:
        yield f"the program ended with exit code {ended.exit_code} for {target.name}: {output}"


def _write(version: VersionCapture, captures: Mapping[Target, CapturedFiles]) -> None:
    """Write the kernel file, if a kernel of the library was captured. Raises OSError."""
    specs = [
        evolve(spec, targets=tuple(target.name for target in entry.targets), kernel=name)
        for name, entry in _entries(version, captures)
        for spec in entry.specs
    ]
    if specs:
        version.path.parent.mkdir(parents=True, exist_ok=True)
        write_kernel_file(specs, version.path)


@define(kw_only=True)
class _Entry:
    """A kernel, and the targets that launch it in the same way."""

    specs: tuple[Specialization, ...]
    targets: list[Target]

    def launches(self, specs: Sequence[Specialization]) -> bool:
        """Whether ``specs`` of another target launch the kernel in the same way."""
        return [(spec.case, spec.compile, spec.tuning) for spec in self.specs] == [
            (spec.case, spec.compile, spec.tuning) for spec in specs
        ]


def _entries(
    version: VersionCapture, captures: Mapping[Target, CapturedFiles]
) -> Iterator[tuple[str, _Entry]]:
    """The kernels of the library, by the names that they have in the file.

    A kernel that targets launch in several ways has several names. All but one end with a target.
    """
    for name in sorted({name for captured in captures.values() for name in captured.specs}):
        entries: list[_Entry] = []
        for target, captured in captures.items():
            specs = captured.specs.get(name, ())
            if not specs or not version.has(specs[0]):
                continue
            existing_entry = next((entry for entry in entries if entry.launches(specs)), None)
            if existing_entry is None:
                entries.append(existing_entry := _Entry(specs=specs, targets=[]))
            existing_entry.targets.append(target)
        for number, entry in enumerate(entries):
            yield f"{name}-{entry.targets[0].name}" if number else name, entry
