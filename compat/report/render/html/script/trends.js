// The view of the trends: the jumps, and for each kernel small charts of its builds by release.

const [WIDTH, HEIGHT, TOP, BOTTOM] = [190, 72, 8, 6];
const [INITIAL_JUMPS, JUMPS_PER_STEP] = [8, 40]; // the number of jumps in the list at first, and then per step

class Trends {
  constructor(data, state) {
    Object.assign(this, { data, state });
    this.section = query('[data-view="trends"]');
    state.onChange((values, changedNames) => {
      const isRelevant = ["view", "kernel", "case", "target"].some((name) => changedNames.has(name));
      if (values.view === "trends" && isRelevant) this.show();
    });
    if (state.values.view === "trends") this.show();
  }

  show() {
    if (!this.charts) this.build();
    const kernel = this.state.values.kernel || this.defaultKernel();
    this.chooser.value = kernel;
    this.charts.replaceChildren(...this.kernelCharts(kernel));
  }

  /** The kernel of the first jump, else the first kernel. */
  defaultKernel() {
    return this.jumps.length ? this.data.rows.kernel[this.jumps[0][0].row] : (this.data.rows.kernel[0] ?? "");
  }

  build() {
    const { data } = this;
    this.jumps = allJumps(data);
    this.chooser = make(
      "select",
      {
        "aria-label": "Kernel",
        name: "kernel",
        onchange: (event) => this.state.set({ kernel: event.target.value, case: "" }),
      },
      [...data.kernels.keys()].map((name) => make("option", { value: name }, name)),
    );
    this.charts = make("div", { class: "charts" });
    this.section.append(
      make("h2", { id: "trends-title" }, "Trends"),
      make(
        "p",
        { class: "lead" },
        `How a build changes from release to release, where it compiles.${
          hasEntries(data.cells.latency) ? "" : " Latency is not tested."
        }`,
      ),
      this.jumpList(),
      make("label", { class: "row chooser" }, "Kernel", this.chooser),
      this.charts,
    );
  }

  // --- jumps ---

  jumpList() {
    if (!this.jumps.length) return make("p", { class: "lead" }, this.noJumpsNote());
    const list = make("ul", { class: "jumps" });
    const total = this.jumps.length;
    const moreButton = make("button", { type: "button", class: "quiet" });
    const fill = (count) => {
      list.replaceChildren(...this.jumps.slice(0, count).map((group) => this.jumpItem(group)));
      const nextCount = Math.min(total, count < JUMPS_PER_STEP ? JUMPS_PER_STEP : count + JUMPS_PER_STEP);
      moreButton.hidden = count >= total;
      moreButton.textContent = nextCount === total ? `Show all ${total}` : `Show ${nextCount}`;
      moreButton.onclick = () => fill(nextCount);
    };
    fill(INITIAL_JUMPS);
    const explanation =
      "A jump is a change between two neighbouring tested releases that compile: a quarter of the registers or " +
      "shared memory, half of the spills or code, three times the compile time (CPU seconds, including the " +
      "assembler), a fifth of the latency, or ten times the error.";
    return make(
      "section",
      { class: "jump-list" },
      make("h3", {}, formatCount(this.jumps.length, "jump")),
      list,
      moreButton,
      make("p", { class: "note" }, explanation),
    );
  }

  /** The reason for an empty list: nothing to compare, or only small changes. */
  noJumpsNote() {
    const { data } = this;
    const isComparable = [...Array(data.size).keys()].some((row) => {
      const testedBuilds = builds(data, row).filter(({ release }) => !data.releases[release].fork);
      return testedBuilds.length > 1;
    });
    return isComparable
      ? "No jumps: no quantity changes much between neighbouring tested releases."
      : "Nothing to compare: no kernel compiles on two of the tested releases.";
  }

  /** The entry of a group of jumps in the list. */
  jumpItem(group) {
    const { data } = this;
    const largestJump = group[0];
    const rows = data.kernels.get(data.rows.kernel[largestJump.row]).get(data.rows.variant[largestJump.row]).length;
    const subject = `${data.rows.kernel[largestJump.row]}/${data.rows.variant[largestJump.row]}`;
    const caseAndTarget = `${data.rows.case[largestJump.row]}, ${data.rows.target[largestJump.row]}`;
    const scope =
      rows === 1
        ? ""
        : group.length === 1
          ? caseAndTarget
          : `${caseAndTarget}; ${group.length} of ${rows} cases and targets jump`;
    return make(
      "li",
      { "data-jump": subject },
      make("a", { href: this.state.link({ cell: data.id(largestJump.cell) }) }, subject),
      " ",
      make("span", {}, jumpText(data, largestJump)),
      scope && make("span", { class: "note" }, ` (${scope})`),
    );
  }

  // --- charts ---

  kernelCharts(kernel) {
    const { data } = this;
    const variants = data.kernels.get(kernel);
    if (!variants) return [];
    const cases = [...new Set([...variants.values()].flat().map((row) => data.rows.case[row]))];
    const selectedCase = cases.includes(this.state.values.case) ? this.state.values.case : cases[0];
    const variantRows = [...variants].map(([variant, rows]) => [
      variant,
      rows.filter((row) => data.rows.case[row] === selectedCase),
    ]);
    const targets = [...new Set(variantRows.flatMap(([, rows]) => rows.map((row) => data.rows.target[row])))];
    const hasValue = (row, quantity) => builds(data, row).some(({ cell }) => quantity.read(data.cells, cell) !== null);
    const series = SERIES.filter((quantity) =>
      variantRows.some(([, rows]) => rows.some((row) => hasValue(row, quantity))),
    );
    const button = (name) =>
      make(
        "button",
        {
          type: "button",
          class: "switch",
          "aria-pressed": String(name === selectedCase),
          onclick: () => this.state.set({ case: name }),
        },
        name,
      );
    return [
      cases.length > 1 && make("div", { class: "switches", role: "group", "aria-label": "Case" }, cases.map(button)),
      lineKey(targets),
      make(
        "div",
        { class: "multiples", tabindex: "0", role: "region", "aria-label": `Charts of ${kernel}` },
        make(
          "table",
          {},
          headings(["", ...series.map((quantity) => quantity.name)]),
          make(
            "tbody",
            {},
            variantRows.map(([variant, rows]) => this.chartRow(variant, rows, series, targets)),
          ),
        ),
      ),
      ...this.tuningSections(kernel, selectedCase),
    ].filter(Boolean);
  }

  /** The sections of the tuned workloads of a kernel in one case. */
  tuningSections(kernel, selectedCase) {
    const { rows, tuned } = this.data;
    const answers = tuned.filter((answer) =>
      answer.rows.some((row) => rows.kernel[row] === kernel && rows.case[row] === selectedCase),
    );
    return answers.map((answer) => tuningSection(this, answer));
  }

  chartRow(variant, rows, series, targets) {
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, variant),
      series.map((quantity) => make("td", {}, this.chart(variant, rows, quantity, targets))),
    );
  }

  chart(variant, rows, quantity, targets) {
    const { data } = this;
    const lines = rows.map((row) => ({
      name: data.rows.target[row],
      points: builds(data, row)
        .map(({ release, cell }) => ({ release, cell, ...measurement(quantity, data.cells, cell) }))
        .filter((point) => point.amount !== null),
    }));
    const amounts = lines.flatMap((line) => line.points.map((point) => point.amount));
    if (!amounts.length) return make("span", { class: "note" }, "–");
    const maximum = Math.max(...amounts);
    const scale = {
      x: (release) => 6 + (release * (WIDTH - 12)) / Math.max(1, data.columns - 1),
      y: (amount) => HEIGHT - BOTTOM - (maximum ? (amount / maximum) * (HEIGHT - TOP - BOTTOM) : 0),
    };
    const label = `${variant}, ${quantity.name.toLowerCase()}: ${lines
      .map(
        (line) =>
          `${line.name} ${amountRange(
            line.points.map((point) => point.amount),
            quantity.unit,
          )}`,
      )
      .join("; ")}`;
    const newestAmounts = lines.map((line) => line.points.at(-1)?.amount).filter((amount) => amount !== undefined);
    return make(
      "figure",
      { "data-chart": `${variant}/${quantity.name}` },
      draw(
        "svg",
        // Links do not work inside the role img.
        { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": label },
        draw("title", {}, label),
        draw("path", { class: "axis", d: `M0 ${HEIGHT - BOTTOM}H${WIDTH}` }),
        lines.map((line) => this.curve(line, quantity, targets.indexOf(line.name), scale)),
      ),
      make(
        "figcaption",
        {},
        make("span", {}, `max ${formatAmount(maximum, quantity.unit)}`),
        make("span", {}, `newest ${amountRange(newestAmounts, quantity.unit)}`),
      ),
    );
  }

  curve({ name, points }, quantity, index, { x, y }) {
    const { data } = this;
    let path = "";
    points.forEach((point, position) => {
      // The curve has a gap at a release that was not tested or does not compile, and where the device changes.
      const previous = points[position - 1];
      const isConnected = previous && previous.release === point.release - 1 && previous.device === point.device;
      path += `${isConnected ? "L" : "M"}${x(point.release).toFixed(1)} ${y(point.amount).toFixed(1)}`;
    });
    const dots = points.map((point, position) => {
      const previous = points[position - 1];
      const isJumpPoint =
        previous && !data.releases[point.release].fork && isJump(quantity, previous, point);
      const label = `${name}, ${data.releases[point.release].label}: ${formatAmount(point.amount, quantity.unit)}`;
      return draw(
        "a",
        { href: this.state.link({ cell: data.id(point.cell) }), tabindex: "-1", "aria-label": label },
        draw("title", {}, label),
        isJumpPoint && draw("circle", { class: "flag", cx: x(point.release), cy: y(point.amount), r: 4.5 }),
        draw("circle", { class: "hit", cx: x(point.release), cy: y(point.amount), r: 7 }),
        marker(index, x(point.release), y(point.amount)),
      );
    });
    return draw("g", { class: `series s${index % 6}` }, draw("path", { d: path }), dots);
  }
}

/** The legend of a chart: a sample of each line, with its name. */
function lineKey(names) {
  const sample = (index) =>
    draw(
      "svg",
      { width: 26, height: 10, class: `series s${index % 6}`, "aria-hidden": "true" },
      draw("path", { d: "M1 5H25" }),
      marker(index, 13, 5),
    );
  return make(
    "p",
    { class: "key-line" },
    names.map((name, index) => make("span", {}, sample(index), name)),
    make(
      "span",
      {},
      draw(
        "svg",
        { width: 14, height: 12, "aria-hidden": "true" },
        draw("circle", { cx: 7, cy: 6, r: 4.5, class: "flag" }),
      ),
      "a jump",
    ),
  );
}

/** A point of a curve. Its shape and colour stand for a target. */
function marker(index, x, y) {
  const [xText, yText] = [x.toFixed(1), y.toFixed(1)];
  const shapes = [
    () => draw("circle", { class: "dot", cx: xText, cy: yText, r: 1.9 }),
    () => draw("rect", { class: "dot", x: (x - 1.8).toFixed(1), y: (y - 1.8).toFixed(1), width: 3.6, height: 3.6 }),
    () => draw("path", { class: "dot", d: `M${xText} ${(y - 2.6).toFixed(1)}l2.5 4.4h-5z` }),
  ];
  return shapes[index % 3]();
}

/** Amounts as text: the lowest and the highest, with the unit. */
function amountRange(amounts, unit) {
  if (!amounts.length) return "none";
  const [lowest, highest] = [Math.min(...amounts), Math.max(...amounts)];
  const [start, end] = [formatAmount(lowest, unit), formatAmount(highest, unit)];
  const unitSuffix = / \S+$/.exec(end)?.[0] ?? "";
  const startText = start.endsWith(unitSuffix) ? start.slice(0, start.length - unitSuffix.length) : start;
  return start === end ? end : `${startText}–${end}`;
}
