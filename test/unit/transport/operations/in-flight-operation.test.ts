/** Which views of the present submission can be confirmed. */
import { expect, test } from 'vitest';
import {
  InFlightOperation,
  ConfirmableView,
} from '../../../../src/transport/operations/in-flight-operation.ts';
import { Outage } from '../../../../src/transport/operations/outage.ts';
import { quietContext, SinkDouble } from '../../../support/wire.ts';

const view = (seq: number): ConfirmableView => new ConfirmableView(seq, {}, seq, seq);

function operation(): InFlightOperation {
  const parts = {
    id: 1,
    name: 'get',
    access: 'read',
    strongest: 1,
    sink: new SinkDouble(),
    context: quietContext(),
  };
  return new InFlightOperation(parts as never, 'row' as never, new Outage(() => 0));
}

test('more than 1024 views → the latest 1024 are known', () => {
  const item = operation();
  for (let seq = 0; seq < 1026; seq++) item.recordView(seq, view(seq + 5));
  expect([0, 1, 2, 1025].map((seq) => item.findView(seq)?.seq)).toEqual([
    undefined,
    undefined,
    7,
    1030,
  ]);
});

test('one is confirmed → it is known for as many views more', () => {
  const item = operation();
  for (let seq = 0; seq < 1024; seq++) item.recordView(seq, view(seq));
  expect(item.findView(0)?.seq).toBe(0);
  for (let seq = 1024; seq < 2047; seq++) item.recordView(seq, view(seq));
  expect([0, 1023].map((seq) => item.findView(seq)?.seq)).toEqual([0, undefined]);
});

test('submitted again → earlier views are forgotten, early or late', () => {
  const item = operation();
  for (const seq of [3, 5_000]) item.recordView(seq, view(0));
  item.detachFromConnection();
  expect([3, 5_000].map((seq) => item.findView(seq))).toEqual([undefined, undefined]);
});
