// The start page of a board: its search, and the newest releases of a table that is too wide.

const MOST = 40;

function search() {
  const input = one("[data-search]");
  if (!input) {
    return;
  }
  const index = JSON.parse(one("[data-search-index]").textContent);
  const list = one("[data-found]");
  const count = one("[data-found-count]");
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? index.filter(([text]) => words.every((word) => text.toLowerCase().includes(word))) : [];
    list.replaceChildren(
      ...found.slice(0, MOST).map(([text, kind, href]) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = href;
        link.textContent = text;
        item.append(`${kind} `, link);
        return item;
      }),
    );
    list.hidden = !found.length;
    count.textContent = words.length ? `${found.length} found${found.length > MOST ? `, the first ${MOST} are shown` : ""}` : "";
  };
  input.addEventListener("input", show);
  one("[data-search-form]").addEventListener("submit", (event) => event.preventDefault());
}

function showNewest() {
  const table = one("[data-board]");
  if (table) {
    table.parentElement.scrollLeft = table.scrollWidth;
  }
}

theme();
search();
showNewest();
