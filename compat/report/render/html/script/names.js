// The names of the toolchain's interface: since when each is there, with which parameters, and what is said against it. What stands
// in the page is what docs/matrix-json.md describes under "Names".

const NAMES_AT_ONCE = 200; // rows that are drawn; a search finds the others
const STATES = {
  there: { mark: "✓", words: "there", kind: "good" },
  refuses: { mark: "!", words: "only raises", kind: "bad" },
  absent: { mark: "–", words: "not there", kind: "absent" },
  unknown: { mark: "?", words: "not known: its module cannot be imported there", kind: "unknown" },
  unseen: { mark: "·", words: "not inspected", kind: "unseen" },
};

class Names {
  constructor(data, state) {
    Object.assign(this, { data, state, api: data.api });
    if (!this.api) return;
    this.section = one('[data-view="api"]');
    this.looked = new Set(this.places(this.api.looked_at));
    state.onChange(
      (now, changed) => now.view === "api" && (changed.has("view") || changed.has("name") || changed.has("said")) && this.show(),
    );
    if (state.now.view === "api") this.show();
  }

  // --- what stands packed ---

  /** `0-2 5` as places: 0, 1, 2, 5. */
  places(runs = "") {
    return runs
      .split(" ")
      .filter(Boolean)
      .flatMap((run) => this.span(run));
  }

  span(run) {
    const [first, last] = run.split("-").map(Number);
    const end = Math.min(last ?? first, this.api.releases.length - 1);
    return Number.isInteger(first) && first >= 0 ? Array.from({ length: Math.max(0, end - first + 1) }, (_, at) => first + at) : [];
  }

  /** `0-4:12 5:13` as what is said, and where. */
  told(runs = "") {
    return runs
      .split(" ")
      .filter(Boolean)
      .map((each) => {
        const [run, text] = each.split(":");
        return { places: this.span(run), text: this.api.texts[Number(text)] ?? "" };
      });
  }

  states(name) {
    const states = this.api.releases.map((_, at) => (this.looked.has(at) ? "absent" : "unseen"));
    for (const at of this.places(name.there)) states[at] = "there";
    for (const [state, runs] of [
      ["refuses", name.refuses],
      ["unknown", name.unknown],
    ])
      for (const { places } of this.told(runs)) for (const at of places) states[at] = state;
    return states;
  }

  /** `3.4.0–3.9.0` of places that follow each other. */
  range(places) {
    const { releases } = this.api;
    return places.length > 1 ? `${releases[places[0]]}–${releases[places.at(-1)]}` : (releases[places[0]] ?? "");
  }

  /** Since when, until when: of what was looked at. A release that was not looked at is between two that were. */
  phrase(states) {
    const { releases } = this.api;
    const known = states.map((state, at) => ({ state, at })).filter(({ state }) => state !== "unseen" && state !== "unknown");
    const said = [];
    known.slice(1).forEach(({ state, at }, place) => {
      const before = known[place];
      const next = at === before.at + 1;
      if (state === "there" && before.state !== "there")
        said.push(next ? `since ${releases[at]}` : `in ${releases[at]}, not in ${releases[before.at]}`);
      else if (state !== "there" && before.state === "there")
        said.push(`${state === "refuses" ? "only raises" : "gone"} ${next ? "in" : "by"} ${releases[at]}`);
    });
    const whole = known.length === states.length ? "in every release" : "in every release that was inspected";
    return said.join(", ") || (known.some(({ state }) => state === "there") ? whole : "in no release that was inspected");
  }

  // --- the view ---

  show() {
    if (!this.body) this.build();
    this.search(this.state.now.name);
  }

  build() {
    const { api, state } = this;
    this.all = Object.entries(api.names).map(([name, facts]) => ({ name, facts, text: name.toLowerCase() }));
    const other = new Map();
    for (const [alias, name] of Object.entries(api.same ?? {})) other.set(name, [...(other.get(name) ?? []), alias]);
    this.other = other;
    for (const each of this.all) each.text += ` ${(other.get(each.name) ?? []).join(" ").toLowerCase()}`;
    this.input = make("input", {
      type: "search",
      "data-name-search": "",
      "aria-label": "Search the names",
      placeholder: "tl.dot, descriptor …",
      autocomplete: "off",
      spellcheck: "false",
      oninput: (event) => state.set({ name: event.target.value }),
    });
    this.which = make(
      "select",
      { "aria-label": "Names to show", "data-name-which": "", onchange: (event) => state.set({ said: event.target.value }) },
      [
        ["", "all names"],
        ["since", "added"],
        ["gone", "removed"],
        ["changed", "with other parameters"],
        ["deprecated", "deprecated"],
      ].map(([value, words]) => make("option", { value }, words)),
    );
    this.body = make("tbody");
    this.left = make("p", { class: "count", role: "status" });
    const unseen = api.releases.filter((_, at) => !this.looked.has(at));
    const head = make(
      "tr",
      {},
      make("th", { scope: "col" }, "Name"),
      api.releases.map((release) => make("th", { scope: "col", class: "release" }, make("span", {}, release))),
      make("th", { scope: "col", class: "what" }, "History"),
    );
    const table = make("table", { "data-names": "" }, make("thead", {}, head), this.body);
    table.style.setProperty("--releases", api.releases.length);
    this.section.append(
      make("h2", { id: "api-title" }, `Names of ${api.toolchain}`),
      make(
        "p",
        { class: "lead" },
        `The names of the installed releases. A name that exists may still not compile for a target.${unseen.length ? ` Not inspected: ${unseen.join(", ")}.` : ""}`,
      ),
      make("div", { class: "row" }, make("label", { class: "search" }, icon("search"), this.input), this.which),
      this.legend(),
      make("div", { class: "wide names", tabindex: "0", role: "region", "aria-labelledby": "api-title" }, table),
      this.left,
    );
  }

  legend() {
    return make(
      "p",
      { class: "key-line" },
      Object.values(STATES).map(({ mark, words, kind }) =>
        make("span", {}, make("span", { class: `state ${kind}`, "aria-hidden": "true" }, mark), words),
      ),
    );
  }

  search(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = this.state.now.said;
    const found = this.all.filter((each) => words.every((word) => each.text.includes(word)) && this.fits(each, wanted));
    found.sort((one, two) => this.rank(one, words) - this.rank(two, words));
    if (this.input.value !== text) this.input.value = text;
    this.which.value = wanted;
    this.body.replaceChildren(...found.slice(0, NAMES_AT_ONCE).map((each) => this.row(each, found.length === 1)));
    const shown = Math.min(found.length, NAMES_AT_ONCE);
    this.left.textContent = found.length
      ? found.length > shown
        ? `${number(shown)} of ${counted(found.length, "name")} are shown. Search for the others.`
        : counted(found.length, "name")
      : "No name matches.";
  }

  /** What is called as is searched comes first, then what has it in its last part; else the order stays. */
  rank({ name }, words) {
    const [whole, word] = [name.toLowerCase(), words.at(-1)];
    if (!word || whole === word || whole.endsWith(`.${word}`)) return 0;
    return whole.slice(whole.lastIndexOf(".") + 1).includes(word) ? 1 : 2;
  }

  fits({ facts }, wanted) {
    if (!wanted) return true;
    if (wanted === "deprecated") return Boolean(facts.deprecated || facts.warns || facts.parameters);
    if (wanted === "changed") return new Set(this.told(facts.signatures).map(({ text }) => text)).size > 1;
    const states = this.states(facts).filter((state) => state !== "unseen" && state !== "unknown");
    const turns = states.slice(1).map((state, at) => [states[at], state]);
    return wanted === "since"
      ? turns.some(([one, two]) => one !== "there" && two === "there")
      : turns.some(([one, two]) => one === "there" && two !== "there");
  }

  row({ name, facts }, open) {
    const states = this.states(facts);
    const summary = [this.phrase(states)];
    for (const { places } of this.told(facts.deprecated)) summary.push(`deprecated ${this.range(places)}`);
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
      states.map((state, at) =>
        make(
          "td",
          { class: `state ${STATES[state].kind}`, "data-state": state, title: `${this.api.releases[at]}: ${STATES[state].words}` },
          make("span", { "aria-hidden": "true" }, STATES[state].mark),
          make("span", { class: "said" }, STATES[state].words),
        ),
      ),
      make("td", { class: "what" }, details),
    );
  }

  facts(name, facts) {
    const lines = [["kind", [facts.kind === "builtin" ? "built-in" : (facts.kind ?? "")]]];
    const said = (title, runs) => lines.push([title, this.told(runs).map(({ places, text }) => `${this.range(places)}: ${text}`)]);
    lines.push(["signature", this.merged(facts.signatures).map(({ ranges, text }) => `${ranges}: ${name}${text}`)]);
    said("only raises", facts.refuses);
    said("deprecated", facts.deprecated);
    said("parameters", facts.parameters);
    said("warns", facts.warns);
    said("unknown", facts.unknown);
    lines.push(["also", this.other.get(name) ?? []]);
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

  /** What is said in several runs, once. */
  merged(runs) {
    const found = new Map();
    for (const { places, text } of this.told(runs)) found.set(text, [...(found.get(text) ?? []), this.range(places)]);
    return [...found].map(([text, ranges]) => ({ text, ranges: ranges.join(", ") }));
  }
}
