"""The answer of a command, on standard output or in a file, for people or for programs.

Its options are the same for every command. It may say how to call the command again. Lines fit a
terminal. In a file or a pipe, each line has its full length, without spaces at its end.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from attrs import frozen

from compat.cli import INTERRUPTED, logs
from compat.cli.help import add_options
from compat.cli.logs import JSON_AWAITED, be_quiet, is_quiet
from compat.errors import StoreError
from compat.files import replace_file
from compat.report.render import FORMATS, Format
from compat.report.render.blocks import Block, DataTable, Fit, TableColumn, TextLine
from compat.text import JsonMapping, printable, write_json

if TYPE_CHECKING:
    from compat.report.summary.record import Report

_FILE = "Write the answer to this file instead of printing it."

_Command = Callable[..., object]


class FilePath(click.Path):
    """A path on the command line."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        context: click.Context | None,
    ) -> Path:
        """Return the path. An empty text, as of an unset variable, names nothing."""
        if not os.fspath(value):
            self.fail("it is empty", param, context)
        return Path(os.fsdecode(super().convert(value, param, context)))


@frozen(kw_only=True)
class Answer:
    """The form and the destination of a command's answer."""

    as_json: bool = False
    file: Path | None = None
    """The file for the answer; ``None`` for standard output."""

    def give(self, lines: Callable[[], Iterable[str]], document: Callable[[], object]) -> None:
        """Write the answer as JSON or as lines. Only the chosen form is made."""
        self.write(write_json(document(), indent=2) if self.as_json else "\n".join(lines()))

    def follow(self, lines: Callable[[], Iterable[str]], document: Callable[[], object]) -> None:
        """Print a part of the answer at once, as lines about finished work."""
        if self.as_json or self.file is not None:
            self.give(lines, document)
            return
        for line in lines():
            click.echo(line)

    def draw(self, blocks: Callable[[], Iterable[Block]], document: Callable[[], object]) -> None:
        """Write an answer that consists of blocks."""
        if self.as_json:
            self.write(write_json(document(), indent=2))
            return
        # Rich takes longer to import than many commands take.
        from compat.report.render.terminal import Picture, plain_text

        if self.file is None and sys.stdout.isatty():
            from rich.console import Console

            Console(highlight=False, soft_wrap=False).print(Picture(blocks), crop=False)
        else:
            self.write(plain_text(blocks()))

    def add(self, message: str) -> None:
        """Print a message about further work of the command.

        It goes below the answer, or to standard error if programs read the answer.
        """
        if not is_quiet():
            click.echo(message, err=self.as_json or self.file is not None)

    def write(self, text: str) -> None:
        """Write a text unchanged. Raises StoreError if the file cannot be written."""
        ended = text if text.endswith("\n") else f"{text}\n"
        if self.file is None:
            if context := click.get_current_context(silent=True):
                context.meta[JSON_AWAITED] = False  # also if only a part of it can be written
            click.echo(ended, nl=False)
        else:
            write_file(self.file, click.unstyle(ended), "--output")


def write_file(path: Path, text: str | Iterator[str], option: str) -> None:
    """Write an answer into the file that an option names, whole or not at all.

    A device or a pipe stays one, and a link stays a link. Raises StoreError if that fails.
    """
    hint = f"Choose another path with {option}. Compiled results are not lost."
    with StoreError.for_os_errors("cannot write the answer", where=path, hint=hint):
        if path.exists() and not path.is_file():
            with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
                file.writelines([text] if isinstance(text, str) else text)
        else:
            replace_file(Path(os.path.realpath(path)), text)


def gather_options(
    parameter: str,
    options: Sequence[Callable[[Any], Any]],
    gather: Callable[[dict[str, Any]], object],
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Give a command options, which it is called without, and a parameter that they decide.

    ``gather`` takes their values out of those of all options, and returns the argument.
    """

    def decorate(command: Callable[..., object]) -> Callable[..., object]:
        @wraps(command)
        def call_with_gathered(*arguments: object, **values: Any) -> object:
            gathered = {parameter: gather(values)}
            return command(*arguments, **gathered, **values)

        return add_options(call_with_gathered, options)

    return decorate


def answer_options(
    *, file: bool = True, json_help: str = "The answer as JSON."
) -> Callable[[_Command], _Command]:
    """Give a command ``--quiet``, ``--verbose`` and ``--json``, with ``file`` also ``--output``.

    The command is called with an :class:`Answer`.
    """

    def answer(values: dict[str, Any]) -> Answer:
        if values.pop("quiet"):
            be_quiet()
        logs.show(values.pop("verbose"))
        answer = Answer(as_json=values.pop("as_json"), file=values.pop("answer_file", None))
        click.get_current_context().meta[JSON_AWAITED] = answer.as_json and answer.file is None
        return answer

    options = [
        click.option(
            "-q", "--quiet", is_flag=True, help="Print only the answer, warnings and errors."
        ),
        click.option("-v", "--verbose", count=True, help=logs.VERBOSE_HELP),
        click.option("--json", "as_json", is_flag=True, help=json_help),
    ]
    path = FilePath(dir_okay=False)
    if file:
        options.append(click.option("--output", "answer_file", type=path, help=_FILE))
    return gather_options("answer", options, answer)


def table(rows: Sequence[JsonMapping]) -> Iterator[Block]:
    """A table of rows, which have as many keys. The different keys of a column are its heading.

    A terminal that is too narrow for the words of the columns gets a paragraph for each row.
    """
    if not rows:
        return
    columns = zip(*rows, strict=True)
    headings = [", ".join(dict.fromkeys(keys)).replace("_", " ") for keys in columns]
    cells = [tuple(map(_value_text, row.values())) for row in rows]
    wide = DataTable(
        columns=tuple(
            _column(heading, column)
            for heading, column in zip(headings, zip(*cells, strict=True), strict=True)
        ),
        rows=tuple(cells),
        gap=2,
        ruled=False,
    )
    yield Fit((wide,), lambda: _paragraphs(headings, cells))


def _column(heading: str, cells: Sequence[str]) -> TableColumn:
    """A column that breaks no word, and wraps only if its heading or a cell has several."""
    longest = max(len(word) for text in (heading, *cells) for word in text.split())
    wrap = any(" " in text for text in (heading, *cells))
    return TableColumn(heading, wrap=wrap, fold=True, min_width=longest)


def _paragraphs(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[Block]:
    for first, *rest in rows:
        yield TextLine(first, style="bold")
        parts = (
            f"{heading} {cell}"
            for heading, cell in zip(headings[1:], rest, strict=True)
            if cell.strip("-")
        )
        yield TextLine(" · ".join(parts), indent=2)


def _value_text(value: object) -> str:
    if value is None:
        return "-"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


# --- the command line in an answer ----------------------------------------------------------------


def command_line() -> str:
    """The command line, as a shell takes it."""
    return printable(shlex.join(["compat", *sys.argv[1:]]))


def end_interrupted(done: str) -> NoReturn:
    """End an interrupted command. The last line says what is ``done``, and how to continue."""
    # With --again the same command would compile finished cells once more.
    same = "without --again" if click.get_current_context().params.get("again") else "again"
    click.echo(f"interrupted: {done}; run the same command {same} to continue", err=True)
    sys.exit(INTERRUPTED)


def passed_options(*names: str) -> tuple[str, ...]:
    """The options of these parameters that the running command got, in this order.

    They have the form of a command line.
    """
    context = click.get_current_context()
    options = {
        option.name: option for option in context.command.params if isinstance(option, click.Option)
    }
    return tuple(word for name in names for word in _option_words(options[name], context))


def _option_words(option: click.Option, context: click.Context) -> Iterator[str]:
    value = context.params[option.name or ""]
    if value is None or value == option.get_default(context):
        return
    if option.is_flag:
        yield (option.opts if value else option.secondary_opts)[0]
        return
    for item in value if option.multiple else (value,):
        yield from (option.opts[0], f"{item:g}" if isinstance(item, float) else str(item))


def relative(path: Path) -> str:
    """A path relative to the current folder if it is inside that folder, else the path itself."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


_TOPS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""The variables of GitHub and GitLab with the folder of the repository."""

FOLDER_FILES = [always.file for always in FORMATS if always.file]
"""The names of the files that every run writes."""

FormatFiles = Mapping[Format, Path]
"""Requested format → the file to write."""


def format_options(*, again: bool = False) -> Callable[[_Command], _Command]:
    """Give a command an option for each format that is written on request.

    With ``again`` it gets an option for every format. The command is called with ``formats``.
    """
    formats = [form for form in FORMATS if form.help and (again or not form.file)]

    def requested(values: dict[str, Any]) -> FormatFiles:
        paths = {form: values.pop(_parameter(form)) for form in formats}
        return {form: path for form, path in paths.items() if path is not None}

    path = FilePath(dir_okay=False)
    options = [
        click.option(f"--{form.name}", _parameter(form), type=path, help=form.help)
        for form in formats
    ]
    return gather_options("formats", options, requested)


def _parameter(file_format: Format) -> str:
    return f"{file_format.name.replace('-', '_')}_file"


def show_report(report: Report, answer: Answer) -> None:
    """Give the report as the answer of a command."""
    from compat.report.document import matrix_document
    from compat.report.views.matrix import matrix_blocks

    answer.draw(lambda: matrix_blocks(report), lambda: matrix_document(report))


def write_formats(report: Report, answer: Answer, root: Path, formats: FormatFiles) -> None:
    """Write the requested files; ``root`` is the folder of the project.

    Raises StoreError if one cannot be written.
    """
    for file_format, path in formats.items():
        write_file(path, file_format.render(report, _inside(root)), f"--{file_format.name}")
        answer.add(f"wrote {relative(path)}")


def tell_github(report: Report, root: Path) -> None:
    """In a workflow of GitHub, annotate unexpected and suspected cells, and write the summary.

    The annotations are beside the source, and the summary is that of the step.
    """
    if os.environ.get("GITHUB_ACTIONS") == "true":
        from compat.report.render.ci import findings, warnings, workflow_commands

        inside = _inside(root)
        all_findings = (*findings(report, inside), *warnings(report, inside))
        for line in workflow_commands(all_findings):
            click.echo(line, err=True)
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        _add_summary(report, Path(path))


def _add_summary(report: Report, path: Path) -> None:
    """Append the report to the summary of the step, after those of its other commands.

    If the file cannot be written, the command only prints a warning.
    """
    from compat.report.views.matrix_markdown import step_summary

    try:
        size = path.stat().st_size if path.exists() else 0
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(step_summary(report, size))
    except OSError as error:
        click.echo(f"warning: cannot write the step summary: {error}", err=True)


def _inside(root: Path) -> str:
    """The path from the top of the repository to the project.

    It is empty unless a CI system says where the top is.
    """
    tops = [Path(top).resolve() for name in _TOPS if (top := os.environ.get(name))]
    folder = next(
        (root.resolve().relative_to(top) for top in tops if root.resolve().is_relative_to(top)),
        Path(),
    )
    return "" if folder == Path() else folder.as_posix()
