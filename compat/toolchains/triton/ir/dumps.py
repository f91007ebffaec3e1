"""Triton's IR: reading its dumps, names of passes, parts of the compiler, and reproducers.

With ``MLIR_ENABLE_DUMP``, Triton prints a heading and the IR before every pass.
:mod:`compat.toolchains.mlir` reads dumps. A reproducer that MLIR wrote before a whole pipeline is
cut down to one pass. Pure.
"""

from __future__ import annotations

import re
from pathlib import Path

from packaging.version import InvalidVersion, Version

from compat.diagnosis.pipeline import CompilerOutput, OutputReader
from compat.model import BuiltEnv, CompletedAction, Evidence, RaisedException, Target
from compat.text import lazy_pattern
from compat.toolchains.base import Assembler, CompilerParts, IntermediateForms
from compat.toolchains.mlir import dumps
from compat.toolchains.mlir.canonical import canonical_code, canonical_llvm
from compat.toolchains.nvidia import ptxas

_AFFIXES = lazy_pattern(
    r"^(?:triton-?nvidia-?gpu|triton-?amd-?gpu|triton-?gpu|triton-?nvidia|triton|nvgpu)-?|-?(?:pass|nv)$"
)
"""Parts of pass names that releases add, change or drop, in lower case."""


def read(text: str) -> CompilerOutput:
    """Parse the printed text of a compile with Triton."""
    return dumps.read(text, pass_key)


def pass_key(name: str) -> str:
    """Return the part of a pass's name that is the same in every release."""
    return re.sub(r"\W", "", _AFFIXES.sub("", name.lower()))


_TIMING = lazy_pattern(
    r"^ *(?P<first>-?\d+\.\d+) \( *-?[\d.]+%\)(?: +(?P<second>-?\d+\.\d+) \( *-?[\d.]+%\))?"
    r" +(?P<name>[A-Za-z]\w*)$",
    re.MULTILINE,
)
"""A line of ``MLIR_ENABLE_TIMING``: wall time, or user time before it.

Pipelines are in quotes, and analyses in brackets.
"""
_SUMS = frozenset({"Rest", "Total"})
_ARGUMENTS = {"canonicalizer": "canonicalize", "inliner": "inline"}
"""The name of a pass in timings → its name in dumps, if the two differ."""
_ALL_PASSES = lazy_pattern(r"^ +Total Execution Time: (\d+\.\d+) seconds$", re.MULTILINE)


def pass_seconds(text: str) -> tuple[dict[str, float], float | None]:
    """Return seconds by pass, with the names that releases share.

    The second value has the seconds of all passes if the times are wall time.
    """
    seconds: dict[str, float] = {}
    lines = [line for line in _TIMING.finditer(text) if line["name"] not in _SUMS]
    for line in lines:
        key = pass_key(line["name"])
        name = _ARGUMENTS.get(key, key)
        seconds[name] = seconds.get(name, 0.0) + float(line["first"])
    return seconds, (
        None
        if any(line["second"] for line in lines)
        else sum(map(float, _ALL_PASSES.findall(text)))
    )


READER = OutputReader(
    sources=(Path(__file__), *dumps.SOURCES),
    heading=dumps.HEADING_BEGINS,
    suffix="mlir",
    front_end=("ast",),
    hides_frames=True,
    read=read,
    failed_passes=dumps.failed_passes,
    operation=dumps.operation,
    kernel_line=dumps.kernel_line,
    pass_key=pass_key,
    pass_seconds=pass_seconds,
)


# --- reproducers ----------------------------------------------------------------------------------


_FOLDER = lazy_pattern(r'(?<=")/[^"\n]*/(?=[^"/\n]+")')
"""The folder before a file's name in ``loc("/home/me/kernel.py":3:0)``."""
_PIPELINE = lazy_pattern(r'(?P<before>pipeline: ")(?P<pipeline>(?:[^"\\]|\\.)*+)(?P<after>")')


def one_pass(reproducer: str, ir: str, name: str) -> str | None:
    """Return a reproducer that runs only the pass ``name`` on ``ir``, the IR just before it.

    The pass keeps the options that it has in ``reproducer``. Locations lose their folders. Returns
    ``None`` if the pipeline has no such pass, or several with different options, because then the
    right one is unknown.
    """
    match = _PIPELINE.search(reproducer)
    if match is None:
        return None
    begin = reproducer.rfind("{-#", 0, match.start())
    if begin < 0:
        return None
    passes = {step for step in _flat(match["pipeline"]) if _name(step) == name}
    if len(passes) != 1:
        return None
    footer, start = reproducer[begin:], match.start("pipeline") - begin
    end = start + len(match["pipeline"])
    pipeline = f"builtin.module({passes.pop()})"
    return f"{_FOLDER.sub('', ir.strip())}\n\n{footer[:start]}{pipeline}{footer[end:]}"


def _name(pass_: str) -> str:
    """Return the name of a pass, such as ``cse`` of ``cse{max-iterations=10}``.

    For a pass that is nested in ``tt.func(…)``, it is the name of the innermost one.
    """
    return re.sub(r"\{.*|^[\w.]+\(|\)+$", "", pass_)


def _flat(pipeline: str) -> list[str]:
    """Return the passes of a pipeline in one list.

    ``builtin.module(a{x=1 y=2},tt.func(b,c))`` gives ``a{x=1 y=2}``, ``tt.func(b)``,
    ``tt.func(c)``.
    """
    flat: list[str] = []
    for part in _split(_inside(pipeline)):
        anchor = part.partition("(")[0]
        if "(" in part and "{" not in anchor:
            flat += [f"{anchor}({inner})" for inner in _split(_inside(part))]
        else:
            flat.append(part)
    return flat


def _inside(text: str) -> str:
    return text[text.index("(") + 1 : text.rindex(")")] if "(" in text and ")" in text else text


def _split(text: str) -> list[str]:
    """Return the parts between commas outside brackets."""
    parts: list[list[str]] = [[]]
    depth = 0
    for character in text:
        depth += (character in "({[") - (character in ")}]")
        if character == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(character)
    return [part for pieces in parts if (part := "".join(pieces).strip())]


_BIN = "lib/python*/site-packages/triton/backends/nvidia/bin"


def ptxas_of(built: BuiltEnv, target: Target) -> Path | None:
    """Return the assembler that an env's Triton uses for a target.

    Some releases from 3.3 on have two assemblers.
    """
    if built.python is None or target.backend != "cuda":
        return None
    folder = next(Path(built.python).parent.parent.glob(_BIN), None)
    if folder is None:
        return None
    newer, older = folder / "ptxas-blackwell", folder / "ptxas"
    path = newer if newer.exists() and int(target.arch) >= _first_of_newer(built) else older
    return path if path.exists() else None


def _first_of_newer(built: BuiltEnv) -> int:
    """Return the first architecture that ``ptxas-blackwell`` assembles.

    Since 3.9 the name is a misnomer.
    """
    try:
        release = Version(built.release or "").release
    except InvalidVersion:
        return 100
    return 90 if release >= (3, 9) else 100


def _evidence(code: int, printed: str, has_output: bool) -> Evidence:
    """Return the evidence of an assembler's run, with the messages that releases use."""
    if code == 0 and has_output:
        return Evidence(answered=True, done=(CompletedAction(do="compile"),), stage="cubin")
    failed = f"`ptxas` failed with error code {code}\n" if code < 0 else ""
    raised = RaisedException(type="RuntimeError", message=f"{failed}`ptxas` stderr:\n{printed}")
    return Evidence(answered=True, stage="cubin", raised=(raised,))


PARTS = CompilerParts(
    passes="MLIR passes",
    backend="LLVM",
    linker="linker (ld.lld, of LLVM)",
    front_end=("ast",),
    first_ir="ttir",
    last_ir="ttgir",
    low_ir="llir",
    low_ir_title="LLVM IR",
    canonical_low_ir=canonical_llvm,
    canonical_code=canonical_code,
    backend_stages=("ptx", "amdgcn", "hsaco"),
    not_optimized={"DISABLE_LLVM_OPT": "1"},
    assembler=Assembler(
        name="ptxas",
        stage="cubin",
        input_stage="ptx",
        # All variables that releases read. 3.3 spells the second with a hyphen.
        variables=(
            "TRITON_PTXAS_PATH",
            "TRITON_PTXAS_BLACKWELL_PATH",
            "TRITON_PTXAS-BLACKWELL_PATH",
        ),
        of=ptxas_of,
        command=ptxas.command,
        evidence=_evidence,
        kill_message=lazy_pattern(
            r"`ptxas` failed with error code (?:-(?:[1239]|15|2[45])|129|13[01]|137|143|15[23])\b"
            r"|died with <Signals\.SIG(?:KILL|TERM|INT|HUP|QUIT|XCPU|XFSZ)"
        ),
        wheels=ptxas.WHEELS,
    ),
)

IR = IntermediateForms(
    texts=("ttir", "ttgir", "llir", "ptx", "amdgcn"), parts=PARTS, cut_reproducer=one_pass
)
