"""What came of a repro, as JSON values."""

from __future__ import annotations

from compat.cell_document import JsonObject, cell_document
from compat.repro.request import Unverified, Written


def outcome_document(outcome: Written | Unverified, command: str) -> JsonObject:
    """The files that were written and the cell that they are about; or why nothing was, and where the evidence is.

    ``command`` does the same once more, for this cell alone.
    """
    if isinstance(outcome, Written):
        finding = outcome.finding
        files = [str(path) for path in outcome.paths]
        return {"verified": True, "title": finding.title, "files": files, "cell": cell_document(finding.result), "command": command}
    return {"verified": False, "reasons": list(outcome.reasons), "evidence": str(outcome.evidence), "command": command}
