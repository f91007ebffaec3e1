"""The files that a process reads by imports: a kernel's files, the server's own files, a package.

- The worker notes the files that a kernel's source reads or misses while it is imported, besides
  modules (:class:`OpenedFiles`). The kernel may depend on their contents, or on their absence.
- A server that stays for hours must not answer for a toolchain that has been edited in the meantime
  (:class:`LoadedFiles`).
- If kernels of a package are compiled, a server of its own imports the package once
  (:class:`Beginning`). Each child then imports its module as usual, and finds the package already
  imported, as importing the module would have done first. If the package cannot be imported, each
  child gets the same error. The server uses the package only if the import leaves one thread, and
  leaves no module of a part that failed.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from importlib.machinery import SourceFileLoader
from typing import TYPE_CHECKING, Any, Iterable, Iterator

from .adapter import load_standin

if TYPE_CHECKING:
    from ..toolchains.inside.foreign import Document
    from .adapter import Adapter

_OF_THE_MACHINE = ("/proc/", "/sys/", "/dev/", "/etc/")
INSTALLED = os.sep + "site-packages" + os.sep
OF_THE_ENV = (
    "<",
    *(
        os.path.join(form, "")
        for folder in {sys.prefix, sys.base_prefix, sys.exec_prefix}
        for form in {folder, os.path.realpath(folder)}
    ),
)
"""The beginnings of the paths of files that the env's digest covers."""


class OpenedFiles:
    """Notes the paths that this process opens, or asks for in vain, inside of :meth:`noting`."""

    def __init__(self, directory: str) -> None:
        """Files in ``directory``, the private folder of the process, do not count.

        The process itself made them.
        """
        env = {
            os.path.realpath(folder) for folder in (sys.prefix, sys.base_prefix, sys.exec_prefix)
        }
        self._others = (
            *_OF_THE_MACHINE,
            *(os.path.join(folder, "") for folder in [*env, os.path.realpath(directory)]),
        )
        self._noting = False
        self._paths: dict[str, None] = {}
        sys.addaudithook(self._hear)

    def add(self, paths: Iterable[str]) -> None:
        """Note files that were read before this process was forked."""
        self._paths.update(dict.fromkeys(paths))

    @contextlib.contextmanager
    def noting(self) -> Iterator[None]:
        """Note the files that are opened for reading, or are missing, inside of the block."""
        self._noting, stat = True, os.stat

        def stat_and_note(path: object, **options: Any) -> os.stat_result:
            try:
                return stat(path, **options)  # type: ignore[arg-type]
            except (FileNotFoundError, NotADirectoryError):
                self._note(path)
                raise

        # os.path.exists calls os.stat, and Python has no event for that. Modules such as shutil
        # look in these sets for what a function supports.
        abilities = [
            functions
            for functions in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks)
            if stat in functions
        ]
        for functions in abilities:
            functions.add(stat_and_note)
        os.stat = stat_and_note
        try:
            yield
        finally:
            self._noting, os.stat = False, stat
            for functions in abilities:
                functions.remove(stat_and_note)

    def paths(self, roots: Iterable[str]) -> list[str]:
        """Return the files that were read, and paths below the roots that are missing.

        Modules are among them. Files of the env and of the machine are not, nor is bytecode.
        """
        tree = tuple(os.path.join(root, "") for root in roots)
        return [
            path
            for path in self._paths
            if (os.path.isfile(path) or (path.startswith(tree) and not os.path.exists(path)))
            and not os.path.realpath(path).startswith(self._others)
            and os.path.basename(os.path.dirname(path)) != "__pycache__"
        ]

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        # A missing file that is opened with O_CREAT is no file that was asked for in vain.
        if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_CREAT):
            self._note(arguments[0])

    def _note(self, path: object) -> None:
        if self._noting and isinstance(path, (str, bytes, os.PathLike)):
            self._paths[os.path.abspath(os.fsdecode(path))] = None


class LoadedFiles:
    """The loaded files, with the inode, the size and the time of the last change of each."""

    def __init__(self, files: Iterable[str]) -> None:
        """Remember the files of every imported module, and ``files`` besides."""
        modules = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        self._stamps = {path: _stamp(path) for path in {*modules, *files} if path}

    def have_changed(self) -> bool:
        """Whether one of the files has changed since. Takes about a millisecond."""
        return any(_stamp(path) != stamp for path, stamp in self._stamps.items())


def file_of(name: str) -> str | None:
    """Return the file of an imported module, if it has one."""
    # Modules are read through their dictionaries, because access to an attribute can run code.
    path = getattr(sys.modules.get(name), "__dict__", {}).get("__file__")
    return path if isinstance(path, str) else None


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def write_bytecode_inside(folder: str) -> None:
    """Make imports write bytecode only in ``folder``, the env's own, and none beside users' files.

    Without bytecode each process that imports PyTorch compiles its 1,900 modules again.
    """
    write = SourceFileLoader.set_data

    def write_inside(loader: SourceFileLoader, path: str, data: bytes, **options: int) -> None:
        if path.startswith(folder + os.sep):
            write(loader, path, data, **options)

    SourceFileLoader.set_data = write_inside  # type: ignore[assignment]


def check_threads(what: str) -> None:
    """Raise RuntimeError if this process has several threads. ``what`` names the step before."""
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("%s leaves threads, and a process with threads cannot be forked" % what)


class Beginning:
    """The files that a package's import read, its warnings, and the modules that were there before.

    The import of each module of the package would have read and caused the same.
    """

    def __init__(self) -> None:
        self.read: list[str] = []
        self.warnings: list[warnings.WarningMessage] = []
        self.env_modules = frozenset(
            name for name in list(sys.modules) if (file_of(name) or "<").startswith(OF_THE_ENV)
        )
        """Names of the env's modules that the server has imported. No kernel imported them."""

    @classmethod
    def of(
        cls, package: Document, toolchain: Adapter, folder: str, outer: Beginning | None = None
    ) -> Beginning:
        """Import a package. ``outer`` is the import of the package around it, if there is one.

        If the package itself fails, each of its modules fails with the same error. Raises errors of
        the machine. Raises RuntimeError if the import leaves threads, or modules of a part that
        failed.
        """
        write_bytecode_inside(sys.prefix)
        outer = outer or cls()
        beginning = cls()
        beginning.env_modules = outer.env_modules
        opened = OpenedFiles(folder)
        opened.add(outer.read)
        toolchain.set_target(package["target"])
        path = os.path.join(package["root"], *package["name"].split("."), "__init__.py")
        before = set(sys.modules)
        source = load_standin().ImportedSource(
            path, package["roots"], package["name"], package["target"], toolchain.name
        )
        with warnings.catch_warnings(record=True) as caught, opened.noting():
            warnings.simplefilter("always")
            source.begin()
        check_threads("importing it")
        if orphans := load_standin().orphans(before):
            raise RuntimeError(
                "%s stayed imported, though the import of its package failed" % orphans[0]
            )
        beginning.read = opened.paths(package["roots"])
        beginning.warnings = [*outer.warnings, *caught]
        return beginning
