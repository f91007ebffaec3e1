// The view of the names in the toolchain's API: the releases that have a name, its parameters, and its warnings.
// docs/matrix-json.md describes the data under "Names".

const MAX_NAMES = 200; // the maximum number of rows; a search finds the others
const STATES = {
  there: { mark: "✓", label: "present", kind: "good" },
  refuses: { mark: "!", label: "only raises an error", kind: "bad" },
  absent: { mark: "–", label: "missing", kind: "absent" },
  unknown: { mark: "?", label: "unknown: its module cannot be imported there", kind: "unknown" },
  unseen: { mark: "·", label: "not inspected", kind: "unseen" },
};

class Names {
  constructor(data, state) {
    Object.assign(this, { data, state, api: data.api });
    if (!this.api) return;
    this.section = query('[data-view="api"]');
    this.inspectedIndexes = new Set(this.indexes(this.api.looked_at));
    state.onChange((values, changedNames) => {
      if (values.view === "api" && ["view", "name", "said"].some((name) => changedNames.has(name))) this.show();
    });
    if (state.values.view === "api") this.show();
  }

  // --- the packed data ---

  /** The indexes of releases in `0-2 5`: 0, 1, 2, 5. */
  indexes(runs = "") {
    return runs
      .split(" ")
      .filter(Boolean)
      .flatMap((run) => this.runIndexes(run));
  }

  /** The indexes in one run, such as `0-2` or `5`. */
  runIndexes(run) {
    const [first, last] = run.split("-").map(Number);
    const end = Math.min(last ?? first, this.api.releases.length - 1);
    return Number.isInteger(first) && first >= 0
      ? Array.from({ length: Math.max(0, end - first + 1) }, (_, index) => first + index)
      : [];
  }

  /** The notes in `0-4:12 5:13`: indexes of releases, and a text by its number. */
  notes(runs = "") {
    return runs
      .split(" ")
      .filter(Boolean)
      .map((part) => {
        const [run, text] = part.split(":");
        return { indexes: this.runIndexes(run), text: this.api.texts[Number(text)] ?? "" };
      });
  }

  states(facts) {
    const states = this.api.releases.map((_, index) => (this.inspectedIndexes.has(index) ? "absent" : "unseen"));
    for (const index of this.indexes(facts.there)) states[index] = "there";
    for (const [state, runs] of [
      ["refuses", facts.refuses],
      ["unknown", facts.unknown],
    ])
      for (const { indexes } of this.notes(runs)) for (const index of indexes) states[index] = state;
    return states;
  }

  /** Consecutive indexes as a range of releases, such as `3.4.0–3.9.0`. */
  rangeText(indexes) {
    const { releases } = this.api;
    return indexes.length > 1 ? `${releases[indexes[0]]}–${releases[indexes.at(-1)]}` : (releases[indexes[0]] ?? "");
  }

  /** The releases that add or remove a name, as text. It names both inspected releases if others lie between them. */
  history(states) {
    const { releases } = this.api;
    const observations = states
      .map((state, index) => ({ state, index }))
      .filter(({ state }) => state !== "unseen" && state !== "unknown");
    const phrases = [];
    observations.slice(1).forEach(({ state, index }, position) => {
      const previous = observations[position];
      const isAdjacent = index === previous.index + 1;
      if (state === "there" && previous.state !== "there")
        phrases.push(
          isAdjacent ? `since ${releases[index]}` : `in ${releases[index]}, not in ${releases[previous.index]}`,
        );
      else if (state !== "there" && previous.state === "there")
        phrases.push(
          [
            state === "refuses" ? STATES.refuses.label : "removed",
            isAdjacent ? `in ${releases[index]}` : `by ${releases[index]}, present in ${releases[previous.index]}`,
          ].join(" "),
        );
    });
    const everyRelease =
      observations.length === states.length ? "in every release" : "in every release that was inspected";
    const exists = observations.some(({ state }) => state === "there");
    return phrases.join(", ") || (exists ? everyRelease : "in no release that was inspected");
  }

  // --- the view ---

  show() {
    if (!this.body) this.build();
    this.search(this.state.values.name);
  }

  build() {
    const { api, state } = this;
    this.entries = Object.entries(api.names).map(([name, facts]) => ({ name, facts, searchText: name.toLowerCase() }));
    const aliases = new Map();
    for (const [alias, name] of Object.entries(api.same ?? {})) {
      aliases.set(name, [...(aliases.get(name) ?? []), alias]);
    }
    this.aliases = aliases;
    for (const entry of this.entries) entry.searchText += ` ${(aliases.get(entry.name) ?? []).join(" ").toLowerCase()}`;
    this.input = make("input", {
      type: "search",
      "data-name-search": "",
      "aria-label": "Search the names",
      placeholder: "tl.dot, descriptor …",
      autocomplete: "off",
      spellcheck: "false",
      oninput: (event) => state.set({ name: event.target.value }),
    });
    this.changeSelect = make(
      "select",
      {
        "aria-label": "Names to show",
        "data-name-which": "",
        onchange: (event) => state.set({ said: event.target.value }),
      },
      [
        ["", "all names"],
        ["since", "added"],
        ["gone", "removed"],
        ["changed", "with other parameters"],
        ["deprecated", "deprecated"],
      ].map(([value, label]) => make("option", { value }, label)),
    );
    this.body = make("tbody");
    this.countNote = make("p", { class: "count", role: "status" });
    const missingReleases = api.releases.filter((_, index) => !this.inspectedIndexes.has(index));
    const missingNote = missingReleases.length ? ` Not inspected: ${missingReleases.join(", ")}.` : "";
    const headerRow = make(
      "tr",
      {},
      make("th", { scope: "col" }, "Name"),
      api.releases.map((release) => make("th", { scope: "col", class: "release" }, make("span", {}, release))),
      make("th", { scope: "col", class: "what" }, "History"),
    );
    const table = make("table", { "data-names": "" }, make("thead", {}, headerRow), this.body);
    table.style.setProperty("--releases", api.releases.length);
    this.section.append(
      make("h2", { id: "api-title" }, `Names of ${api.toolchain}`),
      make(
        "p",
        { class: "lead" },
        `The names of the installed releases. A name that exists may still not compile for a target.${missingNote}`,
      ),
      make("div", { class: "row" }, make("label", { class: "search" }, icon("search"), this.input), this.changeSelect),
      this.legend(),
      make("div", { class: "wide names", tabindex: "0", role: "region", "aria-labelledby": "api-title" }, table),
      this.countNote,
    );
  }

  legend() {
    return make(
      "p",
      { class: "key-line" },
      Object.values(STATES).map(({ mark, label, kind }) =>
        make("span", {}, make("span", { class: `state ${kind}`, "aria-hidden": "true" }, mark), label),
      ),
    );
  }

  search(text) {
    const terms = text.toLowerCase().split(/\s+/).filter(Boolean);
    const change = this.state.values.said;
    const matches = this.entries.filter(
      (entry) => terms.every((term) => entry.searchText.includes(term)) && this.hasChange(entry, change),
    );
    matches.sort((left, right) => this.rank(left, terms) - this.rank(right, terms));
    if (this.input.value !== text) this.input.value = text;
    this.changeSelect.value = change;
    this.body.replaceChildren(...matches.slice(0, MAX_NAMES).map((entry) => this.row(entry, matches.length === 1)));
    const rowCount = Math.min(matches.length, MAX_NAMES);
    this.countNote.textContent = matches.length
      ? matches.length > rowCount
        ? `${formatNumber(rowCount)} of ${formatCount(matches.length, "name")} are shown. Search for the others.`
        : formatCount(matches.length, "name")
      : "No name matches.";
  }

  /** The rank of a name: 0 if its end equals the last term, 1 if its last part contains the term, else 2. */
  rank({ name }, terms) {
    const [fullName, lastTerm] = [name.toLowerCase(), terms.at(-1)];
    if (!lastTerm || fullName === lastTerm || fullName.endsWith(`.${lastTerm}`)) return 0;
    return fullName.slice(fullName.lastIndexOf(".") + 1).includes(lastTerm) ? 1 : 2;
  }

  hasChange({ facts }, change) {
    if (!change) return true;
    if (change === "deprecated") return Boolean(facts.deprecated || facts.warns || facts.parameters);
    if (change === "changed") return new Set(this.notes(facts.signatures).map(({ text }) => text)).size > 1;
    const states = this.states(facts).filter((state) => state !== "unseen" && state !== "unknown");
    const transitions = states.slice(1).map((state, index) => [states[index], state]);
    return change === "since"
      ? transitions.some(([previous, next]) => previous !== "there" && next === "there")
      : transitions.some(([previous, next]) => previous === "there" && next !== "there");
  }

  row({ name, facts }, open) {
    const states = this.states(facts);
    const summary = [this.history(states)];
    for (const { indexes } of this.notes(facts.deprecated)) summary.push(`deprecated ${this.rangeText(indexes)}`);
    const body = make("dl", { class: "name-facts" });
    const fill = () => body.childElementCount || body.append(...this.facts(name, facts));
    const details = make(
      "details",
      { open, ontoggle: (event) => event.target.open && fill() },
      make("summary", {}, summary.join("; ")),
      body,
    );
    if (open) fill();
    return make(
      "tr",
      { "data-name": name },
      make("th", { scope: "row" }, make("code", {}, name)),
      states.map((state, index) =>
        make(
          "td",
          {
            class: `state ${STATES[state].kind}`,
            "data-state": state,
            title: `${this.api.releases[index]}: ${STATES[state].label}`,
          },
          make("span", { "aria-hidden": "true" }, STATES[state].mark),
          make("span", { class: "said" }, STATES[state].label),
        ),
      ),
      make("td", { class: "what" }, details),
    );
  }

  facts(name, facts) {
    const lines = [["kind", [facts.kind === "builtin" ? "built-in" : (facts.kind ?? "")]]];
    const addNotes = (title, runs) =>
      lines.push([title, this.notes(runs).map(({ indexes, text }) => `${this.rangeText(indexes)}: ${text}`)]);
    lines.push(["signature", this.groupNotes(facts.signatures).map(({ ranges, text }) => `${ranges}: ${name}${text}`)]);
    addNotes(STATES.refuses.label, facts.refuses);
    addNotes("deprecated", facts.deprecated);
    addNotes("parameters", facts.parameters);
    addNotes("warns", facts.warns);
    addNotes("unknown", facts.unknown);
    lines.push(["also", this.aliases.get(name) ?? []]);
    return lines
      .filter(([, texts]) => texts.some(Boolean))
      .map(([title, texts]) =>
        make(
          "div",
          {},
          make("dt", {}, title),
          texts.map((text) => make("dd", {}, text)),
        ),
      );
  }

  /** The notes of several runs. Each text occurs once, with all its ranges. */
  groupNotes(runs) {
    const rangesByText = new Map();
    for (const { indexes, text } of this.notes(runs)) {
      rangesByText.set(text, [...(rangesByText.get(text) ?? []), this.rangeText(indexes)]);
    }
    return [...rangesByText].map(([text, ranges]) => ({ text, ranges: ranges.join(", ") }));
  }
}
