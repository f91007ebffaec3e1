// What jumps from one release to the next, among builds that compile.

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
// What is charted: how it is called, where it is from, from which factor on a change is a jump, and below which difference it never is.
const SERIES = [
  { name: "Registers", unit: "", of: (cells, at) => value(cells, "registers", at), factor: 1.25, least: 16 },
  {
    name: "Spills",
    unit: "B",
    of: (cells, at) => sum(value(cells, "spill_store_bytes", at), value(cells, "spill_load_bytes", at)),
    factor: 1.5,
    least: 64,
  },
  { name: "Shared memory", unit: "B", of: (cells, at) => value(cells, "shared", at), factor: 1.25, least: 1024 },
  {
    name: "Machine code",
    unit: "B",
    of: (cells, at) => value(cells, "artifacts.cubin", at) ?? value(cells, "artifacts.hsaco", at),
    factor: 1.5,
    least: 4096,
  },
  {
    name: "Assembly",
    unit: "B",
    of: (cells, at) => value(cells, "artifacts.ptx", at) ?? value(cells, "artifacts.amdgcn", at),
    factor: 1.5,
    least: 4096,
  },
  { name: "Compile time", unit: "s", of: (cells, at) => cells.compile_seconds[at], factor: 3, least: 1 },
  { name: "Latency", unit: "µs", of: (cells, at) => cells.latency?.[at]?.us ?? null, factor: SLOWER, least: 0 },
  {
    name: "Largest error",
    unit: "",
    of: (cells, at) => cells.numbers?.[at]?.gpu?.max_abs ?? cells.numbers?.[at]?.interpreter?.max_abs ?? null,
    factor: 10,
    least: 0,
  },
];

const value = (cells, metric, at) => cells.metrics[metric]?.[at] ?? null;
const sum = (one, other) => (one === null && other === null ? null : (one ?? 0) + (other ?? 0));

/** Whether a change is one to look at. */
function isJump(series, before, after) {
  const [less, more] = before < after ? [before, after] : [after, before];
  return more - less > series.least && more >= less * series.factor;
}

/** What a row has, release by release: the cell of each that compiled. */
function builds(data, row) {
  const found = [];
  for (let release = 0; release < data.columns; release++) {
    const point = data.point(row, release);
    if (point >= 0 && data.mark(point).kind === "good" && data.points.cells[point])
      found.push({ release, cell: data.cellsOf(point)[0] });
  }
  return found;
}

/** The jumps of a row: of each release that has any, what jumped. */
function jumpsOf(data, row) {
  const found = [];
  builds(data, row).forEach((build, at, all) => {
    if (!at || data.releases[build.release].fork) return;
    const changes = SERIES.flatMap((series) => {
      const [before, after] = [series.of(data.cells, all[at - 1].cell), series.of(data.cells, build.cell)];
      return before !== null && after !== null && isJump(series, before, after) ? [{ series, before, after }] : [];
    });
    if (changes.length) found.push({ row, release: build.release, since: all[at - 1].release, cell: build.cell, changes });
  });
  return found;
}

/** All jumps, those of one variant on one release together: what got worse first, the largest before smaller ones. */
function allJumps(data) {
  const groups = new Map();
  for (let row = 0; row < data.size; row++) {
    for (const jump of jumpsOf(data, row)) {
      const key = `${data.rows.kernel[row]}/${data.rows.variant[row]}/${jump.release}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(jump);
    }
  }
  const order = (one, other) => largest(other, worse) - largest(one, worse) || largest(other) - largest(one);
  const sorted = [...groups.values()].map((jumps) => jumps.sort(order));
  return sorted.sort((one, other) => order(one[0], other[0]));
}

/** Whether there is more of something of which less is better, as of all that is charted. */
const worse = ({ before, after }) => after > before;

/** How large a jump is: by the factor of what changed most, where little is as good as nothing; 0 if nothing counts. */
function largest(jump, counts = () => true) {
  const factor = ({ series, before, after }) =>
    (Math.max(before, after) + series.least) / (Math.min(before, after) + series.least || 1);
  return Math.max(0, ...jump.changes.filter(counts).map(factor));
}

/** `3.8.0: 255 → 32 registers, spills 0 → 21 kB`. */
function jumpWords(data, jump) {
  const changes = jump.changes.map(
    ({ series, before, after }) =>
      `${series.name.toLowerCase()} ${measured(before, series.unit)} → ${measured(after, series.unit)}`,
  );
  return `${data.releases[jump.release].label}: ${changes.join(", ")}`;
}

function measured(amount, unit) {
  if (unit === "B") return amount >= 10_000 ? `${number(Math.round(amount / 1000))} kB` : `${number(amount)} B`;
  if (unit === "s") return `${amount.toFixed(2)} s`;
  return unit ? `${number(amount)} ${unit}` : number(amount);
}
