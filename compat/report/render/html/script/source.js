// The source of a kernel, with the line of the failure.

const CONTEXT_LINES = 6;
// A comment, a string, a keyword, or a number. TOKEN_KINDS names the groups.
const TOKEN_PATTERN =
  /(#.*$)|("""|'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|\b(def|return|for|while|if|elif|else|in|range|import|from|as|and|or|not|is|None|True|False|with|assert|pass|lambda|continue|break)\b|\b(\d[\w.]*)/;
const TOKEN_KINDS = ["", "comment", "string", "word", "literal"];

/** The source around the line of the failure, else the start of the kernel; null if the page does not have the file. */
function sourceView(data, spec, failure) {
  const source = failureSource(data, spec, failure) ?? kernelSource(data, spec);
  if (!source) return null;
  const { path, lines, failureLine } = source;
  const span = functionExtent(lines, failureLine, spec.function);
  const title = `Source of ${spec.function}`;
  const box = make("div", { class: "code", "data-source": path, tabindex: "0", role: "region", "aria-label": title });
  const showLines = (start, end) => box.replaceChildren(...listLines(lines, start, end, failureLine, failure));
  const start = failureLine === null ? span.start : Math.max(span.start, failureLine - CONTEXT_LINES);
  const last = failureLine === null ? span.start + 2 * CONTEXT_LINES : failureLine + CONTEXT_LINES;
  const end = Math.min(span.end, last);
  showLines(start, end);
  const button = (label, first, last) =>
    make("button", { type: "button", class: "quiet", onclick: () => showLines(first, last) }, label);
  const switches = [button("Whole function", span.start, span.end), button("Whole file", 1, lines.length)];
  return make(
    "div",
    {},
    box,
    make(
      "div",
      { class: "row" },
      switches,
      make("span", { class: "note" }, path === spec.source ? `${path}, ${spec.function}` : path),
    ),
  );
}

/** The file and line of a failure: the kernel's file or an imported one. The file name must be unique among them. */
function failureSource(data, spec, failure) {
  const [name, failureLine] = parseLocation(failure?.location);
  const files = spec.files.map((file) => data.sources[file]).filter(({ path }) => path.split("/").pop() === name);
  if (files.length !== 1) return null;
  const lines = files[0].text.split("\n");
  return failureLine <= lines.length ? { path: files[0].path, lines, failureLine } : null;
}

/** The kernel's file, without a line of a failure. */
function kernelSource(data, spec) {
  const file = spec.own ? data.sources[spec.files[0]] : null;
  return file && { path: file.path, lines: file.text.split("\n"), failureLine: null };
}

/** The file name and the line of `file.py:12`. */
function parseLocation(location) {
  const match = /^(.*):(\d+)$/.exec(location ?? "");
  return match ? [match[1], Number(match[2])] : [null, null];
}

/** The first and last line of the function around a line, else of the function with this name, with its decorators. */
function functionExtent(lines, failureLine, name) {
  const isStart = (line) => /^(@|def |async def |class )/.test(line);
  const definition = new RegExp(`^def ${name.replace(/\W/g, "\\$&")}\\b`);
  let start = failureLine ?? Math.max(1, lines.findIndex((line) => definition.test(line)) + 1);
  while (start > 1 && !/^(def |async def |class )/.test(lines[start - 1])) start--;
  let end = start;
  while (end < lines.length && !(isStart(lines[end]) || /^\S/.test(lines[end].replace(/^[)\]#].*/, "")))) end++;
  while (start > 1 && lines[start - 2].startsWith("@")) start--;
  while (end > start && !lines[end - 1].trim()) end--;
  return { start, end };
}

function listLines(lines, start, end, failureLine, failure) {
  const width = String(end).length;
  const elements = [];
  for (let lineNumber = start; lineNumber <= end; lineNumber++) {
    const isOffending = lineNumber === failureLine;
    elements.push(
      make(
        "div",
        { class: isOffending ? "line offending" : "line", "data-line": lineNumber, "data-offending": isOffending },
        make("span", { class: "number", "aria-hidden": "true" }, String(lineNumber).padStart(width)),
        make("span", { class: "text" }, highlight(lines[lineNumber - 1])),
      ),
    );
    const caret = isOffending ? caretColumn(lines[lineNumber - 1], failure.excerpt) : null;
    if (caret !== null)
      elements.push(
        make(
          "div",
          { class: "line caret", "aria-hidden": "true" },
          make("span", { class: "number" }, " ".repeat(width)),
          make("span", { class: "text" }, `${" ".repeat(caret)}^`),
        ),
      );
  }
  return elements;
}

/** The column of the message's caret in the line; null if the message does not quote the line. */
function caretColumn(line, excerpt) {
  const messageLines = excerpt.split("\n");
  const caretLine = messageLines.findIndex(
    (text, index) => index > 0 && /^\s*\^/.test(text) && messageLines[index - 1].trim() === line.trim(),
  );
  if (caretLine < 0) return null;
  const indent = (text) => text.length - text.trimStart().length;
  return messageLines[caretLine].indexOf("^") - indent(messageLines[caretLine - 1]) + indent(line);
}

/** A line of Python as parts with colours. It does not know strings that span lines. */
function highlight(line) {
  const parts = [];
  let rest = line;
  for (let match = TOKEN_PATTERN.exec(rest); match; match = TOKEN_PATTERN.exec(rest)) {
    const kind = TOKEN_KINDS[match.findIndex((group, index) => index > 0 && group !== undefined)];
    parts.push(rest.slice(0, match.index), make("span", { class: `t-${kind}` }, match[0]));
    rest = rest.slice(match.index + match[0].length);
  }
  return [...parts, rest];
}
