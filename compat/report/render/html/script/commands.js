// The commands that go on from a cell. Which there are is said in commands.py; here their places are filled.

function commandList(data, place, failure) {
  const filled = namesOf(data, place);
  return section(
    "Commands",
    make(
      "ul",
      { class: "commands", "data-commands": "" },
      commandsFor(data, place, failure).map(({ title, words }) => commandItem(title, commandLine(words, filled))),
    ),
  );
}

function commandsFor(data, place, failure) {
  const { always, failing, fix } = data.commands;
  if (place.cell === undefined) return always.slice(0, 1); // what was not compiled can be compiled, and no more
  if (!failure) return always;
  return [...always, ...failing, ...(data.distinct(failure)?.edit ? [fix] : [])];
}

function commandItem(title, line) {
  const copy = copyButton(() => line, `the command: ${title}`);
  return make("li", {}, make("span", { class: "what" }, title), make("span", { class: "row" }, make("code", {}, line), copy));
}

function commandLine(words, filled) {
  return words.map((word) => quoted(word.replace(/\{(\w+)\}/g, (place, name) => filled[name] ?? place))).join(" ");
}

function namesOf(data, { row, release, cell }) {
  const { kernel, variant, target } = data.rows;
  const env = cell === undefined ? data.releases[release].label : data.envs[data.cells.env[cell]].name;
  return { kernel: kernel[row], variant: variant[row], case: data.rows.case[row], target: target[row], env };
}

/** A word of a command line as a POSIX shell reads it. */
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}
