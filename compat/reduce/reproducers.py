"""MLIR's reproducers of a reduced kernel, each cut down to the pass that fails."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from compat.errors import StoreError
from compat.execution.obtaining import obtain_or_warn
from compat.execution.store import Store
from compat.files import replace_file
from compat.model import Result
from compat.reduce.passes import one_pass


def write_reproducers(results: Iterable[Result], store: Store, path: Path) -> tuple[Path, ...]:
    """Write ``NAME.ENV.mlir`` beside ``path``, the kernel's, for each result with a pass that fails and a reproducer that is kept.

    Raises StoreError where one cannot be written.
    """
    texts = {path.with_suffix(f".{result.cell.env.name}.mlir"): _one_pass(result, store) for result in results}
    written = [beside for beside, text in texts.items() if text is not None]
    for beside in written:
        try:
            replace_file(beside, texts[beside] or "")
        except OSError as error:
            raise StoreError(f"the reproducer cannot be written: {error}", where=str(beside)) from error
    return tuple(written)


def _one_pass(result: Result, store: Store) -> str | None:
    failure = result.outcome.failure
    if failure is None or not (failure.pass_ and failure.reproducer and failure.ir):
        return None
    obtain_or_warn(store, (failure.reproducer, failure.ir), "what is written")
    whole, ir = (store.artifact(name) for name in (failure.reproducer, failure.ir))
    if whole is None or ir is None:  # removed since, or gone with a worker
        return None
    return one_pass(whole.decode(errors="replace"), ir.decode(errors="replace"), failure.pass_)
