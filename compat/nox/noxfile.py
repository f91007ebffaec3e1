"""The noxfile that commands have nox build environments with, wherever a project's ``matrix.toml`` lies."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # this very package, whether it is installed or not

from compat.nox import sessions

sessions()
