/** Identifiers of operations: made and taken apart, whichever came before. */
import { expect, test } from 'vitest';
import {
  getClient,
  formatOperationId,
  getSequence,
} from '../../../../../src/server/site/core/operation-id.ts';

test('taken apart one after the other: clients of one length, one in the other, with a separator in them', () => {
  const parts = [
    ['anna', 1],
    ['bert', 1],
    ['anna', 2],
    ['anna/x', 3],
    ['anna', 12],
    ['ann', 4],
    ['ann/12', 5],
    ['', 6],
    ['anna', 7],
  ] as const;
  const ids = parts.map(([client, sequence]) => formatOperationId(client, sequence));
  expect(ids.map((id) => [getClient(id), getSequence(id)])).toEqual(parts);
  expect(ids.toReversed().map((id) => [getSequence(id), getClient(id)])).toEqual(
    parts.toReversed().map(([client, sequence]) => [sequence, client]),
  );
});
