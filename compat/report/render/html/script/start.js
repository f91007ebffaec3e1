// Begin: read the data, then draw the view that the address names.

function views(state) {
  const show = (now) => {
    for (const section of every("[data-view]")) section.hidden = section.dataset.view !== now.view;
    for (const link of every("[data-view-link]")) {
      const here = link.dataset.viewLink === now.view;
      if (here) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  };
  for (const link of every("[data-view-link]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      state.set({ view: link.dataset.viewLink, failure: "" }, { step: true });
    });
  }
  state.onChange((now, changed) => changed.has("view") && show(now));
  show(state.now);
}

async function start() {
  theme();
  const data = await readData();
  const state = new State();
  views(state);
  const filter = new Filter(data, state);
  const lines = new Lines(data, filter);
  let drawer;
  const grid = new Grid(data, state, lines, (id) => drawer.open(id));
  drawer = new Drawer(data, state, () =>
    state.now.view === "grid" ? grid.focus({ scroll: false }) : one(`[data-view-link="${state.now.view}"]`).focus(),
  );
  new Failures(data, state);
  new Trends(data, state);
  new Names(data, state);
  state.onChange((now, changed) => {
    if ([...FILTERS, "fact"].some((name) => changed.has(name))) grid.refresh();
    else if (changed.has("view") && now.view === "grid") grid.redraw(); // nothing has a height while it is hidden
  });
  globalKeys(drawer);
  one("[data-skip]").addEventListener("click", (event) => {
    event.preventDefault();
    state.set({ view: "grid" });
    grid.focus();
  });
  document.body.dataset.ready = "";
}

start().catch((error) => {
  const notice = one("[data-trouble]");
  notice.hidden = false;
  notice.textContent = `The page could not be drawn: ${error}. It needs a browser from 2023 or later.`;
  throw error;
});
