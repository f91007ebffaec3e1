// The grid as a table. Only the visible lines are elements. Empty rows above and below take the space of the others.

const OVERSCAN = 5;
const MAX_PRINTED_LINES = 2000; // the maximum number of lines in print

class Grid {
  constructor(data, state, lineSource, openCell) {
    Object.assign(this, { data, state, lineSource, openCell });
    this.scroller = query("[data-scroller]");
    this.activePosition = { line: 0, column: 0 };
    this.lineElements = new Map(); // index of a line → its element
    this.isPrinting = false;
    this.build();
    this.scroller.addEventListener("scroll", () => this.paint(), { passive: true });
    new ResizeObserver(() => this.paint()).observe(this.scroller);
    const print = matchMedia("print");
    print.addEventListener("change", () => this.print(print.matches));
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
    for (const width of [640, 1000]) {
      matchMedia(`(max-width: ${width}px)`).addEventListener("change", () => this.reflow());
    }
    new Keyboard(this);
    this.refresh();
  }

  build() {
    const releases = this.data.releases.map((release, index) =>
      make(
        "th",
        {
          scope: "col",
          role: "columnheader",
          "data-column": index + 1,
          class: release.tried ? "" : "untried",
          title: release.tried ? release.label : `${release.label} was not tested`,
        },
        make("span", {}, release.label),
      ),
    );
    const headerRow = make(
      "tr",
      { role: "row", "aria-rowindex": 1 },
      make("th", { scope: "col", role: "columnheader", class: "name" }, "Kernel and variant"),
      releases,
      make("th", { scope: "col", role: "columnheader", class: "verdict" }, "Verdict"),
    );
    this.spaceAbove = make(
      "tr",
      { class: "room", role: "presentation", "aria-hidden": "true" },
      make("td", { colspan: this.data.columns + 2 }),
    );
    this.spaceBelow = this.spaceAbove.cloneNode(true);
    this.body = make("tbody", { role: "rowgroup" }, this.spaceAbove, this.spaceBelow);
    this.table = make(
      "table",
      {
        class: "grid",
        role: "treegrid",
        "data-grid": "",
        "aria-label": "Kernels and variants by release",
        "aria-colcount": this.data.columns + 2,
      },
      make("thead", { role: "rowgroup" }, headerRow),
      this.body,
    );
    this.table.style.setProperty("--releases", this.data.columns);
    this.scroller.append(this.table);
    this.table.addEventListener("click", (event) => this.handleClick(event));
    this.table.addEventListener("focusin", (event) => this.handleFocus(event));
  }

  /** Compute the lines again after a change of the filter or of a fold. */
  refresh() {
    const lineList = this.lineSource.list();
    this.lines = lineList.lines;
    this.table.setAttribute("aria-rowcount", this.lines.length + 1);
    this.activePosition.line = Math.max(0, Math.min(this.activePosition.line, this.lines.length - 1));
    this.redraw();
    this.count(lineList);
  }

  count({ variantCount, rows }) {
    let cells = 0;
    for (const row of rows) {
      for (const point of this.data.pointsOf(row)) cells += this.lineSource.filter.cellCount(point);
    }
    const total = this.data.cells.env.length;
    const totalText = formatCount(total, "cell");
    const cellText = cells === total ? totalText : `${formatNumber(cells)} of ${totalText}`;
    query("[data-count]").textContent = rows.length
      ? `${formatCount(variantCount, "variant")}, ${cellText}`
      : "Nothing matches the filter.";
  }

  /** Measure the height of lines again, and draw them. */
  reflow() {
    this.height = 0;
    this.redraw();
  }

  redraw() {
    const hadFocus = this.table.contains(document.activeElement);
    for (const element of this.lineElements.values()) element.remove();
    this.lineElements.clear();
    this.paint();
    if (hadFocus) this.focus({ scroll: false });
  }

  // --- the visible lines ---

  paint() {
    if (!this.lines.length) {
      this.setSpaces(0, 0);
      return;
    }
    const [start, end] = this.range();
    for (const [index, element] of this.lineElements) {
      if (index < start || index >= end) this.removeLine(index, element);
    }
    let nextElement = this.spaceBelow;
    for (let index = end - 1; index >= start; index--) {
      if (!this.lineElements.has(index)) {
        const element = this.createLine(index);
        this.body.insertBefore(element, nextElement);
        this.lineElements.set(index, element);
      }
      nextElement = this.lineElements.get(index);
    }
    this.setSpaces(start, this.lines.length - end);
    if (!this.height) this.measure();
  }

  /** Remove a line. If it had the focus, the scroller takes the focus, so that keys still work. */
  removeLine(index, element) {
    const hadFocus = element.contains(document.activeElement);
    element.remove();
    this.lineElements.delete(index);
    if (hadFocus) this.scroller.focus({ preventScroll: true });
  }

  range() {
    if (this.isPrinting) return [0, Math.min(this.lines.length, MAX_PRINTED_LINES)];
    const height = this.height || 34;
    const firstLine = Math.floor(this.scroller.scrollTop / height) - OVERSCAN;
    const count = Math.ceil((this.scroller.clientHeight || innerHeight) / height) + 2 * OVERSCAN;
    const start = Math.max(0, Math.min(firstLine, this.lines.length - count));
    return [start, Math.min(this.lines.length, start + count)];
  }

  setSpaces(linesAbove, linesBelow) {
    for (const [element, lines] of [
      [this.spaceAbove, linesAbove],
      [this.spaceBelow, linesBelow],
    ]) {
      element.hidden = lines === 0;
      element.firstChild.style.height = `${lines * (this.height || 34)}px`;
    }
  }

  measure() {
    this.height = this.lineElements.values().next().value?.getBoundingClientRect().height ?? 0;
    if (this.height) this.paint();
  }

  print(isPrinting) {
    if (this.isPrinting === isPrinting) return;
    this.isPrinting = isPrinting;
    this.reflow();
  }

  // --- a line ---

  createLine(index) {
    const line = this.lines[index];
    const entries = this.entries(line);
    const verdict = this.lineSource.verdict(line, this.state.values.fact);
    const hasClasses = line.level !== "kernel" && this.state.values.fact === "compiles";
    const classes = hasClasses ? this.lineSource.failureClasses(line).join(", ") : "";
    const tuningPhrase = this.lineSource.tuningPhrase(line);
    return make(
      "tr",
      {
        role: "row",
        class: line.level,
        "data-level": line.level,
        "data-name": line.key,
        "data-at": index,
        "aria-level": line.depth,
        "aria-rowindex": index + 2,
        "aria-expanded": line.unfolded === undefined ? null : String(line.unfolded),
      },
      this.heading(line, index),
      entries.map((entry, release) => this.cell(line, index, release, entry)),
      make(
        "td",
        {
          class: "verdict",
          role: "gridcell",
          "aria-colindex": this.data.columns + 2,
          title: [verdict, classes, tuningPhrase].filter(Boolean).join("; "),
        },
        make("span", { "data-verdict": "" }, verdict),
        classes && make("span", { class: "classes" }, classes),
        tuningPhrase && make("span", { class: "tuned", "data-tuned": "" }, tuningPhrase),
      ),
    );
  }

  /** The entries of a line by release, with the starts and ends of equal outcomes and the changes of the failure. */
  entries(line) {
    const fact = this.state.values.fact;
    const entries = this.data.releases.map((_, release) => this.lineSource.entry(line, release, fact));
    entries.forEach((entry, index) => {
      const [previous, next] = [entries[index - 1], entries[index + 1]];
      entry.isStart = !previous || !hasSameOutcome(previous, entry);
      entry.isEnd = !next || !hasSameOutcome(entry, next);
      entry.changed =
        this.data.earlierReleases(index)[0] === index - 1 &&
        isFailing(previous) &&
        isFailing(entry) &&
        previous.failure !== entry.failure &&
        entry.failure >= 0;
    });
    return entries;
  }

  heading(line, index) {
    const spec = this.data.specs[this.data.rows.spec[line.rows[0]]];
    const foldable = line.unfolded !== undefined;
    const phrases = [this.lineSource.verdict(line, this.state.values.fact), this.lineSource.tuningPhrase(line)];
    return make(
      "th",
      {
        scope: "row",
        role: "rowheader",
        class: "name",
        "data-column": 0,
        "aria-colindex": 1,
        tabindex: this.tabindex(index, 0),
        title: line.level === "kernel" ? null : spec.summary || null,
      },
      foldable ? icon("open", { class: "icon fold" }) : make("span", { class: "nofold" }),
      make("span", { class: "label" }, line.name),
      line.level === "variant" && line.rows.length > 1 && make("span", { class: "times" }, `×${line.rows.length}`),
      make("span", { class: "phrase" }, phrases.filter(Boolean).join("; ")),
    );
  }

  cell(line, index, release, entry) {
    const { mark } = entry;
    const label = this.lineSource.label(line, release, entry);
    const classes = [
      "cell",
      `k-${mark.kind}`,
      `m-${slug(mark.word)}`,
      entry.isStart && "starts",
      entry.isEnd && "ends",
      entry.unexpected && "unexpected",
      entry.faded && "faded",
      entry.changed && "changed",
      entry.remembered && "remembered",
      entry.slower && "slower",
    ];
    const isCount = mark.kind === "tally" || mark === PARTIAL_MARK;
    return make(
      "td",
      {
        class: classes.filter(Boolean).join(" "),
        role: "gridcell",
        "data-release": this.data.releases[release].label,
        "data-mark": mark.word,
        "data-column": release + 1,
        "aria-colindex": release + 2,
        "aria-label": label,
        title: label,
        tabindex: this.tabindex(index, release + 1),
      },
      isCount
        ? make("span", { class: "tallied" }, `${entry.goodCount}/${entry.total}`)
        : iconName(mark) && icon(iconName(mark)),
      // A measurement takes precedence over a suspicion.
      entry.slower
        ? icon("slower", { class: "icon caveat" })
        : entry.suspected && icon("suspect", { class: "icon caveat suspicion" }),
    );
  }

  tabindex(line, column) {
    return line === this.activePosition.line && column === this.activePosition.column ? 0 : -1;
  }

  // --- pointer and focus ---

  handleClick(event) {
    const element = event.target.closest("[data-column]");
    const row = element?.closest("tr[data-at]");
    if (!row) return;
    this.move(Number(row.dataset.at), Number(element.dataset.column));
    this.activate();
  }

  handleFocus(event) {
    const element = event.target.closest("[data-column]");
    const row = element?.closest("tr[data-at]");
    if (row) this.setActive(Number(row.dataset.at), Number(element.dataset.column));
  }

  /** Set the cell that Tab moves the focus to. */
  setActive(line, column) {
    this.activeElement()?.setAttribute("tabindex", "-1");
    this.activePosition = { line, column };
    this.activeElement()?.setAttribute("tabindex", "0");
  }

  activeElement() {
    const line = this.lineElements.get(this.activePosition.line);
    return line && query(`[data-column="${this.activePosition.column}"]`, line);
  }

  move(line, column) {
    const lastLine = this.lines.length - 1;
    this.setActive(Math.max(0, Math.min(line, lastLine)), Math.max(0, Math.min(column, this.data.columns)));
    this.focus();
  }

  focus({ scroll = true } = {}) {
    if (scroll) this.scrollToActive();
    this.setActive(this.activePosition.line, this.activePosition.column);
    this.activeElement()?.focus({ preventScroll: !scroll });
  }

  scrollToActive() {
    const headerHeight = query("thead", this.table).offsetHeight;
    const top = this.activePosition.line * this.height;
    const { scrollTop, clientHeight } = this.scroller;
    const bottom = top + this.height + headerHeight;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (bottom > scrollTop + clientHeight) this.scroller.scrollTop = bottom - clientHeight;
    this.paint();
  }

  /** Unfold the line that has the focus, or open the cell in the drawer. */
  activate() {
    const line = this.lines[this.activePosition.line];
    if (!line) return;
    if (this.activePosition.column === 0 || line.level === "kernel") this.unfold(line);
    else this.openCell(this.mostNotableCell(line, this.activePosition.column - 1));
  }

  unfold(line, unfolded) {
    if (line.unfolded === undefined) return;
    this.lineSource.fold(line, unfolded);
    this.refresh();
    this.focus();
  }

  /** The id of the most notable cell of a line on a release: unexpected first, then by kind of mark. */
  mostNotableCell(line, release) {
    const rank = (row) => {
      const point = this.data.point(row, release);
      const kinds = ["bad", "unsteady", "predicted", "unknown", "unable", "good", "absent"];
      const kindRank = kinds.indexOf(this.data.mark(point).kind) - (this.data.isSuspected(point) ? 0.5 : 0);
      return (this.data.hasFlag(point, UNEXPECTED) ? 0 : 10) + kindRank;
    };
    const row = line.rows.reduce((best, candidate) => (rank(candidate) < rank(best) ? candidate : best));
    return this.data.idOf(row, release);
  }
}

/** Whether two neighbouring releases have the same outcome. The grid draws them as one. */
function hasSameOutcome(left, right) {
  return (
    left.mark.word === right.mark.word &&
    left.mark.kind === right.mark.kind &&
    left.failure === right.failure &&
    left.goodCount === right.goodCount &&
    left.unexpected === right.unexpected &&
    left.remembered === right.remembered &&
    left.faded === right.faded &&
    left.mark.kind !== "tally" &&
    left.slower === right.slower &&
    left.suspected === right.suspected
  );
}

const isFailing = (entry) => entry.mark.kind === "bad" || entry.mark.kind === "predicted";
