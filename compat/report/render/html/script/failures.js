// The view of the distinct failures, with the places of each.

const MAX_ENTRIES = 100; // the maximum number of entries in the list; a search finds the others

class Failures {
  constructor(data, state) {
    Object.assign(this, { data, state });
    this.section = query('[data-view="failures"]');
    state.onChange((values, changedNames) => {
      if (values.view === "failures" && (changedNames.has("view") || changedNames.has("failure"))) this.show();
    });
    if (state.values.view === "failures") this.show();
  }

  show() {
    if (!this.list) this.build();
    const fingerprint = this.state.values.failure;
    if (fingerprint && !this.entry(fingerprint)) this.search("");
    const entry = fingerprint && this.entry(fingerprint);
    if (!entry) return;
    query("details", entry).open = true;
    entry.scrollIntoView({ block: "start" });
    query("summary", entry).focus({ preventScroll: true });
  }

  entry(fingerprint) {
    return queryAll("[data-failure]", this.section).find((entry) => entry.dataset.failure === fingerprint);
  }

  build() {
    const { failures } = this.data;
    this.searchTexts = failures.map((failure) => this.searchText(failure));
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
    this.countNote = make("p", { class: "count", role: "status" });
    this.section.append(
      make("h2", { id: "failures-title" }, formatCount(failures.length, "distinct failure")),
      make("p", { class: "lead" }, "The same fingerprint means the same failure, in every release, kernel and line."),
      make("label", { class: "search" }, icon("search"), this.input),
      this.list,
      this.countNote,
    );
    this.search("");
  }

  searchText(failure) {
    const record = this.exampleRecord(failure);
    return [
      failure.id,
      failure.fingerprint,
      ...failure.where.flatMap((occurrence) => [occurrence.subject, occurrence.releases, ...occurrence.targets]),
      record.excerpt,
      record.advice,
      record.pass,
      record.op,
      record.location,
    ]
      .join(" ")
      .toLowerCase();
  }

  /** The failure record of the example of a distinct failure. */
  exampleRecord(failure) {
    return this.data.record("failure", failure.example);
  }

  search(text) {
    const terms = text.toLowerCase().split(/\s+/).filter(Boolean);
    const selectedFingerprint = this.state.values.failure;
    const matches = this.data.failures.filter((failure, index) =>
      terms.every((term) => this.searchTexts[index].includes(term)),
    );
    const visibleFailures = matches.filter(
      (failure, index) => index < MAX_ENTRIES || failure.fingerprint === selectedFingerprint,
    );
    if (this.input.value !== text) this.input.value = text;
    this.list.replaceChildren(...visibleFailures.map((failure) => this.article(failure, matches.length === 1)));
    this.countNote.textContent =
      matches.length > visibleFailures.length
        ? `${visibleFailures.length} of ${matches.length} are shown. Search for the others.`
        : matches.length
          ? ""
          : "No failure matches.";
  }

  article(failure, open) {
    const body = make("div", { class: "body" });
    const fill = () => body.childElementCount || body.append(...this.body(failure));
    const details = make(
      "details",
      { open, ontoggle: (event) => event.target.open && fill() },
      this.summary(failure),
      body,
    );
    if (open) fill();
    return make("article", { "data-failure": failure.fingerprint, class: "entry" }, details);
  }

  summary(failure) {
    const record = this.exampleRecord(failure);
    return make(
      "summary",
      {},
      icon("open", { class: "icon fold" }),
      make("span", { class: "id" }, failure.id),
      make("span", { class: "class" }, failure.class),
      make(
        "span",
        { class: "statuses" },
        record.prediction ? "predicted" : failure.statuses.join(", ").replaceAll("_", " "),
      ),
      make("span", { class: "says" }, keyLine(record.excerpt)),
      make(
        "span",
        { class: "spread" },
        this.spread(failure),
        make("span", { class: "cells" }, formatCount(failure.cells, "cell")),
      ),
    );
  }

  /** Fingerprint → the releases on which cells have it. Flaky cells count, too. */
  collectReleases() {
    const { cells, failures, points, pointOf } = this.data;
    const releasesByFingerprint = new Map(failures.map((failure) => [failure.fingerprint, new Set()]));
    cells.failure.forEach((record, cell) => {
      if (!record) return;
      const { fingerprint } = cells.records.failure[record];
      releasesByFingerprint.get(fingerprint)?.add(points.release[pointOf[cell]]);
    });
    return releasesByFingerprint;
  }

  /** A picture with a bar for each release. The bar is high if the failure occurs on the release. */
  spread(failure) {
    this.releasesByFingerprint ??= this.collectReleases();
    const releases = this.releasesByFingerprint.get(failure.fingerprint);
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
    const label = `on ${this.data.releases
      .filter((_, release) => releases.has(release))
      .map((release) => release.label)
      .join(", ")}`;
    return draw(
      "svg",
      {
        class: "spark",
        viewBox: `0 0 ${columns * 7} 12`,
        width: columns * 7,
        height: 12,
        role: "img",
        "aria-label": label,
      },
      draw("title", {}, label),
      bars,
    );
  }

  /** The address that shows this failure. */
  address(failure) {
    const fragment = this.state.link({ ...EMPTY_VALUES, view: "failures", failure: failure.fingerprint });
    return location.href.split("#")[0] + fragment;
  }

  body(failure) {
    const record = this.exampleRecord(failure);
    const { per_target: perTarget } = failure;
    return [
      make("pre", { tabindex: "0" }, record.excerpt),
      perTarget.length > 0 &&
        make(
          "ul",
          {},
          perTarget.map(([targets, message]) => make("li", {}, make("strong", {}, targets), make("code", {}, message))),
        ),
      record.advice && make("p", { class: "advice" }, prose(record.advice)),
      make("h3", {}, "Affected kernels"),
      make("div", { class: "wide" }, this.places(failure)),
      this.facts(failure, record),
    ].filter(Boolean);
  }

  places(failure) {
    const placeRow = ({ subject, kernel, variant, releases, targets }) => {
      const href = this.state.link({ ...EMPTY_VALUES, view: "grid", q: `${kernel}/${variant}/` });
      const link = make("a", { href }, subject);
      return tableRow(link, [make("td", {}, releases), make("td", {}, targets.join(", "))]);
    };
    return make(
      "table",
      { class: "plain" },
      headings(["Kernel and variant", "Releases", "Targets"]),
      make("tbody", {}, failure.where.map(placeRow)),
    );
  }

  facts(failure, record) {
    const example = this.data.id(failure.example);
    const href = this.state.link({ view: "failures", cell: example, failure: failure.fingerprint });
    const link = make("a", { href }, example);
    const copyButtons = [
      copyButton(() => failure.fingerprint, "the fingerprint"),
      copyButton(() => this.address(failure), "the link to this failure", "Copy link"),
    ];
    const facts = [
      ["Fingerprint", make("span", { class: "row" }, make("code", {}, failure.fingerprint), copyButtons)],
      ["Stage", record.stage],
      ["Pass", record.pass],
      ["Op", record.op],
      ["Location", record.location],
      ["Example", link],
    ];
    return definitions(facts.filter(([, value]) => value));
  }
}

/** The most informative line of a message: the first line with an error, else the last line. */
function keyLine(text) {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.find((line) => /error|assert|fatal|fail/i.test(line)) ?? lines.at(-1) ?? "";
}
