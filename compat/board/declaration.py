"""``board.toml``: the libraries of a board, their versions, and where their kernels come from."""

from __future__ import annotations

from pathlib import Path

from attrs import fields_dict, frozen
from packaging.utils import canonicalize_name
from packaging.version import Version

from compat.config.toml import Table, display_path, quote_text, read_toml
from compat.errors import ConfigError
from compat.text import lazy_pattern

BOARD_FILE = "board.toml"
"""The usual name of the file."""
_NAME = lazy_pattern(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_NEWEST = 3
"""The number of a library's minor versions to follow, unless its table sets another."""


@frozen(kw_only=True)
class CaptureProgram:
    """A program that launches the kernels of a library, so that their arguments can be captured."""

    command: tuple[str, ...]
    """Its command line: a script or ``-m`` and a module, and arguments. It runs in the folder of
    the board's file.
    """
    env: str = ""
    """The env with PyTorch that it runs in. Empty: the newest one of the group ``pairs``."""
    install: tuple[str, ...] = ()
    """What it needs besides the library, as pip reads it."""


@frozen(kw_only=True)
class BoardLibrary:
    """A library of the board."""

    name: str
    """As the package index compares names: ``liger-kernel``."""
    versions: tuple[Version, ...] = ()
    """The versions to compile. Empty: the newest ones of the index."""
    newest: int = _NEWEST
    """How many minor versions of the index, each with its newest release, if none is named."""
    kernels: tuple[str, ...] = ()
    """Patterns of kernel files, from the folder of the board's file. ``{version}`` in them stands
    for the version. The arguments of the other kernels are guessed.
    """
    capture: CaptureProgram | None = None
    """The program that launches the kernels of each version. The arguments of the other kernels are
    guessed.
    """
    without: tuple[str, ...] = ()
    """Patterns of the modules whose kernels are not guessed: ``mylib.backends.npu.*``."""
    package: bool = True
    """Whether the kernels are those of a package of the index. If not, the kernel files have all
    kernels, with their source.
    """
    envs: tuple[str, ...] = ()
    """The envs to compile in. Empty: those of the board."""
    targets: tuple[str, ...] = ()
    """The targets to compile for. Empty: those of the board."""


@frozen(kw_only=True)
class BoardDeclaration:
    """The contents of ``board.toml``."""

    path: Path
    libraries: tuple[BoardLibrary, ...]
    envs: tuple[str, ...] = ("releases",)
    """The envs to compile in, as ``--envs`` takes them."""
    targets: tuple[str, ...] = ()
    """The targets to compile for, as ``--target`` takes them. Empty: the defaults."""
    deadline: float | None = None
    """Seconds that one cell may take. ``None``: as ``matrix.toml`` says."""

    @property
    def folder(self) -> Path:
        """The folder of the board's data: ``board`` beside the file."""
        return self.path.parent / "board"

    @property
    def every_env(self) -> tuple[str, ...]:
        """The envs that some library is compiled in."""
        used = (pattern for library in self.libraries for pattern in self.envs_of(library))
        return tuple(dict.fromkeys(used))

    def envs_of(self, library: BoardLibrary) -> tuple[str, ...]:
        """The envs that a library is compiled in."""
        return library.envs or self.envs

    def targets_of(self, library: BoardLibrary) -> tuple[str, ...]:
        """The targets that a library is compiled for."""
        return library.targets or self.targets

    def kernels_of(self, library: BoardLibrary, version: str) -> tuple[Path, ...]:
        """The patterns of a version's kernel files, including the file of captured kernels."""
        captured = self.captured_file(library, version)
        return (
            *(self.path.parent / text.replace("{version}", version) for text in library.kernels),
            *((captured,) if library.capture and captured.exists() else ()),
        )

    def captured_file(self, library: BoardLibrary, version: str) -> Path:
        """The kernel file with the captured kernels of a version."""
        return self.folder / "captured" / f"{library.name}-{version}.toml"


def read_board(path: Path) -> BoardDeclaration:
    """Read the declaration of a board.

    Raises:
        compat.errors.ConfigError: The file cannot be read, or is invalid.
    """
    if not path.exists():
        hint = 'Declare libraries in it: [[library]] with name = "liger-kernel".'
        raise ConfigError("there is no such file", where=display_path(path), hint=hint)
    top = read_toml(path)
    top.only("schema", "envs", "targets", "deadline", "library")
    libraries = tuple(_library(table) for table in top.tables("library"))
    if not libraries:
        top.fail("is missing", "library", hint='Add [[library]] with name = "liger-kernel".')
    seen: set[str] = set()
    for table, library in zip(top.tables("library"), libraries, strict=True):
        if library.name in seen:
            table.fail(f"the library {library.name!r} already exists", "name")
        seen.add(library.name)
    return BoardDeclaration(
        path=path.absolute(),
        libraries=libraries,
        envs=top.strings("envs", ("releases",)),
        targets=top.strings("targets"),
        deadline=top.number("deadline", 0.0) if "deadline" in top else None,
    )


def _library(table: Table) -> BoardLibrary:
    table.only(*fields_dict(BoardLibrary))
    name = table.string("name", example='"liger-kernel"')
    if not _NAME.fullmatch(name):
        table.fail(f"{quote_text(name)} is not the name of a package", "name")
    if "versions" in table and "newest" in table:
        table.fail("goes without versions", "newest", hint="Keep one of the two.")
    package = table.expect(table.data.get("package", True), bool, "package")
    if not package:
        for key in ("versions", "kernels"):
            if key not in table:
                table.fail("is missing", key, hint="Without a package, nothing else has them.")
        for key in ("capture", "without"):
            if key in table:
                table.fail("needs a package", key, hint="Name kernel files in kernels.")
    return BoardLibrary(
        name=canonicalize_name(name),
        versions=_versions(table),
        newest=table.integer("newest") if "newest" in table else _NEWEST,
        kernels=table.strings("kernels"),
        capture=_capture(table.table("capture")) if "capture" in table else None,
        without=table.strings("without"),
        package=package,
        envs=table.strings("envs"),
        targets=table.strings("targets"),
    )


def _capture(table: Table) -> CaptureProgram:
    table.only("program", "env", "install")
    program = table.strings("program")
    if not program:
        table.fail("is missing", "program", hint='Add program = ["scripts/launch_all.py"].')
    return CaptureProgram(
        command=program, env=table.string("env", ""), install=table.requirements("install")
    )


def _versions(table: Table) -> tuple[Version, ...]:
    texts = table.strings("versions")
    return tuple(
        table.parse_text(f"versions[{index}]", text, Version, 'a version, such as "0.6.4"')
        for index, text in enumerate(texts)
    )
