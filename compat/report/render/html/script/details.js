// The details of a cell: its failure, its source, the commands for it, and how it was compiled.

const GUESS_NOTE =
  "The kernel's arguments were guessed from its source. Other types and values may give other results.";

class Details {
  constructor(data, state) {
    Object.assign(this, { data, state });
    this.attachments = null;
  }

  /** All parts of the details. A missing part is null or false. */
  parts(place) {
    const { data } = this;
    const { row, cell } = place;
    if (cell === undefined) return this.untestedParts(place);
    const failure = data.record("failure", cell);
    const spec = data.specs[data.rows.spec[row]];
    return [
      this.diagnosis(place, failure, spec),
      commandList(data, place, failure),
      tuningDetails(data, place),
      this.buildSection(place),
      this.compileDetails(place, spec),
    ];
  }

  untestedParts(place) {
    const { data } = this;
    const { label, toolchains } = data.releases[place.release];
    const { toolchain } = data.specs[data.rows.spec[place.row]];
    if (toolchains.length && !toolchains.includes(toolchain))
      return [section("Not tested", make("p", {}, `${label} is not a release of ${toolchain}.`))];
    return [this.untestedSection(place), commandList(data, place, null)];
  }

  untestedSection({ row, release, point }) {
    const { data } = this;
    if (data.hasFlag(point, REMEMBERED)) {
      const [failure, fingerprint] = data.points.earlier[point] ?? [];
      const cause = failure ? `, ${failure} (${fingerprint})` : "";
      const summary = `An earlier run found: ${data.mark(point).meaning}${cause}.`;
      return section(
        "From an earlier run",
        make("p", {}, summary, " This run did not compile it. The command below does."),
      );
    }
    const { label } = data.releases[release];
    const { toolchain } = data.specs[data.rows.spec[row]];
    return section(
      "Not tested",
      make("p", {}, `This cell was not tested on ${toolchain} ${label}. The command below tests it.`),
    );
  }

  diagnosis({ cell }, failure, spec) {
    const { data } = this;
    const guessedFlag = data.cells.flags[cell] & GUESSED;
    const warnings = data.record("warnings", cell);
    return make(
      "div",
      {},
      failure && this.failureSections(failure, cell),
      guessedFlag !== 0 && make("p", { class: "note" }, GUESS_NOTE),
      data.suspicions[cell] &&
        section(
          "Slow-suspect",
          make("p", { class: "suspicion", "data-suspicion": "" }, sentence(data.suspicions[cell])),
          make("p", { class: "note" }, "This is an estimate from the machine code. The kernel was not launched."),
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
            warnings.map((warning) => make("li", {}, make("strong", {}, warning.type), ` ${warning.message}`)),
          ),
        ),
    );
  }

  failureSections(failure, cell) {
    const { data } = this;
    const expectation = data.record("expectation", cell);
    const distinctFailure = data.distinctFailure(failure);
    const link =
      distinctFailure &&
      make(
        "a",
        { href: this.state.link({ view: "failures", failure: failure.fingerprint, cell: "" }) },
        `${distinctFailure.id}: all places (${formatCount(distinctFailure.cells, "cell")})`,
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
      ["Location", failure.location],
      [
        "Declared",
        expectation && `${declarationText(expectation)}. ${expectation.reason}`,
      ],
      ["Same failure", link],
    ].filter(([, value]) => value);
    return [
      section(
        "Failure",
        definitions(facts),
        failure.prediction &&
          make(
            "p",
            { class: "note" },
            `It compiles. Predicted: a launch would ${failure.stage === "check" ? "compute wrong numbers" : "fail"}.`,
          ),
      ),
      failure.advice && section("What to do", make("p", { class: "advice" }, prose(failure.advice))),
    ];
  }

  excerpt(failure) {
    return section("Compiler message", make("pre", { tabindex: "0", "data-excerpt": "" }, failure.excerpt));
  }

  source(spec, failure) {
    const view = sourceView(this.data, spec, failure);
    return view && section("Source", view);
  }

  downloads(failure, cell) {
    const name = this.data.id(cell).replaceAll("/", "-");
    const links = [
      ["reproducer", "MLIR reproducer"],
      ["ir", "IR before the pass"],
    ].map(([kind, title]) => this.download(kind, title, name, failure));
    return make(
      "div",
      { class: "row downloads" },
      links,
      downloadLink("message", `${name}.txt`, "Compiler message", () => failure.excerpt),
    );
  }

  /** The link to a file of this cell, else to that of the example of the same failure. */
  download(kind, title, name, failure) {
    const distinctFailure = this.data.distinctFailure(failure);
    const attachments = this.readAttachments();
    const attachment = attachments[failure[kind]];
    if (attachment) return downloadLink(kind, `${name}.${kind}.mlir`, title, () => unzip(attachment));
    const exampleAttachment = attachments[distinctFailure?.[kind]];
    if (exampleAttachment) {
      const example = this.data.id(distinctFailure.example);
      const file = `${example.replaceAll("/", "-")}.${kind}.mlir`;
      return downloadLink(kind, file, `${title} of ${example}, the same failure`, () => unzip(exampleAttachment));
    }
    return failure[kind] && make("span", { class: "note" }, `${title}: in ${failure[kind]}, not on this page`);
  }

  readAttachments() {
    this.attachments ??= Object.assign(
      Object.create(null),
      JSON.parse(document.getElementById("attachments").textContent),
    );
    return this.attachments;
  }

  // --- the build ---

  buildSection({ row, release, cell }) {
    const { data } = this;
    const earlierCell = earlierGoodCell(data, row, release);
    const columnsOfCell = (columns) => Object.entries(columns).filter(([, column]) => column[cell] !== null);
    const metricRows = columnsOfCell(data.cells.metrics).map(([name, column]) => {
      const earlierValue = earlierCell === null ? null : column[earlierCell];
      const note = earlierValue === null || earlierValue === column[cell] ? "" : `was ${formatNumber(earlierValue)}`;
      return tableRow(Object.hasOwn(METRICS, name) ? METRICS[name] : name, [
        make("td", {}, formatNumber(column[cell])),
        make("td", { class: "note" }, note),
      ]);
    });
    const plainRow = (name, text) => tableRow(name, [make("td", {}, text), make("td", {})]);
    const textRows = Object.entries(data.cells.words[cell] ?? {}).map(([name, text]) => plainRow(name, text));
    const stageRows = columnsOfCell(data.cells.stages).map(([name, column]) =>
      plainRow(`${name}, CPU seconds`, column[cell].toFixed(3)),
    );
    if (!metricRows.length && !stageRows.length) return null;
    return section("Build", make("table", { class: "plain" }, make("tbody", {}, metricRows, textRows, stageRows)));
  }

  compileDetails({ cell }, spec) {
    const { data } = this;
    const env = data.envs[data.cells.env[cell]];
    const attempts = data.record("attempts", cell);
    const standIns = data.record("stood_in", cell);
    const seconds = data.cells.compile_seconds[cell];
    const facts = [
      ["Last stage", data.stage(cell)],
      ["Compile time", seconds !== null && `${seconds.toFixed(3)} s of CPU`],
      ["Attempts", attempts && attempts.join("; ")],
      [
        "Env",
        [
          `${env.name}: ${spec.toolchain} ${env.release ?? "none"}`,
          env.framework,
          `Python ${env.python ?? "none"}`,
        ]
          .filter(Boolean)
          .join(", "),
      ],
      ["Packages", env.packages.join(", ")],
      ["Digest", env.digest],
      ["Env error", env.error],
      ["Kernel", spec.summary],
      ["Compiled with", make("pre", { tabindex: "0" }, JSON.stringify(spec.compile, null, 1))],
      ["Stand-ins", standIns && [standIns.packages, standIns.answers, standIns.skipped].flat().join("; ")],
    ].filter(([, value]) => value);
    return make("details", { class: "circumstances" }, make("summary", {}, "How it was compiled"), definitions(facts));
  }
}

/** A phrase as a sentence. */
const sentence = (phrase) => `${phrase[0].toUpperCase()}${phrase.slice(1)}.`;

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

/** The cell of the nearest earlier release that compiles; null if there is none. */
function earlierGoodCell(data, row, release) {
  for (const earlierRelease of data.earlierReleases(release)) {
    const point = data.point(row, earlierRelease);
    if (point >= 0 && data.mark(point).kind === "good" && data.points.cells[point]) return data.cellsOf(point)[0];
  }
  return null;
}

/** An expectation as text: `rejected (api-removed)`. One that is not strict: `ok, or rejected`. */
function declarationText({ status, class: kind, strict }) {
  return `${strict ? "" : "ok, or "}${status}${kind ? ` (${kind})` : ""}`;
}
