// The drawer: all that the report knows of one cell.

class Drawer {
  constructor(data, state, back) {
    Object.assign(this, { data, state, back });
    this.element = one("[data-drawer]");
    this.attachments = null;
    state.onChange((now, changed) => changed.has("cell") && this.follow(now.cell));
    if (state.now.cell) this.follow(state.now.cell);
  }

  get isOpen() {
    return !this.element.hidden;
  }

  open(id) {
    this.state.set({ cell: id }, { step: !this.isOpen });
    this.element.focus();
  }

  close() {
    this.state.set({ cell: "" });
    this.back();
  }

  follow(id) {
    const place = id && this.data.find(id);
    this.element.hidden = !id;
    document.body.classList.toggle("with-drawer", Boolean(id));
    if (!id) return;
    const top = this.id === id ? this.element.scrollTop : 0;
    this.id = id;
    this.element.replaceChildren(...(place ? this.content(place) : this.nothing(id)));
    this.element.scrollTop = top;
  }

  nothing(id) {
    return [
      this.head([id], "There is no such cell in this report."),
      make("p", { class: "lead" }, "The link may be from another report."),
    ];
  }

  content(place) {
    const { data } = this;
    const { row, point, cell } = place;
    const spec = data.specs[data.rows.spec[row]];
    const failure = cell === undefined ? null : data.record("failure", cell);
    return [
      this.title(place),
      this.facts(place),
      this.strip(place),
      this.siblings(place),
      this.envs(place),
      cell === undefined ? this.untested(place) : this.told(place, failure, spec),
      this.commands(place, failure),
      cell !== undefined && this.numbers(place),
      cell !== undefined && this.circumstances(place, spec),
    ].filter(Boolean);
  }

  // --- what it is ---

  title({ row, release }) {
    const { rows, releases, toolchain } = this.data;
    const parts = [rows.kernel[row], rows.variant[row], rows.case[row]];
    return this.head(parts, `${rows.target[row]} · ${toolchain} ${releases[release].label}`);
  }

  head(parts, below) {
    return make(
      "header",
      {},
      make(
        "div",
        { class: "row" },
        make(
          "h2",
          { id: "drawer-title" },
          parts.flatMap((part, at) => (at ? [make("span", { class: "slash" }, "/"), part] : [part])),
        ),
        make("span", { class: "grow" }),
        copyButton(() => location.href, "the link to this cell", "Copy link"),
        make(
          "button",
          { type: "button", class: "quiet", "data-close": "", "aria-label": "Close", onclick: () => this.close() },
          icon("close"),
        ),
      ),
      make("p", { class: "place" }, below),
    );
  }

  /** Compiles, right and fast: three facts, each with what is known of it. */
  facts({ row, release, point, cell }) {
    const { data } = this;
    const mark = compiles(data, point);
    const surprise = data.has(point, UNEXPECTED);
    const expectation = cell === undefined ? null : data.record("expectation", cell);
    const earlier = data.has(point, REMEMBERED) ? ", as an earlier run found" : "";
    const declared = surprise ? "unexpected" : expectation && mark.kind !== "good" ? "as declared" : "";
    const right = cell === undefined ? null : rightness(data, cell);
    const fast = cell === undefined ? null : speed(data, cell);
    return make(
      "dl",
      { class: "facts-list" },
      this.fact("compiles", "Compiles", mark, mark.meaning + earlier, declared, surprise),
      this.fact(
        "right",
        "Right",
        right ? (right.right ? RIGHT : WRONG) : ABSENT,
        right ? rightWords(right) : "not tested: no number it computes was checked",
      ),
      this.fact(
        "fast",
        "Fast",
        fast ? (fast.slower ? SLOW : FAST) : ABSENT,
        fast ? fastWords(fast) : "not tested: it was not launched",
      ),
    );
  }

  fact(name, title, mark, words, further = "", surprise = false) {
    return make(
      "div",
      { "data-fact-line": name },
      make("dt", {}, title),
      make(
        "dd",
        {},
        make(
          "span",
          { class: `swatch k-${mark.kind} m-${slug(mark.word)}${surprise ? " unexpected" : ""}` },
          iconOf(mark) && icon(iconOf(mark)),
        ),
        make("span", {}, words),
        further && make("strong", { class: surprise ? "surprise" : "note" }, further),
      ),
    );
  }

  /** The same on the other releases. */
  strip({ row, release }) {
    const { data } = this;
    const buttons = data.releases.map((each, at) => {
      const point = data.point(row, at);
      const mark = compiles(data, point);
      const words = `${each.label}: ${mark.meaning}${data.has(point, UNEXPECTED) ? ", unexpected" : ""}`;
      const classes = `swatch k-${mark.kind} m-${slug(mark.word)}${data.has(point, UNEXPECTED) ? " unexpected" : ""}`;
      return make(
        "button",
        {
          type: "button",
          "data-neighbour": each.label,
          "aria-label": words,
          title: words,
          "aria-current": at === release ? "true" : null,
          onclick: () => this.step(row, at),
        },
        make("span", { class: classes }, iconOf(mark) && icon(iconOf(mark))),
        make("span", { class: "release" }, each.label),
      );
    });
    const arrows = (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step || release + step < 0 || release + step >= data.columns) return;
      event.preventDefault();
      this.step(row, release + step);
    };
    return make(
      "div",
      { class: "strip", role: "group", "aria-label": "The same on the other releases", onkeydown: arrows },
      buttons,
    );
  }

  step(row, release) {
    this.state.set({ cell: this.data.idOf(row, release) });
    one("[data-neighbour][aria-current]", this.element)?.focus();
  }

  /** The same on this release in the other cases and for the other targets. */
  siblings({ row, release }) {
    const { data } = this;
    const rows = data.kernels.get(data.rows.kernel[row]).get(data.rows.variant[row]);
    if (rows.length < 2) return null;
    const cases = [...new Set(rows.map((each) => data.rows.case[each]))];
    const targets = [...new Set(rows.map((each) => data.rows.target[each]))];
    const at = (name, target) => rows.find((each) => data.rows.case[each] === name && data.rows.target[each] === target);
    const cell = (name, target) => {
      const other = at(name, target);
      if (other === undefined) return make("td", {});
      const mark = compiles(data, data.point(other, release));
      return make(
        "td",
        {},
        make(
          "button",
          {
            type: "button",
            class: `swatch k-${mark.kind} m-${slug(mark.word)}`,
            "aria-label": `${name}, ${target}: ${mark.meaning}`,
            title: `${name}, ${target}: ${mark.meaning}`,
            "aria-current": other === row ? "true" : null,
            "data-sibling": `${name}/${target}`,
            onclick: () => this.state.set({ cell: data.idOf(other, release) }),
          },
          iconOf(mark) && icon(iconOf(mark)),
        ),
      );
    };
    return make(
      "details",
      { class: "siblings", open: this.showSiblings, ontoggle: (event) => (this.showSiblings = event.target.open) },
      make("summary", {}, `${counted(cases.length, "case")} × ${counted(targets.length, "target")} on this release`),
      make(
        "table",
        {},
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            make("td", {}),
            targets.map((target) => make("th", { scope: "col" }, target)),
          ),
        ),
        make(
          "tbody",
          {},
          cases.map((name) =>
            make(
              "tr",
              {},
              make("th", { scope: "row" }, name),
              targets.map((target) => cell(name, target)),
            ),
          ),
        ),
      ),
    );
  }

  /** Where several envs have this release: what each says. */
  envs({ point, cell }) {
    const { data } = this;
    const cells = point < 0 ? [] : data.cellsOf(point);
    if (cells.length < 2) return null;
    const button = (each) =>
      make(
        "button",
        {
          type: "button",
          class: "switch",
          "aria-pressed": String(each === cell),
          onclick: () => this.state.set({ cell: data.id(each) }),
        },
        `${data.envs[data.cells.env[each]].name}: ${data.status(each)}`,
      );
    return make("div", { class: "switches", role: "group", "aria-label": "Envs of this release" }, cells.map(button));
  }

  // --- what came of it ---

  untested({ row, release, point }) {
    const { data } = this;
    if (data.has(point, REMEMBERED)) {
      const earlier = data.points.earlier[point];
      return section(
        "From an earlier run",
        make(
          "p",
          {},
          earlier ? `It failed with ${earlier[0]} (${earlier[1]}).` : "It compiled.",
          " This run did not try it; the command below does.",
        ),
      );
    }
    return section(
      "Not tested",
      make("p", {}, `Nothing is known of ${data.toolchain} ${data.releases[release].label} here. The command below finds it out.`),
    );
  }

  told({ cell, point }, failure, spec) {
    const { data } = this;
    const guessed = data.cells.flags[cell] & GUESSED;
    const warnings = data.record("warnings", cell);
    return make(
      "div",
      {},
      failure && this.failure(failure, cell),
      guessed
        ? make(
            "p",
            { class: "note" },
            "The kernel's arguments were guessed from its source: what is found holds for the types and values that were guessed.",
          )
        : null,
      failure && this.excerpt(failure),
      this.source(spec, failure),
      failure && this.downloads(failure, cell),
      warnings &&
        section(
          "Warnings",
          make(
            "ul",
            {},
            warnings.map((each) => make("li", {}, make("strong", {}, each.type), ` ${each.message}`)),
          ),
        ),
    );
  }

  failure(failure, cell) {
    const { data } = this;
    const expectation = data.record("expectation", cell);
    const distinct = data.failures.find((each) => each.fingerprint === failure.fingerprint);
    const link =
      distinct &&
      make(
        "a",
        { href: this.state.link({ view: "failures", failure: failure.fingerprint, cell: "" }) },
        `${distinct.id}: everywhere it occurs (${counted(distinct.cells, "cell")})`,
      );
    const facts = [
      ["Class", failure.class],
      [
        "Fingerprint",
        make(
          "span",
          { class: "row" },
          make("code", {}, failure.fingerprint),
          copyButton(() => failure.fingerprint, "the fingerprint"),
        ),
      ],
      ["Stage", failure.stage],
      ["Pass", failure.pass],
      ["Op", failure.op],
      ["At", failure.location],
      [
        "Declared",
        expectation && `${expectation.status}${expectation.class ? ` (${expectation.class})` : ""}. ${expectation.reason}`,
      ],
      ["Same failure", link],
    ].filter(([, value]) => value);
    return [
      section(
        "Failure",
        definitions(facts),
        failure.prediction && make("p", { class: "note" }, "It compiles; that a launch would fail is a prediction."),
      ),
      failure.advice && section("What to do", make("p", { class: "advice" }, prose(failure.advice))),
    ];
  }

  excerpt(failure) {
    return section("What the compiler says", make("pre", { tabindex: "0", "data-excerpt": "" }, failure.excerpt));
  }

  source(spec, failure) {
    const view = sourceView(this.data, spec, failure);
    return view && section(failure ? "Where" : "Source", view);
  }

  downloads(failure, cell) {
    const name = this.data.id(cell).replaceAll("/", "-");
    const links = [
      ["reproducer", "MLIR reproducer"],
      ["ir", "IR before the pass"],
    ].map(([kind, words]) => this.download(kind, words, name, failure));
    return make(
      "div",
      { class: "row downloads" },
      links,
      downloadLink("message", `${name}.txt`, "The message", () => failure.excerpt),
    );
  }

  /** What was kept of this cell, else of the one that its failure is told by. */
  download(kind, words, name, failure) {
    const distinct = this.data.failures.find((each) => each.fingerprint === failure.fingerprint);
    const attached = this.attached();
    if (attached[failure[kind]]) return downloadLink(kind, `${name}.${kind}.mlir`, words, () => unzipped(attached[failure[kind]]));
    const other = attached[distinct?.[kind]];
    const example = other && this.data.id(distinct.example);
    if (other)
      return downloadLink(kind, `${example.replaceAll("/", "-")}.${kind}.mlir`, `${words} of ${example}, the same failure`, () =>
        unzipped(other),
      );
    return failure[kind] && make("span", { class: "note" }, `${words}: kept as ${failure[kind]}, not in this page`);
  }

  attached() {
    this.attachments ??= JSON.parse(document.getElementById("attachments").textContent);
    return this.attachments;
  }

  commands(place, failure) {
    const { data } = this;
    const { always, failing, fix } = data.commands;
    const edit = failure && data.failures.find((each) => each.fingerprint === failure.fingerprint)?.edit;
    const fails = place.cell !== undefined && failure;
    const wanted = place.cell === undefined ? always.slice(0, 1) : [...always, ...(fails ? failing : []), ...(edit ? [fix] : [])];
    const names = this.names(place);
    const item = ({ title, words }) => {
      const line = words.map((word) => quoted(word.replace(/\{(\w+)\}/g, (_, name) => names[name]))).join(" ");
      return make(
        "li",
        {},
        make("span", { class: "what" }, title),
        make(
          "span",
          { class: "row" },
          make("code", {}, line),
          copyButton(() => line, `the command: ${title}`),
        ),
      );
    };
    return section("Commands", make("ul", { class: "commands", "data-commands": "" }, wanted.map(item)));
  }

  names({ row, release, cell }) {
    const { data } = this;
    const env = cell === undefined ? data.releases[release].label : data.envs[data.cells.env[cell]].name;
    return {
      kernel: data.rows.kernel[row],
      variant: data.rows.variant[row],
      case: data.rows.case[row],
      target: data.rows.target[row],
      env,
    };
  }

  // --- its circumstances ---

  numbers({ row, release, cell }) {
    const { data } = this;
    const before = earlierGood(data, row, release);
    const lines = Object.entries(data.cells.metrics)
      .filter(([, column]) => column[cell] !== null)
      .map(([name, column]) => {
        const was = before === null ? null : column[before];
        return make(
          "tr",
          {},
          make("th", { scope: "row" }, METRICS[name] ?? name),
          make("td", {}, number(column[cell])),
          make("td", { class: "note" }, was === null || was === column[cell] ? "" : `${number(was)} before`),
        );
      });
    const said = Object.entries(data.cells.words[cell] ?? {}).map(([name, value]) =>
      make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value), make("td", {})),
    );
    const stages = Object.entries(data.cells.stages)
      .filter(([, column]) => column[cell] !== null)
      .map(([name, column]) =>
        make("tr", {}, make("th", { scope: "row" }, `${name}, seconds`), make("td", {}, column[cell].toFixed(3)), make("td", {})),
      );
    if (!lines.length && !stages.length) return null;
    return section("What the build is like", make("table", { class: "plain" }, make("tbody", {}, lines, said, stages)));
  }

  circumstances({ cell }, spec) {
    const { data } = this;
    const env = data.envs[data.cells.env[cell]];
    const attempts = data.record("attempts", cell);
    const stoodIn = data.record("stood_in", cell);
    const facts = [
      ["Last stage", data.stage(cell)],
      ["Seconds", data.cells.seconds[cell].toFixed(3)],
      ["Attempts", attempts && attempts.join("; ")],
      [
        "Env",
        `${env.name}: ${data.toolchain} ${env.release ?? "none"}${env.torch ? `, PyTorch ${env.torch}` : ""}, Python ${env.python ?? "none"}`,
      ],
      ["Packages", env.packages.join(", ")],
      ["Digest", env.digest],
      ["Env says", env.error],
      ["Kernel", spec.summary],
      ["Compiled with", make("pre", { tabindex: "0" }, JSON.stringify(spec.compile, null, 1))],
      ["Stand-ins", stoodIn && [stoodIn.packages, stoodIn.answers, stoodIn.skipped].flat().join("; ")],
    ].filter(([, value]) => value);
    return make("details", { class: "circumstances" }, make("summary", {}, "How it was compiled"), definitions(facts));
  }
}

function section(title, ...content) {
  return make("section", {}, make("h3", {}, title), content);
}

function definitions(facts) {
  return make(
    "dl",
    { class: "definitions" },
    facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
  );
}

/** A word of a command line as a POSIX shell reads it. */
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** The cell of the nearest earlier release that compiled. */
function earlierGood(data, row, release) {
  for (let earlier = release - 1; earlier >= 0; earlier--) {
    const point = data.point(row, earlier);
    if (point >= 0 && data.mark(point).kind === "good" && data.points.cells[point]) return data.cellsOf(point)[0];
  }
  return null;
}

function rightWords({ right, found }) {
  const told = Object.entries(found)
    .filter(([, said]) => said)
    .map(([by, said]) => {
      const error = said.max_abs === undefined || said.max_abs === null ? "" : `, largest error ${said.max_abs}`;
      return `${by === "gpu" ? (said.device ?? "GPU") : by}: ${said.status}${error}${said.where ? ` at ${said.where}` : ""}${said.reason ? ` (${said.reason})` : ""}`;
    });
  return told.join("; ") || (right ? "right" : "wrong");
}

function fastWords({ found, before, since }) {
  const ratio = found.ratio ? `, ${found.ratio.toFixed(2)} × the baseline` : "";
  return `${found.us} µs on ${found.device}${ratio}${before ? `; ${before.us} µs in ${since}` : ""}`;
}
