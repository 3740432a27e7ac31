/**
 * What docs/performance.md and docs/papers.md say was measured is what the files in bench/results
 * say.
 */
import { expect, test } from 'vitest';
import { updateFigures } from '../../bench/figures.ts';

test('the figures of the pages are those of the results: if not, run `npm run figures`', () => {
  expect(updateFigures(false)).toEqual([]);
});
