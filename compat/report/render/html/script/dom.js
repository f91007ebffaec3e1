// Elements. All text goes in as text: no string ever becomes markup, whatever a compiler printed.

const SVG = "http://www.w3.org/2000/svg";

/** An element. `class` and `data-…` are attributes as they are; functions under `on…` are listeners; children may be nothing. */
function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false && child !== ""),
  );
  return element;
}

function icon(name, attributes = {}) {
  return draw("svg", { class: "icon", "aria-hidden": "true", ...attributes }, draw("use", { href: `#i-${name}` }));
}

const one = (selector, within = document) => within.querySelector(selector);
const every = (selector, within = document) => [...within.querySelectorAll(selector)];

/** The head of a table, and a row that a name begins. */
function headings(names) {
  const heading = (name) => (name ? make("th", { scope: "col" }, name) : make("td", {}));
  return make("thead", {}, make("tr", {}, names.map(heading)));
}

function tableRow(name, cells) {
  return make("tr", {}, make("th", { scope: "row" }, name), cells);
}

/** Tell it to those who do not see it. */
function say(words) {
  one("[data-said]").textContent = words;
}

/** An author's sentences: code between backticks is code. */
function prose(text) {
  return text.split(/`([^`\n]+)`/).map((part, at) => (at % 2 ? make("code", {}, part) : part));
}

function copyButton(text, what, words = "Copy") {
  const label = make("span", {}, words);
  const done = () => {
    label.textContent = "Copied";
    say(`Copied ${what}`);
    setTimeout(() => (label.textContent = words), 1500);
  };
  return make(
    "button",
    {
      type: "button",
      class: "quiet copy",
      "data-copy": "",
      "aria-label": `Copy ${what}`,
      onclick: () => copied(text()).then(done),
    },
    icon(words === "Copy" ? "copy" : "link"),
    label,
  );
}

/** Put text into the clipboard; a page from disk may have no clipboard of its own. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = make("textarea", { class: "said", readonly: true }, text);
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

/** A link that saves text as a file. The data is in the page: nothing is loaded. */
function downloadLink(kind, name, words, text) {
  const link = make("a", { class: "button", href: "#", download: name, "data-download": kind }, icon("down"), words);
  link.addEventListener("click", async (event) => {
    if (link.href.startsWith("blob:")) return;
    event.preventDefault();
    link.href = URL.createObjectURL(new Blob([await text()], { type: "text/plain" }));
    link.click();
  });
  return link;
}

const NUMBER = new Intl.NumberFormat("en");
const number = (value) => NUMBER.format(value);
const counted = (count, noun, plural = `${noun}s`) => `${number(count)} ${count === 1 ? noun : plural}`;
