"""Which cells each of several runs compiles that share a matrix. Pure.

What stays together is a kernel in one variant and case, on all envs and for all targets: what is concluded from several releases is
concluded in one shard, and a kernel is interpreted in one. Where it goes depends on its name alone, neither on other cells, their
order nor any path, so that adding cells moves no other.
"""

from __future__ import annotations

import hashlib
import re
from typing import Self

from attrs import frozen

from compat.errors import SelectionError
from compat.model import Env, Specialization

MOST = 10_000
"""Shards that there can be."""


@frozen(kw_only=True)
class Shard:
    """One of several shards, the first of which has the number 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """The shard that ``3/8`` means. Raises SelectionError."""
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text.strip(), re.ASCII)
        number, of = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= of <= MOST:
            hint = f"The third of eight is 3/8; there are at most {MOST:,}."
            raise SelectionError(f"{text!r} is no shard", where="--shard", hint=hint)
        return cls(number=number, of=of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, spec: Specialization) -> bool:
        """Whether the cells of a kernel in one variant and case belong to it."""
        return self._has(f"{spec.kernel}/{spec.variant}/{spec.case}")

    def has_pair(self, env: Env) -> bool:
        """Whether it is the one that tries an env as a pair of a PyTorch and a release."""
        return self._has(f"pair/{env.name}")

    def _has(self, name: str) -> bool:
        digest = hashlib.sha256(name.encode("utf-8", "backslashreplace")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1
