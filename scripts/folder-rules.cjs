/**
 * Who may import whom, from `folders.json`: one row a folder. A row covers what lies below its folder, but for folders
 * with rows of their own; `x/**` stands for the folder and all below it. What is not allowed is forbidden.
 */

/** @typedef {{ folder: string, published: string, what: string, imports: string[], pure?: boolean }} Row */

/** @type {readonly Row[]} */
const FOLDERS = require('./folders.json');
const CHECKED = '^(src|demo|bench|engines|test|scripts)/';

/** The files of a row, as a regular expression. */
function filesOf(folder, rows = FOLDERS) {
  const below = rows.map((row) => row.folder).filter((other) => other.startsWith(`${folder}/`));
  const apart = below.map((other) => other.slice(folder.length + 1)).join('|');
  return `^${folder}/${apart === '' ? '' : `(?!(${apart})/)`}`;
}

/** What an entry of `imports` allows. */
function allowed(entry, rows) {
  return entry.endsWith('/**') ? `^${entry.slice(0, -2)}` : filesOf(entry, rows);
}

/** Rules of dependency-cruiser: one a folder, and one more where it takes no package and no part of Node. */
function rulesOf(rows = FOLDERS) {
  return rows.flatMap(({ folder, imports, pure }) => {
    const from = { path: filesOf(folder, rows) };
    const own = [filesOf(folder, rows), ...imports.map((entry) => allowed(entry, rows))];
    const name = `folders: ${folder}`;
    const rules = [{ name, severity: 'error', from, to: { path: CHECKED, pathNot: own } }];
    if (pure === true) rules.push({ name: `${name} is pure`, severity: 'error', from, to: { pathNot: CHECKED } });
    return rules;
  });
}

/** The folders that a row may import, each once. */
function reachedBy({ folder, imports }, rows = FOLDERS) {
  const names = rows.map((row) => row.folder);
  const reached = imports.flatMap((entry) =>
    entry.endsWith('/**') ? names.filter((name) => `${name}/`.startsWith(entry.slice(0, -2))) : [entry],
  );
  return [...new Set(reached)].filter((name) => name !== folder);
}

/** The table of docs/ARCHITECTURE.md. */
function tableOf(rows = FOLDERS) {
  const short = (entry) => entry.replace(/^src\//, '').replace('**', '…');
  const lines = rows.map(({ folder, published, what, imports }) => {
    const may = imports.length === 0 ? 'nothing' : imports.map((entry) => `\`${short(entry)}\``).join(' ');
    return `| \`${folder}/\` | ${published} | ${what} | ${may} |`;
  });
  return ['| folder | published as | what it is | may import |', '|---|---|---|---|', ...lines].join('\n');
}

module.exports = { FOLDERS, filesOf, rulesOf, reachedBy, tableOf };
