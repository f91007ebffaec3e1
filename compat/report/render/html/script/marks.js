// The icons and names of marks. Python chooses the mark of a point, the same as in matrix.md
// (compat/report/summary/grid.py).

const ABSENT_MARK = { word: "-", meaning: "not tested", kind: "absent" };
const PARTIAL_MARK = { word: "partly", meaning: "some compile", kind: "partly" };

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
  stopped: "unknown",
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
// The statuses of a comparison that fails. Statuses other than these and "ok" are no result.
const BAD_STATUSES = new Set([
  "wrong",
  "unstable",
  "faulted",
  "launch_refused",
  "timed_out",
  "crashed",
  "rejected",
  "out_of_memory",
]);
const SLOWER_FACTOR = 1.2; // the ratio to the latency on the earlier release, on the same device

const iconName = (mark) => (mark.kind === "absent" || mark.kind === "partly" ? null : (ICONS[mark.word] ?? "rejected"));

/** The comparison of a cell's numbers: whether they are right, and the status if not. Null without a result. */
function comparisonOf(data, cell) {
  const numbers = data.cells.numbers?.[cell];
  const hasResult = (record) => record && (record.status === "ok" || BAD_STATUSES.has(record.status));
  const results = [numbers?.gpu, numbers?.interpreter].filter(hasResult);
  const failedResult = results.find((result) => result.status !== "ok");
  return results.length ? { right: !failedResult, status: failedResult?.status } : null;
}

/** The latency of a cell and that of the latest earlier release on the same device; null without a measurement. */
function timingOf(data, cell) {
  const latency = data.cells.latency?.[cell];
  if (!latency) return null;
  const { row, release } = placeOf(data, cell);
  for (const earlierRelease of data.earlierReleases(release)) {
    const point = data.point(row, earlierRelease);
    const earlierLatency =
      point >= 0 &&
      data
        .cellsOf(point)
        .map((earlierCell) => data.cells.latency[earlierCell])
        .find((record) => record?.device === latency.device);
    if (earlierLatency) {
      const slower = latency.us > SLOWER_FACTOR * earlierLatency.us;
      return { latency, earlierLatency, earlierRelease: data.releases[earlierRelease].label, slower };
    }
  }
  return { latency, earlierLatency: null, slower: false };
}

function placeOf(data, cell) {
  const point = data.pointOf[cell];
  return { row: data.points.row[point], release: data.points.release[point], point };
}

/** The mark of a point for one of the three facts: that of its worst env. */
function factMark(data, point, fact) {
  if (fact === "compiles") return data.mark(point);
  if (point < 0) return ABSENT_MARK;
  const [resultOf, markOf] = fact === "right" ? [comparisonOf, comparisonMark] : [timingOf, timingMark];
  const results = data.cellsOf(point).map((cell) => resultOf(data, cell));
  const marks = results.filter(Boolean).map(markOf);
  return marks.find((mark) => mark.kind === "bad") ?? marks[0] ?? ABSENT_MARK;
}

const RIGHT_MARK = { word: "ok", meaning: "right numbers", kind: "good" };
const WRONG_MARK = { word: "WRONG", meaning: "wrong numbers", kind: "bad" };
const BAD_COMPARISON_MARKS = {
  unstable: { word: "UNSTABLE", meaning: "launches compute different numbers", kind: "bad" },
  faulted: { word: "FAULT", meaning: "a launch ends with a GPU error", kind: "bad" },
  launch_refused: { word: "refused", meaning: "the GPU's driver does not launch it", kind: "bad" },
  timed_out: { word: "time", meaning: "a run times out", kind: "bad" },
  crashed: { word: "CRASH", meaning: "a run crashes", kind: "bad" },
  rejected: { word: "rej", meaning: "a run ends with an error", kind: "bad" },
  out_of_memory: { word: "mem", meaning: "a run exceeds the memory limit", kind: "bad" },
};
const FAST_MARK = { word: "ok", meaning: "as fast as before", kind: "good" };
const SLOW_MARK = { word: "slower", meaning: "slower than before", kind: "bad" };

/** The mark of a comparison of numbers. */
function comparisonMark({ right, status }) {
  return right ? RIGHT_MARK : (BAD_COMPARISON_MARKS[status] ?? WRONG_MARK);
}

/** The mark of a latency. */
function timingMark({ slower }) {
  return slower ? SLOW_MARK : FAST_MARK;
}

/** A mark outside the grid, with the same look. */
function swatch(mark, { tag = "span", unexpected = false, attributes = {} } = {}) {
  const classes = `swatch k-${mark.kind} m-${slug(mark.word)}${unexpected ? " unexpected" : ""}`;
  return make(tag, { ...attributes, class: classes }, iconName(mark) && icon(iconName(mark)));
}
