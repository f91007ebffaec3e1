// The state of the page is in the fragment of the address, so that links can contain it. Only the folds of the grid
// are not in it.

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

const FILTERS = ["q", "mark", "class", "target", "case", "only"]; // the values that the filter of the grid uses
const EMPTY_VALUES = Object.fromEntries([...FILTERS, "cell", "failure", "kernel"].map((name) => [name, ""]));

class State {
  constructor() {
    this.listeners = [];
    this.values = this.read();
    addEventListener("hashchange", () => this.readAddress());
    addEventListener("popstate", () => this.readAddress());
  }

  read() {
    const parameters = new URLSearchParams(location.hash.slice(1));
    const entries = Object.entries(DEFAULTS).map(([name, fallback]) => [name, parameters.get(name) ?? fallback]);
    const state = Object.fromEntries(entries);
    if (!VIEWS.includes(state.view) || !query(`[data-view="${state.view}"]`)) state.view = "grid";
    return state;
  }

  readAddress() {
    const previous = this.values;
    this.values = this.read();
    this.notify(previous);
  }

  /** Change the state. With `addHistory` the browser's back button returns to the previous state. */
  set(changes, { addHistory = false } = {}) {
    const previous = this.values;
    this.values = { ...previous, ...changes };
    const fragment = this.link();
    if (fragment !== (location.hash || "#")) history[addHistory ? "pushState" : "replaceState"](null, "", fragment);
    this.notify(previous);
  }

  /** The fragment of the current state with these changes. */
  link(changes = {}) {
    const state = { ...this.values, ...changes };
    const parts = Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name]);
    return `#${parts.map(([name, value]) => `${name}=${encodeValue(value)}`).join("&")}`;
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  notify(previous) {
    const changedNames = new Set(Object.keys(DEFAULTS).filter((name) => previous[name] !== this.values[name]));
    if (changedNames.size) for (const listener of this.listeners) listener(this.values, changedNames);
  }

  /** The selected values of a filter, which the state joins with commas. */
  selectedValues(name) {
    return new Set(this.values[name].split(",").filter(Boolean));
  }

  toggle(name, value) {
    const values = this.selectedValues(name);
    if (!values.delete(value)) values.add(value);
    this.set({ [name]: [...values].join(",") });
  }
}

/** Encode a value for an address. Slashes, colons and commas stay readable. */
function encodeValue(value) {
  return encodeURIComponent(value)
    .replaceAll("%2F", "/")
    .replaceAll("%3A", ":")
    .replaceAll("%2C", ",")
    .replaceAll("%20", "+");
}
