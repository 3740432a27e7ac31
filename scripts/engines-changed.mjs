/**
 * Whether the tests of engines have to run again: they take longer than all others, and depend on
 * few files. What they last passed with is committed, so every machine decides alike.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './exec.mjs';

const RECORD = 'test/engines/passed-with.json';

/**
 * Folders and files by the name under which the record has their hash; `isClosed`: with all that
 * they import.
 */
const PARTS = {
  engines: { paths: ['engines', 'research/cassandra-icg', 'research/zookeeper-czk'] },
  'tests of engines': { paths: ['test/engines'] },
  'bindings, with what they import': {
    paths: [
      'src/bindings/cassandra',
      'src/research',
      'src/bindings/causal-redis',
      'src/bindings/postgres',
      'src/bindings/replicas',
      'src/bindings/valkey',
      'src/bindings/zookeeper',
      'src/bindings/shared',
      'src/operations',
    ],
    isClosed: true,
  },
  'package-lock.json': { paths: ['package-lock.json'] },
};

/**
 * Returns why the tests of engines must run; `undefined` if nothing that they depend on has changed
 * since they passed.
 */
export function engineChanges() {
  if (!existsSync(join(root, RECORD))) return `${RECORD} is missing`;
  const recorded = JSON.parse(readFileSync(join(root, RECORD), 'utf8'));
  const hashes = hashParts();
  const changed = Object.keys(hashes).filter((name) => hashes[name] !== recorded[name]);
  return changed.length === 0 ? undefined : `changed since they passed: ${changed.join('; ')}`;
}

/** Writes down that the tests of engines passed with the files as they are. */
export function recordEngines() {
  writeFileSync(join(root, RECORD), `${JSON.stringify(hashParts(), null, 2)}\n`);
  console.log(`${RECORD}: written`);
}

function hashParts() {
  const hashes = {};
  for (const [name, { paths, isClosed }] of Object.entries(PARTS)) {
    const files = listFiles(paths);
    hashes[name] = hashFiles(isClosed ? withImports(files) : files);
  }
  return hashes;
}

function listFiles(paths) {
  const listing = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...paths], {
    cwd: root,
    encoding: 'utf8',
  });
  return listing
    .split('\n')
    .filter((file) => file !== '' && file !== RECORD && existsSync(join(root, file)));
}

/** Adds the files that these import by relative paths, and so on. */
function withImports(files) {
  const found = new Set(files);
  for (const file of found) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, path] of text.matchAll(/(?:from|import) ?\(?'(\.[^']+)'/g)) {
      const imported = join(dirname(file), path);
      if (existsSync(join(root, imported))) found.add(imported);
    }
  }
  return [...found];
}

function hashFiles(files) {
  const hash = createHash('sha256');
  for (const file of [...new Set(files)].toSorted((a, b) => (a < b ? -1 : 1))) {
    hash.update(
      `${file}\n${createHash('sha256')
        .update(readFileSync(join(root, file)))
        .digest('hex')}\n`,
    );
  }
  return hash.digest('hex');
}
