// The theme of the page: light, dark, or that of the system.

const THEMES = ["system", "light", "dark"];

function setUpTheme() {
  const root = document.documentElement;
  const applyTheme = (name) => {
    root.dataset.theme = name;
    query("[data-theme-name]").textContent = name[0].toUpperCase() + name.slice(1);
    query("[data-theme-switch]").setAttribute("aria-label", `Colours: ${name}. Change`);
  };
  const storedTheme = () => {
    try {
      return localStorage.getItem("triton-compat-theme");
    } catch {
      return null; // a page from disk may have no storage
    }
  };
  applyTheme(THEMES.includes(storedTheme()) ? storedTheme() : "system");
  query("[data-theme-switch]").addEventListener("click", () => {
    const nextTheme = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length];
    applyTheme(nextTheme);
    try {
      localStorage.setItem("triton-compat-theme", nextTheme);
    } catch {
      // without storage, the theme lasts until the reader closes the page
    }
  });
}
