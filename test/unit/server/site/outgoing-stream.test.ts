/** What a site keeps of a stream for others. */
import { expect, test } from 'vitest';
import type { BlueOperation } from '../../../../src/server/service/records/records.ts';
import {
  OutgoingStream,
  type LoggedOperation,
} from '../../../../src/server/site/parts/blue/blue-streams.ts';
import { siteAt } from '../../../support/origins.ts';

function createLogged(sequence: number): LoggedOperation {
  return {
    operation: { site: siteAt(0), sequence, vector: [] } as unknown as BlueOperation,
    position: sequence,
  };
}

test('a site took a state whose end it does not keep → it passes on nothing behind its own part', () => {
  const stream = new OutgoingStream();
  stream.setReceivers([siteAt(1)]);
  stream.load(9, [1, 2, 3].map(createLogged));
  expect([0, 2, 3, 8].map((sequence) => stream.hasAfter(sequence))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test('what is kept has a gap → only what stands behind the gap is passed on', () => {
  const stream = new OutgoingStream();
  stream.setReceivers([siteAt(1)]);
  stream.load(9, [1, 2, 3].map(createLogged));
  stream.add(createLogged(10).operation, 10, 0);
  expect([0, 3, 8, 9].map((sequence) => stream.hasAfter(sequence))).toEqual([
    false,
    false,
    false,
    true,
  ]);
  expect(stream.getAfter(9, 5).map(({ sequence }) => sequence)).toEqual([10]);
});
