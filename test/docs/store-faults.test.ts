/** The page on faults of stores has what the tests of real engines have shown. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createFaultsPage } from '../../scripts/faults-page.ts';
import { COLUMNS } from '../engines/faults/columns/index.ts';
import { FAULTS } from '../engines/faults/support/faults.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const tests = readdirSync(new URL('test/engines/faults', root))
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => read(`test/engines/faults/${file}`));

test('the page has what the columns say: otherwise run npm run faults', () => {
  expect(read('docs/operate/store-faults.md')).toBe(createFaultsPage());
});

test.each(Object.entries(COLUMNS))(
  'each cell of %s has a test on a real server',
  (name, { cells }) => {
    const own = tests.filter((text) => text.includes(`describeFaults(${name}, {`));
    const tested = Object.keys(FAULTS).filter((fault) =>
      own.some((text) => new RegExp(`^  (async )?${fault}(:|\\()`, 'm').test(text)),
    );
    const promised = Object.entries(cells).filter(([, cell]) => !('absentBecause' in cell));
    expect(tested).toEqual(promised.map(([fault]) => fault));
  },
);

test.each(Object.values(COLUMNS))(
  'the page of $store links to the page on its faults',
  ({ page }) => {
    expect(read(`docs/${page}`)).toContain('../operate/store-faults.md');
  },
);
