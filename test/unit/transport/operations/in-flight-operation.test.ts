/** Which views of the present submission can be confirmed. */
import { expect, test } from 'vitest';
import { InFlightOperation } from '../../../../src/transport/operations/in-flight-operation.ts';
import { Outage } from '../../../../src/transport/operations/outage.ts';
import { SeenView } from '../../../../src/transport/operations/seen-view.ts';
import { quietContext, SinkDouble } from '../../../support/wire.ts';

const view = (seq: number): SeenView => new SeenView(seq, {}, seq, seq);

function operation(): InFlightOperation {
  const parts = { id: 1, name: 'get', effect: 'read', strongest: 1, sink: new SinkDouble(), context: quietContext() };
  return new InFlightOperation(parts as never, 'row' as never, new Outage(() => 0));
}

test('more than 2048 views → the first 1024 and the last 1024 are known', () => {
  const one = operation();
  for (let seq = 0; seq < 2048; seq++) one.saw(seq, view(seq + 5));
  expect([0, 1023, 1024, 2047].map((seq) => one.seen(seq)?.seq)).toEqual([5, 1028, 1029, 2052]);
  one.saw(2048, view(2053));
  expect([0, 1023, 1024, 1025, 2048].map((seq) => one.seen(seq)?.seq)).toEqual([5, 1028, undefined, 1030, 2053]);
});

test('submitted anew → views of before are known no more, early or late', () => {
  const one = operation();
  for (const seq of [3, 5_000]) one.saw(seq, view(0));
  one.leaveLine();
  expect([3, 5_000].map((seq) => one.seen(seq))).toEqual([undefined, undefined]);
});
