/**
 * Which folder may import which, from `layers.json`: a folder may import what stands in a layer below its own, but for what
 * `never` lists. A folder covers what lies below it, except folders that are listed themselves.
 *
 * `node scripts/layers.cjs` writes the table into docs/ARCHITECTURE.md.
 */
const { readFileSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const entries = require('./entries.json');
const { layers, never } = require('./layers.json');

const CHECKED = '^(src|demo|bench|engines|test|scripts)/';
const PAGE = join(__dirname, '../docs/ARCHITECTURE.md');
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
    never.some(({ from, to }) =>
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
    if (pure === true) rules.push({ name: `${name} is pure`, severity: 'error', from, to: { pathNot: CHECKED } });
    return rules;
  });
}

/** Returns the table of docs/ARCHITECTURE.md, and the exceptions below it. */
function tableOf() {
  const published = (folder) =>
    entries
      .filter(({ source }) => dirname(source) === folder)
      .map(({ subpath }) => `\`${subpath.replace('.', 'correctables')}\``)
      .join(' ');
  const lines = layers.flatMap((layer, at) =>
    layer.map(
      ({ folder, what, pure }) =>
        `| ${layers.length - at} | \`${folder}/\` | ${what} | ${pure ? 'yes' : ''} | ${published(folder)} |`,
    ),
  );
  const list = (names) => names.map((name) => `\`${name}\``).join(', ');
  const exceptions = never.map(({ from, to, because }) => `- Never from ${list(from)} to ${list(to)}: ${because}.`);
  return [
    '| layer | folder | what it is | pure | published as |',
    '|---|---|---|---|---|',
    ...lines,
    '',
    ...exceptions,
  ].join('\n');
}

/** Returns the page with the table of today in it. */
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
