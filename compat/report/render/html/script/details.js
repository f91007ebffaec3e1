// What is known of a cell besides what it comes to: its failure, its source, the commands that go on, and how it was compiled.

const GUESS =
  "The kernel's arguments were guessed from its source. Other types and values may give other results.";

class Details {
  constructor(data, state) {
    Object.assign(this, { data, state });
    this.attachments = null;
  }

  /** All of it, as far as there is any. */
  of(place) {
    const { data } = this;
    const { row, cell } = place;
    if (cell === undefined) return [this.untested(place), commandList(data, place, null)];
    const failure = data.record("failure", cell);
    const spec = data.specs[data.rows.spec[row]];
    return [
      this.told(place, failure, spec),
      commandList(data, place, failure),
      tunedDetails(data, place),
      this.numbers(place),
      this.circumstances(place, spec),
    ];
  }

  untested({ row, release, point }) {
    const { data } = this;
    if (data.has(point, REMEMBERED)) {
      const [failure, fingerprint] = data.points.earlier[point] ?? [];
      const found = `An earlier run found: ${data.mark(point).meaning}${failure ? `, ${failure} (${fingerprint})` : ""}.`;
      return section("From an earlier run", make("p", {}, found, " This run did not try it. The command below does."));
    }
    return section(
      "Not tested",
      make("p", {}, `This cell was not tested on ${data.toolchain} ${data.releases[release].label}. The command below tests it.`),
    );
  }

  told({ cell }, failure, spec) {
    const { data } = this;
    const guessed = data.cells.flags[cell] & GUESSED;
    const warnings = data.record("warnings", cell);
    return make(
      "div",
      {},
      failure && this.failure(failure, cell),
      guessed !== 0 && make("p", { class: "note" }, GUESS),
      data.suspicions[cell] &&
        section(
          "Slow-suspect",
          make("p", { class: "suspicion", "data-suspicion": "" }, sentence(data.suspicions[cell])),
          make("p", { class: "note" }, "This is an estimate from the machine code. Nothing was launched for it."),
        ),
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
    const distinct = data.distinct(failure);
    const link =
      distinct &&
      make(
        "a",
        { href: this.state.link({ view: "failures", failure: failure.fingerprint, cell: "" }) },
        `${distinct.id}: all places (${counted(distinct.cells, "cell")})`,
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
        expectation && `${declaredAs(expectation)}. ${expectation.reason}`,
      ],
      ["Same failure", link],
    ].filter(([, value]) => value);
    return [
      section(
        "Failure",
        definitions(facts),
        failure.prediction && make("p", { class: "note" }, `It compiles. Predicted: a launch would ${failure.stage === "check" ? "compute wrong numbers" : "fail"}.`),
      ),
      failure.advice && section("What to do", make("p", { class: "advice" }, prose(failure.advice))),
    ];
  }

  excerpt(failure) {
    return section("The compiler's message", make("pre", { tabindex: "0", "data-excerpt": "" }, failure.excerpt));
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
    const distinct = this.data.distinct(failure);
    const attached = this.attached();
    if (attached[failure[kind]]) return downloadLink(kind, `${name}.${kind}.mlir`, words, () => unzipped(attached[failure[kind]]));
    const other = attached[distinct?.[kind]];
    if (other) {
      const example = this.data.id(distinct.example);
      const file = `${example.replaceAll("/", "-")}.${kind}.mlir`;
      return downloadLink(kind, file, `${words} of ${example}, the same failure`, () => unzipped(other));
    }
    return failure[kind] && make("span", { class: "note" }, `${words}: in ${failure[kind]}, not on this page`);
  }

  attached() {
    this.attachments ??= Object.assign(Object.create(null), JSON.parse(document.getElementById("attachments").textContent));
    return this.attachments;
  }

  // --- its circumstances ---

  numbers({ row, release, cell }) {
    const { data } = this;
    const before = earlierGood(data, row, release);
    const known = (columns) => Object.entries(columns).filter(([, column]) => column[cell] !== null);
    const lines = known(data.cells.metrics).map(([name, column]) => {
      const was = before === null ? null : column[before];
      const note = was === null || was === column[cell] ? "" : `${number(was)} before`;
      return tableRow(Object.hasOwn(METRICS, name) ? METRICS[name] : name, [make("td", {}, number(column[cell])), make("td", { class: "note" }, note)]);
    });
    const plainRow = (name, words) => tableRow(name, [make("td", {}, words), make("td", {})]);
    const said = Object.entries(data.cells.words[cell] ?? {}).map(([name, words]) => plainRow(name, words));
    const stages = known(data.cells.stages).map(([name, column]) => plainRow(`${name}, CPU seconds`, column[cell].toFixed(3)));
    if (!lines.length && !stages.length) return null;
    return section("The build", make("table", { class: "plain" }, make("tbody", {}, lines, said, stages)));
  }

  circumstances({ cell }, spec) {
    const { data } = this;
    const env = data.envs[data.cells.env[cell]];
    const attempts = data.record("attempts", cell);
    const stoodIn = data.record("stood_in", cell);
    const facts = [
      ["Last stage", data.stage(cell)],
      ["Compile time", data.cells.compile_seconds[cell] !== null && `${data.cells.compile_seconds[cell].toFixed(3)} s of CPU`],
      ["Attempts", attempts && attempts.join("; ")],
      [
        "Env",
        [
          `${env.name}: ${data.toolchain} ${env.release ?? "none"}`,
          env.framework,
          `Python ${env.python ?? "none"}`,
        ]
          .filter(Boolean)
          .join(", "),
      ],
      ["Packages", env.packages.join(", ")],
      ["Digest", env.digest],
      ["Error of the env", env.error],
      ["Kernel", spec.summary],
      ["Compiled with", make("pre", { tabindex: "0" }, JSON.stringify(spec.compile, null, 1))],
      ["Stand-ins", stoodIn && [stoodIn.packages, stoodIn.answers, stoodIn.skipped].flat().join("; ")],
    ].filter(([, value]) => value);
    return make("details", { class: "circumstances" }, make("summary", {}, "How it was compiled"), definitions(facts));
  }
}

/** Words as a sentence of their own. */
const sentence = (words) => `${words[0].toUpperCase()}${words.slice(1)}.`;

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

/** The cell of the nearest earlier release that compiled. */
function earlierGood(data, row, release) {
  for (let earlier = release - 1; earlier >= 0; earlier--) {
    const point = data.point(row, earlier);
    if (point >= 0 && data.mark(point).kind === "good" && data.points.cells[point]) return data.cellsOf(point)[0];
  }
  return null;
}

/** What was declared, in words: `rejected (api-removed)`; `ok, or rejected` of a failure that need not happen. */
function declaredAs({ status, class: kind, strict }) {
  return `${strict ? "" : "ok, or "}${status}${kind ? ` (${kind})` : ""}`;
}
