// The keys. In the grid they work as in any tree grid. Escape and "/" work on the whole page.

class Keyboard {
  constructor(grid) {
    this.grid = grid;
    grid.scroller.addEventListener("keydown", (event) => this.handleGridKey(event));
  }

  handleGridKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { grid } = this;
    const { line, column } = grid.activePosition;
    const pageSize = Math.max(1, Math.floor(grid.scroller.clientHeight / (grid.height || 34)) - 2);
    const actions = {
      ArrowDown: () => grid.move(line + 1, column),
      ArrowUp: () => grid.move(line - 1, column),
      ArrowRight: () => this.moveRight(line, column),
      ArrowLeft: () => this.moveLeft(line, column),
      Home: () => grid.move(line, 0),
      End: () => grid.move(line, grid.data.columns),
      PageDown: () => grid.move(line + pageSize, column),
      PageUp: () => grid.move(line - pageSize, column),
      Enter: () => grid.activate(),
      " ": () => grid.activate(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  /** Move to the right. On the name of a folded line, unfold the line instead. */
  moveRight(index, column) {
    const line = this.grid.lines[index];
    if (column === 0 && line?.unfolded === false) this.grid.unfold(line, true);
    else this.grid.move(index, column + 1);
  }

  /** Move to the left. On the name of a line, fold the line, or else move to its parent. */
  moveLeft(index, column) {
    const line = this.grid.lines[index];
    if (column === 0 && line?.unfolded) this.grid.unfold(line, false);
    else if (column === 0) this.grid.move(this.parentLine(index), 0);
    else this.grid.move(index, column - 1);
  }

  /** The index of the nearest line above with a smaller depth; the line's own index if there is none. */
  parentLine(index) {
    const { lines } = this.grid;
    for (let candidate = index - 1; candidate >= 0; candidate--) {
      if (lines[candidate].depth < lines[index].depth) return candidate;
    }
    return index;
  }
}

/** Listen for the keys that work on the whole page: Escape closes the drawer, and "/" focuses the search. */
function addGlobalKeys(drawer) {
  document.addEventListener("keydown", (event) => {
    const textField = event.target.closest?.("input, textarea, select");
    if (event.key === "Escape" && drawer.isOpen) {
      event.preventDefault();
      drawer.close();
    } else if (event.key === "/" && !textField && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const search = queryAll("input[type=search]").find((input) => input.offsetParent);
      if (!search) return;
      event.preventDefault();
      search.focus();
      search.select();
    }
  });
}
