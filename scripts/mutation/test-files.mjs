/** Which test files can meet a mutant, and in which order they are best asked; and what tells that one has changed. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

/**
 * @param {string} root
 * @param {readonly string[]} tests relative to the root
 * @param {ReadonlySet<string>} mutated likewise
 * @returns {string[]} those that load a mutated file; first those in its folder's place under `test`, then those of whose
 * modules the largest share is mutated: of those that they import, and of what these do, and only then of all
 */
export function testFilesFor(root, tests, mutated) {
  const loaded = loadedIn(root);
  const places = new Set([...mutated].map((file) => dirname(file).replace(/^src\/(server\/)?/, '')));
  const isBeside = (test) => [...places].some((place) => dirname(test).split('/').slice(2).join('/').startsWith(place));
  const shareOf = (files) => {
    const sources = [...files].filter((file) => file.startsWith('src/'));
    return sources.filter((file) => mutated.has(file)).length / Math.max(1, sources.length);
  };
  const shares = tests.map((test) => ({
    test,
    // What a test is about stands near; what its helpers load may be the whole backend.
    near: shareOf(loaded(test, 2)),
    share: shareOf(loaded(test)),
    isBeside: isBeside(test),
  }));
  return shares
    .filter(({ share }) => share > 0)
    .toSorted(
      (a, b) =>
        Number(b.isBeside) - Number(a.isBeside) || b.near - a.near || b.share - a.share || a.test.localeCompare(b.test),
    )
    .map(({ test }) => test);
}

/**
 * @param {string} root
 * @param {readonly string[]} tests
 * @returns {Map<string, string>} by test file: the same for the same text of it and of all that it loads from this tree
 */
export function statesOf(root, tests) {
  const loaded = loadedIn(root);
  return new Map(
    tests.map((test) => {
      const hash = createHash('sha256');
      for (const file of [...loaded(test)].toSorted())
        hash.update(`${file}\0${readFileSync(join(root, file), 'utf8')}\0`);
      return [test, hash.digest('base64url').slice(0, 12)];
    }),
  );
}

/** @returns {(file: string, steps?: number) => Set<string>} itself, what it imports from this tree, and what that does */
function loadedIn(root) {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const importsOf = new Map();
  const imports = (file) => {
    if (!importsOf.has(file)) importsOf.set(file, readImports(root, file, manifest));
    return importsOf.get(file);
  };
  return (file, steps = Infinity) => {
    const seen = new Map([[file, 0]]);
    for (const [each, at] of seen)
      if (at < steps) for (const next of imports(each)) if (!seen.has(next)) seen.set(next, at + 1);
    return new Set(seen.keys());
  };
}

function readImports(root, file, manifest) {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), 'utf8'), true, true);
  return importedFiles.flatMap(({ fileName }) => {
    const path = fileName.startsWith('.') ? normalize(join(dirname(file), fileName)) : published(fileName, manifest);
    return path !== undefined && path.endsWith('.ts') && existsSync(join(root, path)) ? [path] : [];
  });
}

/** The source of what is imported by the package's own name. */
function published(name, { name: own, exports }) {
  if (name !== own && !name.startsWith(`${own}/`)) return undefined;
  return exports[name.replace(own, '.')]?.default?.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
}
