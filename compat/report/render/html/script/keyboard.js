// Keys. In the grid the arrows walk, as in any tree grid; everywhere else a few single keys help.

class Keyboard {
  constructor(grid) {
    this.grid = grid;
    grid.scroller.addEventListener("keydown", (event) => this.inGrid(event));
  }

  inGrid(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { grid } = this;
    const { line, column } = grid.active;
    const page = Math.max(1, Math.floor(grid.scroller.clientHeight / (grid.height || 34)) - 2);
    const steps = {
      ArrowDown: () => grid.move(line + 1, column),
      ArrowUp: () => grid.move(line - 1, column),
      ArrowRight: () => this.right(line, column),
      ArrowLeft: () => this.left(line, column),
      Home: () => grid.move(line, 0),
      End: () => grid.move(line, grid.data.columns),
      PageDown: () => grid.move(line + page, column),
      PageUp: () => grid.move(line - page, column),
      Enter: () => grid.activate(),
      " ": () => grid.activate(),
    };
    if (!steps[event.key]) return;
    event.preventDefault();
    steps[event.key]();
  }

  /** On the name of a folded line to the right means: unfold it. */
  right(at, column) {
    const line = this.grid.lines[at];
    if (column === 0 && line?.unfolded === false) this.grid.unfold(line, true);
    else this.grid.move(at, column + 1);
  }

  left(at, column) {
    const line = this.grid.lines[at];
    if (column === 0 && line?.unfolded) this.grid.unfold(line, false);
    else if (column === 0) this.grid.move(this.parent(at), 0);
    else this.grid.move(at, column - 1);
  }

  parent(at) {
    const { lines } = this.grid;
    for (let above = at - 1; above >= 0; above--) if (lines[above].depth < lines[at].depth) return above;
    return at;
  }
}

/** Keys that work wherever nothing is typed. */
function globalKeys(drawer) {
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select");
    if (event.key === "Escape" && drawer.isOpen) {
      event.preventDefault();
      drawer.close();
    } else if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const search = every("input[type=search]").find((each) => each.offsetParent);
      if (!search) return;
      event.preventDefault();
      search.focus();
      search.select();
    }
  });
}
