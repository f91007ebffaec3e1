// The filter: the form above the grid, and the rows that match it.

const MAX_SWITCHES = 8; // a list replaces the switches if there are more values

class Filter {
  constructor(data, state) {
    Object.assign(this, { data, state });
    this.searchTexts = data.rows.kernel.map((_, row) => this.searchText(row));
    this.form = query("form[data-filter]");
    this.form.append(...this.controls());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    state.onChange((_, changedNames) => {
      if ([...FILTERS, "fact"].some((name) => changedNames.has(name))) this.show();
    });
    this.show();
  }

  /** The text of a row that the search compares with its terms. */
  searchText(row) {
    const { data } = this;
    const points = data.pointsOf(row);
    const failures = new Set(points.map((point) => data.failures[data.points.failure[point]]).filter(Boolean));
    const spec = data.specs[data.rows.spec[row]];
    return [
      ...[data.name(row), data.rows.verdict[row], spec.function, spec.source],
      ...[...failures].flatMap(({ id, fingerprint }) => [id, fingerprint]),
      ...data.failureClasses(points),
    ]
      .join(" ")
      .toLowerCase();
  }

  // --- the rows ---

  /** The rows that match the filter. */
  rows() {
    const { data, state } = this;
    const terms = state.values.q.toLowerCase().split(/\s+/).filter(Boolean);
    const targets = state.selectedValues("target");
    const cases = state.selectedValues("case");
    const pointFilter = state.values.mark || state.values.class || state.values.only;
    const rows = [];
    for (let row = 0; row < data.size; row++) {
      if (targets.size && !targets.has(data.rows.target[row])) continue;
      if (cases.size && !cases.has(data.rows.case[row])) continue;
      if (terms.length && !terms.every((term) => this.searchTexts[row].includes(term))) continue;
      if (pointFilter && !this.hasMatchingPoint(row)) continue;
      rows.push(row);
    }
    return rows;
  }

  hasMatchingPoint(row) {
    for (let release = 0; release < this.data.columns; release++) {
      if (this.matches(this.data.point(row, release))) return true;
    }
    return false;
  }

  /** Whether a point matches the filter's marks and failure class, and is unexpected or a slow-suspect as selected. */
  matches(point) {
    const { data, state } = this;
    const marks = state.selectedValues("mark");
    if (marks.size && !marks.has(data.mark(point).word)) return false;
    if (state.values.class && data.failureClass(point) !== state.values.class) return false;
    if (state.values.only === ONLY_SUSPECTED) return data.isSuspected(point);
    return !state.values.only || data.hasFlag(point, UNEXPECTED);
  }

  /** The number of cells of a point that match the filter. */
  cellCount(point) {
    const { data, state } = this;
    if (point < 0 || !this.matches(point)) return 0;
    if (!state.values.only) return data.points.cells[point];
    const isSuspected = (cell) => data.suspicions[cell];
    const isUnexpected = (cell) => data.cells.flags[cell] & UNEXPECTED_CELL;
    return data.cellsOf(point).filter(state.values.only === ONLY_SUSPECTED ? isSuspected : isUnexpected).length;
  }

  /** Whether the filter excludes points. */
  get excludesPoints() {
    const { mark, only } = this.state.values;
    return Boolean(mark || only || this.state.values.class);
  }

  // --- the form ---

  controls() {
    const { data } = this;
    const classes = data.failureClasses([...data.points.row.keys()]).sort();
    return [
      make(
        "div",
        { class: "controls" },
        this.search(),
        this.switches("target", "Targets", data.names("target")),
        this.switches("case", "Cases", data.names("case")),
        classes.length > 0 && this.list("class", "Class", classes),
        this.facts(),
      ),
      this.legend(),
    ];
  }

  search() {
    const input = make("input", {
      type: "search",
      name: "q",
      placeholder: "Kernel, class, F3 …",
      "aria-label": "Search the grid",
      autocomplete: "off",
      spellcheck: "false",
      oninput: (event) => this.state.set({ q: event.target.value }),
    });
    return make("label", { class: "search" }, icon("search"), input);
  }

  switches(name, title, values) {
    if (values.length < 2) return null;
    if (values.length > MAX_SWITCHES) return this.list(name, title, values);
    const button = (value) =>
      make(
        "button",
        {
          type: "button",
          class: "switch",
          [`data-${name}`]: value,
          "aria-pressed": "false",
          onclick: () => this.state.toggle(name, value),
        },
        value,
      );
    return make("div", { class: "switches", role: "group", "aria-label": title }, values.map(button));
  }

  list(name, title, values) {
    const options = [
      make("option", { value: "" }, `${title}: all`),
      ...values.map((value) => make("option", { value }, value)),
    ];
    return make(
      "select",
      { name, "aria-label": title, onchange: (event) => this.state.set({ [name]: event.target.value }) },
      options,
    );
  }

  facts() {
    const { data } = this;
    const isTested = { compiles: true, right: hasEntries(data.cells.numbers), fast: hasEntries(data.cells.latency) };
    const button = (fact) =>
      make(
        "button",
        {
          type: "button",
          class: "switch",
          "data-fact": fact,
          "aria-pressed": "false",
          onclick: () => this.state.set({ fact }),
        },
        fact[0].toUpperCase() + fact.slice(1),
        !isTested[fact] && make("small", {}, "not tested"),
      );
    return make(
      "div",
      { class: "switches facts", role: "group", "aria-label": "The fact that the grid shows" },
      Object.keys(isTested).map(button),
    );
  }

  /** The meaning of the marks. Each mark is a switch of the filter. */
  legend() {
    const { data } = this;
    const cellCounts = new Map();
    const unexpectedCount = data.cells.flags.filter((flags) => flags & UNEXPECTED_CELL).length;
    data.points.mark.forEach((mark, point) => {
      cellCounts.set(mark, (cellCounts.get(mark) ?? 0) + data.points.cells[point]);
    });
    const items = data.marks.map((mark, index) => {
      if (mark.kind === "absent") return null;
      return make(
        "button",
        {
          type: "button",
          class: "key",
          "data-mark-filter": mark.word,
          "aria-pressed": "false",
          onclick: () => this.state.toggle("mark", mark.word),
        },
        swatch(mark),
        mark.meaning,
        make("small", {}, formatNumber(cellCounts.get(index) ?? 0)),
      );
    });
    const suspectCount = Object.keys(data.suspicions).length;
    const onlySwitch = (value, count, sample, label) =>
      count > 0 &&
      make(
        "button",
        {
          type: "button",
          class: "key",
          "data-only": value,
          "aria-pressed": "false",
          onclick: () => this.state.set({ only: this.state.values.only === value ? "" : value }),
        },
        sample,
        label,
        make("small", {}, formatNumber(count)),
      );
    return make(
      "div",
      { class: "legend", role: "group", "aria-label": "Marks: meaning and filter" },
      onlySwitch("unexpected", unexpectedCount, swatch(SURPRISE_MARK, { unexpected: true }), "unexpected"),
      items,
      onlySwitch(ONLY_SUSPECTED, suspectCount, swatch(SUSPECT_MARK), "likely slower than on the previous release"),
      this.legendNotes(),
      legendNote(ABSENT_MARK, "not tested"),
      make(
        "button",
        { type: "button", class: "quiet", "data-clear": "", hidden: true, onclick: () => this.clear() },
        icon("close"),
        "Clear the filter",
      ),
    );
  }

  /** The meaning of further marks that occur in the grid. */
  legendNotes() {
    const { data } = this;
    const hasSlowerCell =
      hasEntries(data.cells.latency) && data.cells.env.some((_, cell) => timingOf(data, cell)?.slower);
    return [
      hasSlowerCell && legendNote(SLOW_MARK, `slower than on the previous release (${SLOWER_FACTOR} ×)`),
      data.points.flags.some((flags) => flags & REMEMBERED) &&
        legendNote(REMEMBERED_MARK, "pale: result of an earlier run"),
      this.hasFailureChange() &&
        legendNote(CHANGED_MARK, "thick edge: a different failure than on the previous release"),
    ];
  }

  hasFailureChange() {
    const { data } = this;
    const failures = data.points.failure;
    const hasFailure = (point) => point >= 0 && failures[point] >= 0;
    for (let row = 0; row < data.size; row++) {
      for (let release = 0; release < data.columns; release++) {
        const earlierRelease = data.earlierReleases(release)[0] ?? release;
        const [earlierPoint, point] = [data.point(row, earlierRelease), data.point(row, release)];
        if (hasFailure(earlierPoint) && hasFailure(point) && failures[earlierPoint] !== failures[point]) return true;
      }
    }
    return false;
  }

  clear() {
    this.state.set(Object.fromEntries(FILTERS.map((name) => [name, ""])));
    query("[name=q]", this.form).focus();
  }

  /** Update the form from the state. */
  show() {
    const { values } = this.state;
    const input = query("[name=q]", this.form);
    if (input.value !== values.q) input.value = values.q;
    for (const list of queryAll("select", this.form)) list.value = values[list.name];
    const updateButtons = (selector, name, key) => {
      const selectedValues = this.state.selectedValues(name);
      for (const button of queryAll(selector, this.form)) {
        button.setAttribute("aria-pressed", String(selectedValues.has(button.dataset[key])));
      }
    };
    updateButtons("[data-target]", "target", "target");
    updateButtons("[data-case]", "case", "case");
    updateButtons("[data-mark-filter]", "mark", "markFilter");
    updateButtons("[data-fact]", "fact", "fact");
    updateButtons("[data-only]", "only", "only");
    query("[data-clear]", this.form).hidden = !FILTERS.some((name) => values[name]);
  }
}

/** An entry of the legend that is not a switch. */
function legendNote(mark, label) {
  return make("span", { class: "key still" }, swatch(mark), label);
}

const ONLY_SUSPECTED = "suspected"; // the filter for cells that compile and are likely slower
const SUSPECT_MARK = { word: "suspect", kind: "suspect" };
const SURPRISE_MARK = { word: "unexpected", kind: "bad" };
const REMEMBERED_MARK = { word: "remembered", kind: "good" };
const CHANGED_MARK = { word: "changed", kind: "bad" };
const hasEntries = (record) => Object.keys(record ?? {}).length > 0;
const slug = (word) => ({ "ok*": "deprecated", "n/a": "unable" })[word] ?? word.toLowerCase().replace(/[^a-z]/g, "");
