"""The places that take input from others.

Each place has the inputs that others may give, and what this program does with them. With any
input, the program continues or raises one usage error (:class:`compat.errors.CompatError`). Any
other exception is a failure.
"""

from __future__ import annotations

import json
import socket
import struct
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

from attrs import asdict, evolve, frozen
from hypothesis import strategies as st
from packaging.version import Version

from compat.bisect import bisecting, candidates
from compat.bisect.criterion import parse_criterion
from compat.bundle.bundle import bundle
from compat.config.kernel_files import load_kernels
from compat.config.matrix import load_matrix
from compat.config.selection import select_envs, select_specs, select_targets
from compat.diagnosis import classify, pipeline
from compat.envs import index, listing
from compat.envs.cache import EnvCache
from compat.envs.listing import Listing
from compat.envs.record import kept_envs, read_env
from compat.errors import CompatError
from compat.history.foresight import pace_ratio
from compat.history.verdict import verdicts
from compat.launch.building import identity_of, problem_digest
from compat.launch.merging import merge, merge_summary, with_launched
from compat.model import (
    BuiltEnv,
    Cell,
    CompileSpec,
    CompletedAction,
    Env,
    Evidence,
    Expectation,
    Failure,
    Outcome,
    Problem,
    Result,
    Specialization,
    Status,
)
from compat.model.evidence import (
    read_metrics,
    read_raised,
    read_stages,
    read_warnings,
    within_bounds,
)
from compat.model.outcome import cell_document
from compat.processes.supervisor import ProcessResult
from compat.reduce.module import extract_functions
from compat.report.document import dump, matrix_document
from compat.report.loading import load_report
from compat.report.render.ci import code_quality, findings, junit_xml, workflow_commands
from compat.report.render.markdown import code, escape, fence, prose
from compat.report.summary.compact import one_line
from compat.report.summary.comparing import ReportSide, compare
from compat.report.summary.record import Report
from compat.report.views.diff import LIMIT, diff_document, diff_lines, diff_markdown
from compat.report.views.matrix_markdown import matrix_markdown
from compat.repro import issue, verify
from compat.repro.verify import failure_of
from compat.source.closure import read_source
from compat.source.parsing import compiles
from compat.store import database
from compat.store import store as store_of
from compat.store.database import StoredRow
from compat.store.keys import cell_key
from compat.store.store import Store
from compat.text import printable, read_json, write_json
from compat.toolchains import DEFAULT
from compat.toolchains.base import CannotLaunch
from compat.toolchains.mlir import canonical
from compat.toolchains.nvidia.instructions import KINDS
from compat.toolchains.nvidia.pace import pace_of
from compat.toolchains.triton.device.launching import LAUNCHING
from compat.toolchains.triton.failures import KNOWLEDGE
from compat.toolchains.triton.ir import dumps
from compat.workers import client
from compat.workers.client import Lines, WorkerClient
from tests.fuzz.inputs import (
    OUTPUT,
    TEXTS,
    VALUES,
    damaged,
    damaged_bytes,
    json_of,
    json_texts,
    sources,
    toml_texts,
)
from tests.report.drawn import matrix_text
from tests.targets import TARGETS

ENV = Env(name="triton-3.1.0", release=Version("3.1.0"))
BUILT = BuiltEnv(env=ENV, python="/env/bin/python", python_version="3.11.7", digest="d1")
SPEC = Specialization(
    kernel="k",
    variant="v",
    case="c",
    source="/k/k.py",
    function="kernel",
    compile=CompileSpec(signature={"x": "*fp32"}, constexprs={}),
    origin="k.toml",
)
CELL = Cell(env=ENV, target=TARGETS["sm_90"], spec=SPEC)
PROBLEM = Problem(source="/k/p.py", function="p", closure="c", dtype="fp32", parameters={})


@frozen(kw_only=True)
class Place:
    """A place that takes input from others."""

    inputs: st.SearchStrategy[Any]
    act: Callable[[Any, Path], None]
    """Called with an input and the path of an empty folder; raises an exception for a failure."""
    share: int = 10
    """How many of the inputs the place gets, in proportion to the other places."""


# --- checks of the output -------------------------------------------------------------------------


def shown(text: str) -> None:
    """Fails if a text cannot be written, or if a terminal would obey it."""
    text.encode("utf-8")
    assert printable(text) == text, f"shown raw: {text[:200]!r}"


def as_json(text: str) -> Any:
    """Fails if a text is not JSON for every reader, or is not safe to look at."""
    shown(text)

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def reported(*attempts: Evidence) -> None:
    """Makes everything that is made of evidence: outcome, documents, reports, promise."""
    outcome = classify.classify(attempts, target=CELL.target, knowledge=KNOWLEDGE)
    result = Result(cell=CELL, built=BUILT, outcome=outcome)
    as_json(dump(cell_document(result)))
    as_json(write_json([asdict(evidence) for evidence in attempts]))
    if outcome.failure:
        shown(outcome.failure.excerpt)
        verify.promise(
            verify.sayings(attempts[-1], KNOWLEDGE), [verify.searched_output(attempts[-1])]
        )
        for text in (outcome.failure.excerpt, outcome.failure.advice):
            shown(escape(text) + prose(text) + code(text) + fence(text) + one_line(text))
    if (
        zlib.crc32(repr(outcome).encode("utf-8", "backslashreplace")) % _SAMPLED == 0
    ):  # whole reports take some hundredths of a second
        report = Report(
            results=(result,),
            verdicts=verdicts([result]),
            envs=(BUILT,),
            command="compat matrix",
            seconds=1.0,
        )
        shown(matrix_markdown(report))
        shown(matrix_text(report))


_SAMPLED = 50
"""One of this many outcomes gets a whole report, which takes some hundredths of a second."""


# --- the worker -----------------------------------------------------------------------------------

_DONE = {
    "event": "done",
    "nonce": "n",
    "actions": [
        {"do": "compile", "made": {"ttir": {"bytes": 7, "sha256": "0" * 64}}, "requires": []}
    ],
    "output": 120,
    "stages": {"source": 0.1, "ast": 0.2},
    "metrics": {"shared": 1024, "registers": 30, "artifacts": {"ttir": 100, "cubin": 2000}},
    "warnings": [{"type": "DeprecationWarning", "message": "old"}],
    "raised": [
        {
            "type": "triton.compiler.errors.CompilationError",
            "message": "at 1:2:\n  x\n  ^\nNameError('b')",
            "traceback": "x",
        },
        {"type": "ValueError", "message": "incompatible dimensions"},
    ],
    "imported": ["/k/k.py"],
}


def _events(data: bytes, _: Path) -> None:
    lines = Lines()
    for at in range(0, len(data), 7):
        for line in lines.add(data[at : at + 7] if len(data) < 5000 else data):
            _event(line)
        if len(data) >= 5000:
            break


def _event(line: bytes) -> None:
    message = client.json_object(line)
    client.pid_of(message)
    client.ending_of(message)
    client.offset(message.get("output"))
    answer = client.answer_of(message)
    if answer is not None:
        evidence = Evidence(answered=True, **answer[0])
        assert within_bounds(evidence) == evidence
        assert database.attempts_of(database.row_of("k", DEFAULT, [evidence])) == (evidence,)
        reported(evidence)


_HELLO = {
    "event": "ready",
    "toolchain": "triton",
    "version": "3.1.0",
    "python": "3.11.7",
    "pid": 4711,
    "threads": 1,
    "seconds": 0.1,
}


def _hello(packet: bytes, _: Path) -> None:
    client_socket, worker_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with client_socket, worker_socket:
        with suppress(OSError):
            worker_socket.send(packet[:100_000])
        worker_socket.shutdown(socket.SHUT_WR)
        hello = WorkerClient(client_socket, timeout=5).hello
    reported(Evidence(answered=False, toolchain_broken=True, raised=hello.raised))


# --- kept files -----------------------------------------------------------------------------------

_ROW = {
    "answered": True,
    "stage": "ttgir",
    "entered": 0.25,
    "raised": [{"type": "RuntimeError", "message": "PassManager::run failed"}],
    "printed": "k.py:1:2: error: 'tt.dot' op x\n",
    "in_flight": "/k/k.py:3",
    "in_passes": True,
    "at": "/k/k.py:4",
    "quoted": {"/k/k.py:3": "    tl.dot(a, b)"},
    "seconds": 0.5,
    "stages": {"source": 0.1},
    "metrics": {"shared": 1024, "artifacts": {"ttir": 10}},
    "warnings": [{"type": "DeprecationWarning", "message": "old"}],
    "artifacts": {"ttir": "a.ttir"},
    "protocol": ["odd"],
}


def _row(text: str, _: Path) -> None:
    row = StoredRow(key="k", toolchain="triton", attempts=text, readings=text)
    attempts = database.attempts_of(row)
    if attempts:
        reported(
            *(
                pipeline.add_diagnosis(
                    attempt, dumps.READER.read(attempt.printed), None, dumps.READER
                )
                for attempt in attempts
            )
        )
        reported(*(database.as_read(row, attempts) or attempts))
        store_of.cut_short(attempts, 60.0, 1 << 30)


@cache
def _database() -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        with Store(Path(folder)) as store:
            for number in range(30):
                store.write(
                    f"k{number}",
                    CELL,
                    (
                        Evidence(
                            answered=True,
                            done=(CompletedAction(do="compile"),),
                            imported=("x" * 500,),
                        ),
                    ),
                )
        return Path(folder, "results.sqlite").read_bytes()


def _damaged_database(edits: list[tuple[float, bytes, float]], folder: Path) -> None:
    data = bytearray(_database())
    for at, piece, cut in edits:
        place = int(at * len(data))
        data[place : place + len(piece)] = piece
        data = data[: int(cut * len(data)) + 1] if cut < 0.3 else data
    (folder / "results.sqlite").write_bytes(data)
    for _ in range(2):
        with suppress(CompatError), Store(folder) as store:
            store.read([f"k{number}" for number in range(30)], deadline=60, memory=1 << 30)
            store.write(
                "new", CELL, (Evidence(answered=True, done=(CompletedAction(do="compile"),)),)
            )
            assert store.read(["new"], deadline=60, memory=1 << 30)


_LAUNCHED = {
    "schema": 1,
    "cell": "k/v/c/sm_90/triton-3.1.0",
    "identity": identity_of(CELL, BUILT),
    "object": "0" * 64,
    "problem": problem_digest(PROBLEM),
    "check": {
        "status": "ok",
        "max_abs": 0.5,
        "max_rel": None,
        "where": "x[0]",
        "reason": "",
        "launches": 60,
        "differing": 0,
    },
    "latency": {"us": 10.0, "spread": 0.1, "baseline_us": 5.0, "ratio": 2.0},
    "device": {"name": "NVIDIA H200"},
}


def _launched(text: str, folder: Path) -> None:
    (folder / "results.jsonl").write_text(text, encoding="utf-8", errors="surrogatepass")
    with Store(folder) as store:
        shown(merge_summary([merge(folder / "results.jsonl", store)]))
        cell = evolve(CELL, spec=evolve(SPEC, problem=PROBLEM))
        (result,) = with_launched(
            [Result(cell=cell, built=BUILT, outcome=Outcome(status=Status.OK, stage="cubin"))],
            store,
        )
        as_json(dump(cell_document(result)))


_METADATA = {
    "fields": {
        "shared": 1024,
        "num_ctas": 2,
        "cluster_dims": [1, 2, 1],
        "global_scratch_size": 8,
        "global_scratch_align": 16,
    },
    "parameters": [["x", "*fp32"], ["n", "i32"]],
    "multiples": {"x": 16},
    "constants": {"one": 1},
    "defaults": {"n": 4},
    "descriptor_options": [],
}
_ASSEMBLY = """.version 8.4
.visible .entry add(
\t.param .u64 .ptr .global .align 1 add_param_0, .param .u32 add_param_1,
\t.param .align 64 .b8 add_param_2[128]
)
.reqntid 128, 1, 1
{
"""


def _launch_facts(texts: tuple[str, str], _: Path) -> None:
    with suppress(CannotLaunch):
        as_json(write_json(LAUNCHING.facts(*texts, SPEC.compile)))


_RECORD = {
    "schema": 1,
    "name": ENV.name,
    "requirements": ["triton==3.1.0"],
    "distributions": ["triton"],
    "specifier": "",
    "fingerprint": "",
    "ok": False,
    "error": "no network",
    "location": "cp311",
    "backend": "uv",
    "interpreter": "/usr/bin/python3",
    "packages": [{"name": "triton", "version": "3.1.0", "digest": "d"}],
    "python": "3.11.7",
}


def _env_record(record: tuple[str, bool], folder: Path) -> None:
    from compat.envs.cache import fingerprint

    text, has_fingerprint = record
    text = (
        text.replace('"fingerprint": ""', f'"fingerprint": "{fingerprint(ENV)}"')
        if has_fingerprint
        else text
    )
    cache = EnvCache(folder)
    path = cache.folder_of(ENV).record
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    built = read_env(ENV, cache)
    for env in kept_envs(cache):
        assert env.error is not None
        shown(env.error)
        as_json(write_json([env.requirements, env.python, env.specifier, env.backend]))
    assert built.error is not None
    shown(built.error)
    outcome = classify.broken_env_outcome(built.error, built.env.toolchain)
    as_json(dump(cell_document(Result(cell=CELL, built=built, outcome=outcome))))


def _last_bisect(text: str, folder: Path) -> None:
    (folder / ".compat").mkdir(exist_ok=True)
    (folder / ".compat" / "last-bisect.json").write_text(
        text, encoding="utf-8", errors="surrogatepass"
    )
    ends = bisecting.read_bad_ends(folder)
    assert all(isinstance(name, str) for name in (*ends.cells, *ends.kernel_files))


# --- the package index ----------------------------------------------------------------------------

_NAME = "triton-3.1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
_LISTED = {
    "meta": {"api-version": "1.1"},
    "files": [
        {
            "filename": _NAME,
            "requires-python": ">=3.9",
            "yanked": False,
            "upload-time": "2024-10-14T16:05:32.100Z",
            "url": "x",
        },
        {"filename": "triton-3.0.0.tar.gz", "requires-python": None, "yanked": "withdrawn"},
    ],
}
_LINK = f'<a href="../x/{_NAME}#sha256=1" data-requires-python="&gt;=3.9" data-yanked="">n</a>'
_PAGE = f"<!DOCTYPE html><html><body>{_LINK}<br/></body></html>"


def _index(page: tuple[str, str], _: Path) -> None:
    kind, text = page
    try:
        files = index.read_page(
            text.encode("utf-8", "surrogatepass"), kind, "http://index/simple/x/"
        )
    except ValueError:
        return  # becomes IndexUnavailable
    _of_listing(Listing(files=files))


def _of_listing(index_listing: Listing) -> None:
    index_listing.versions()
    index_listing.pythons_for(Version("3.1.0"))
    for one in candidates.in_order(candidates.indexed_releases(index_listing.files)):
        one.pythons()
        assert one.date is None or abs(one.date) < 1e12


_ANSWERS = {
    "https://i/simple": {
        "asked": 0.0,
        "files": [
            [_NAME, ">=3.9", False, 1728921932.1],
            ["x-1.0-py3-none-any.whl", None, True, None],
        ],
    }
}


def _kept_answer(text: str, folder: Path) -> None:
    (folder / "triton.json").write_text(text, encoding="utf-8", errors="surrogatepass")
    files, age = listing.read_kept_files(folder, "triton", "https://i/simple", 10.0)
    assert age >= 0
    listing.age_phrase(age)
    _of_listing(Listing(files=files or ()))
    listing.keep_files(folder, "triton", "https://i/simple", files or (), 10.0)
    assert listing.read_kept_files(folder, "triton", "https://i/simple", 10.0)[0] == (files or ())


# --- TOML -----------------------------------------------------------------------------------------

_MATRIX: Mapping[str, Any] = {
    "schema": 1,
    "kernels": ["*.toml"],
    "env": [
        {
            "name": "triton-3.1.0",
            "triton": "3.1.0",
            "groups": ["default"],
            "install": ["numpy<2"],
            "python": ">=3.9",
        },
        {"triton": "3.2.0", "torch": "2.6.0", "index": "https://i/simple"},
        {"name": "fork", "wheel": "w/triton-3.1.0+fork-py3-none-any.whl"},
    ],
    "companion": [{"triton": "<3.3", "install": ["setuptools"], "why": "undeclared"}],
    "target": [
        {"name": "mine", "backend": "cuda", "arch": 87, "warp_size": 32, "shared_memory": 1000}
    ],
    "envs": {"folder": "../envs"},
    "defaults": {
        "envs": ["default"],
        "targets": ["sm_90"],
        "deadline": 60,
        "memory": "4 GiB",
        "keep_workers": 300.0,
    },
}


def _matrix(text: str, folder: Path) -> None:
    path = folder / "matrix.toml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    config = load_matrix(path)
    assert 0 < config.deadline < 1e9
    assert 0 <= config.keep_workers < 1e9
    assert config.memory > 0
    as_json(write_json([asdict(env) for env in config.envs]))
    for env in config.envs:
        shown(env.name)
        # A user may name any folder for envs; names of envs must not lead out of it.
        read_env(env, EnvCache(folder))


_KERNEL: Mapping[str, Any] = {
    "schema": 1,
    "kernel": "k",
    "source": "k.py",
    "summary": "A kernel.",
    "signature": {"x": "*fp32", "n": "i32"},
    "constexprs": {"B": 64, "D": {"dtype": "fp16"}, "N": {"none": True}, "T": [1, 2.5]},
    "hints": {"divisible_by_16": ["x"], "equal_to_1": ["n"]},
    "options": {"num_warps": 4},
    "case": [{"name": "one"}, {"name": "two", "constexprs": {"B": 32}}],
    "variant": [
        {
            "name": "as_written",
            "function": "kernel",
            "expect": [
                {
                    "status": "rejected",
                    "class": "type-error",
                    "releases": ">=3.1",
                    "targets": ["sm_*"],
                    "reason": "so",
                }
            ],
        }
    ],
}


def _kernel_file(text: str, folder: Path) -> None:
    (folder / "k.py").write_text("def kernel(x, n, B, D, N, T): pass\n")
    (folder / "k.toml").write_text(text, encoding="utf-8", errors="surrogatepass")
    for spec in load_kernels(["k.toml"], folder):
        shown(f"{spec.kernel}/{spec.variant}/{spec.case} {spec.summary} {spec.function}")
        cell = evolve(CELL, spec=spec)
        cell_key(cell, BUILT, "w")
        as_json(write_json(asdict(spec)))
        for expectation in spec.expectations:
            shown(expectation.reason)
            _covers(expectation)


def _covers(expectation: Expectation) -> None:
    expectation.covers(release=Version("3.1.0"), target="sm_90", case="one")
    assert isinstance(expectation.status, Status)


# --- Python ---------------------------------------------------------------------------------------


def _source(contents: tuple[bytes, bytes], folder: Path) -> None:
    (folder / "k.py").write_bytes(contents[0])
    (folder / "beside.py").write_bytes(contents[1])
    try:
        source = read_source(folder / "k.py")
    except SyntaxError:
        return  # becomes a ConfigError with the kernel file's path
    for name in source.functions:
        kernel_bundle = bundle(evolve(SPEC, source=str(folder / "k.py"), function=name))
        kernel_bundle.text.encode()
        compiles(kernel_bundle.text)
        with suppress(SyntaxError):  # becomes a ConfigError
            compiles(extract_functions(kernel_bundle.text, name))


# --- the command line -----------------------------------------------------------------------------


def _words(text: str, _: Path) -> None:
    specs = (SPEC,)
    calls: list[Callable[[], object]] = [
        lambda: parse_criterion(text, lambda command, result: 0),
        lambda: select_envs([ENV], [text]),
        lambda: select_targets(tuple(TARGETS.values()), [text]),
        lambda: select_specs(specs, [text], [text], [text]),
        lambda: candidates.parse_release(text, "--good"),
        lambda: candidates.parse_specifier(text),
    ]
    for ask in calls:
        try:
            ask()
        except CompatError as error:
            shown(str(error))
            shown(error.hint or "")


# --- what compilers print -------------------------------------------------------------------------


def _printed(output: tuple[str, str, str, str], folder: Path) -> None:
    stderr, message, kind, stage = output
    raised = read_raised([{"type": kind, "message": message}, {"type": "E", "message": stderr}])
    for evidence in (
        Evidence(answered=True, alone=True, stage=stage, raised=raised, in_passes=True),
        Evidence(answered=False, signal="SIGABRT", stage=stage),
    ):
        reported(
            within_bounds(
                pipeline.add_diagnosis(
                    evidence, dumps.READER.read(stderr), lambda suffix, data: suffix, dumps.READER
                )
            )
        )


def _ir(text: str, _: Path) -> None:
    ir_pipeline = dumps.read(text).pipeline
    for name in (step.pass_ for step in ir_pipeline.steps):
        shown(name)
    pipeline.split(ir_pipeline, dumps.read(text + text[: len(text) // 2]).pipeline)
    canonical.canonical(text)
    canonical.canonical_code(text)


def cubin_of(code: bytes) -> bytes:
    """An ELF file with one kernel of the given machine code."""
    names = b"\0.shstrtab\0.text.kernel\0"
    after = 64 + len(names) + len(code)
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, after, 0, 64, 0, 0, 64, 3, 1
    )
    sections = b"".join(
        struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, at, length, 0, 0, 1, 0)
        for name, kind, at, length in (
            (0, 0, 0, 0),
            (1, 3, 64, len(names)),
            (11, 1, 64 + len(names), len(code)),
        )
    )
    return header + names + code + sections


def _machine_code(data: bytes, _: Path) -> None:
    pace = pace_of(data, 128)
    one, other = ({"occupancy": {"blocks": blocks}, "pace": pace} for blocks in (1, 2))
    assert (pace_ratio(one, other) is None) is (not pace)


_CODE = st.lists(
    st.tuples(
        st.sampled_from(sorted(KINDS)),
        st.integers(0, 2**52 - 1),
        st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 2**64 - 1])),
    ),
    max_size=60,
).map(
    lambda instructions: b"".join(
        struct.pack("<QQ", high << 12 | low, control) for low, high, control in instructions
    )
)
"""Instructions with known opcodes, and with anything in their other bits."""


def _script(text: str, _: Path) -> None:
    failure = failure_of(ProcessResult(exit_code=1, output=text), CELL.target, "ast", KNOWLEDGE)
    if failure:
        shown(failure.excerpt)
    shown(issue.short(text, "k", dumps.READER))


_FAILED = Outcome(
    status=Status.REJECTED,
    stage="ttir",
    failure=Failure(
        failure_class="shape-mismatch",
        stage="ttir",
        fingerprint="f:1",
        excerpt="no",
        advice="do",
        location="k.py:3",
    ),
    metrics={"registers": 32, "artifacts": {"ptx": 100}},
)
_SAVED = Report(
    results=(
        Result(
            cell=CELL, built=BUILT, outcome=_FAILED, expectation=Expectation(status=Status.CRASHED)
        ),
    ),
    verdicts=verdicts([Result(cell=CELL, built=BUILT, outcome=_FAILED)]),
    existing={"triton": (Version("3.0.0"), Version("3.1.0"))},
    envs=(BUILT,),
    command="compat matrix",
    seconds=1.0,
    root="/k",
)


def _saved(text: str, _: Path) -> None:
    """Loads a report that somebody wrote; makes every output of it, and of its differences."""
    report = load_report(text)
    fromstring(junit_xml(report))
    for line in workflow_commands(findings(report)):
        shown(line)
        assert "\n" not in line
    changed = compare(ReportSide(name="old", report=_SAVED), ReportSide(name="new", report=report))
    as_json(
        write_json(
            [matrix_document(report), code_quality(findings(report)), diff_document(changed)]
        )
    )
    comment = diff_markdown(changed)
    assert len(comment) < LIMIT
    for output in (
        matrix_markdown(report),
        matrix_text(report),
        "\n".join(diff_lines(changed)),
        comment,
    ):
        shown(output)


def _json(text: str, _: Path) -> None:
    try:
        value = read_json(text, lenient=True)
    except ValueError:
        return
    as_json(write_json(value))


def _any(value: Any, _: Path) -> None:
    as_json(write_json(value))
    read_metrics(value)
    read_stages(value)
    read_raised(value)
    read_warnings(value)


_STAGES = st.sampled_from(["source", "ast", "ttir", "ttgir", "llir", "ptx", "cubin", "hsaco"])
_TYPES = st.sampled_from(
    [
        "triton.compiler.errors.CompilationError",
        "RuntimeError",
        "ValueError",
        "AssertionError",
        "\x1b",
        "\ud800",
    ]
)
_JUDGES = [
    "ok",
    "class=type-error",
    "same-failure",
    "registers>128",
    "run=true",
    "compile_seconds>=1e5",
    "artifacts.cubin>9",
    "3.1.0",
]
_LONG_JUDGES = [
    "registers>" + "9" * 5000,
    "*" * 500,
    "[" * 500,
    "v" + "9" * 5000,
    ">=" + "9" * 5000,
    "run=",
    "class=",
]

PLACES: Mapping[str, Place] = {
    "worker: events": Place(
        inputs=st.one_of(
            json_texts(_DONE).map(lambda text: text.encode("utf-8", "surrogatepass") + b"\n"),
            st.binary(max_size=200).map(lambda data: data + b"\n"),
        ),
        act=_events,
    ),
    "worker: hello": Place(
        inputs=json_texts(_HELLO).map(lambda text: text.encode("utf-8", "surrogatepass")),
        act=_hello,
        share=5,
    ),
    "store: rows": Place(
        inputs=st.one_of(json_texts(_ROW), json_texts(_ROW).map(lambda text: f"[{text}]")), act=_row
    ),
    "store: file": Place(
        inputs=st.lists(
            st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=40), st.floats(0, 1)),
            min_size=1,
            max_size=4,
        ).filter(lambda _: bool(_database())),  # made before the input is watched
        act=_damaged_database,
        share=1,
    ),
    "launched: results": Place(inputs=json_texts(_LAUNCHED), act=_launched, share=2),
    "launched: metadata": Place(
        inputs=st.one_of(
            st.tuples(json_texts(_METADATA), st.just(_ASSEMBLY)),
            st.tuples(st.just(json.dumps(_METADATA)), damaged(_ASSEMBLY)),
        ),
        act=_launch_facts,
    ),
    "env records": Place(inputs=st.tuples(json_texts(_RECORD), st.booleans()), act=_env_record),
    "last bisect": Place(
        inputs=json_texts({"cells": ["k/v/c/sm_90/triton-3.1.0"], "kernel_files": ["/k.toml"]}),
        act=_last_bisect,
        share=3,
    ),
    "index: JSON": Place(
        inputs=st.tuples(st.just("application/json"), json_texts(_LISTED)), act=_index
    ),
    "index: HTML": Place(
        inputs=st.tuples(st.just("text/html"), damaged(_PAGE)), act=_index, share=5
    ),
    "index: kept": Place(inputs=json_texts(_ANSWERS), act=_kept_answer, share=5),
    "matrix.toml": Place(inputs=toml_texts(_MATRIX), act=_matrix),
    "kernel files": Place(inputs=toml_texts(_KERNEL), act=_kernel_file),
    "Python sources": Place(inputs=st.tuples(sources(), sources()), act=_source),
    "command line": Place(
        inputs=st.one_of(
            TEXTS, st.sampled_from(_LONG_JUDGES), st.sampled_from(_JUDGES).flatmap(damaged)
        ),
        act=_words,
        share=5,
    ),
    "compilers: words": Place(inputs=st.tuples(OUTPUT, OUTPUT, _TYPES, _STAGES), act=_printed),
    "compilers: IR": Place(inputs=OUTPUT, act=_ir, share=4),
    "compilers: machine code": Place(
        inputs=_CODE.map(cubin_of).flatmap(
            lambda data: st.one_of(st.just(data), damaged_bytes(data))
        ),
        act=_machine_code,
        share=4,
    ),
    "scripts": Place(inputs=OUTPUT, act=_script, share=4),
    "saved reports": Place(
        inputs=st.deferred(lambda: json_texts(matrix_document(_SAVED))), act=_saved, share=4
    ),
    "JSON": Place(inputs=st.one_of(json_texts(_DONE), VALUES.map(json_of)), act=_json, share=4),
    "values": Place(inputs=VALUES, act=_any, share=4),
}
