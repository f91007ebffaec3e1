// The data of the page, unpacked, and queries on them. A row is a kernel in one variant and case for one target.
// A point is one release of a row. A cell is one env of a point (see page_data.py).

const UNEXPECTED = 1;
const REMEMBERED = 2;
const GUESSED = 2;
const NOT_RIGHT_CLASS = "not-right"; // the page's failure class of cells that compile and fail a check of their numbers
const UNEXPECTED_CELL = 8; // a flag of a cell; a point is UNEXPECTED if one of its cells has this flag

async function unzip(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

async function readData() {
  const block = document.getElementById("data");
  const data = new Data(JSON.parse(await unzip(block.textContent)));
  block.remove(); // frees megabytes: only this function reads the block
  return data;
}

class Data {
  constructor(pageData) {
    Object.assign(this, pageData);
    this.size = pageData.rows.kernel.length;
    this.columns = pageData.releases.length;
    this.pointNumbers = new Int32Array(this.size * this.columns).fill(-1);
    this.firstCells = new Int32Array(pageData.points.row.length + 1);
    this.pointOf = new Int32Array(pageData.cells.env.length);
    pageData.points.row.forEach((row, point) => this.addPoint(row, point));
    this.kernels = this.tree();
  }

  addPoint(row, point) {
    const { release, cells } = this.points;
    this.pointNumbers[row * this.columns + release[point]] = point;
    this.firstCells[point + 1] = this.firstCells[point] + cells[point];
    this.pointOf.fill(point, this.firstCells[point], this.firstCells[point + 1]);
  }

  /** Kernel → variant → rows. The rows are in order. */
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

  /** The distinct values of a field of rows. */
  names(field) {
    return [...new Set(this.rows[field])];
  }

  point(row, release) {
    return this.pointNumbers[row * this.columns + release];
  }

  /** The points of a row, by release. */
  pointsOf(row) {
    return this.releases.map((_, release) => this.point(row, release));
  }

  /** The releases before one in its history, the nearest first. Forks have a history of their own. */
  earlierReleases(release) {
    const isFork = (index) => this.releases[index].fork;
    const earlier = [...Array(release).keys()].reverse();
    return earlier.filter((index) => isFork(index) === isFork(release));
  }

  mark(point) {
    return point < 0 ? ABSENT_MARK : this.marks[this.points.mark[point]];
  }

  /** The cells of a point. Those of envs without PyTorch come first. */
  cellsOf(point) {
    const cells = [];
    for (let cell = this.firstCells[point]; cell < this.firstCells[point + 1]; cell++) cells.push(cell);
    const frameworkRank = (cell) => (this.envs[this.cells.env[cell]].framework ? 1 : 0);
    return cells.sort((left, right) => frameworkRank(left) - frameworkRank(right));
  }

  hasFlag(point, flag) {
    return point >= 0 && (this.points.flags[point] & flag) !== 0;
  }

  /** Whether a cell of a point is a slow-suspect. */
  isSuspected(point) {
    return point >= 0 && this.cellsOf(point).some((cell) => this.suspicions[cell]);
  }

  /** The answer of `compat tune` for a row, if there is one. */
  tuningAnswer(row) {
    this.tuningAnswers ??= new Map(this.tuned.flatMap((answer) => answer.rows.map((tunedRow) => [tunedRow, answer])));
    return this.tuningAnswers.get(row);
  }

  /** The name of a row: kernel/variant/case/target. */
  name(row) {
    const { kernel, variant, target } = this.rows;
    return `${kernel[row]}/${variant[row]}/${this.rows.case[row]}/${target[row]}`;
  }

  id(cell) {
    return `${this.name(this.points.row[this.pointOf[cell]])}/${this.envs[this.cells.env[cell]].name}`;
  }

  /**
   * The row, the release and the cell of an id. The last part of the id is an env or a release. There is no cell if
   * the release was not tested.
   */
  find(id) {
    this.rowPrefixes ??= this.rows.kernel.map((_, row) => `${this.name(row)}/`);
    for (let row = 0; row < this.size; row++) {
      const prefix = this.rowPrefixes[row];
      const place = id.startsWith(prefix) && this.placeInRow(row, id.slice(prefix.length));
      if (place) return place;
    }
    return null;
  }

  /** The place of an env or a release in a row. */
  placeInRow(row, label) {
    for (let release = 0; release < this.columns; release++) {
      const point = this.point(row, release);
      const cells = point < 0 ? [] : this.cellsOf(point);
      const cell = cells.find((candidate) => this.envs[this.cells.env[candidate]].name === label);
      if (cell !== undefined) return { row, release, point, cell };
      if (this.releases[release].label === label) return { row, release, point, cell: cells[0] };
    }
    return null;
  }

  /** The id of a point: that of its first cell. Without a cell it ends with the release. */
  idOf(row, release) {
    const point = this.point(row, release);
    const cells = point < 0 ? [] : this.cellsOf(point);
    return cells.length ? this.id(cells[0]) : `${this.name(row)}/${this.releases[release].label}`;
  }

  /** A record that many cells share: failure, expectation, warnings, attempts or stood_in. */
  record(field, cell) {
    return this.cells.records[field][this.cells[field][cell]];
  }

  status(cell) {
    return this.cells.status.words[this.cells.status.of[cell]];
  }

  stage(cell) {
    return this.cells.stage.words[this.cells.stage.of[cell]];
  }

  /** The distinct failure with the fingerprint of a failure. */
  distinctFailure(failure) {
    this.failuresByFingerprint ??= new Map(this.failures.map((distinct) => [distinct.fingerprint, distinct]));
    return this.failuresByFingerprint.get(failure.fingerprint);
  }

  /** The failure class of a point; empty if it does not fail. */
  failureClass(point) {
    if (point < 0) return "";
    const failure = this.points.failure[point];
    if (failure >= 0) return this.failures[failure].class;
    const isNotRight = this.cellsOf(point).some((cell) => comparisonOf(this, cell)?.right === false);
    return isNotRight ? NOT_RIGHT_CLASS : (this.points.earlier[point]?.[0] ?? "");
  }

  /** The distinct failure classes of some points. */
  failureClasses(points) {
    return [...new Set(points.map((point) => this.failureClass(point)))].filter(Boolean);
  }
}
