// The lines of the grid: kernels, their variants, and the cases and targets of a variant. A line may combine several
// rows, and has one entry for each release.

const TALLY_MARK = { word: "tally", meaning: "", kind: "tally" };
const KINDS_WITHOUT_RESULT = new Set(["absent", "unknown"]); // kinds of marks without a result of the kernel
const MAX_UNFOLDED_VARIANTS = 80; // the maximum number of variants with which all kernels start unfolded

class Lines {
  constructor(data, filter) {
    Object.assign(this, { data, filter });
    this.folds = new Map(); // key of a line → whether the reader unfolded it
  }

  /** The lines of the grid in order, with their rows. */
  list() {
    const kernels = this.matchingRows();
    const variantCount = [...kernels.values()].reduce((sum, rowsByVariant) => sum + rowsByVariant.size, 0);
    const unfoldAll = variantCount <= MAX_UNFOLDED_VARIANTS;
    const lines = [];
    for (const [kernel, rowsByVariant] of kernels) {
      const unfolded = this.folds.get(kernel) ?? unfoldAll;
      lines.push({
        level: "kernel",
        depth: 1,
        name: kernel,
        key: kernel,
        rows: [...rowsByVariant.values()].flat(),
        variants: rowsByVariant,
        unfolded,
      });
      if (!unfolded) continue;
      for (const [variant, rows] of rowsByVariant) this.addVariant(lines, kernel, variant, rows);
    }
    const rows = [...kernels.values()].flatMap((rowsByVariant) => [...rowsByVariant.values()]).flat();
    return { lines, variantCount, rows };
  }

  /** Add the line of a variant, and those of its rows if it is unfolded. */
  addVariant(lines, kernel, variant, rows) {
    const key = `${kernel}/${variant}`;
    const unfolded = rows.length > 1 ? (this.folds.get(key) ?? false) : undefined;
    lines.push({ level: "variant", depth: 2, name: variant, key, rows, unfolded });
    if (!unfolded) return;
    for (const row of rows)
      lines.push({
        level: "leaf",
        depth: 3,
        name: `${this.data.rows.case[row]} · ${this.data.rows.target[row]}`,
        key: this.data.name(row),
        rows: [row],
      });
  }

  fold(line, unfolded = !line.unfolded) {
    this.folds.set(line.key, unfolded);
  }

  /** Kernel → variant → the rows that match the filter. */
  matchingRows() {
    const kernels = new Map();
    for (const row of this.filter.rows()) {
      const [kernel, variant] = [this.data.rows.kernel[row], this.data.rows.variant[row]];
      if (!kernels.has(kernel)) kernels.set(kernel, new Map());
      const variants = kernels.get(kernel);
      if (!variants.has(variant)) variants.set(variant, []);
      variants.get(variant).push(row);
    }
    return kernels;
  }

  /** The entry of a line for a release: one mark if all its rows agree, else the number of good rows. */
  entry(line, release, fact) {
    if (line.level === "kernel") return this.tally(line, release, fact);
    const { data } = this;
    const points = line.rows.map((row) => data.point(row, release));
    const marks = points.map((point) => factMark(data, point, fact));
    const failures = new Set(points.map((point) => (point < 0 ? -1 : data.points.failure[point])));
    const isUniform = marks.every((mark) => mark.word === marks[0].word && mark.kind === marks[0].kind);
    const facts =
      fact !== "compiles"
        ? { points, failure: -2 }
        : {
            points,
            unexpected: points.some((point) => data.hasFlag(point, UNEXPECTED)),
            remembered: points.every((point) => data.hasFlag(point, REMEMBERED)),
            faded: this.filter.excludesPoints && !points.some((point) => this.filter.matches(point)),
            slower: this.hasSlowerCell(points),
            suspected: points.some((point) => data.isSuspected(point)),
          };
    if (isUniform) return { failure: failures.size === 1 ? [...failures][0] : -2, ...facts, mark: marks[0] };
    const testedMarks = marks.filter((mark) => !KINDS_WITHOUT_RESULT.has(mark.kind));
    const goodCount = testedMarks.filter((mark) => mark.kind === "good").length;
    return { ...facts, mark: PARTIAL_MARK, failure: -2, goodCount, total: testedMarks.length };
  }

  /** The entry of a kernel: the number of variants that are good, and of variants with a result. */
  tally(line, release, fact) {
    const entries = [...line.variants.values()].map((rows) => this.entry({ level: "variant", rows }, release, fact));
    const testedEntries = entries.filter((entry) => !KINDS_WITHOUT_RESULT.has(entry.mark.kind));
    return {
      mark: testedEntries.length ? TALLY_MARK : entries[0].mark,
      goodCount: testedEntries.filter((entry) => entry.mark.kind === "good").length,
      total: testedEntries.length,
      unexpected: entries.some((entry) => entry.unexpected),
      faded: entries.every((entry) => entry.faded),
      failure: -2,
      points: entries.flatMap((entry) => entry.points),
    };
  }

  /** Whether a launch of one of these points was slower than on the earlier release. */
  hasSlowerCell(points) {
    const { data } = this;
    return (
      hasEntries(data.cells.latency) &&
      points.some((point) => point >= 0 && data.cellsOf(point).some((cell) => timingOf(data, cell)?.slower))
    );
  }

  /** The verdict of a line. */
  verdict(line, fact) {
    if (line.level === "kernel") return formatCount(line.variants.size, "variant");
    if (fact !== "compiles") return this.factVerdict(line, fact);
    const phrases = new Set(line.rows.map((row) => this.data.rows.verdict[row]));
    if (phrases.size > 1) return `${phrases.size} different verdicts`;
    const [phrase] = phrases;
    return phrase;
  }

  /** The best config of a line as text, or the number of different ones. */
  tuningPhrase(line) {
    if (line.level === "kernel" || !this.data.tuned.length) return "";
    const phrases = new Set(line.rows.map((row) => this.data.tuningAnswer(row)?.phrase).filter(Boolean));
    return phrases.size > 1 ? `${phrases.size} different best configs` : ([...phrases][0] ?? "");
  }

  /** The distinct failure classes of a line. */
  failureClasses(line) {
    return this.data.failureClasses(line.rows.flatMap((row) => this.data.pointsOf(row)));
  }

  /** The verdict for the facts right and fast. It counts only releases with a result. */
  factVerdict(line, fact) {
    const testedEntries = this.data.releases
      .map((_, release) => this.entry(line, release, fact))
      .filter((entry) => !KINDS_WITHOUT_RESULT.has(entry.mark.kind));
    const goodCount = testedEntries.filter((entry) => entry.mark.kind === "good").length;
    const predicate = fact === "right" ? "right" : "no slower than before";
    return testedEntries.length
      ? `${predicate} on ${goodCount} of ${formatCount(testedEntries.length, "release")} tested`
      : "not tested";
  }

  /** The label of an entry, for screen readers and for its tooltip. */
  label(line, release, entry) {
    const { data } = this;
    const releaseLabel = data.releases[release].label;
    const predicate = { compiles: "work", right: "compute right numbers", fast: "are no slower than before" }[
      this.filter.state.values.fact
    ];
    const counted = { tally: "variant", partly: "cell" }[entry.mark.kind];
    const meaning = counted ? `${entry.goodCount} of ${formatCount(entry.total, counted)} ${predicate}` : entry.mark.meaning;
    const failure = entry.failure >= 0 ? data.failures[entry.failure] : null;
    const parts = [
      `${line.name}, ${releaseLabel}: ${meaning}`,
      failure && `${failure.class}, ${failure.id}`,
      entry.changed && "a different failure than on the previous release",
      entry.unexpected && "unexpected",
      entry.remembered && "from an earlier run",
      entry.slower && "slower than before",
      entry.suspected && "likely slower than on the previous release",
    ];
    return parts.filter(Boolean).join(", ");
  }
}
