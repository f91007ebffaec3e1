// The filter: the form above the grid, and which rows it leaves.

const MANY = 8; // switches side by side; of more there is a list

class Filter {
  constructor(data, state) {
    Object.assign(this, { data, state });
    this.haystacks = data.rows.kernel.map((_, row) => this.haystack(row));
    this.form = one("form[data-filter]");
    this.form.append(...this.controls());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    state.onChange((_, changed) => {
      if ([...FILTERS, "fact"].some((name) => changed.has(name))) this.show();
    });
    this.show();
  }

  /** What text is looked for in. */
  haystack(row) {
    const { data } = this;
    const classes = new Set();
    for (let release = 0; release < data.columns; release++) {
      const point = data.point(row, release);
      if (point >= 0 && data.points.failure[point] >= 0) {
        const failure = data.failures[data.points.failure[point]];
        classes.add(`${failure.id} ${failure.fingerprint}`);
      }
    }
    const spec = data.specs[data.rows.spec[row]];
    return [data.name(row), data.rows.verdict[row], spec.function, spec.source, ...classes].join(" ").toLowerCase();
  }

  // --- which rows ---

  /** The rows that are left. */
  rows() {
    const { data, state } = this;
    const words = state.now.q.toLowerCase().split(/\s+/).filter(Boolean);
    const targets = state.chosen("target");
    const cases = state.chosen("case");
    const byPoint = state.now.mark || state.now.class || state.now.only;
    const rows = [];
    for (let row = 0; row < data.size; row++) {
      if (targets.size && !targets.has(data.rows.target[row])) continue;
      if (cases.size && !cases.has(data.rows.case[row])) continue;
      if (words.length && !words.every((word) => this.haystacks[row].includes(word))) continue;
      if (byPoint && !this.anyPoint(row)) continue;
      rows.push(row);
    }
    return rows;
  }

  anyPoint(row) {
    for (let release = 0; release < this.data.columns; release++) if (this.matches(this.data.point(row, release))) return true;
    return false;
  }

  /** Whether a point is what is asked for by status, class and surprise. */
  matches(point) {
    const { data, state } = this;
    const marks = state.chosen("mark");
    if (marks.size && !marks.has(data.mark(point).word)) return false;
    if (state.now.class && data.failureClass(point) !== state.now.class) return false;
    if (state.now.only === SUSPECTED) return data.isSuspected(point);
    return !state.now.only || data.has(point, UNEXPECTED);
  }

  /** Whether points are told apart at all. */
  get selective() {
    const { mark, only } = this.state.now;
    return Boolean(mark || only || this.state.now.class);
  }

  // --- the form ---

  controls() {
    const { data } = this;
    const classes = [...new Set(data.failures.map((failure) => failure.class))].sort();
    return [
      make(
        "div",
        { class: "controls" },
        this.search(),
        this.switches("target", "Targets", data.names("target")),
        this.switches("case", "Cases", data.names("case")),
        classes.length > 1 && this.list("class", "Class", classes),
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
    if (values.length > MANY) return this.list(name, title, values);
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
    const options = [make("option", { value: "" }, `${title}: all`), ...values.map((value) => make("option", { value }, value))];
    return make(
      "select",
      { name, "aria-label": title, onchange: (event) => this.state.set({ [name]: event.target.value }) },
      options,
    );
  }

  facts() {
    const { data } = this;
    const known = { compiles: true, right: hasAny(data.cells.numbers), fast: hasAny(data.cells.latency) };
    const button = (fact) =>
      make(
        "button",
        { type: "button", class: "switch", "data-fact": fact, "aria-pressed": "false", onclick: () => this.state.set({ fact }) },
        fact[0].toUpperCase() + fact.slice(1),
        !known[fact] && make("small", {}, "not tested"),
      );
    return make(
      "div",
      { class: "switches facts", role: "group", "aria-label": "The fact that the grid shows" },
      Object.keys(known).map(button),
    );
  }

  /** What the marks mean; each is a switch, too. */
  legend() {
    const { data } = this;
    const cells = new Map();
    const unexpected = data.cells.flags.filter((flags) => flags & SURPRISING).length;
    data.points.mark.forEach((mark, point) => {
      cells.set(mark, (cells.get(mark) ?? 0) + data.points.cells[point]);
    });
    const items = data.marks.map((mark, at) => {
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
        make("small", {}, number(cells.get(at) ?? 0)),
      );
    });
    const suspected = Object.keys(data.suspicions).length;
    const only = (what, count, look, words) =>
      count > 0 &&
      make(
        "button",
        {
          type: "button",
          class: "key",
          "data-only": what,
          "aria-pressed": "false",
          onclick: () => this.state.set({ only: this.state.now.only === what ? "" : what }),
        },
        look,
        words,
        make("small", {}, number(count)),
      );
    return make(
      "div",
      { class: "legend", role: "group", "aria-label": "Marks: meaning and filter" },
      only("unexpected", unexpected, swatch(SURPRISE_MARK, { unexpected: true }), "unexpected"),
      items,
      only(SUSPECTED, suspected, swatch(SUSPECT_MARK), "likely slower than on the release before"),
      this.further(),
      still(ABSENT, "not tested"),
      make(
        "button",
        { type: "button", class: "quiet", "data-clear": "", hidden: true, onclick: () => this.clear() },
        icon("close"),
        "Clear the filter",
      ),
    );
  }

  /** What else the grid shows, where there is any of it. */
  further() {
    const { data } = this;
    const latency = hasAny(data.cells.latency) && data.cells.env.some((_, cell) => speed(data, cell)?.slower);
    return [
      latency && still(SLOW, `slower than on the release before (${SLOWER} ×)`),
      data.points.flags.some((flags) => flags & REMEMBERED) && still(REMEMBERED_MARK, "pale: from an earlier run"),
      this.anyChange() && still(CHANGED_MARK, "thick edge: another failure than before"),
    ];
  }

  anyChange() {
    const { data } = this;
    const fails = (point) => point >= 0 && data.points.failure[point] >= 0;
    for (let row = 0; row < data.size; row++) {
      for (let release = 1; release < data.columns; release++) {
        const [before, point] = [data.point(row, release - 1), data.point(row, release)];
        if (fails(before) && fails(point) && data.points.failure[before] !== data.points.failure[point]) return true;
      }
    }
    return false;
  }

  clear() {
    this.state.set(Object.fromEntries(FILTERS.map((name) => [name, ""])));
    one("[name=q]", this.form).focus();
  }

  /** Have the form say what the state says. */
  show() {
    const { now } = this.state;
    const input = one("[name=q]", this.form);
    if (input.value !== now.q) input.value = now.q;
    for (const list of every("select", this.form)) list.value = now[list.name];
    const pressed = (selector, name, key) => {
      const chosen = this.state.chosen(name);
      for (const button of every(selector, this.form)) button.setAttribute("aria-pressed", String(chosen.has(button.dataset[key])));
    };
    pressed("[data-target]", "target", "target");
    pressed("[data-case]", "case", "case");
    pressed("[data-mark-filter]", "mark", "markFilter");
    pressed("[data-fact]", "fact", "fact");
    pressed("[data-only]", "only", "only");
    one("[data-clear]", this.form).hidden = !FILTERS.some((name) => now[name]);
  }
}

/** A part of the legend that is no switch. */
function still(mark, words) {
  return make("span", { class: "key still" }, swatch(mark), words);
}

const SUSPECTED = "suspected"; // cells that compile, and are likely slower
const SUSPECT_MARK = { word: "suspect", kind: "suspect" };
const SURPRISE_MARK = { word: "unexpected", kind: "bad" };
const REMEMBERED_MARK = { word: "remembered", kind: "good" };
const CHANGED_MARK = { word: "changed", kind: "bad" };
const hasAny = (found) => Object.keys(found ?? {}).length > 0;
const slug = (word) => ({ "ok*": "deprecated", "n/a": "unable" })[word] ?? word.toLowerCase().replace(/[^a-z]/g, "");
