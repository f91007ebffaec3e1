// The failures: each defect once, with everywhere it occurs.

const AT_ONCE = 100; // entries that are drawn; a search finds the others

class Failures {
  constructor(data, state) {
    Object.assign(this, { data, state });
    this.section = one('[data-view="failures"]');
    state.onChange((now, changed) => {
      if (now.view === "failures" && (changed.has("view") || changed.has("failure"))) this.show();
    });
    if (state.now.view === "failures") this.show();
  }

  show() {
    if (!this.list) this.build();
    const wanted = this.state.now.failure;
    if (wanted && !this.entry(wanted)) this.search("");
    const entry = wanted && this.entry(wanted);
    if (!entry) return;
    one("details", entry).open = true;
    entry.scrollIntoView({ block: "start" });
    one("summary", entry).focus({ preventScroll: true });
  }

  entry(fingerprint) {
    return every("[data-failure]", this.section).find((each) => each.dataset.failure === fingerprint);
  }

  build() {
    const { failures } = this.data;
    this.texts = failures.map((failure) => this.haystack(failure));
    this.input = make("input", {
      type: "search",
      "data-failure-search": "",
      "aria-label": "Search the failures",
      placeholder: "Class, message, kernel …",
      autocomplete: "off",
      spellcheck: "false",
      oninput: (event) => this.search(event.target.value),
    });
    this.list = make("div", { class: "entries" });
    this.left = make("p", { class: "count", role: "status" });
    this.section.append(
      make("h2", { id: "failures-title" }, counted(failures.length, "distinct failure")),
      make("p", { class: "lead" }, "The same fingerprint means the same failure, in every release, kernel and line."),
      make("label", { class: "search" }, icon("search"), this.input),
      this.list,
      this.left,
    );
    this.search("");
  }

  haystack(failure) {
    const told = this.told(failure);
    return [
      failure.id,
      failure.fingerprint,
      ...failure.where.flatMap((where) => [where.subject, where.releases, ...where.targets]),
      told.excerpt,
      told.advice,
      told.pass,
      told.op,
      told.location,
    ]
      .join(" ")
      .toLowerCase();
  }

  /** What the cell that knows most about it has to say. */
  told(failure) {
    return this.data.record("failure", failure.example);
  }

  search(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = this.state.now.failure;
    const found = this.data.failures.filter((failure, at) => words.every((word) => this.texts[at].includes(word)));
    const first = found.filter((failure, at) => at < AT_ONCE || failure.fingerprint === wanted);
    if (this.input.value !== text) this.input.value = text;
    this.list.replaceChildren(...first.map((failure) => this.article(failure, found.length === 1)));
    this.left.textContent =
      found.length > first.length
        ? `${first.length} of ${found.length} are shown. Search for the others.`
        : found.length
          ? ""
          : "No failure matches.";
  }

  article(failure, open) {
    const body = make("div", { class: "body" });
    const fill = () => body.childElementCount || body.append(...this.body(failure));
    const details = make("details", { open, ontoggle: (event) => event.target.open && fill() }, this.summary(failure), body);
    if (open) fill();
    return make("article", { "data-failure": failure.fingerprint, class: "entry" }, details);
  }

  summary(failure) {
    const told = this.told(failure);
    return make(
      "summary",
      {},
      icon("open", { class: "icon fold" }),
      make("span", { class: "id" }, failure.id),
      make("span", { class: "class" }, failure.class),
      make("span", { class: "statuses" }, told.prediction ? "predicted" : failure.statuses.join(", ").replaceAll("_", " ")),
      make("span", { class: "says" }, lastLine(told.excerpt)),
      make("span", { class: "spread" }, this.spread(failure), make("span", { class: "cells" }, counted(failure.cells, "cell"))),
    );
  }

  /** Fingerprint → the releases on which cells have it, flaky ones too. */
  spreads() {
    const { cells, failures, points, pointOf } = this.data;
    const spreads = new Map(failures.map((failure) => [failure.fingerprint, new Set()]));
    cells.failure.forEach((record, cell) => {
      if (record) spreads.get(cells.records.failure[record].fingerprint)?.add(points.release[pointOf[cell]]);
    });
    return spreads;
  }

  /** On which releases it occurs, as a strip. */
  spread(failure) {
    this.releases ??= this.spreads();
    const releases = this.releases.get(failure.fingerprint);
    const { columns } = this.data;
    const bars = this.data.releases.map((_, release) =>
      draw("rect", {
        x: release * 7,
        y: releases.has(release) ? 0 : 5,
        width: 5,
        height: releases.has(release) ? 12 : 2,
        class: releases.has(release) ? "on" : "off",
      }),
    );
    const words = `on ${this.data.releases
      .filter((_, release) => releases.has(release))
      .map((release) => release.label)
      .join(", ")}`;
    return draw(
      "svg",
      { class: "spark", viewBox: `0 0 ${columns * 7} 12`, width: columns * 7, height: 12, role: "img", "aria-label": words },
      draw("title", {}, words),
      bars,
    );
  }

  /** The address of the page at this failure. */
  address(failure) {
    return location.href.split("#")[0] + this.state.link({ ...CLEARED, view: "failures", failure: failure.fingerprint });
  }

  body(failure) {
    const told = this.told(failure);
    const { per_target: perTarget } = failure;
    return [
      make("pre", { tabindex: "0" }, told.excerpt),
      perTarget.length > 0 &&
        make(
          "ul",
          {},
          perTarget.map(([targets, said]) => make("li", {}, make("strong", {}, targets), make("code", {}, said))),
        ),
      told.advice && make("p", { class: "advice" }, prose(told.advice)),
      make("h3", {}, "Where it occurs"),
      make("div", { class: "wide" }, this.places(failure)),
      this.facts(failure, told),
    ].filter(Boolean);
  }

  places(failure) {
    const row = ({ subject, kernel, variant, releases, targets }) => {
      const link = make("a", { href: this.state.link({ ...CLEARED, view: "grid", q: `${kernel}/${variant}/` }) }, subject);
      return tableRow(link, [make("td", {}, releases), make("td", {}, targets.join(", "))]);
    };
    return make(
      "table",
      { class: "plain" },
      headings(["Kernel and variant", "Releases", "Targets"]),
      make("tbody", {}, failure.where.map(row)),
    );
  }

  facts(failure, told) {
    const example = this.data.id(failure.example);
    const link = make("a", { href: this.state.link({ view: "failures", cell: example, failure: failure.fingerprint }) }, example);
    const copies = [
      copyButton(() => failure.fingerprint, "the fingerprint"),
      copyButton(() => this.address(failure), "the link to this failure", "Copy link"),
    ];
    const facts = [
      ["Fingerprint", make("span", { class: "row" }, make("code", {}, failure.fingerprint), copies)],
      ["Stage", told.stage],
      ["Pass", told.pass],
      ["Op", told.op],
      ["At", told.location],
      ["Example", link],
    ];
    return definitions(facts.filter(([, value]) => value));
  }
}

/** The line of a message that says most: the first that names an error, else the last. */
function lastLine(text) {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.find((line) => /error|assert|fatal|fail/i.test(line)) ?? lines.at(-1) ?? "";
}
