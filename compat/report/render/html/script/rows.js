// The lines of the grid: kernels, under them their variants, under these the single cases and targets. What a line that stands for
// several rows is marked with, release by release.

const TALLY = { word: "tally", meaning: "", kind: "tally" };
const MISCOMPUTED = "wrong-numbers"; // beside the classes of failures
const SILENT = new Set(["absent", "unknown"]); // kinds of marks that say nothing of the kernel
const UNFOLDED = 80; // lines of variants up to which all kernels are unfolded

class Lines {
  constructor(data, filter) {
    Object.assign(this, { data, filter });
    this.folds = new Map(); // what the reader has folded or unfolded himself
  }

  /** The lines to show, in order; each with the rows that it stands for. */
  list() {
    const kept = this.kept();
    const variants = [...kept.values()].reduce((sum, each) => sum + each.size, 0);
    const open = variants <= UNFOLDED;
    const lines = [];
    for (const [kernel, its] of kept) {
      const unfolded = this.folds.get(kernel) ?? open;
      lines.push({ level: "kernel", depth: 1, name: kernel, key: kernel, rows: [...its.values()].flat(), variants: its, unfolded });
      if (!unfolded) continue;
      for (const [variant, rows] of its) this.variant(lines, kernel, variant, rows);
    }
    return { lines, variants, rows: [...kept.values()].flatMap((each) => [...each.values()]).flat() };
  }

  variant(lines, kernel, variant, rows) {
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

  kept() {
    const kept = new Map();
    for (const row of this.filter.rows()) {
      const [kernel, variant] = [this.data.rows.kernel[row], this.data.rows.variant[row]];
      if (!kept.has(kernel)) kept.set(kernel, new Map());
      const variants = kept.get(kernel);
      if (!variants.has(variant)) variants.set(variant, []);
      variants.get(variant).push(row);
    }
    return kept;
  }

  /** What a line has for a release: one mark where all its rows agree, else how many are good. */
  entry(line, release, fact) {
    if (line.level === "kernel") return this.tally(line, release, fact);
    const { data } = this;
    const points = line.rows.map((row) => data.point(row, release));
    const marks = points.map((point) => factMark(data, point, fact));
    const failures = new Set(points.map((point) => (point < 0 ? -1 : data.points.failure[point])));
    const same = marks.every((mark) => mark.word === marks[0].word && mark.kind === marks[0].kind);
    const some =
      fact !== "compiles"
        ? { points, failure: -2 }
        : {
            points,
            unexpected: points.some((point) => data.has(point, UNEXPECTED)),
            remembered: points.every((point) => data.has(point, REMEMBERED)),
            faded: this.filter.selective && !points.some((point) => this.filter.matches(point)),
            slower: this.slower(points),
            suspected: points.some((point) => data.isSuspected(point)),
          };
    if (same) return { failure: failures.size === 1 ? [...failures][0] : -2, ...some, mark: marks[0] };
    const answers = marks.filter((mark) => !SILENT.has(mark.kind));
    return { ...some, mark: PARTLY, failure: -2, good: answers.filter((mark) => mark.kind === "good").length, of: answers.length };
  }

  /** Of a kernel: how many of its variants are good wherever they were tested. */
  tally(line, release, fact) {
    const entries = [...line.variants.values()].map((rows) => this.entry({ level: "variant", rows }, release, fact));
    const answers = entries.filter((entry) => !SILENT.has(entry.mark.kind));
    return {
      mark: answers.length ? TALLY : entries[0].mark,
      good: answers.filter((entry) => entry.mark.kind === "good").length,
      of: answers.length,
      unexpected: entries.some((entry) => entry.unexpected),
      faded: entries.every((entry) => entry.faded),
      failure: -2,
      points: entries.flatMap((entry) => entry.points),
    };
  }

  /** Whether one of these was slower when it was launched than on the release before. */
  slower(points) {
    const { data } = this;
    return (
      hasAny(data.cells.latency) &&
      points.some((point) => point >= 0 && data.cellsOf(point).some((cell) => speed(data, cell)?.slower))
    );
  }

  /** What a line comes to in words. */
  verdict(line, fact) {
    if (line.level === "kernel") return counted(line.variants.size, "variant");
    if (fact !== "compiles") return this.factVerdict(line, fact);
    const phrases = new Set(line.rows.map((row) => this.data.rows.verdict[row]));
    if (phrases.size > 1) return `${phrases.size} different verdicts`;
    const [phrase] = phrases;
    return phrase;
  }

  /** Which config is best for a line, if its rows agree. */
  tuned(line) {
    if (line.level === "kernel" || !this.data.tuned.length) return "";
    const phrases = new Set(line.rows.map((row) => this.data.tunedOf(row)?.phrase).filter(Boolean));
    return phrases.size > 1 ? `${phrases.size} different best configs` : ([...phrases][0] ?? "");
  }

  /** The classes of the failures of a line, each once. */
  classes(line) {
    const { data } = this;
    const found = new Set();
    for (const row of line.rows) {
      for (let release = 0; release < data.columns; release++) {
        const point = data.point(row, release);
        const wrong = point >= 0 && data.cellsOf(point).some((cell) => rightness(data, cell)?.right === false);
        found.add(wrong ? MISCOMPUTED : data.failureClass(point));
      }
    }
    return [...found].filter(Boolean);
  }

  /** Of what is right, or fast, nothing is said but where it was tested. */
  factVerdict(line, fact) {
    const releases = this.data.releases
      .map((_, release) => this.entry(line, release, fact))
      .filter((entry) => !SILENT.has(entry.mark.kind));
    const good = releases.filter((entry) => entry.mark.kind === "good").length;
    const words = fact === "right" ? "right" : "no slower than before";
    return releases.length ? `${words} on ${good} of ${counted(releases.length, "release")} tested` : "not tested";
  }

  /** What a screen reader says of an entry, and a pointer that rests on it. */
  words(line, release, entry) {
    const { data } = this;
    const at = data.releases[release].label;
    const good = { compiles: "compile", right: "compute right numbers", fast: "are no slower than before" }[
      this.filter.state.now.fact
    ];
    if (entry.mark.kind === "tally") return `${line.name}, ${at}: ${entry.good} of ${counted(entry.of, "variant")} ${good}`;
    if (entry.mark === PARTLY)
      return `${line.name}, ${at}: ${entry.good} of ${counted(entry.of, "cell")} ${good}${entry.unexpected ? ", unexpected" : ""}`;
    const failure = entry.failure >= 0 ? data.failures[entry.failure] : null;
    const parts = [
      `${line.name}, ${at}: ${entry.mark.meaning}`,
      failure && `${failure.class}, ${failure.id}`,
      entry.changed && "another failure than in the release before",
      entry.unexpected && "unexpected",
      entry.remembered && "from an earlier run",
      entry.slower && "slower than before",
      entry.suspected && "likely slower than on the release before",
    ];
    return parts.filter(Boolean).join(", ");
  }
}
