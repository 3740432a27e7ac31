import { expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import entries from '../../../scripts/entries.json' with { type: 'json' };

type Published = Readonly<Record<string, unknown>>;

const scripts = (await import('../../../scripts/entries.mjs' as string)) as {
  entryProblems(published: Published, table: typeof entries, root: string): string[];
};
const entryProblems = (published: Published, table: typeof entries): string[] =>
  scripts.entryProblems(published, table, process.cwd());

it('package.json → exports what the table of entries says', () => {
  expect(entryProblems(manifest.exports, entries)).toEqual([]);
});

it('an entry that only one of them has → said by its name', () => {
  const { './rxjs': rxjs, ...others } = manifest.exports;
  expect(entryProblems(others, entries).join()).toContain('exports "./rxjs" must be');
  expect(entryProblems({ ...manifest.exports, './other': rxjs }, entries).join()).toContain('lacks "./other"');
});

it('another file than the one that is built → said', () => {
  const other = { ...manifest.exports, '.': { types: './dist/index.d.ts', default: './dist/main.js' } };
  expect(entryProblems(other, entries)).toHaveLength(1);
});

it('an export that is a path alone → said, but for package.json', () => {
  const bare = { ...manifest.exports, './inner': './dist/server/internal.js' };
  expect(entryProblems(bare, entries)).toEqual([expect.stringContaining('lacks "./inner"')]);
  const moved = { ...manifest.exports, './package.json': './dist/index.js' };
  expect(entryProblems(moved, entries)).toEqual([expect.stringContaining('lacks "./package.json"')]);
});

it('a source that is not there, an entry twice → said', () => {
  const gone = entries.map((entry) => (entry.subpath === './rxjs' ? { ...entry, source: 'src/rxjs/none.ts' } : entry));
  const none = { types: './dist/rxjs/none.d.ts', default: './dist/rxjs/none.js' };
  expect(entryProblems({ ...manifest.exports, './rxjs': none }, gone)).toEqual([
    expect.stringContaining('./rxjs names src/rxjs/none.ts'),
  ]);
  expect(entryProblems(manifest.exports, [...entries, ...entries.slice(0, 1)])).toEqual([
    expect.stringContaining('has "." twice'),
  ]);
});

it('an entry that takes a part of Node → cannot be one that runs anywhere', () => {
  const inNode = entries.filter(({ runs }) => runs === 'in Node').map(({ subpath }) => subpath);
  for (const subpath of inNode) {
    const anywhere = entries.map((entry) => (entry.subpath === subpath ? { ...entry, runs: 'anywhere' } : entry));
    expect(entryProblems(manifest.exports, anywhere).join()).toContain(`${subpath} must run in Node`);
  }
  expect(inNode).not.toEqual([]);
});
