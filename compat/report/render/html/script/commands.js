// The commands for a cell. page_data.py lists them; this module replaces their placeholders.

function commandList(data, place, failure) {
  const values = placeholderValues(data, place);
  return section(
    "Commands",
    make(
      "ul",
      { class: "commands", "data-commands": "" },
      commandsFor(data, place, failure).map(({ title, words: templates }) =>
        commandItem(title, commandLine(templates, values)),
      ),
    ),
  );
}

function commandsFor(data, place, failure) {
  const { untested, always, failing, fix } = data.commands;
  if (place.cell === undefined) return [untested]; // other commands need a result
  if (!failure) return always;
  return [...always, ...failing, ...(data.distinctFailure(failure)?.edit ? [fix] : [])];
}

function commandItem(title, line) {
  const copy = copyButton(() => line, `the command: ${title}`);
  const lineWithButton = make("span", { class: "row" }, make("code", {}, line), copy);
  return make("li", {}, make("span", { class: "what" }, title), lineWithButton);
}

function commandLine(templates, values) {
  const fill = (template) => template.replace(/\{(\w+)\}/g, (placeholder, name) => values[name] ?? placeholder);
  return templates.map((template) => shellQuote(fill(template))).join(" ");
}

function placeholderValues(data, { row, release, cell }) {
  const { kernel, variant, target } = data.rows;
  const env = cell === undefined ? data.releases[release].label : data.envs[data.cells.env[cell]].name;
  return { kernel: kernel[row], variant: variant[row], case: data.rows.case[row], target: target[row], env };
}

/** Quote an argument for a POSIX shell. */
function shellQuote(argument) {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'"'"'`)}'`;
}
