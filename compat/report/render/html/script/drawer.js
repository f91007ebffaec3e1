// The drawer shows one cell: its facts, and the cells beside it. details.js makes the rest of the drawer.

class Drawer {
  constructor(data, state, restoreFocus) {
    Object.assign(this, { data, state, restoreFocus });
    this.element = query("[data-drawer]");
    this.details = new Details(data, state);
    state.onChange((values, changedNames) => changedNames.has("cell") && this.showCell(values.cell));
    if (state.values.cell) this.showCell(state.values.cell);
  }

  get isOpen() {
    return !this.element.hidden;
  }

  open(id) {
    this.state.set({ cell: id }, { addHistory: !this.isOpen });
    this.element.focus();
  }

  close() {
    this.state.set({ cell: "" });
    this.restoreFocus();
  }

  showCell(id) {
    const place = id && this.data.find(id);
    this.element.hidden = !id;
    document.body.classList.toggle("with-drawer", Boolean(id));
    if (!id) return;
    const top = this.id === id ? this.element.scrollTop : 0;
    this.id = id;
    this.element.replaceChildren(...(place ? this.content(place) : this.missingCellContent(id)));
    const neighbour = query("[data-neighbour][aria-current]", this.element);
    neighbour?.scrollIntoView({ block: "nearest", inline: "center" }); // the strip is wider than a phone
    this.element.scrollTop = top;
  }

  missingCellContent(id) {
    return [
      this.header([id], "There is no such cell in this report."),
      make("p", { class: "lead" }, "The link may be from another report."),
    ];
  }

  content(place) {
    const parts = [this.title(place), this.facts(place), this.strip(place), this.siblings(place), this.envs(place)];
    return [...parts, ...this.details.parts(place)].filter(Boolean);
  }

  // --- the parts of the drawer ---

  title({ row, release }) {
    const { rows, releases, specs } = this.data;
    const { toolchain } = specs[rows.spec[row]];
    const parts = [rows.kernel[row], rows.variant[row], rows.case[row]];
    return this.header(parts, `${rows.target[row]} · ${toolchain} ${releases[release].label}`);
  }

  header(parts, subtitle) {
    return make(
      "div",
      { class: "title" },
      make(
        "div",
        { class: "row" },
        make(
          "h2",
          { id: "drawer-title" },
          parts.flatMap((part, index) => (index ? [make("span", { class: "slash" }, "/"), part] : [part])),
        ),
        make("span", { class: "grow" }),
        copyButton(() => location.href, "the link to this cell", "Copy link"),
        make(
          "button",
          { type: "button", class: "quiet", "data-close": "", "aria-label": "Close", onclick: () => this.close() },
          icon("close"),
        ),
      ),
      make("p", { class: "place" }, subtitle),
    );
  }

  /** The three facts of a cell: whether it compiles, whether its numbers are right, and whether it is fast. */
  facts({ row, release, point, cell }) {
    const { data } = this;
    const mark = data.mark(point);
    const isUnexpected = data.hasFlag(point, UNEXPECTED);
    const expectation = cell === undefined ? null : data.record("expectation", cell);
    const origin = data.hasFlag(point, REMEMBERED) ? ", from an earlier run" : "";
    const declaration = expectation?.strict ? "as declared" : expectation && `declared ${declarationText(expectation)}`;
    const declarationNote = isUnexpected ? "unexpected" : expectation && mark.kind !== "good" ? declaration : "";
    const comparison = cell === undefined ? null : comparisonOf(data, cell);
    const numbers = cell === undefined ? null : data.cells.numbers[cell];
    const timing = cell === undefined ? null : timingOf(data, cell);
    return make(
      "dl",
      { class: "facts-list" },
      this.fact("compiles", "Compiles", mark, mark.meaning + origin, declarationNote, isUnexpected),
      this.fact(
        "right",
        "Right",
        comparison ? comparisonMark(comparison) : ABSENT_MARK,
        numbers ? comparisonText(numbers) : "not tested: its numbers were not checked",
      ),
      this.fact(
        "fast",
        "Fast",
        timing ? timingMark(timing) : ABSENT_MARK,
        timing ? timingText(timing) : "not tested: no latency was measured",
      ),
    );
  }

  fact(name, title, mark, text, note = "", isUnexpected = false) {
    return make(
      "div",
      { "data-fact-line": name },
      make("dt", {}, title),
      make(
        "dd",
        {},
        swatch(mark, { unexpected: isUnexpected }),
        make("span", {}, text),
        note && make("strong", { class: isUnexpected ? "surprise" : "note" }, note),
      ),
    );
  }

  /** The same cell on other releases. */
  strip({ row, release }) {
    const { data } = this;
    const buttons = data.releases.map((releaseRecord, otherRelease) => {
      const point = data.point(row, otherRelease);
      const mark = data.mark(point);
      const unexpected = data.hasFlag(point, UNEXPECTED);
      const label = `${releaseRecord.label}: ${mark.meaning}${unexpected ? ", unexpected" : ""}`;
      return make(
        "button",
        {
          type: "button",
          "data-neighbour": releaseRecord.label,
          "aria-label": label,
          title: label,
          "aria-current": otherRelease === release ? "true" : null,
          onclick: () => this.showRelease(row, otherRelease),
        },
        swatch(mark, { unexpected }),
        make("span", { class: "release" }, releaseRecord.label),
      );
    });
    const handleArrows = (event) => {
      const offset = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!offset || release + offset < 0 || release + offset >= data.columns) return;
      event.preventDefault();
      this.showRelease(row, release + offset);
    };
    return make(
      "div",
      { class: "strip", role: "group", "aria-label": "The same cell on other releases", onkeydown: handleArrows },
      buttons,
    );
  }

  showRelease(row, release) {
    this.state.set({ cell: this.data.idOf(row, release) });
    query("[data-neighbour][aria-current]", this.element)?.focus();
  }

  /** A table of the same variant on this release, by case and target. */
  siblings({ row, release }) {
    const { data } = this;
    const rows = data.kernels.get(data.rows.kernel[row]).get(data.rows.variant[row]);
    if (rows.length < 2) return null;
    const cases = [...new Set(rows.map((sibling) => data.rows.case[sibling]))];
    const targets = [...new Set(rows.map((sibling) => data.rows.target[sibling]))];
    const findRow = (caseName, target) =>
      rows.find((sibling) => data.rows.case[sibling] === caseName && data.rows.target[sibling] === target);
    const siblingCell = (caseName, target) => {
      const siblingRow = findRow(caseName, target);
      if (siblingRow === undefined) return make("td", {});
      const mark = data.mark(data.point(siblingRow, release));
      const label = `${caseName}, ${target}: ${mark.meaning}`;
      const button = {
        type: "button",
        "aria-label": label,
        title: label,
        "aria-current": siblingRow === row ? "true" : null,
        "data-sibling": `${caseName}/${target}`,
        onclick: () => this.state.set({ cell: data.idOf(siblingRow, release) }),
      };
      return make("td", {}, swatch(mark, { tag: "button", attributes: button }));
    };
    return make(
      "details",
      { class: "siblings", open: this.siblingsOpen, ontoggle: (event) => (this.siblingsOpen = event.target.open) },
      make(
        "summary",
        {},
        `${formatCount(cases.length, "case")} × ${formatCount(targets.length, "target")} on this release`,
      ),
      make(
        "table",
        {},
        headings(["", ...targets]),
        make(
          "tbody",
          {},
          cases.map((caseName) =>
            tableRow(
              caseName,
              targets.map((target) => siblingCell(caseName, target)),
            ),
          ),
        ),
      ),
    );
  }

  /** A switch between the envs of this release, if there are several. */
  envs({ point, cell }) {
    const { data } = this;
    const cells = point < 0 ? [] : data.cellsOf(point);
    if (cells.length < 2) return null;
    const button = (envCell) =>
      make(
        "button",
        {
          type: "button",
          class: "switch",
          "aria-pressed": String(envCell === cell),
          onclick: () => this.state.set({ cell: data.id(envCell) }),
        },
        `${data.envs[data.cells.env[envCell]].name}: ${data.status(envCell)}`,
      );
    return make("div", { class: "switches", role: "group", "aria-label": "Envs of this release" }, cells.map(button));
  }
}

/** The results of the runs that compare numbers: those on GPUs and in the interpreter. */
function comparisonText(numbers) {
  const descriptions = Object.entries(numbers)
    .filter(([, record]) => record)
    .map(([source, record]) => {
      const parts = [
        `${source === "gpu" ? (record.device ?? "GPU") : source}: ${record.status}`,
        typeof record.max_abs === "number" &&
          `largest error ${record.max_abs}${record.where ? ` at ${record.where}` : ""}`,
        record.differing > 0 && `${record.differing} of ${record.launches} launches differ`,
        record.reason,
      ];
      return parts.filter(Boolean).join(", ");
    });
  return descriptions.join("; ");
}

/** The latency of a launch, the ratio to the baseline, and the latency on the earlier release. */
function timingText({ latency, earlierLatency, earlierRelease }) {
  const ratio = latency.ratio ? `, ${latency.ratio.toFixed(2)} × the baseline` : "";
  const comparison = earlierLatency ? `; ${earlierLatency.us} µs in ${earlierRelease}` : "";
  return `${latency.us} µs on ${latency.device}${ratio}${comparison}`;
}
