// The data: what stands packed in the page, and how to ask it. A row is a kernel in one variant and case for one target, a point one
// release of a row, a cell one env of a point (see page_data.py).

const UNEXPECTED = 1;
const REMEMBERED = 2;
const FLAKY = 1;
const GUESSED = 2;
const SURPRISING = 8; // of a cell; a point is UNEXPECTED where one of its cells is

async function unzipped(base64) {
  const packed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

async function readData() {
  const block = document.getElementById("data");
  const data = new Data(JSON.parse(await unzipped(block.textContent)));
  block.remove(); // megabytes that nobody asks for again
  return data;
}

class Data {
  constructor(raw) {
    Object.assign(this, raw);
    this.size = raw.rows.kernel.length;
    this.columns = raw.releases.length;
    this.at = new Int32Array(this.size * this.columns).fill(-1);
    this.first = new Int32Array(raw.points.row.length + 1);
    this.pointOf = new Int32Array(raw.cells.env.length);
    raw.points.row.forEach((row, point) => this.enter(row, point));
    this.kernels = this.tree();
  }

  enter(row, point) {
    const { release, cells } = this.points;
    this.at[row * this.columns + release[point]] = point;
    this.first[point + 1] = this.first[point] + cells[point];
    this.pointOf.fill(point, this.first[point], this.first[point + 1]);
  }

  /** Kernels, each with its variants, each with its rows; rows come sorted. */
  tree() {
    const kernels = new Map();
    for (let row = 0; row < this.size; row++) {
      const [kernel, variant] = [this.rows.kernel[row], this.rows.variant[row]];
      if (!kernels.has(kernel)) kernels.set(kernel, new Map());
      const variants = kernels.get(kernel);
      if (!variants.has(variant)) variants.set(variant, []);
      variants.get(variant).push(row);
    }
    return kernels;
  }

  names(what) {
    return [...new Set(this.rows[what])];
  }

  point(row, release) {
    return this.at[row * this.columns + release];
  }

  mark(point) {
    return point < 0 ? ABSENT : this.marks[this.points.mark[point]];
  }

  /** The cells of a point, those of the env without PyTorch first. */
  cellsOf(point) {
    const cells = [];
    for (let cell = this.first[point]; cell < this.first[point + 1]; cell++) cells.push(cell);
    const paired = (cell) => (this.envs[this.cells.env[cell]].framework ? 1 : 0);
    return cells.sort((one, other) => paired(one) - paired(other));
  }

  has(point, flag) {
    return point >= 0 && (this.points.flags[point] & flag) !== 0;
  }

  /** Whether a cell of a point is likely slower than on the release before. */
  isSuspected(point) {
    return point >= 0 && this.cellsOf(point).some((cell) => this.suspicions[cell]);
  }

  /** What is known of the configs of a row that was tuned. */
  tunedOf(row) {
    this.tunedRows ??= new Map(this.tuned.flatMap((answer) => answer.rows.map((each) => [each, answer])));
    return this.tunedRows.get(row);
  }

  /** What a row is called: kernel/variant/case/target. */
  name(row) {
    const { kernel, variant, target } = this.rows;
    return `${kernel[row]}/${variant[row]}/${this.rows.case[row]}/${target[row]}`;
  }

  id(cell) {
    return `${this.name(this.points.row[this.pointOf[cell]])}/${this.envs[this.cells.env[cell]].name}`;
  }

  /** Where an id leads: the row, the release and, where there is one, the cell. The last part may be a release instead of an env. */
  find(id) {
    this.rowNames ??= this.rows.kernel.map((_, row) => `${this.name(row)}/`);
    for (let row = 0; row < this.size; row++) {
      const place = id.startsWith(this.rowNames[row]) && this.among(row, id.slice(this.rowNames[row].length));
      if (place) return place;
    }
    return null;
  }

  /** The place of an env or a release in a row. */
  among(row, last) {
    for (let release = 0; release < this.columns; release++) {
      const point = this.point(row, release);
      const cells = point < 0 ? [] : this.cellsOf(point);
      const cell = cells.find((each) => this.envs[this.cells.env[each]].name === last);
      if (cell !== undefined) return { row, release, point, cell };
      if (this.releases[release].label === last) return { row, release, point, cell: cells[0] };
    }
    return null;
  }

  /** The id that leads to a point: its first cell's, or its release where nothing was compiled. */
  idOf(row, release) {
    const point = this.point(row, release);
    const cells = point < 0 ? [] : this.cellsOf(point);
    return cells.length ? this.id(cells[0]) : `${this.name(row)}/${this.releases[release].label}`;
  }

  /** One of the records that many cells share: failure, expectation, warnings, attempts, stood_in. */
  record(what, cell) {
    return this.cells.records[what][this.cells[what][cell]];
  }

  status(cell) {
    return this.cells.status.words[this.cells.status.of[cell]];
  }

  stage(cell) {
    return this.cells.stage.words[this.cells.stage.of[cell]];
  }

  /** The distinct failure that a failure is one of. */
  distinct(failure) {
    this.byFingerprint ??= new Map(this.failures.map((each) => [each.fingerprint, each]));
    return this.byFingerprint.get(failure.fingerprint);
  }

  /** The class of what a point fails with; nothing where it does not. */
  failureClass(point) {
    if (point < 0) return "";
    const failure = this.points.failure[point];
    return failure >= 0 ? this.failures[failure].class : (this.points.earlier[point]?.[0] ?? "");
  }
}
