"""Writes the names that the loom defines to the file in its argument. It runs inside an env."""

import json
import sys

import loom

threads = {"name": "threads", "kind": "positional or keyword", "default": "1"}
names = {"loom": {"kind": "module"}, "loom.pattern": {"kind": "function", "parameters": [threads]}}
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump({"schema": 1, "version": loom.__version__, "names": names}, file)
