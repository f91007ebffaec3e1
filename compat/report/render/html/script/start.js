// The start of the page: read the data, then show the view in the address.

function connectViews(state) {
  const show = (values) => {
    for (const section of queryAll("[data-view]")) section.hidden = section.dataset.view !== values.view;
    for (const link of queryAll("[data-view-link]")) {
      const isCurrent = link.dataset.viewLink === values.view;
      if (isCurrent) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  };
  for (const link of queryAll("[data-view-link]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      state.set({ view: link.dataset.viewLink, failure: "" }, { addHistory: true });
    });
  }
  state.onChange((values, changedNames) => changedNames.has("view") && show(values));
  show(state.values);
}

async function start() {
  setUpTheme();
  const data = await readData();
  const state = new State();
  connectViews(state);
  const filter = new Filter(data, state);
  const lines = new Lines(data, filter);
  let drawer;
  const grid = new Grid(data, state, lines, (id) => drawer.open(id));
  const restoreFocus = () => {
    const { view } = state.values;
    return view === "grid" ? grid.focus({ scroll: false }) : query(`[data-view-link="${view}"]`).focus();
  };
  drawer = new Drawer(data, state, restoreFocus);
  new Failures(data, state);
  new Trends(data, state);
  new Names(data, state);
  state.onChange((values, changedNames) => {
    if ([...FILTERS, "fact"].some((name) => changedNames.has(name))) grid.refresh();
    else if (changedNames.has("view") && values.view === "grid") grid.redraw(); // hidden lines have no height
  });
  addGlobalKeys(drawer);
  query("[data-skip]").addEventListener("click", (event) => {
    event.preventDefault();
    state.set({ view: "grid" });
    grid.focus();
  });
  document.body.dataset.ready = "";
}

start().catch((error) => {
  const notice = query("[data-trouble]");
  notice.hidden = false;
  notice.textContent = `The page could not be drawn: ${error}. It needs a browser from 2023 or later.`;
  throw error;
});
