// Tuned kernels: the best config on each release, and the cost of staying with that of an earlier release.

const [TUNING_WIDTH, TUNING_HEIGHT] = [440, 120];
const [HIGH_COST, HIGHEST_COST] = [1.1, 1.5]; // the costs of staying from which the table highlights a number
const COST_OF_STAYING =
  "Cost of staying: on the release above, the left release's best config takes this many times as long as the best " +
  "config.";
const TUNING_QUANTITY = { name: "Latency", unit: "µs", factor: SLOWER_FACTOR, minDifference: 0 };

/** The section of a tuned workload in the trends. */
function tuningSection(trends, answer) {
  const places = answer.places.filter((place) => place.cell !== null);
  return make(
    "section",
    { class: "tuned-answer", "data-tuned-answer": answer.subject },
    make("h3", {}, `${answer.subject}: tuned on ${answer.device}`),
    make(
      "div",
      { class: "tuned-parts" },
      places.length > 1 && tuningChart(trends, answer, places),
      make("ul", {}, answer.sentences.map((sentence) => make("li", {}, sentence))),
    ),
    stayingCostTable(answer),
  );
}

/** A chart of two latencies: of the best config, and of the one that is best on the oldest release. */
function tuningChart(trends, answer, places) {
  const { data } = trends;
  const latencyLine = (name, amountOf) => ({
    name,
    points: places
      .map((place) => ({ ...placeOf(data, place.cell), cell: place.cell, amount: amountOf(place) }))
      .filter(({ amount }) => amount !== null),
  });
  const oldConfig = `${answer.kept}, best on ${answer.places[0].release}`;
  const lines = [latencyLine("best config", (place) => place.us), latencyLine(oldConfig, (place) => place.kept)];
  const columns = lines.flatMap(({ points }) => points.map(({ release }) => release));
  const maximum = Math.max(...lines.flatMap(({ points }) => points.map(({ amount }) => amount)));
  const [first, last] = [Math.min(...columns), Math.max(...columns)];
  const scale = {
    x: (release) => 6 + ((release - first) * (TUNING_WIDTH - 12)) / Math.max(1, last - first),
    y: (amount) => TUNING_HEIGHT - BOTTOM - (amount / maximum) * (TUNING_HEIGHT - TOP - BOTTOM),
  };
  const label = lines
    .map(({ name, points }) => `${name}: ${amountRange(points.map(({ amount }) => amount), "µs")}`)
    .join("; ");
  return make(
    "figure",
    { "data-chart": `${answer.subject}/tuned` },
    lineKey(lines.map(({ name }) => name)),
    draw(
      "svg",
      { viewBox: `0 0 ${TUNING_WIDTH} ${TUNING_HEIGHT}`, role: "group", "aria-label": label },
      draw("title", {}, label),
      draw("path", { class: "axis", d: `M0 ${TUNING_HEIGHT - BOTTOM}H${TUNING_WIDTH}` }),
      lines.map((line, index) => trends.curve(line, TUNING_QUANTITY, index, scale)),
    ),
    make(
      "figcaption",
      {},
      make("span", {}, data.releases[first].label),
      make("span", {}, `max ${formatAmount(maximum, "µs")}`),
      make("span", {}, data.releases[last].label),
    ),
  );
}

/** A table by old and new release: the latency of the old release's best config, relative to the best config. */
function stayingCostTable(answer) {
  if (answer.places.length < 2) return null;
  const cost = (value) => {
    const className = value >= HIGHEST_COST ? "dearest" : value >= HIGH_COST ? "dear" : null;
    return make("td", { class: className }, value === null ? "–" : value.toFixed(2));
  };
  const releases = answer.places.map((place) => place.release);
  const costs = answer.staying.map((rowCosts, index) => tableRow(releases[index], rowCosts.map(cost)));
  return [
    make("p", { class: "note" }, COST_OF_STAYING),
    make(
      "div",
      { class: "staying", tabindex: "0", role: "region", "aria-label": `Cost of staying, ${answer.subject}` },
      make("table", { "data-staying": "" }, headings(["", ...releases]), make("tbody", {}, costs)),
    ),
  ];
}

/** The tuned configs in the details of a cell. */
function tuningDetails(data, { row, cell }) {
  const answer = data.tuningAnswer(row);
  const place = answer?.places.find((candidate) => candidate.cell === cell);
  if (!place) return null;
  const oldBest =
    place.kept === null ? "no right numbers" : `${place.kept} µs, ${(place.kept / place.us).toFixed(2)} × the best`;
  return section(
    "Tuned configs",
    definitions([
      ["Best here", `${place.best}: ${place.us} µs on ${answer.device}`],
      ["Old best", `${answer.kept}, of ${answer.places[0].release}: ${oldBest}`],
    ]),
  );
}
