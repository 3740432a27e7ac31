/**
 * Which folder may import which, from `layers.json`: a folder may import what stands in a layer below its own, but for what
 * `never` lists. A folder covers what lies below it, except folders that are listed themselves.
 *
 * `node scripts/layers.cjs` writes the tables into docs/ARCHITECTURE.md.
 */
const { readFileSync, writeFileSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');
const entries = require('./entries.json');
const { layers, table, never } = require('./layers.json');

const CHECKED = '^(src|demo|bench|engines|research|test|scripts)/';
const PAGE = join(__dirname, '../docs/ARCHITECTURE.md');
/** Its directories are rooms: the page shows what each may import. */
const SERVER = 'src/server';
const [BEGIN, END] = ['<!-- folders: scripts/layers.json -->', '<!-- end of folders -->'];

const rows = layers.flat();
const folders = rows.map(({ folder }) => folder);
const isWithin = (folder, above) => `${folder}/`.startsWith(`${above}/`);

/** Returns a regular expression of the files that a folder covers. */
function filesOf(folder) {
  const apart = folders
    .filter((other) => other !== folder && isWithin(other, folder))
    .map((other) => other.slice(folder.length + 1));
  return `^${folder}/${apart.length === 0 ? '' : `(?!(${apart.join('|')})/)`}`;
}

/** Returns the folders that a folder may import besides itself. */
function importsOf(folder) {
  const at = layers.findIndex((layer) => layer.some((row) => row.folder === folder));
  const below = layers.slice(at + 1).flatMap((layer) => layer.map((row) => row.folder));
  const isForbidden = (other) =>
    never.some(
      ({ from, to, except = [] }) =>
        !except.includes(folder) &&
        [
          [folder, from],
          [other, to],
        ].every(([name, list]) => list.some((above) => isWithin(name, above))),
    );
  return below.filter((other) => !isForbidden(other));
}

/** Returns rules of dependency-cruiser: one for each folder. A pure one has one more: no package and no part of Node. */
function rulesOf() {
  return rows.flatMap(({ folder, pure }) => {
    const from = { path: filesOf(folder) };
    const pathNot = [folder, ...importsOf(folder)].map(filesOf);
    const name = `layers: ${folder}`;
    const rules = [{ name, severity: 'error', from, to: { path: CHECKED, pathNot } }];
    if (pure === true)
      rules.push({ name: `${name} is pure`, severity: 'error', from, to: { pathNot: CHECKED } });
    return rules;
  });
}

/**
 * Returns the tables of docs/ARCHITECTURE.md, and the exceptions below them. Throws if a folder is
 * not in exactly one row.
 */
function tableOf() {
  const shown = table.flatMap((row) => row.folders);
  const wrong = [...folders, ...shown].filter(
    (name) => shown.filter((item) => item === name).length !== 1,
  );
  if (wrong.length > 0)
    throw new Error(
      `scripts/layers.json: not in exactly one row of the table: ${wrong.join(', ')}`,
    );
  const list = (names) => names.map((name) => `\`${name}\``).join(', ');
  const published = (names) =>
    entries
      .filter(({ source }) => names.includes(dirname(source)))
      .map(({ subpath }) => `\`${subpath.replace('.', 'correctables')}\``)
      .join(' ');
  const isPure = (names) =>
    names.every((name) => rows.some(({ folder, pure }) => folder === name && pure));
  const outer = (names) =>
    names.filter((name) => !names.some((other) => other !== name && isWithin(name, other)));
  const isRoom = ({ folders: [first] }) => isWithin(first, SERVER);
  const rooms = (names) =>
    importsOf(names[0])
      .filter((other) => isWithin(other, SERVER))
      .map((other) => `\`${basename(other)}\``)
      .join(', ');
  const lines = table
    .filter(isRoom)
    .map(
      ({ what, folders: names }) =>
        `| ${list(names)} | ${what} | ${rooms(names)} | ${isPure(names) ? 'yes' : ''} |`,
    );
  const others = table
    .filter((row) => !isRoom(row))
    .map(
      ({ name, what, folders: names }) =>
        `| ${list(name ? [name] : outer(names))} | ${what} | ${isPure(names) ? 'yes' : ''} | ${published(names)} |`,
    );
  const exceptions = never.map(
    ({ from, to, toText, except, because }) =>
      `- ${list(from)} never import ${toText ?? list(to)}${except ? `, except for ${list(except)}` : ''}: ${because}.`,
  );
  return [
    '| room | what it is | may import | pure |',
    '|---|---|---|---|',
    ...lines,
    '',
    '| directory | what it is | pure | published as |',
    '|---|---|---|---|',
    ...others,
    '',
    ...exceptions,
  ].join('\n');
}

/** Returns the page with the tables of today in it. */
function withTable(text) {
  const [before, rest = ''] = text.split(BEGIN);
  const [, after] = rest.split(END);
  if (after === undefined) throw new Error(`docs/ARCHITECTURE.md lacks ${BEGIN} … ${END}`);
  return `${before}${BEGIN}\n\n${tableOf()}\n\n${END}${after}`;
}

module.exports = {
  folders,
  importsOf,
  pure: rows.filter(({ pure }) => pure).map(({ folder }) => folder),
  rulesOf,
  withTable,
};
if (require.main === module) writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8')));
