"""Begins recording. Python runs this before a program if ``PYTHONPATH`` has this folder."""

import importlib.util
import json
import os
import sys

folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
spec = importlib.util.spec_from_file_location("_loom_recorder", os.path.join(folder, "__init__.py"))
assert spec
assert spec.loader
recorder = sys.modules["_loom_recorder"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recorder)
recorder.begin(json.loads(os.environ[recorder.VARIABLE]))
