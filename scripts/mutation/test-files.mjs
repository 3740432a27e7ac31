/** Which test files can meet a mutant, and in which order they are best asked. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

/**
 * @param {string} root
 * @param {readonly string[]} tests relative to the root
 * @param {ReadonlySet<string>} mutated likewise
 * @returns {string[]} those that load a mutated file; first those in its folder's place under `test`, then those of whose
 * modules the largest share is mutated
 */
export function testFilesFor(root, tests, mutated) {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const importsOf = new Map();
  const imports = (file) => {
    if (!importsOf.has(file)) importsOf.set(file, readImports(root, file, manifest));
    return importsOf.get(file);
  };
  const places = new Set([...mutated].map((file) => dirname(file).replace(/^src\/(server\/)?/, '')));
  const isBeside = (test) => [...places].some((place) => dirname(test).split('/').slice(2).join('/').startsWith(place));
  const shares = tests.map((test) => {
    const seen = new Set([test]);
    for (const file of seen) for (const next of imports(file)) seen.add(next);
    const sources = [...seen].filter((file) => file.startsWith('src/'));
    const share = sources.filter((file) => mutated.has(file)).length / Math.max(1, sources.length);
    return { test, share, isBeside: isBeside(test) };
  });
  return shares
    .filter(({ share }) => share > 0)
    .toSorted((a, b) => Number(b.isBeside) - Number(a.isBeside) || b.share - a.share || a.test.localeCompare(b.test))
    .map(({ test }) => test);
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
