import { expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import entries from '../../../scripts/entries.json' with { type: 'json' };

type Published = Readonly<Record<string, unknown>>;

const { entryProblems } = (await import('../../../scripts/entries.mjs' as string)) as {
  entryProblems(published: Published, table: typeof entries): string[];
};

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
