"""``python -m compat.cli`` is the command ``compat``."""

from compat.cli import main

main(prog_name="compat")
