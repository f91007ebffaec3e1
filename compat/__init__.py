"""Triton-version compatibility: what compiles on every release, what fails, since when and why.

``with compat.capture("captured"):`` writes kernel files of what a program launches inside of the
block. It is :func:`compat.capturing.capturing.capture`, which is imported when it is first called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from compat.capturing.capturing import capture as capture
else:

    def capture(*arguments, **options):
        """See :func:`compat.capturing.capturing.capture`."""
        from compat.capturing.capturing import capture

        return capture(*arguments, **options)
