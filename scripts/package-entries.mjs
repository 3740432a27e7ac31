/**
 * Whether `exports` of package.json says what `scripts/entries.json` says, by which everything else
 * goes.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** What is published as it is. */
const MANIFEST = './package.json';

/** @typedef {{ subpath: string, source: string, runs: 'anywhere' | 'in Node' }} Entry */

/**
 * @param {Readonly<Record<string, unknown>>} published
 * @param {readonly Entry[]} entries
 * @param {string} root of the sources
 * @returns {string[]} what differs, in words
 */
export function entryProblems(published, entries, root) {
  const problems = [];
  for (const { subpath, source, runs } of entries) {
    const [wanted, given] = [wantedTargets(source, runs), published[subpath]];
    if (JSON.stringify(given) !== JSON.stringify(wanted))
      problems.push(`package.json: exports "${subpath}" must be ${JSON.stringify(wanted)}`);
    if (runs !== 'anywhere' && runs !== 'in Node')
      problems.push(`scripts/entries.json: ${subpath} must run anywhere, or in Node`);
    if (!existsSync(join(root, source)))
      problems.push(`scripts/entries.json: ${subpath} names ${source}, which is not there`);
    else if (runs === 'anywhere')
      for (const [file, part] of partsOfNode(root, source))
        problems.push(`scripts/entries.json: ${subpath} must run in Node: ${file} imports ${part}`);
  }
  const known = new Set();
  for (const { subpath } of entries) {
    if (known.has(subpath)) problems.push(`scripts/entries.json: has "${subpath}" twice`);
    known.add(subpath);
  }
  for (const [subpath, target] of Object.entries(published))
    if (!known.has(subpath) && !(subpath === MANIFEST && target === MANIFEST))
      problems.push(`scripts/entries.json: lacks "${subpath}", which package.json exports`);
  return problems;
}

/**
 * Returns the files of an entry by condition. A page in production gets short messages, and
 * everything else full ones.
 */
function wantedTargets(source, runs) {
  const [path, pagePath] = ['./dist', './dist/production'].map((folder) =>
    source.replace(/^src/, folder).replace(/\.ts$/, ''),
  );
  const [types, full] = [`${path}.d.ts`, `${path}.js`];
  if (runs !== 'anywhere') return { types, default: full };
  // Bundlers for workerd, which is a server, set `browser` too.
  return {
    types,
    workerd: full,
    browser: { development: full, default: `${pagePath}.js` },
    default: full,
  };
}

/**
 * @param {string} root
 * @param {string} source relative to it
 * @returns {[file: string, part: string][]} what it and the files below it import of Node when they are loaded
 */
function partsOfNode(root, source) {
  const parts = [];
  const seen = new Set([source]);
  for (const file of seen)
    for (const name of loadedBy(join(root, file)))
      if (isBuiltin(name)) parts.push([file, name]);
      else if (name.startsWith('.') && existsSync(join(root, dirname(file), name)))
        seen.add(join(dirname(file), name));
  return parts;
}

const loaded = new Map();

/** What a file imports, but for types; each is read once. */
function loadedBy(path) {
  if (!loaded.has(path)) loaded.set(path, importsOf(path));
  return loaded.get(path);
}

function importsOf(path) {
  const { statements } = ts.createSourceFile(
    path,
    readFileSync(path, 'utf8'),
    ts.ScriptTarget.Latest,
  );
  return statements.flatMap(({ moduleSpecifier, importClause, isTypeOnly }) =>
    moduleSpecifier === undefined || isTypeOnly || importClause?.isTypeOnly
      ? []
      : [moduleSpecifier.text],
  );
}
