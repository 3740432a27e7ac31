/** Where conditions on counters end. */
import { expect, test } from 'vitest';
import { Edges } from '../../../../src/server/label/edges.ts';

function edgesOf(holds: (value: number) => boolean, from = 0): readonly number[] {
  const edges = new Edges();
  edges.look('sum', from, holds);
  return edges.of('sum');
}

test.each<[string, (value: number) => boolean, readonly number[]]>([
  ['an upper bound', (value) => value <= 1000, [1000]],
  ['both', (value) => value >= -7 && value < 50_000, [49_999, -7]],
  ['none', () => true, []],
  ['one that no run comes near', (value) => value < 2 ** 40, []],
  ['one where the look begins', (value) => value === 0, [0]],
])('%s', (_name, holds, edges) => {
  expect(edgesOf(holds)).toEqual(edges);
});

test('of each counter there are few looks', () => {
  const edges = new Edges();
  let asked = 0;
  const holds = (): boolean => (asked += 1) > 0;
  for (let looks = 0; looks < 100; looks += 1) edges.look('sum', 0, holds);
  expect(asked).toBeLessThan(1000);
});
