"""The record of packages with stand-ins, of the stand-ins' answers, and of what was left out."""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...inside.foreign import Document

_MOST = 50
"""Maximum number of entries of one kind in the evidence."""
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Ledger:
    """The facts of one process, which imports the modules of one kernel's tree for one target."""

    def __init__(self) -> None:
        self.roots: tuple[str, ...] = ()
        """Folders of the tree, each with a separator at its end."""
        self.packages: dict[str, str] = {}
        """Package with a stand-in → the version that the stand-in reports, or an empty string."""
        self.target: Document = {}
        self.toolchain = ""
        """Name under which the toolchain is imported."""
        self.refusals = 0
        """Number of requests for a value that no stand-in knows."""
        self.refused = ""
        """The last value that was refused, such as ``torch.ops``."""
        self.refusal = ""
        """Message of the last refusal."""
        self.elsewhere = False
        """Whether the effects of a refusal are unknown, because it was in another thread or because
        the effects reach too many values.
        """
        self.begun: tuple[list[str], Document] | None = None
        """Roots and target for which a package was imported before any of its modules was
        requested.
        """
        self.package = ""
        """Name of that package."""
        self.failure: BaseException | None = None
        """The error of its import, if it failed."""
        self.late = False
        """Whether a stand-in replaced a package after modules had found it absent."""
        self.missing: dict[str, dict[str, BaseException]] = {}
        """Module → name that a failed statement would have set → the reason for the failure; ``*``
        for unknown names.
        """
        self._answers: dict[str, None] = {}
        self._skipped: dict[str, None] = {}

    def begin(self) -> None:
        """Delete the entries of an import that failed, before it is tried in another way."""
        self.missing.clear()
        self.refusals, self.elsewhere, self.late = 0, False, False
        self._answers.clear()
        self._skipped.clear()

    def in_tree(self, path: str) -> bool:
        """Return whether a file or folder is part of the tree.

        Packages that are installed below its root, in ``site-packages``, are not.
        """
        return any(
            path.startswith(root) and "/site-packages/" not in path[len(root) - 1 :]
            for root in self.roots
        )

    def has_package(self, name: str) -> bool:
        """Return whether the tree has a package with this name at its top."""
        return any(os.path.isfile(os.path.join(root, name, "__init__.py")) for root in self.roots)

    def record_answer(self, question: str, answer: object, assumed: bool = False) -> None:
        """Record a stand-in's answer, with the line of the tree that asked.

        Questions from outside the tree are not recorded.
        """
        place = place_in_tree()
        if place:
            how = "assumed to be" if assumed else "is"
            self._answers.setdefault("%s %s %r (%s)" % (question, how, answer, place))

    def record_failed_statement(self, place: str, error: BaseException) -> None:
        """Record a statement that failed."""
        try:
            message = str(error).strip().split("\n", 1)[0][:200]
        except Exception:
            message = ""
        self._skipped.setdefault("%s: %s: %s" % (place, type(error).__name__, message))

    def all_entries(self) -> Document | None:
        """Return all entries for the driver.

        Returns ``None`` if no stand-in was used and nothing was left out.
        """
        if not self.packages and not self._skipped:
            return None
        return {
            "packages": [
                "%s %s" % (name, version) if version else name
                for name, version in sorted(self.packages.items())
            ],
            "answers": _first_lines(self._answers),
            "skipped": _first_lines(self._skipped),
        }


def _first_lines(entries: dict[str, None]) -> list[str]:
    lines = list(entries)
    return (
        lines if len(lines) <= _MOST else [*lines[:_MOST], "… and %d more" % (len(lines) - _MOST)]
    )


def place_in_tree() -> str:
    """Return the line of the tree that is running, such as ``act.py:12``, or an empty string."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        if LEDGER.in_tree(path) and not path.startswith(_OURS):
            return "%s:%d" % (short(path, LEDGER.roots), frame.f_lineno)
        frame = frame.f_back
    return ""


def short(path: str, roots: tuple[str, ...]) -> str:
    """Return a path relative to its root, and the file's name for a path outside all roots."""
    return next(
        (path[len(root) :] for root in roots if path.startswith(root)), os.path.basename(path)
    )


def is_of_tree(kind: type) -> bool:
    """Return whether a module of the tree defines a class."""
    return is_in_tree(sys.modules.get(kind.__module__))


def is_in_tree(module: object) -> bool:
    """Return whether something is a module of the tree.

    Only its dictionary is read, because asking a module for an attribute can run its own code.
    """
    path = getattr(module, "__dict__", {}).get("__file__")
    return isinstance(path, str) and LEDGER.in_tree(path)


LEDGER = Ledger()
"""The ledger of this process."""
