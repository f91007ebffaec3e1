"""The reader of dumps jumps from place to place, and gives the same as reading every line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compat.toolchains.mlir.dumps import HEADING
from compat.toolchains.triton.ir.dumps import read

LINES = [
    *[
        "module {",
        "  %0 = x",
        "}",
        "",
        "#a = #b",
        "#loc",
        "!a = !b",
        "{-#",
        "#-}",
        "words",
        "k.py:1:2: error: x",
        "tt.func @k() {",
        "modules are",
    ],
    *['"builtin.module"() ({', "   ", "// comment", "llvm.func @f", "// -----// IR Dump"],
    *[
        f"// -----// IR Dump {when} (cse) //----- //"
        for when in ("Before CSE", "Before Other", "After CSE", "After CSE Failed")
    ],
]
IR = ("module", "#", "!", " ", "}", "{-#", "//", "tt.func", "llvm.", "func.", '"builtin.module"')


def by_lines(text: str) -> tuple[list[str], str | None, list[tuple[str, list[str]]]]:
    """Reads line by line: the messages, the name of a pass, and all passes with their IR.

    The name is that of the pass that failed, or of the last pass with a dump before it.
    """
    messages: list[str] = []
    passes: list[tuple[str, list[str]]] = []
    failed: list[str] = []
    inside, in_step = False, False
    for line in text.split("\n"):
        if heading := HEADING.match(line):
            inside, in_step = True, heading["when"] == "Before"
            if in_step:
                passes.append((heading["argument"], []))
            elif heading["failed"]:
                failed.append(heading["argument"])
        elif inside and (not line.strip() or line.startswith(IR)):
            if in_step:
                passes[-1][1].append(line)
        elif line.startswith(("module ", "#a = ", "{-#", "// -----// IR Dump")):
            inside, in_step = True, False
        else:
            inside = False
            messages.append(line)
    return messages, (failed or [name for name, _ in passes[-1:]])[0] if passes else None, passes


@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_reader_gives_the_same_as_line_by_line(lines: list[str]) -> None:
    text = "\n".join(lines)
    messages, name, passes = by_lines(text)
    output = read(text)
    steps = output.pipeline.steps
    assert output.text.strip("\n") == "\n".join(messages).strip("\n")
    assert (output.pipeline.last if steps else None) == name
    assert [step.pass_ for step in steps] == [pass_name for pass_name, _ in passes]
    assert [step.ir.strip() for step in steps] == ["\n".join(ir).strip() for _, ir in passes]
