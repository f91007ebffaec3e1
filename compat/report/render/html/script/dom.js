// Functions that make elements. Every string becomes a text node, so output of a compiler cannot become markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element. An attribute whose value is a function, such as `onclick`, is a listener. The function leaves out
 * attributes and children that are undefined, null or false.
 */
function make(tag, attributes = {}, ...children) {
  return fillElement(document.createElement(tag), attributes, children);
}

/** An SVG element, in the same way. */
function draw(tag, attributes = {}, ...children) {
  return fillElement(document.createElementNS(SVG, tag), attributes, children);
}

function fillElement(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  const isContent = (child) => child !== undefined && child !== null && child !== false && child !== "";
  element.append(...children.flat(Infinity).filter(isContent));
  return element;
}

function icon(name, attributes = {}) {
  return draw("svg", { class: "icon", "aria-hidden": "true", ...attributes }, draw("use", { href: `#i-${name}` }));
}

const query = (selector, root = document) => root.querySelector(selector);
const queryAll = (selector, root = document) => [...root.querySelectorAll(selector)];

/** The head of a table. An empty name makes an empty cell. */
function headings(names) {
  const heading = (name) => (name ? make("th", { scope: "col" }, name) : make("td", {}));
  return make("thead", {}, make("tr", {}, names.map(heading)));
}

/** A row of a table, with its name as the heading. */
function tableRow(name, cells) {
  return make("tr", {}, make("th", { scope: "row" }, name), cells);
}

/** Announce a text to screen readers. */
function announce(text) {
  query("[data-said]").textContent = text;
}

/** A text as nodes. Text between backticks, or between two of them, becomes code. */
function prose(text) {
  const parts = text.split(/(?<!`)(``(?!`)[^\n]+?(?<!`)``|`[^`\n]+`)(?!`)/);
  return parts.map((part, index) => (index % 2 ? make("code", {}, part.replace(/^`+ ?| ?`+$/g, "")) : part));
}

function copyButton(getText, description, label = "Copy") {
  const labelElement = make("span", {}, label);
  const showResult = (result, announcement) => {
    labelElement.textContent = result;
    announce(announcement);
    setTimeout(() => (labelElement.textContent = label), 1500);
  };
  const confirmCopy = () => showResult("Copied", `Copied ${description}`);
  const reportFailure = () => showResult("Not copied", `The browser did not copy ${description}`);
  return make(
    "button",
    {
      type: "button",
      class: "quiet copy",
      "data-copy": "",
      "aria-label": `Copy ${description}`,
      onclick: () => copyText(getText()).then(confirmCopy, reportFailure),
    },
    icon(label === "Copy" ? "copy" : "link"),
    labelElement,
  );
}

/**
 * Copy text to the clipboard. A page from disk may have no clipboard API, so a text field is the fallback. The promise
 * rejects if the browser refuses both.
 */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = make("textarea", { class: "said", readonly: true }, text);
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    if (!isCopied) throw new Error("the browser refuses to copy");
  }
}

/** A link that saves text as a file. The text is in the page, so the browser loads nothing. */
function downloadLink(kind, name, label, getText) {
  const link = make("a", { class: "button", href: "#", download: name, "data-download": kind }, icon("down"), label);
  link.addEventListener("click", async (event) => {
    if (link.href.startsWith("blob:")) return;
    event.preventDefault();
    link.href = URL.createObjectURL(new Blob([await getText()], { type: "text/plain" }));
    link.click();
  });
  return link;
}

const NUMBER_FORMAT = new Intl.NumberFormat("en");
const SMALL_NUMBER_FORMAT = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** A number as text. One below 1 has three significant digits: 0.0123, or 1.23e-5. */
function formatNumber(value) {
  const size = Math.abs(value);
  if (size === 0 || size >= 1) return NUMBER_FORMAT.format(value);
  return size >= 0.001 ? SMALL_NUMBER_FORMAT.format(value) : Number(value.toPrecision(3)).toExponential();
}

const formatCount = (count, noun, plural = `${noun}s`) => `${formatNumber(count)} ${count === 1 ? noun : plural}`;
