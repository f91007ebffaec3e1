// Tuned kernels: the best config by release, and what it costs to keep an old one.

const [WIDE, TALL] = [440, 120];
const [DEAR, DEAREST] = [1.1, 1.5]; // costs of staying from which on a number is marked
const COST_OF_STAYING =
  "Cost of staying: the best config of the release at the left takes so many times as long as the best on the release above.";
const TUNED_SERIES = { name: "Latency", unit: "µs", factor: SLOWER, least: 0 };

/** What the trends show of a tuned workload. */
function tunedSection(trends, answer) {
  const places = answer.places.filter((place) => place.cell !== null);
  return make(
    "section",
    { class: "tuned-answer", "data-tuned-answer": answer.subject },
    make("h3", {}, `${answer.subject}: tuned on ${answer.device}`),
    make(
      "div",
      { class: "tuned-parts" },
      places.length > 1 && tunedChart(trends, answer, places),
      make("ul", {}, answer.sentences.map((words) => make("li", {}, words))),
    ),
    stayingTable(answer),
  );
}

/** The latency of the best config, and of the one that was best on the oldest release. */
function tunedChart(trends, answer, places) {
  const { data } = trends;
  const line = (name, of) => ({
    name,
    points: places
      .map((place) => ({ ...placeOf(data, place.cell), cell: place.cell, amount: of(place) }))
      .filter(({ amount }) => amount !== null),
  });
  const kept = `${answer.kept}, best on ${answer.places[0].release}`;
  const lines = [line("best config", (place) => place.us), line(kept, (place) => place.kept)];
  const columns = lines.flatMap(({ points }) => points.map(({ release }) => release));
  const most = Math.max(...lines.flatMap(({ points }) => points.map(({ amount }) => amount)));
  const [first, last] = [Math.min(...columns), Math.max(...columns)];
  const scale = {
    x: (release) => 6 + ((release - first) * (WIDE - 12)) / Math.max(1, last - first),
    y: (amount) => TALL - BOTTOM - (amount / most) * (TALL - TOP - BOTTOM),
  };
  const words = lines.map(({ name, points }) => `${name}: ${range(points.map(({ amount }) => amount), "µs")}`).join("; ");
  return make(
    "figure",
    { "data-chart": `${answer.subject}/tuned` },
    lineKey(lines.map(({ name }) => name)),
    draw(
      "svg",
      { viewBox: `0 0 ${WIDE} ${TALL}`, role: "group", "aria-label": words },
      draw("title", {}, words),
      draw("path", { class: "axis", d: `M0 ${TALL - BOTTOM}H${WIDE}` }),
      lines.map((each, at) => trends.curve(each, TUNED_SERIES, at, scale)),
    ),
    make(
      "figcaption",
      {},
      make("span", {}, data.releases[first].label),
      make("span", {}, `max ${measured(most, "µs")}`),
      make("span", {}, data.releases[last].label),
    ),
  );
}

/** By old and new release: how many times as long as the best the old one's best config takes. */
function stayingTable(answer) {
  if (answer.places.length < 2) return null;
  const cost = (value) => {
    const look = value >= DEAREST ? "dearest" : value >= DEAR ? "dear" : null;
    return make("td", { class: look }, value === null ? "–" : value.toFixed(2));
  };
  const releases = answer.places.map((place) => place.release);
  const costs = answer.staying.map((of, at) => tableRow(releases[at], of.map(cost)));
  return [
    make("p", { class: "note" }, COST_OF_STAYING),
    make(
      "div",
      { class: "staying", tabindex: "0", role: "region", "aria-label": `Cost of staying, ${answer.subject}` },
      make("table", { "data-staying": "" }, headings(["", ...releases]), make("tbody", {}, costs)),
    ),
  ];
}

/** What the details of a cell say of its tuned configs. */
function tunedDetails(data, { row, cell }) {
  const answer = data.tunedOf(row);
  const place = answer?.places.find((each) => each.cell === cell);
  if (!place) return null;
  const kept = place.kept === null ? "no right numbers" : `${place.kept} µs, ${(place.kept / place.us).toFixed(2)} × the best`;
  return section(
    "Tuned configs",
    definitions([
      ["Best here", `${place.best}: ${place.us} µs on ${answer.device}`],
      ["Old best", `${answer.kept}, of ${answer.places[0].release}: ${kept}`],
    ]),
  );
}
