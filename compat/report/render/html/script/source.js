// The source of a kernel, with the line that a failure points at.

const AROUND = 6;
const TOKENS =
  /(#.*$)|("""|'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|\b(def|return|for|while|if|elif|else|in|range|import|from|as|and|or|not|is|None|True|False|with|assert|pass|lambda|continue|break)\b|\b(\d[\w.]*)/;
const KINDS = ["", "comment", "string", "word", "literal"];

/** The source, opened at the line that a failure points at, or at the kernel; nothing where the page has not the file. */
function sourceView(data, spec, failure) {
  const opened = offending(data, spec, failure) ?? own(data, spec);
  if (!opened) return null;
  const { path, lines, here } = opened;
  const span = extent(lines, here, spec.function);
  const title = `Source of ${spec.function}`;
  const box = make("div", { class: "code", "data-source": path, tabindex: "0", role: "region", "aria-label": title });
  const show = (from, to) => box.replaceChildren(...listing(lines, from, to, here, failure));
  const from = here === null ? span.from : Math.max(span.from, here - AROUND);
  const to = here === null ? Math.min(span.to, span.from + 2 * AROUND) : Math.min(span.to, here + AROUND);
  show(from, to);
  const button = (words, first, last) =>
    make("button", { type: "button", class: "quiet", onclick: () => show(first, last) }, words);
  const switches = [button("Whole function", span.from, span.to), button("Whole file", 1, lines.length)];
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

/** The file that a failure points at: the kernel's own or one that it imports, where only one of them is called so. */
function offending(data, spec, failure) {
  const [name, here] = placed(failure?.location);
  const found = spec.files.map((file) => data.sources[file]).filter(({ path }) => path.split("/").pop() === name);
  if (found.length !== 1) return null;
  const lines = found[0].text.split("\n");
  return here <= lines.length ? { path: found[0].path, lines, here } : null;
}

function own(data, spec) {
  const file = spec.own ? data.sources[spec.files[0]] : null;
  return file && { path: file.path, lines: file.text.split("\n"), here: null };
}

function placed(location) {
  const found = /^(.*):(\d+)$/.exec(location ?? "");
  return found ? [found[1], Number(found[2])] : [null, null];
}

/** First and last line of the function that a line is in, or that is called so. Decorators belong to it. */
function extent(lines, here, name) {
  const isStart = (line) => /^(@|def |async def |class )/.test(line);
  let from = here ?? Math.max(1, lines.findIndex((line) => new RegExp(`^def ${name.replace(/\W/g, "\\$&")}\\b`).test(line)) + 1);
  while (from > 1 && !/^(def |async def |class )/.test(lines[from - 1])) from--;
  let to = from;
  while (to < lines.length && !(isStart(lines[to]) || /^\S/.test(lines[to].replace(/^[)\]#].*/, "")))) to++;
  while (from > 1 && lines[from - 2].startsWith("@")) from--;
  while (to > from && !lines[to - 1].trim()) to--;
  return { from, to };
}

function listing(lines, from, to, here, failure) {
  const width = String(to).length;
  const shown = [];
  for (let at = from; at <= to; at++) {
    shown.push(
      make(
        "div",
        { class: at === here ? "line offending" : "line", "data-line": at, "data-offending": at === here },
        make("span", { class: "number", "aria-hidden": "true" }, String(at).padStart(width)),
        make("span", { class: "text" }, coloured(lines[at - 1])),
      ),
    );
    const caret = at === here ? caretOf(lines[at - 1], failure.excerpt) : null;
    if (caret !== null)
      shown.push(
        make(
          "div",
          { class: "line caret", "aria-hidden": "true" },
          make("span", { class: "number" }, " ".repeat(width)),
          make("span", { class: "text" }, `${" ".repeat(caret)}^`),
        ),
      );
  }
  return shown;
}

/** The column that the message's caret points at, where the message quotes the line. */
function caretOf(line, excerpt) {
  const said = excerpt.split("\n");
  const at = said.findIndex((each, place) => place > 0 && /^\s*\^/.test(each) && said[place - 1].trim() === line.trim());
  if (at < 0) return null;
  const indent = (text) => text.length - text.trimStart().length;
  return said[at].indexOf("^") - indent(said[at - 1]) + indent(line);
}

/** A line of Python in parts; good enough for looking, and no more than text. */
function coloured(line) {
  const parts = [];
  let rest = line;
  for (let found = TOKENS.exec(rest); found; found = TOKENS.exec(rest)) {
    const kind = KINDS[found.findIndex((group, place) => place > 0 && group !== undefined)];
    parts.push(rest.slice(0, found.index), make("span", { class: `t-${kind}` }, found[0]));
    rest = rest.slice(found.index + found[0].length);
  }
  return [...parts, rest];
}
