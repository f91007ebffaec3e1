// The drawer: one cell, what it comes to, and its neighbours. What else is known of it is in details.js.

class Drawer {
  constructor(data, state, back) {
    Object.assign(this, { data, state, back });
    this.element = one("[data-drawer]");
    this.details = new Details(data, state);
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
    one("[data-neighbour][aria-current]", this.element)?.scrollIntoView({ block: "nearest", inline: "center" }); // on a phone the strip is longer
    this.element.scrollTop = top;
  }

  nothing(id) {
    return [
      this.head([id], "There is no such cell in this report."),
      make("p", { class: "lead" }, "The link may be from another report."),
    ];
  }

  content(place) {
    const parts = [this.title(place), this.facts(place), this.strip(place), this.siblings(place), this.envs(place)];
    return [...parts, ...this.details.of(place)].filter(Boolean);
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
    const mark = data.mark(point);
    const surprise = data.has(point, UNEXPECTED);
    const expectation = cell === undefined ? null : data.record("expectation", cell);
    const earlier = data.has(point, REMEMBERED) ? ", from an earlier run" : "";
    const declaration = expectation?.strict ? "as declared" : expectation && `declared ${declaredAs(expectation)}`;
    const declared = surprise ? "unexpected" : expectation && mark.kind !== "good" ? declaration : "";
    const right = cell === undefined ? null : rightness(data, cell);
    const fast = cell === undefined ? null : speed(data, cell);
    return make(
      "dl",
      { class: "facts-list" },
      this.fact("compiles", "Compiles", mark, mark.meaning + earlier, declared, surprise),
      this.fact(
        "right",
        "Right",
        right ? rightMark(right) : ABSENT,
        right ? rightWords(right) : "not tested: its numbers were not checked",
      ),
      this.fact(
        "fast",
        "Fast",
        fast ? (fast.slower ? SLOW : FAST) : ABSENT,
        fast ? fastWords(fast) : "not tested: no latency was measured",
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
        swatch(mark, { unexpected: surprise }),
        make("span", {}, words),
        further && make("strong", { class: surprise ? "surprise" : "note" }, further),
      ),
    );
  }

  /** The same cell on other releases. */
  strip({ row, release }) {
    const { data } = this;
    const buttons = data.releases.map((each, at) => {
      const point = data.point(row, at);
      const mark = data.mark(point);
      const unexpected = data.has(point, UNEXPECTED);
      const words = `${each.label}: ${mark.meaning}${unexpected ? ", unexpected" : ""}`;
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
        swatch(mark, { unexpected }),
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
      { class: "strip", role: "group", "aria-label": "The same cell on other releases", onkeydown: arrows },
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
      const mark = data.mark(data.point(other, release));
      const words = `${name}, ${target}: ${mark.meaning}`;
      const button = {
        type: "button",
        "aria-label": words,
        title: words,
        "aria-current": other === row ? "true" : null,
        "data-sibling": `${name}/${target}`,
        onclick: () => this.state.set({ cell: data.idOf(other, release) }),
      };
      return make("td", {}, swatch(mark, { tag: "button", attributes: button }));
    };
    return make(
      "details",
      { class: "siblings", open: this.showSiblings, ontoggle: (event) => (this.showSiblings = event.target.open) },
      make("summary", {}, `${counted(cases.length, "case")} × ${counted(targets.length, "target")} on this release`),
      make(
        "table",
        {},
        headings(["", ...targets]),
        make(
          "tbody",
          {},
          cases.map((name) =>
            tableRow(
              name,
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
}

/** Who compared the numbers, and what came of it. */
function rightWords({ found }) {
  const told = Object.entries(found)
    .filter(([, said]) => said)
    .map(([by, said]) => {
      const parts = [
        `${by === "gpu" ? (said.device ?? "GPU") : by}: ${said.status}`,
        typeof said.max_abs === "number" && `largest error ${said.max_abs}${said.where ? ` at ${said.where}` : ""}`,
        said.differing > 0 && `${said.differing} of ${said.launches} launches differ`,
        said.reason,
      ];
      return parts.filter(Boolean).join(", ");
    });
  return told.join("; ");
}

/** How long a launch takes, beside the baseline and the release before. */
function fastWords({ found, before, since }) {
  const ratio = found.ratio ? `, ${found.ratio.toFixed(2)} × the baseline` : "";
  return `${found.us} µs on ${found.device}${ratio}${before ? `; ${before.us} µs in ${since}` : ""}`;
}
