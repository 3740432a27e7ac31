/**
 * Rules that no linter knows: the width of comments, no machine paths, no download addresses,
 * exports that match the build.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { entryProblems } from './package-entries.mjs';
import { root } from './exec.mjs';

/** The formatter does not wrap comments. */
const COMMENT_WIDTH_MAX = { source: 100, other: 128 };
const problems = [];
const listing = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
});
const files = listing.split('\n').filter((file) => file !== '' && existsSync(join(root, file)));
const isText = /\.(ts|tsx|mjs|cjs|js|json|md|html|css|yml|yaml|sh|py)$|^\.ci\//;

for (const file of files.filter((name) => isText.test(name))) {
  const text = readFileSync(join(root, file), 'utf8');
  if (/\.(tsx?|mjs|cjs|js)$/.test(file)) {
    const widthMax = file.startsWith('src/') ? COMMENT_WIDTH_MAX.source : COMMENT_WIDTH_MAX.other;
    for (const [index, line] of text.split('\n').entries()) {
      if (line.length > widthMax && /^\s*(\/\/|\/?\*)/.test(line)) {
        problems.push(
          `${file}:${index + 1}: a comment of ${line.length} characters; at most ${widthMax}`,
        );
      }
    }
  }
  if (file === 'package-lock.json' && Object.values(JSON.parse(text).packages).some(isDownloaded)) {
    problems.push(
      `${file}: holds download addresses; install with omit-lockfile-registry-resolved=true (.npmrc)`,
    );
  }
  if (file.startsWith('scripts/hygiene')) continue;
  if (/(^|[^A-Za-z0-9_.])\/(work|farm|home|root)\/|\/tmp\/[a-z]+\//m.test(text)) {
    problems.push(`${file}: names a path of one machine`);
  }
}

const { exports: published } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = JSON.parse(readFileSync(join(root, 'scripts/entries.json'), 'utf8'));
for (const problem of entryProblems(published, entries, root)) problems.push(problem);
for (const [subpath, target] of Object.entries(published)) {
  for (const path of pathsOf(target)) {
    if (!existsSync(join(root, path)))
      problems.push(`package.json: exports "${subpath}" names ${path}, not built`);
  }
}

/** Returns the paths of an entry under all its conditions. */
function pathsOf(target) {
  return typeof target === 'string' ? [target] : Object.values(target).flatMap(pathsOf);
}

function isDownloaded({ resolved }) {
  return resolved !== undefined && URL.canParse(resolved);
}

for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);
