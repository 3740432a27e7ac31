import { expect, test } from 'vitest';
import { formatLines } from '../../../bench/harness/results.ts';

test('a report: a line for each record if they do not fit into one line, and the same data when read', () => {
  const samples = { one: [{ ms: 1, of: [1, 2] }, { ms: 2 }], two: [1, 2, 3], none: undefined };
  expect(formatLines(samples, 80)).toBe(JSON.stringify(samples));
  const lines = formatLines(samples, 20);
  expect(lines).toBe('{\n"one":[\n{"ms":1,"of":[1,2]},\n{"ms":2}\n],\n"two":[1,2,3]\n}');
  expect(JSON.parse(lines)).toEqual(JSON.parse(JSON.stringify(samples)));
});
