"""The common part of all recorders: when replacements in a process are made and removed."""

from __future__ import annotations

import atexit
import os
import platform
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .functions import Forms, Functions
from .imports import Imports
from .journal import Journal, UnwritableArgument, of_launch

if TYPE_CHECKING:
    from ..foreign import Document, Value


class Recording:
    """A recording in this process. Each toolchain has a subclass."""

    package = ""
    """The toolchain's imported package."""

    def __init__(self, settings: Document, forms: Forms) -> None:
        self.settings = settings
        self.journal = Journal(settings["folder"])
        self.functions = Functions(self.journal, forms)
        self.now = threading.local()
        """The state of the launch in flight in a thread."""
        self._undo: list[Callable[[], None]] = []
        self._launch_counts: dict[str, int] = {}
        """Kind of launches → how many there were."""
        self._roles: set[tuple[str, object]] = set()
        self._omissions: set[tuple[str, str, str]] = set()
        self._lock = threading.Lock()
        self.imports = Imports(self._not_imported)

    def begin_recording(self, module: ModuleType) -> None:
        """Begin to record a toolchain that has been imported."""
        raise NotImplementedError

    def release_of(self, module: ModuleType) -> str:
        """The release of a toolchain that has been imported."""
        return str(module.__version__)

    def ending(self) -> None:
        """Finish the recording at the end of the program, in the process that began it."""

    def start(self) -> None:
        """Begin, for modules that are already imported and for later imports."""
        self.imports.after(self.package, self._record_process)
        self.imports.after("torch", self._torch)
        if self.settings["fake"]:
            from ...pytorch.device import compiler, program

            driver = self.settings.get("driver")
            if driver:
                self.imports.before(
                    "torch", lambda: compiler.load_driver(driver, self.settings["target"])
                )
            self.imports.after(
                "numpy.testing",
                lambda module: program.agree(self, module, program.NUMPY_COMPARISONS),
            )
            self.imports.after(
                "_pytest.python", lambda module: program.agree_in_tests(self, module)
            )
        self.imports.start()
        atexit.register(self._end)

    def stop(self) -> None:
        """Finish the recording with its compiles for comparison, and undo all replacements."""
        atexit.unregister(self._end)
        self._end()
        self.imports.stop()
        while self._undo:
            self._undo.pop()()

    def replace(self, owner: Any, name: str, value: Value) -> None:
        """Replace an attribute until the recording ends."""
        missing = object()
        before = (
            vars(owner).get(name, missing)
            if hasattr(owner, "__dict__")
            else getattr(owner, name, missing)
        )

        def undo() -> None:
            if before is missing:
                delattr(owner, name)
            else:
                setattr(owner, name, before)

        setattr(owner, name, value)
        self._undo.append(undo)

    def record_omission(self, module: str, name: str, why: str) -> None:
        """Write down a function whose kernels are not recorded, and why, once."""
        if (module, name, why) not in self._omissions:
            self._omissions.add((module, name, why))
            self.journal.write(r="unrecorded", module=module, name=name, why=why)

    def inspect(self, account: Callable[[], Any], omit: Callable[[str], None]) -> Any:
        """Return the account of a launch.

        If the launch cannot be written down, call ``omit(why)`` and return ``None``.
        """
        try:
            return account()
        except UnwritableArgument as error:
            omit(str(error))
        # A value may raise anything when it is inspected, and the program must not notice.
        except Exception as error:
            omit("has an argument that cannot be inspected (%s)" % type(error).__name__)
        return None

    def count_launch(
        self, kind: str, launch: Callable[[], Document], role: str | None = None, **facts: object
    ) -> None:
        """Write down the first launch of a kind, and later their number.

        ``launch()`` is the record of the launch. The number is written at powers of two, and for
        the first launch with another role in tuning. ``facts`` are in both records.
        """
        with self._lock:
            count = self._launch_counts[kind] = self._launch_counts.get(kind, 0) + 1
            is_new = (kind, role) not in self._roles
            self._roles.add((kind, role))
        if count == 1:
            self.journal.write(
                r="launch", key=kind, place=of_launch(self.package), tuned=role, **facts, **launch()
            )
        elif is_new or count & (count - 1) == 0:
            self.journal.write(r="count", key=kind, launches=count, tuned=role, **facts)

    def record_failure(self, key: str | None, error: Exception) -> None:
        """Write down the failure of the launch with this key, if it is written down."""
        if key is not None:
            self.journal.write(r="failed", key=key, error=type(error).__name__)

    def finally_do(self, undo: Callable[[], None]) -> None:
        """Have ``undo()`` called when the recording ends."""
        self._undo.append(undo)

    def _record_process(self, module: ModuleType) -> None:
        assert module.__file__  # a toolchain is not a namespace package
        self.journal.write(
            r="process",
            release=self.release_of(module),
            python=platform.python_version(),
            executable=sys.executable,
            prefix=sys.prefix,
            toolchain=os.path.dirname(os.path.abspath(module.__file__)),
        )
        self.begin_recording(module)

    def _not_imported(self, name: str, why: str) -> None:
        if name == self.package:
            self.journal.write(r="not_imported", why=why)

    def _torch(self, torch: ModuleType) -> None:
        self.journal.write(r="framework", version=str(torch.__version__))
        if self.settings["fake"]:
            from ...pytorch.device import program

            program.install(self, torch, self.settings["target"])

    def _end(self) -> None:
        # A fork has nothing to compare that its parent does not have.
        if os.getpid() == self.journal.process:
            self.ending()
        self.journal.write(r="end")
