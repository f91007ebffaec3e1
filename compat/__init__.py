"""Triton-version compatibility: what compiles on every release, what fails, since when and why.

``with compat.capture("captured"):`` writes kernel files of the kernels that a program launches
inside the block. It calls :func:`compat.capturing.capturing.capture`, and imports it only then.
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
