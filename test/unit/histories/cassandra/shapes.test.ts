import { expect, test } from 'vitest';
import { shapeFaults } from '../../../histories/cassandra/checks/shapes.ts';
import type { Call } from '../../../histories/history.ts';
import { call } from './calls.ts';

const reshape = (span: [number, number], shape: string, outcome = 'success'): Call =>
  call(span, { shape }, { outcome });
const shape = (span: [number, number], value: string | null, level = 'strong'): Call => ({
  ...call(span, { isShape: true }),
  views: [{ level, value, atMs: span[1] }],
});
const settled = [reshape([0, 9], 'bigint 1'), reshape([100, 109], 'timestamp 2')];

test('shapes: what the column held at that time → no fault', () => {
  expect(
    shapeFaults([...settled, shape([10, 19], 'bigint 1'), shape([110, 119], 'timestamp 2')]),
  ).toEqual([]);
  for (const value of ['bigint 1', 'timestamp 2', null])
    expect(shapeFaults([...settled, shape([90, 105], value)])).toEqual([]);
  expect(shapeFaults([...settled, shape([110, 119], null, 'weak')])).toEqual([]);
});

test('shapes: the number of one type as the other, an old one, or none → a fault', () => {
  expect(shapeFaults([...settled, shape([110, 119], 'bigint 2')])).toHaveLength(1);
  expect(shapeFaults([...settled, shape([110, 119], 'bigint 2', 'weak')])).toHaveLength(1);
  expect(shapeFaults([...settled, shape([110, 119], 'bigint 1')])).toHaveLength(1);
  expect(shapeFaults([...settled, shape([110, 119], null)])).toHaveLength(1);
});

test('shapes: a change that failed half way → whatever came of it is none', () => {
  const half = [...settled, reshape([200, 209], 'bigint 3', 'not changed')];
  for (const value of ['timestamp 2', 'bigint 3', null])
    expect(shapeFaults([...half, shape([300, 309], value)])).toEqual([]);
  expect(shapeFaults([...half, shape([300, 309], 'timestamp 3')])).toHaveLength(1);
});
