// The grid as a table. Only the lines in sight are elements; the others are room above and below.

const OVERSCAN = 5;
const PRINTED = 2000; // lines that are printed; nobody wants more paper

class Grid {
  constructor(data, state, lines, openCell) {
    Object.assign(this, { data, state, source: lines, openCell });
    this.scroller = one("[data-scroller]");
    this.active = { line: 0, column: 0 };
    this.shown = new Map(); // number of a line → its element
    this.everything = false;
    this.build();
    this.scroller.addEventListener("scroll", () => this.paint(), { passive: true });
    new ResizeObserver(() => this.paint()).observe(this.scroller);
    const print = matchMedia("print");
    print.addEventListener("change", () => this.print(print.matches));
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
    for (const width of [640, 1000]) matchMedia(`(max-width: ${width}px)`).addEventListener("change", () => this.reflow());
    this.keys = new Keyboard(this);
    this.refresh();
  }

  build() {
    const releases = this.data.releases.map((release, at) =>
      make(
        "th",
        {
          scope: "col",
          role: "columnheader",
          "data-column": at + 1,
          class: release.tried ? "" : "untried",
          title: release.tried ? release.label : `${release.label} was not tested`,
        },
        make("span", {}, release.label),
      ),
    );
    const head = make(
      "tr",
      { role: "row", "aria-rowindex": 1 },
      make("th", { scope: "col", role: "columnheader", class: "name" }, "Kernel and variant"),
      releases,
      make("th", { scope: "col", role: "columnheader", class: "verdict" }, "Verdict"),
    );
    this.above = make(
      "tr",
      { class: "room", role: "presentation", "aria-hidden": "true" },
      make("td", { colspan: this.data.columns + 2 }),
    );
    this.below = this.above.cloneNode(true);
    this.body = make("tbody", { role: "rowgroup" }, this.above, this.below);
    this.table = make(
      "table",
      {
        class: "grid",
        role: "treegrid",
        "data-grid": "",
        "aria-label": "Kernels and variants by release",
        "aria-colcount": this.data.columns + 2,
      },
      make("thead", { role: "rowgroup" }, head),
      this.body,
    );
    this.table.style.setProperty("--releases", this.data.columns);
    this.scroller.append(this.table);
    this.table.addEventListener("click", (event) => this.clicked(event));
    this.table.addEventListener("focusin", (event) => this.focused(event));
  }

  /** Work out the lines anew, after the filter or a fold has changed. */
  refresh() {
    const listed = this.source.list();
    this.lines = listed.lines;
    this.table.setAttribute("aria-rowcount", this.lines.length + 1);
    this.active.line = Math.max(0, Math.min(this.active.line, this.lines.length - 1));
    this.redraw();
    this.count(listed);
  }

  count({ variants, rows }) {
    let cells = 0;
    for (const row of rows) {
      for (let release = 0; release < this.data.columns; release++) {
        const point = this.data.point(row, release);
        if (point >= 0 && (!this.source.filter.selective || this.source.filter.matches(point)))
          cells += this.data.points.cells[point];
      }
    }
    const all = this.data.cells.env.length;
    const part = cells === all ? counted(all, "cell") : `${number(cells)} of ${counted(all, "cell")}`;
    one("[data-count]").textContent = rows.length ? `${counted(variants, "variant")}, ${part}` : "Nothing matches the filter.";
  }

  /** Lines have another height now. */
  reflow() {
    this.height = 0;
    this.redraw();
  }

  redraw() {
    const focus = this.table.contains(document.activeElement);
    for (const element of this.shown.values()) element.remove();
    this.shown.clear();
    this.paint();
    if (focus) this.focus({ scroll: false });
  }

  // --- what is in sight ---

  paint() {
    if (!this.lines.length) {
      this.room(0, 0);
      return;
    }
    const [from, to] = this.range();
    for (const [at, element] of this.shown) if ((at < from || at >= to) && !this.drop(element)) this.shown.delete(at);
    let next = this.below;
    for (let at = to - 1; at >= from; at--) {
      if (!this.shown.has(at)) {
        const element = this.line(at);
        this.body.insertBefore(element, next);
        this.shown.set(at, element);
      }
      next = this.shown.get(at);
    }
    this.room(from, this.lines.length - to);
    if (!this.height) this.measure();
  }

  /** Take a line away; where it had the focus, the grid keeps it, and the next key goes on from there. */
  drop(element) {
    const focused = element.contains(document.activeElement);
    element.remove();
    if (focused) this.scroller.focus({ preventScroll: true });
    return false;
  }

  range() {
    if (this.everything) return [0, Math.min(this.lines.length, PRINTED)];
    const height = this.height || 34;
    const first = Math.floor(this.scroller.scrollTop / height) - OVERSCAN;
    const count = Math.ceil((this.scroller.clientHeight || innerHeight) / height) + 2 * OVERSCAN;
    const from = Math.max(0, Math.min(first, this.lines.length - count));
    return [from, Math.min(this.lines.length, from + count)];
  }

  room(above, below) {
    for (const [element, lines] of [
      [this.above, above],
      [this.below, below],
    ]) {
      element.hidden = lines === 0;
      element.firstChild.style.height = `${lines * (this.height || 34)}px`;
    }
  }

  measure() {
    this.height = this.shown.values().next().value?.getBoundingClientRect().height ?? 0;
    if (this.height) this.paint();
  }

  print(everything) {
    if (this.everything === everything) return;
    this.everything = everything;
    this.reflow();
  }

  // --- a line ---

  line(at) {
    const line = this.lines[at];
    const entries = this.entries(line);
    const verdict = this.source.verdict(line, this.state.now.fact);
    const classes = line.level !== "kernel" && this.state.now.fact === "compiles" ? this.source.classes(line).join(", ") : "";
    const tuned = this.source.tuned(line);
    return make(
      "tr",
      {
        role: "row",
        class: line.level,
        "data-level": line.level,
        "data-name": line.key,
        "data-at": at,
        "aria-level": line.depth,
        "aria-rowindex": at + 2,
        "aria-expanded": line.unfolded === undefined ? null : String(line.unfolded),
      },
      this.heading(line, at),
      entries.map((entry, release) => this.cell(line, at, release, entry)),
      make(
        "td",
        {
          class: "verdict",
          role: "gridcell",
          "aria-colindex": this.data.columns + 2,
          title: [verdict, classes, tuned].filter(Boolean).join("; "),
        },
        make("span", { "data-verdict": "" }, verdict),
        classes && make("span", { class: "classes" }, classes),
        tuned && make("span", { class: "tuned", "data-tuned": "" }, tuned),
      ),
    );
  }

  /** What a line has per release, and where it begins, ends, or fails otherwise than before. */
  entries(line) {
    const fact = this.state.now.fact;
    const entries = this.data.releases.map((_, release) => this.source.entry(line, release, fact));
    entries.forEach((entry, at) => {
      const [before, after] = [entries[at - 1], entries[at + 1]];
      entry.starts = !before || !alike(before, entry);
      entry.ends = !after || !alike(entry, after);
      entry.changed = Boolean(before) && fails(before) && fails(entry) && before.failure !== entry.failure && entry.failure >= 0;
    });
    return entries;
  }

  heading(line, at) {
    const spec = this.data.specs[this.data.rows.spec[line.rows[0]]];
    const foldable = line.unfolded !== undefined;
    return make(
      "th",
      {
        scope: "row",
        role: "rowheader",
        class: "name",
        "data-column": 0,
        "aria-colindex": 1,
        tabindex: this.tabindex(at, 0),
        title: line.level === "kernel" ? null : spec.summary || null,
      },
      foldable ? icon("open", { class: "icon fold" }) : make("span", { class: "nofold" }),
      make("span", { class: "label" }, line.name),
      line.level === "variant" && line.rows.length > 1 && make("span", { class: "times" }, `×${line.rows.length}`),
      make("span", { class: "phrase" }, [this.source.verdict(line, this.state.now.fact), this.source.tuned(line)].filter(Boolean).join("; ")),
    );
  }

  cell(line, at, release, entry) {
    const { mark } = entry;
    const words = this.source.words(line, release, entry);
    const classes = [
      "cell",
      `k-${mark.kind}`,
      `m-${slug(mark.word)}`,
      entry.starts && "starts",
      entry.ends && "ends",
      entry.unexpected && "unexpected",
      entry.faded && "faded",
      entry.changed && "changed",
      entry.remembered && "remembered",
      entry.slower && "slower",
    ];
    const counting = mark.kind === "tally" || mark === PARTLY;
    return make(
      "td",
      {
        class: classes.filter(Boolean).join(" "),
        role: "gridcell",
        "data-release": this.data.releases[release].label,
        "data-mark": mark.word,
        "data-column": release + 1,
        "aria-colindex": release + 2,
        "aria-label": words,
        title: words,
        tabindex: this.tabindex(at, release + 1),
      },
      counting ? make("span", { class: "tallied" }, `${entry.good}/${entry.of}`) : iconOf(mark) && icon(iconOf(mark)),
      entry.slower
        ? icon("slower", { class: "icon caveat" })
        : entry.suspected && icon("suspect", { class: "icon caveat suspicion" }), // what was measured counts more
    );
  }

  tabindex(line, column) {
    return line === this.active.line && column === this.active.column ? 0 : -1;
  }

  // --- pointer and focus ---

  clicked(event) {
    const element = event.target.closest("[data-column]");
    const row = element?.closest("tr[data-at]");
    if (!row) return;
    this.move(Number(row.dataset.at), Number(element.dataset.column));
    this.activate();
  }

  focused(event) {
    const element = event.target.closest("[data-column]");
    const row = element?.closest("tr[data-at]");
    if (row) this.mark(Number(row.dataset.at), Number(element.dataset.column));
  }

  /** Which cell Tab leads to. */
  mark(line, column) {
    this.element()?.setAttribute("tabindex", "-1");
    this.active = { line, column };
    this.element()?.setAttribute("tabindex", "0");
  }

  element() {
    return this.shown.get(this.active.line) && one(`[data-column="${this.active.column}"]`, this.shown.get(this.active.line));
  }

  move(line, column) {
    this.mark(Math.max(0, Math.min(line, this.lines.length - 1)), Math.max(0, Math.min(column, this.data.columns)));
    this.focus();
  }

  focus({ scroll = true } = {}) {
    if (scroll) this.bringIntoSight();
    this.mark(this.active.line, this.active.column);
    this.element()?.focus({ preventScroll: !scroll });
  }

  bringIntoSight() {
    const head = one("thead", this.table).offsetHeight;
    const top = this.active.line * this.height;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + this.height + head > scrollTop + clientHeight) this.scroller.scrollTop = top + this.height + head - clientHeight;
    this.paint();
  }

  /** Open what has the focus: a line unfolds, a cell is told in full. */
  activate() {
    const line = this.lines[this.active.line];
    if (!line) return;
    if (this.active.column === 0 || line.level === "kernel") this.unfold(line);
    else this.openCell(this.worst(line, this.active.column - 1));
  }

  unfold(line, unfolded) {
    if (line.unfolded === undefined) return;
    this.source.fold(line, unfolded);
    this.refresh();
    this.focus();
  }

  /** Of the rows of a line the one that there is most to say of. */
  worst(line, release) {
    const weight = (row) => {
      const point = this.data.point(row, release);
      const order = ["bad", "unsteady", "predicted", "unknown", "unable", "good", "absent"];
      const kind = order.indexOf(this.data.mark(point).kind) - (this.data.isSuspected(point) ? 0.5 : 0);
      return (this.data.has(point, UNEXPECTED) ? 0 : 10) + kind;
    };
    const row = line.rows.reduce((best, each) => (weight(each) < weight(best) ? each : best));
    return this.data.idOf(row, release);
  }
}

/** Whether two neighbouring releases have the same outcome, and are drawn as one. */
function alike(one, other) {
  return (
    one.mark.word === other.mark.word &&
    one.mark.kind === other.mark.kind &&
    one.failure === other.failure &&
    one.good === other.good &&
    one.unexpected === other.unexpected &&
    one.remembered === other.remembered &&
    one.faded === other.faded &&
    one.mark.kind !== "tally" &&
    one.slower === other.slower &&
    one.suspected === other.suspected
  );
}

const fails = (entry) => entry.mark.kind === "bad" || entry.mark.kind === "predicted";
