"""A report in which every text is an attack on the program that shows it."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from compat.history.verdict import verdicts
from compat.model import (
    BuiltEnv,
    Cell,
    CompileSpec,
    Env,
    Expectation,
    Failure,
    Outcome,
    Package,
    Result,
    Specialization,
    StandInPackages,
    Status,
    Target,
    ToolchainWarning,
)
from compat.report.summary.record import Report
from tests.records import RELEASES, env

SCRIPTS = (
    "<script>owned=1;alert(1)</script>",
    "<img src=x onerror=\"owned=2\" onload='owned=3'>",
    '<svg/onload=owned=4><a href="javascript:owned=5">link</a>',
    "\"'><b autofocus tabindex=0 onfocus=owned=6>",
    "</script></style></title></textarea></template></svg><script>owned=7</script>",
    "<!-- <script> --> ]]> <![CDATA[ <!doctype> <base href=http://attacker.example/>",
    "javascript:owned=8 data:text/html,<script>owned=9</script> http://attacker.example/x",
    "{{7*7}} ${7*7} {% raw %} {{ self }} `${owned=10}` \\u003cscript\\u003e &lt;script&gt; &#60;",
)
"""Each of them sets ``owned`` if it runs."""
CONTROLS = (
    "nul \x00 esc \x1b[31mred\x1b[0m bidi \u202egnp.exe\u2066 lines \u2028 \u2029 tag \U000e0041"
    " half \ud800 end"
)
"""Characters that a terminal obeys, that turn the direction of writing, or that are no text."""
ATTACK = " ".join((*SCRIPTS, CONTROLS))
ATTACK_NAMES = ("__proto__", "constructor", "toString")
"""Names that a kernel file may give, and that every JavaScript object has."""

SOURCE = (
    f"# {' '.join(SCRIPTS)}\n# {CONTROLS}\nimport triton\n".encode(errors="replace")
    + b"# \xff\xfe\n"
)
"""A kernel's file, which ends with bytes that are not UTF-8."""


def hostile(folder: Path, *, controls: bool = True) -> Report:
    """The report of kernels. The function writes their source into ``folder``.

    Without ``controls``, the texts are safe on a terminal.
    """
    text = ATTACK if controls else " ".join(SCRIPTS)
    source = folder / "<img src=x onerror=owned=11>.py"
    source.write_bytes(SOURCE)
    envs = [_env(release, text) for release in RELEASES[:2]]
    envs.append(BuiltEnv(env=Env(name="constructor"), error=text))
    names = [
        (f"kernel {text}", f"variant {text}", f"case {text}"),
        ATTACK_NAMES,
        ("plain", *ATTACK_NAMES[:2]),
    ]
    targets = [
        Target(name=name, backend=text, arch=text, warp_size=32, shared_memory=1 << 16)
        for name in (f"sm {text}", "constructor")
    ]
    results = tuple(
        _result(_spec(name, source, text), target, built, text)
        for name in names
        for target in targets
        for built in envs
    )
    return Report(
        results=results,
        verdicts=verdicts(results),
        envs=tuple(envs),
        command=f"compat matrix {text}",
        seconds=1.0,
        options=(f"--config={text}",),
        limits=(f"--timeout={text}",),
        root=str(folder),
        version=f"1.0 {text}",
    )


def _env(release: str, text: str) -> BuiltEnv:
    built = env(release)
    return evolve(
        built,
        env=evolve(built.env, name=f"env {release} {text}"),
        python_version=text,
        packages=(*built.packages, Package(name=text, version=text, digest=text)),
    )


def _spec(name: tuple[str, str, str], source: Path, text: str) -> Specialization:
    kernel, variant, case = name
    return Specialization(
        kernel=kernel,
        variant=variant,
        case=case,
        source="constructor" if name == ATTACK_NAMES else str(source),
        function=text,
        compile=CompileSpec(
            signature={text: "*fp16", "__proto__": "i32"},
            constexprs={f"C{text}": text},
            options={f"O{text}": text, "__proto__": 1},
        ),
        origin=text,
        summary=text,
    )


def _result(spec: Specialization, target: Target, built: BuiltEnv, text: str) -> Result:
    if built.error:
        failure = _failure("install", text)
        return Result(
            cell=Cell(env=built.env, target=target, spec=spec),
            built=built,
            outcome=Outcome(status=Status.ENV_BROKEN, stage="source", failure=failure),
        )
    fails = built.release == RELEASES[1]
    outcome = Outcome(
        status=Status.REJECTED if fails else Status.OK,
        stage="ttir" if fails else text,
        failure=_failure("__proto__" if spec.kernel == "plain" else text, text) if fails else None,
        attempts=(text, text),
        warnings=(ToolchainWarning(type=f"DeprecationWarning {text}", message=text),),
        metrics={
            "registers": 32,
            text: text,
            "__proto__": 5,
            "artifacts": {text: 1, "__proto__": 2},
        },
        stages={text: 0.1, "constructor": 0.2},
        seconds=0.3,
        stood_in=StandInPackages(packages=(text,), answers=(text,), skipped=(text,)),
    )
    expectation = (
        Expectation(status=Status.REJECTED, failure_class=text, reason=text)
        if target.name == "constructor"
        else None
    )
    return Result(
        cell=Cell(env=built.env, target=target, spec=spec),
        built=built,
        outcome=outcome,
        expectation=expectation,
    )


def _failure(failure_class: str, text: str) -> Failure:
    return Failure(
        failure_class=failure_class,
        stage=text,
        fingerprint=f"{failure_class}:{text}",
        excerpt=f"line one {text}\n  ^ {text}",
        advice=text,
        pass_=text,
        op=text,
        location="<img src=x onerror=owned=11>.py:1",
        reproducer="constructor" if failure_class == "__proto__" else f"../../{text}.mlir",
        ir="../../../../etc/passwd",
    )
