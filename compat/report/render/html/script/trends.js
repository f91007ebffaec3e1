// The trends: per kernel what its builds are like from release to release, as small charts, and what jumps.

const [WIDTH, HEIGHT, TOP, BOTTOM] = [190, 72, 8, 6];
const [FIRST, LISTED] = [8, 40]; // jumps that are listed at first, and how many more at a time

class Trends {
  constructor(data, state) {
    Object.assign(this, { data, state });
    this.section = one('[data-view="trends"]');
    state.onChange((now, changed) => {
      if (now.view === "trends" && ["view", "kernel", "case", "target"].some((name) => changed.has(name))) this.show();
    });
    if (state.now.view === "trends") this.show();
  }

  show() {
    if (!this.charts) this.build();
    const kernel = this.state.now.kernel || this.first();
    this.chooser.value = kernel;
    this.charts.replaceChildren(...this.kernel(kernel));
  }

  /** The kernel with the first of the jumps, else the first. */
  first() {
    return this.jumps.length ? this.data.rows.kernel[this.jumps[0][0].row] : (this.data.rows.kernel[0] ?? "");
  }

  build() {
    const { data } = this;
    this.jumps = allJumps(data);
    this.chooser = make(
      "select",
      { "aria-label": "Kernel", name: "kernel", onchange: (event) => this.state.set({ kernel: event.target.value, case: "" }) },
      [...data.kernels.keys()].map((name) => make("option", { value: name }, name)),
    );
    this.charts = make("div", { class: "charts" });
    this.section.append(
      make("h2", { id: "trends-title" }, "Trends"),
      make(
        "p",
        { class: "lead" },
        `How a build changes from release to release, where it compiles.${hasAny(data.cells.latency) ? "" : " Latency is not tested."}`,
      ),
      this.jumpList(),
      make("label", { class: "row chooser" }, "Kernel", this.chooser),
      this.charts,
    );
  }

  // --- jumps ---

  jumpList() {
    if (!this.jumps.length) return make("p", { class: "lead" }, this.withoutJumps());
    const list = make("ul", { class: "jumps" });
    const total = this.jumps.length;
    const more = make("button", { type: "button", class: "quiet" });
    const fill = (count) => {
      list.replaceChildren(...this.jumps.slice(0, count).map((group) => this.jump(group)));
      const next = Math.min(total, count < LISTED ? LISTED : count + LISTED);
      more.hidden = count >= total;
      more.textContent = next === total ? `Show all ${total}` : `Show ${next}`;
      more.onclick = () => fill(next);
    };
    fill(FIRST);
    const how =
      "A jump is a change between two neighbouring tested releases that compile: a quarter of the registers or shared memory, half of the spills or code, three times the compile time (CPU seconds, including the assembler), or a fifth of the latency.";
    return make(
      "section",
      { class: "jump-list" },
      make("h3", {}, counted(this.jumps.length, "jump")),
      list,
      more,
      make("p", { class: "note" }, how),
    );
  }

  /** Why no jump is listed: nothing to compare with, or nothing that changes by so much. */
  withoutJumps() {
    const { data } = this;
    const compared = [...Array(data.size).keys()].some((row) => {
      const tested = builds(data, row).filter(({ release }) => !data.releases[release].fork);
      return tested.length > 1;
    });
    return compared
      ? "No jumps: registers, spills, shared memory and sizes stay as they are from each tested release to the next."
      : "Nothing to compare: no kernel compiles on two of the tested releases.";
  }

  jump(group) {
    const { data } = this;
    const largest = group[0];
    const rows = data.kernels.get(data.rows.kernel[largest.row]).get(data.rows.variant[largest.row]).length;
    const where = `${data.rows.kernel[largest.row]}/${data.rows.variant[largest.row]}`;
    const which =
      rows === 1
        ? ""
        : group.length === 1
          ? `${data.rows.case[largest.row]}, ${data.rows.target[largest.row]}`
          : `${data.rows.case[largest.row]}, ${data.rows.target[largest.row]}; ${group.length} of ${rows} cases and targets jump`;
    return make(
      "li",
      { "data-jump": where },
      make("a", { href: this.state.link({ cell: data.id(largest.cell) }) }, where),
      " ",
      make("span", {}, jumpWords(data, largest)),
      which && make("span", { class: "note" }, ` (${which})`),
    );
  }

  // --- charts ---

  kernel(kernel) {
    const { data } = this;
    const variants = data.kernels.get(kernel);
    if (!variants) return [];
    const cases = [...new Set([...variants.values()].flat().map((row) => data.rows.case[row]))];
    const chosen = cases.includes(this.state.now.case) ? this.state.now.case : cases[0];
    const shown = [...variants].map(([variant, rows]) => [variant, rows.filter((row) => data.rows.case[row] === chosen)]);
    const targets = [...new Set(shown.flatMap(([, rows]) => rows.map((row) => data.rows.target[row])))];
    const series = SERIES.filter((each) =>
      shown.some(([, rows]) => rows.some((row) => builds(data, row).some(({ cell }) => each.of(data.cells, cell) !== null))),
    );
    const button = (name) =>
      make(
        "button",
        { type: "button", class: "switch", "aria-pressed": String(name === chosen), onclick: () => this.state.set({ case: name }) },
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
          headings(["", ...series.map((each) => each.name)]),
          make(
            "tbody",
            {},
            shown.map(([variant, rows]) => this.line(variant, rows, series, targets)),
          ),
        ),
      ),
      ...this.tuned(kernel, chosen),
    ].filter(Boolean);
  }

  /** The tuned workloads of a kernel in one case. */
  tuned(kernel, chosen) {
    const { rows, tuned } = this.data;
    const shown = tuned.filter((answer) => answer.rows.some((row) => rows.kernel[row] === kernel && rows.case[row] === chosen));
    return shown.map((answer) => tunedSection(this, answer));
  }

  line(variant, rows, series, targets) {
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, variant),
      series.map((each) => make("td", {}, this.chart(variant, rows, each, targets))),
    );
  }

  chart(variant, rows, series, targets) {
    const { data } = this;
    const lines = rows.map((row) => ({
      name: data.rows.target[row],
      points: builds(data, row)
        .map(({ release, cell }) => ({ release, cell, amount: series.of(data.cells, cell) }))
        .filter((each) => each.amount !== null),
    }));
    const amounts = lines.flatMap((line) => line.points.map((point) => point.amount));
    if (!amounts.length) return make("span", { class: "note" }, "–");
    const most = Math.max(...amounts);
    const scale = {
      x: (release) => 6 + (release * (WIDTH - 12)) / Math.max(1, data.columns - 1),
      y: (amount) => HEIGHT - BOTTOM - (most ? (amount / most) * (HEIGHT - TOP - BOTTOM) : 0),
    };
    const words = `${variant}, ${series.name.toLowerCase()}: ${lines
      .map(
        (line) =>
          `${line.name} ${range(
            line.points.map((point) => point.amount),
            series.unit,
          )}`,
      )
      .join("; ")}`;
    const newest = lines.map((line) => line.points.at(-1)?.amount).filter((amount) => amount !== undefined);
    return make(
      "figure",
      { "data-chart": `${variant}/${series.name}` },
      draw(
        "svg",
        { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": words }, // what is in an image leads nowhere
        draw("title", {}, words),
        draw("path", { class: "axis", d: `M0 ${HEIGHT - BOTTOM}H${WIDTH}` }),
        lines.map((line) => this.curve(line, series, targets.indexOf(line.name), scale)),
      ),
      make(
        "figcaption",
        {},
        make("span", {}, `max ${measured(most, series.unit)}`),
        make("span", {}, `newest ${range(newest, series.unit)}`),
      ),
    );
  }

  curve({ name, points }, series, at, { x, y }) {
    const { data } = this;
    let path = "";
    points.forEach((point, place) => {
      // A release between two that was not tested, or did not compile, is no part of the curve.
      const joined = place && points[place - 1].release === point.release - 1;
      path += `${joined ? "L" : "M"}${x(point.release).toFixed(1)} ${y(point.amount).toFixed(1)}`;
    });
    const dots = points.map((point, place) => {
      const before = points[place - 1];
      const jumped = before && !data.releases[point.release].fork && isJump(series, before.amount, point.amount);
      const words = `${name}, ${data.releases[point.release].label}: ${measured(point.amount, series.unit)}`;
      return draw(
        "a",
        { href: this.state.link({ cell: data.id(point.cell) }), tabindex: "-1", "aria-label": words },
        draw("title", {}, words),
        jumped && draw("circle", { class: "flag", cx: x(point.release), cy: y(point.amount), r: 4.5 }),
        draw("circle", { class: "hit", cx: x(point.release), cy: y(point.amount), r: 7 }),
        marker(at, x(point.release), y(point.amount)),
      );
    });
    return draw("g", { class: `series s${at % 6}` }, draw("path", { d: path }), dots);
  }
}

/** What the lines of a chart are called. */
function lineKey(names) {
  const sample = (at) =>
    draw(
      "svg",
      { width: 26, height: 10, class: `series s${at % 6}`, "aria-hidden": "true" },
      draw("path", { d: "M1 5H25" }),
      marker(at, 13, 5),
    );
  return make(
    "p",
    { class: "key-line" },
    names.map((name, at) => make("span", {}, sample(at), name)),
    make(
      "span",
      {},
      draw("svg", { width: 14, height: 12, "aria-hidden": "true" }, draw("circle", { cx: 7, cy: 6, r: 4.5, class: "flag" })),
      "a jump",
    ),
  );
}

/** A point of a curve; its shape says which target it is, as its colour does. */
function marker(at, x, y) {
  const [left, top] = [x.toFixed(1), y.toFixed(1)];
  const shapes = [
    () => draw("circle", { class: "dot", cx: left, cy: top, r: 1.9 }),
    () => draw("rect", { class: "dot", x: (x - 1.8).toFixed(1), y: (y - 1.8).toFixed(1), width: 3.6, height: 3.6 }),
    () => draw("path", { class: "dot", d: `M${left} ${(y - 2.6).toFixed(1)}l2.5 4.4h-5z` }),
  ];
  return shapes[at % 3]();
}

function range(amounts, unit) {
  if (!amounts.length) return "none";
  const [least, most] = [Math.min(...amounts), Math.max(...amounts)];
  const [from, to] = [measured(least, unit), measured(most, unit)];
  const shared = / \S+$/.exec(to)?.[0] ?? "";
  return from === to ? to : `${from.endsWith(shared) ? from.slice(0, from.length - shared.length) : from}–${to}`;
}
