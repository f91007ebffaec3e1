// What marks look like, and what they are called. Which mark a point has is decided where matrix.md decides it (grid.py).

const ABSENT = { word: "-", meaning: "not tested", kind: "absent" };
const PARTLY = { word: "partly", meaning: "some compile", kind: "partly" };

const ICONS = {
  ok: "ok",
  "ok*": "deprecated",
  pred: "predicted",
  rej: "rejected",
  CRASH: "crashed",
  time: "time",
  mem: "memory",
  "n/a": "unable",
  WRONG: "wrong",
  UNSTABLE: "flaky",
  FAULT: "crashed",
  refused: "predicted",
  slower: "slower",
  suspect: "suspect",
  env: "unknown",
  source: "unknown",
  lost: "unknown",
  flaky: "flaky",
  mixed: "mixed",
  remembered: "ok",
  changed: "rejected",
};
const NOT_RIGHT = new Set(["wrong", "unstable", "faulted", "launch_refused", "timed_out", "crashed", "rejected", "out_of_memory"]); // all others say nothing
const SLOWER = 1.2; // times the latency on the release before, on the same device

const iconOf = (mark) => (mark.kind === "absent" || mark.kind === "partly" ? null : (ICONS[mark.word] ?? "rejected"));

/** Whether a cell computes what it should: nothing where no comparison came to an end. */
function rightness(data, cell) {
  const found = data.cells.numbers?.[cell];
  const said = [found?.gpu, found?.interpreter].filter((each) => each && (each.status === "ok" || NOT_RIGHT.has(each.status)));
  const bad = said.find((each) => each.status !== "ok");
  return said.length ? { right: !bad, status: bad?.status, found } : null;
}

/** The latency of a cell, where it was measured, with that of the release before. */
function speed(data, cell) {
  const found = data.cells.latency?.[cell];
  if (!found) return null;
  const { row, release } = placeOf(data, cell);
  for (let earlier = release - 1; earlier >= 0; earlier--) {
    const point = data.point(row, earlier);
    const before =
      point >= 0 &&
      data
        .cellsOf(point)
        .map((each) => data.cells.latency[each])
        .find((each) => each?.device === found.device);
    if (before) return { found, before, since: data.releases[earlier].label, slower: found.us > SLOWER * before.us };
  }
  return { found, before: null, slower: false };
}

function placeOf(data, cell) {
  const point = data.pointOf[cell];
  return { row: data.points.row[point], release: data.points.release[point], point };
}

/** What a point comes to for one of the three facts, as a mark. */
function factMark(data, point, fact) {
  if (fact === "compiles") return data.mark(point);
  if (point < 0) return ABSENT;
  const cells = data.cellsOf(point);
  const found = cells.map((cell) => (fact === "right" ? rightness(data, cell) : speed(data, cell))).find(Boolean);
  if (!found) return ABSENT;
  if (fact === "right") return rightMark(found);
  return found.slower ? SLOW : FAST;
}

const RIGHT = { word: "ok", meaning: "right numbers", kind: "good" };
const WRONG = { word: "WRONG", meaning: "wrong numbers", kind: "bad" };
const BAD_NUMBERS = {
  unstable: { word: "UNSTABLE", meaning: "launches compute different numbers", kind: "bad" },
  faulted: { word: "FAULT", meaning: "a launch ends with an error of the GPU", kind: "bad" },
  launch_refused: { word: "refused", meaning: "the GPU's driver does not launch it", kind: "bad" },
  timed_out: { word: "time", meaning: "a launch does not end in time", kind: "bad" },
};
const FAST = { word: "ok", meaning: "as fast as before", kind: "good" };
const SLOW = { word: "slower", meaning: "slower than before", kind: "bad" };

/** The mark of what a cell computes. */
function rightMark({ right, status }) {
  return right ? RIGHT : (BAD_NUMBERS[status] ?? WRONG);
}

/** A mark as it looks in the grid, by itself. */
function swatch(mark, { tag = "span", unexpected = false, attributes = {} } = {}) {
  const classes = `swatch k-${mark.kind} m-${slug(mark.word)}${unexpected ? " unexpected" : ""}`;
  return make(tag, { ...attributes, class: classes }, iconOf(mark) && icon(iconOf(mark)));
}
