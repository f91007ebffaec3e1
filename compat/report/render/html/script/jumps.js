// The jumps: large changes of a metric between two releases that compile.

const METRICS = {
  registers: "Registers",
  spill_store_bytes: "Spill stores, bytes",
  spill_load_bytes: "Spill loads, bytes",
  stack_bytes: "Stack, bytes",
  shared: "Shared memory, bytes",
  num_warps: "Warps",
  "occupancy.threads": "Threads per block",
  "occupancy.blocks": "Blocks per multiprocessor",
  "occupancy.spare_registers": "Registers to the next cliff",
  mixed_descriptors: "Mixed-up wgmma descriptors",
  "code.ldmatrix": "ldmatrix",
  "code.wgmma": "wgmma.mma_async",
  "code.mma": "mma.sync",
  "code.tcgen05_mma": "tcgen05.mma",
  "code.cp_async": "cp.async",
  "code.tma_loads": "TMA loads",
  "code.fence_proxy_async": "fence.proxy.async",
  "code.bar_sync": "bar.sync",
  "artifacts.cubin": "cubin, bytes",
  "artifacts.hsaco": "hsaco, bytes",
  "artifacts.ptx": "PTX, bytes",
  "artifacts.amdgcn": "amdgcn, bytes",
  "artifacts.ttir": "TTIR, bytes",
  "artifacts.ttgir": "TTGIR, bytes",
  "artifacts.llir": "LLVM IR, bytes",
  "artifacts.source": "AST, bytes",
};
// The quantities with a chart: name, unit, and the function that reads one from the cells. A change is a jump if its
// ratio is at least `factor` and its difference is more than `minDifference`. `device` reads the device that measured
// the quantity. Only amounts of the same device are comparable.
const SERIES = [
  {
    name: "Registers",
    unit: "",
    read: (cells, cell) => metricValue(cells, "registers", cell),
    factor: 1.25,
    minDifference: 16,
  },
  {
    name: "Spills",
    unit: "B",
    read: (cells, cell) =>
      sum(metricValue(cells, "spill_store_bytes", cell), metricValue(cells, "spill_load_bytes", cell)),
    factor: 1.5,
    minDifference: 64,
  },
  {
    name: "Shared memory",
    unit: "B",
    read: (cells, cell) => metricValue(cells, "shared", cell),
    factor: 1.25,
    minDifference: 1024,
  },
  {
    name: "Machine code",
    unit: "B",
    read: (cells, cell) => metricValue(cells, "artifacts.cubin", cell) ?? metricValue(cells, "artifacts.hsaco", cell),
    factor: 1.5,
    minDifference: 4096,
  },
  {
    name: "Assembly",
    unit: "B",
    read: (cells, cell) => metricValue(cells, "artifacts.ptx", cell) ?? metricValue(cells, "artifacts.amdgcn", cell),
    factor: 1.5,
    minDifference: 4096,
  },
  { name: "Compile time", unit: "s", read: (cells, cell) => cells.compile_seconds[cell], factor: 3, minDifference: 1 },
  {
    name: "Latency",
    unit: "µs",
    read: (cells, cell) => cells.latency[cell]?.us ?? null,
    device: (cells, cell) => cells.latency[cell]?.device,
    factor: SLOWER_FACTOR,
    minDifference: 0,
  },
  {
    name: "Largest error",
    unit: "",
    read: (cells, cell) => errorCheck(cells, cell)?.max_abs ?? null,
    device: (cells, cell) => errorCheck(cells, cell)?.device,
    factor: 10,
    minDifference: 0,
  },
];

const metricValue = (cells, metric, cell) => cells.metrics[metric]?.[cell] ?? null;
/** The check of a cell that has its largest error: on a GPU, else in the interpreter, which has no device. */
const errorCheck = (cells, cell) => {
  const { gpu, interpreter } = cells.numbers[cell] ?? {};
  return typeof gpu?.max_abs === "number" ? gpu : interpreter;
};
const sum = (left, right) => (left === null && right === null ? null : (left ?? 0) + (right ?? 0));

/** The amount of a quantity in a cell, null if there is none, and the device that measured it. */
function measurement(series, cells, cell) {
  return { amount: series.read(cells, cell), device: series.device?.(cells, cell) };
}

/**
 * Whether the change between two measurements is a jump. A change from or to 0 has no ratio. It is a jump only if the
 * quantity has a `minDifference`.
 */
function isJump(series, older, newer) {
  if (older.amount === null || newer.amount === null || older.device !== newer.device) return false;
  const smaller = Math.min(older.amount, newer.amount);
  const larger = Math.max(older.amount, newer.amount);
  if (smaller === 0 && series.minDifference === 0) return false;
  return larger - smaller > series.minDifference && larger >= smaller * series.factor;
}

/** The builds of a row: each release that compiles, with its first cell. */
function builds(data, row) {
  const rowBuilds = [];
  for (let release = 0; release < data.columns; release++) {
    const point = data.point(row, release);
    if (point >= 0 && data.mark(point).kind === "good" && data.points.cells[point])
      rowBuilds.push({ release, cell: data.cellsOf(point)[0] });
  }
  return rowBuilds;
}

/** The jumps of a row: each release with a jump, and its changes. */
function jumpsOf(data, row) {
  const jumps = [];
  builds(data, row).forEach((build, index, rowBuilds) => {
    if (!index || data.releases[build.release].fork) return;
    const { cell: earlierCell } = rowBuilds[index - 1];
    const changes = SERIES.flatMap((series) => {
      const [older, newer] = [earlierCell, build.cell].map((cell) => measurement(series, data.cells, cell));
      return isJump(series, older, newer) ? [{ series, oldValue: older.amount, newValue: newer.amount }] : [];
    });
    if (changes.length) jumps.push({ row, release: build.release, cell: build.cell, changes });
  });
  return jumps;
}

/** All jumps, grouped by variant and release. Changes for the worse come first, then larger ones. */
function allJumps(data) {
  const groups = new Map();
  for (let row = 0; row < data.size; row++) {
    for (const jump of jumpsOf(data, row)) {
      const key = `${data.rows.kernel[row]}/${data.rows.variant[row]}/${jump.release}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(jump);
    }
  }
  const compare = (left, right) =>
    largestFactor(right, isWorse) - largestFactor(left, isWorse) || largestFactor(right) - largestFactor(left);
  const sortedGroups = [...groups.values()].map((jumps) => jumps.sort(compare));
  return sortedGroups.sort((left, right) => compare(left[0], right[0]));
}

/** Whether a quantity grew. Less is better for every quantity with a chart. */
const isWorse = ({ oldValue, newValue }) => newValue > oldValue;

/**
 * The largest factor among the changes of a jump, or 0 if no change counts. `minDifference` is added to both values,
 * so that a change between small values has a small factor.
 */
function largestFactor(jump, isCounted = () => true) {
  const factor = ({ series, oldValue, newValue }) =>
    (Math.max(oldValue, newValue) + series.minDifference) / (Math.min(oldValue, newValue) + series.minDifference);
  return Math.max(0, ...jump.changes.filter(isCounted).map(factor));
}

/** A jump as text: `3.8.0: registers 255 → 32, spills 0 B → 21 kB`. */
function jumpText(data, jump) {
  const changes = jump.changes.map(
    ({ series, oldValue, newValue }) =>
      `${series.name.toLowerCase()} ${formatAmount(oldValue, series.unit)} → ${formatAmount(newValue, series.unit)}`,
  );
  return `${data.releases[jump.release].label}: ${changes.join(", ")}`;
}

function formatAmount(amount, unit) {
  if (unit === "B") {
    return amount >= 10_000 ? `${formatNumber(Math.round(amount / 1000))} kB` : `${formatNumber(amount)} B`;
  }
  if (unit === "s") return `${amount.toFixed(2)} s`;
  return unit ? `${formatNumber(amount)} ${unit}` : formatNumber(amount);
}
