// What is shown is said in the fragment of the address, so that a link leads to it. Nothing else holds state but what is unfolded.

const DEFAULTS = {
  view: "grid",
  q: "",
  mark: "",
  class: "",
  target: "",
  case: "",
  fact: "compiles",
  only: "",
  cell: "",
  failure: "",
  kernel: "",
  name: "",
  said: "",
};
const VIEWS = ["grid", "failures", "trends", "api"];

const FILTERS = ["q", "mark", "class", "target", "case", "only"]; // what the filter of the grid is made of
const CLEARED = Object.fromEntries([...FILTERS, "cell", "failure", "kernel"].map((name) => [name, ""]));

class State {
  constructor() {
    this.listeners = [];
    this.now = this.read();
    addEventListener("hashchange", () => this.heard());
    addEventListener("popstate", () => this.heard());
  }

  read() {
    const said = new URLSearchParams(location.hash.slice(1));
    const known = Object.entries(DEFAULTS).map(([name, usual]) => [name, said.get(name) ?? usual]);
    const state = Object.fromEntries(known);
    if (!VIEWS.includes(state.view) || !one(`[data-view="${state.view}"]`)) state.view = "grid";
    return state;
  }

  heard() {
    const before = this.now;
    this.now = this.read();
    this.tell(before);
  }

  /** Change what is shown. A step that one wants to come back from gets a place in the history. */
  set(changes, { step = false } = {}) {
    const before = this.now;
    this.now = { ...before, ...changes };
    const fragment = this.link();
    if (fragment !== (location.hash || "#")) history[step ? "pushState" : "replaceState"](null, "", fragment);
    this.tell(before);
  }

  /** The fragment that leads to what is shown, with these changes. */
  link(changes = {}) {
    const state = { ...this.now, ...changes };
    const parts = Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name]);
    return `#${parts.map(([name, value]) => `${name}=${legible(value)}`).join("&")}`;
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  tell(before) {
    const changed = new Set(Object.keys(DEFAULTS).filter((name) => before[name] !== this.now[name]));
    if (changed.size) for (const listener of this.listeners) listener(this.now, changed);
  }

  /** The chosen ones of several, which stand together with commas. */
  chosen(name) {
    return new Set(this.now[name].split(",").filter(Boolean));
  }

  toggle(name, value) {
    const chosen = this.chosen(name);
    if (!chosen.delete(value)) chosen.add(value);
    this.set({ [name]: [...chosen].join(",") });
  }
}

/** A value in an address, with the slashes and colons that may stand there as they are. */
function legible(value) {
  return encodeURIComponent(value).replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%20", "+");
}
