/**
 * Finds names in the comments of src that do not exist. A comment that names a renamed member
 * misleads its reader, and no compiler notices it. Checked are names in backticks, names with `()`
 * behind them, words in camel case, and files. A name exists if the code of this repository, the
 * libraries of TypeScript or the types of a dependency have it as a word.
 *
 * Usage: node scripts/comment-names.mjs [FOLDER]...
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { root } from './exec.mjs';

const CODE = /\.(?:ts|tsx|mts|mjs|cjs|json|java|proto|cql)$/;
/** Packages whose types have names that comments may use. */
const PACKAGES = [
  'typescript/lib',
  '@types/node',
  '@types/react',
  '@types/ws',
  'cassandra-driver',
  'rxjs/dist/types',
  '@tanstack/query-core/build/modern',
];
/** Names of protocols that no code has. */
const FOREIGN = [
  'gRPC',
  'traceparent',
  'tracestate',
  'RESOURCE_EXHAUSTED',
  'rpc.proto',
  'Client.execute',
];

const read = (file) => readFileSync(join(root, file), 'utf8');
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));

/** Returns the comments of a file as [position, text]. */
function readComments(text) {
  const comments = [];
  const source = ts.createSourceFile('file.tsx', text, ts.ScriptTarget.Latest, true);
  const visit = (node) => {
    if (node.getChildCount(source) === 0 && node.kind !== ts.SyntaxKind.JsxText) {
      const ranges = [
        ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
        ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
      ];
      for (const { pos, end } of ranges) comments.push([pos, text.slice(pos, end)]);
    }
    for (const child of node.getChildren(source)) if (!ts.isJSDoc(child)) visit(child);
  };
  visit(source);
  return [...new Map(comments)];
}

const toWords = (text) => text.match(/[\p{L}_$][\p{L}\d_$]*/gu) ?? [];

/** Returns the code of a file without its comments. */
function readCode(file) {
  const text = read(file);
  if (!/\.m?tsx?$/.test(file)) return text;
  return readComments(text).reduce((code, [, comment]) => code.replace(comment, () => ' '), text);
}

/**
 * Returns the words of all code, and for each type of src the words of the files that declare it.
 */
function collectNames() {
  const known = new Set(FOREIGN);
  const members = new Map();
  for (const file of files.filter((name) => CODE.test(name))) {
    const code = readCode(file);
    const words = toWords(code);
    for (const word of words) known.add(word);
    if (!file.startsWith('src/')) continue;
    for (const [, type, heritage] of code.matchAll(
      /\b(?:class|interface|enum) (\w+)[^{]*?(\bextends\b)?[^{]*\{/g,
    )) {
      const others = members.get(type) ?? new Set();
      // An inherited member is in another file.
      members.set(type, new Set([...others, ...words, ...(heritage ? ['*'] : [])]));
    }
  }
  for (const name of PACKAGES) {
    const folder = join('node_modules', name);
    const types = readdirSync(join(root, folder), { recursive: true }).filter((file) =>
      file.endsWith('.d.ts'),
    );
    for (const file of types) for (const word of toWords(read(join(folder, file)))) known.add(word);
  }
  return { known, members };
}

/** Returns the names that a comment uses, each with its position in it. */
function* findNames(comment) {
  // Examples are compiled by a test of their own.
  const text = comment.replaceAll(/@example[\s\S]*?(?=\n\s*\* @|$)/g, (block) =>
    block.replaceAll(/[^\n]/g, ' '),
  );
  for (const { 1: code, index } of text.matchAll(/`([^`\n]+)`/g))
    if (/^#?[A-Za-z_$][\w$]*(?:[.#]+[A-Za-z_$][\w$]*)*(?:\(.*\))?$/.test(code))
      yield [code.replace(/\(.*\)$/, ''), index];
  for (const { 1: name, index } of text.matchAll(/([A-Za-z_$][\w$.]*)\(\)/g)) yield [name, index];
  for (const { 0: name, index } of text.matchAll(/(?<![\w./$-])[a-z]+[A-Z][A-Za-z\d]*\b/g))
    yield [name, index];
  for (const { 0: name, index } of text.matchAll(/(?<![\w/.*-])[\w-]+\.(?:ts|tsx|mjs)\b/g))
    yield [name, index];
}

const paths = process.argv.slice(2);
const isChecked = (file) =>
  /^src\/.*\.tsx?$/.test(file) &&
  (paths.length === 0 || paths.some((path) => file.startsWith(path)));
const { known, members } = collectNames();
const fileNames = new Set(files.map((file) => basename(file)));

function hasName(name) {
  if (FOREIGN.includes(name)) return true;
  if (/\.(?:ts|tsx|mjs|proto)$/.test(name)) return fileNames.has(name);
  const parts = name.split(/[.#]+/).filter((part) => part !== '');
  const type = members.get(parts[0]);
  if (parts.length === 2 && type && !type.has('*')) return type.has(parts[1]);
  return parts.every((part) => known.has(part));
}

let problems = 0;
for (const file of files.filter(isChecked)) {
  const text = read(file);
  const reported = new Set();
  for (const [pos, comment] of readComments(text)) {
    for (const [name, index] of findNames(comment)) {
      const line = text.slice(0, pos + index).split('\n').length;
      if (hasName(name) || reported.has(`${line} ${name}`)) continue;
      reported.add(`${line} ${name}`);
      problems += 1;
      console.log(`${file}:${line}: no code has the name "${name}"`);
    }
  }
}
console.log(`${problems} unknown names in comments`);
process.exit(problems === 0 ? 0 : 1);
