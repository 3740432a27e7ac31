import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import entries from '../../scripts/entries.json' with { type: 'json' };

type Published = Readonly<Record<string, unknown>>;

const scripts = (await import('../../scripts/package-entries.mjs' as string)) as {
  entryProblems(published: Published, table: typeof entries, root: string): string[];
};
const entryProblems = (published: Published, table: typeof entries): string[] =>
  scripts.entryProblems(published, table, process.cwd());

it('package.json → exports what the table of entries lists', () => {
  expect(entryProblems(manifest.exports, entries)).toEqual([]);
});
