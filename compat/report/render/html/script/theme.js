// Light, dark, or as the system has it.

const THEMES = ["system", "light", "dark"];

function theme() {
  const root = document.documentElement;
  const set = (name) => {
    root.dataset.theme = name;
    one("[data-theme-name]").textContent = name[0].toUpperCase() + name.slice(1);
    one("[data-theme-switch]").setAttribute("aria-label", `Colours: ${name}. Change`);
  };
  const kept = () => {
    try {
      return localStorage.getItem("triton-compat-theme");
    } catch {
      return null; // a page from disk may have no storage
    }
  };
  set(THEMES.includes(kept()) ? kept() : "system");
  one("[data-theme-switch]").addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length];
    set(next);
    try {
      localStorage.setItem("triton-compat-theme", next);
    } catch {
      // it holds until the page is closed
    }
  });
}
