// The start page of a board: its search, and a scroll to the newest releases of a wide table.

const MAX_RESULTS = 40;

function setUpSearch() {
  const input = query("[data-search]");
  if (!input) {
    return;
  }
  const index = JSON.parse(query("[data-search-index]").textContent);
  const list = query("[data-found]");
  const count = query("[data-found-count]");
  const showResults = () => {
    const terms = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isMatch = ([text]) => terms.every((term) => text.toLowerCase().includes(term));
    const matches = terms.length ? index.filter(isMatch) : [];
    list.replaceChildren(
      ...matches.slice(0, MAX_RESULTS).map(([text, kind, href]) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = href;
        link.textContent = text;
        item.append(`${kind} `, link);
        return item;
      }),
    );
    list.hidden = !matches.length;
    const limitNote = matches.length > MAX_RESULTS ? `, the first ${MAX_RESULTS} are shown` : "";
    count.textContent = terms.length ? `${matches.length} found${limitNote}` : "";
  };
  input.addEventListener("input", showResults);
  query("[data-search-form]").addEventListener("submit", (event) => event.preventDefault());
}

function scrollToNewest() {
  const table = query("[data-board]");
  if (table) {
    table.parentElement.scrollLeft = table.scrollWidth;
  }
}

setUpTheme();
setUpSearch();
scrollToNewest();
