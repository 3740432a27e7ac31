import { expect, test } from 'vitest';
import type { Envelope } from '../../../../src/server/site/wire/envelope.ts';
import type { LocalEntry, RedRecord } from '../../../../src/server/service/records/records.ts';
import { ReadyBuilder } from '../../../../src/server/site/ready.ts';

const entry = (term: number): LocalEntry => ({ kind: 'term', site: 1 as never, term });
const closed = 2;

function createBuilder(): ReadyBuilder {
  return new ReadyBuilder((to, message) =>
    to === closed ? undefined : ({ to: { site: to }, message } as unknown as Envelope),
  );
}

test('entries of the own log that follow each other are appended together', () => {
  const builder = createBuilder();
  builder.append(entry(1));
  builder.append(entry(2));
  builder.appendTo('red', ['a']);
  builder.append(entry(3));
  expect(builder.take().appends).toEqual([
    { log: 'local', entries: [entry(1), entry(2)] },
    { log: 'red', entries: ['a'] },
    { log: 'local', entries: [entry(3)] },
  ]);
});

test('a turn that was taken gets nothing more', () => {
  const builder = createBuilder();
  builder.append(entry(1));
  const first = builder.take();
  builder.append(entry(2));
  builder.notify({ kind: 'alone' });
  expect(first.appends).toEqual([{ log: 'local', entries: [entry(1)] }]);
  expect(first.events).toEqual([]);
  expect(builder.take().events).toEqual([{ kind: 'alone' }]);
});

test('nothing is sent to a site that was closed', () => {
  const builder = createBuilder();
  builder.send(1 as never, { kind: 'blue.received', sequence: 1 });
  builder.send(closed as never, { kind: 'blue.received', sequence: 1 });
  expect(builder.take().envelopes).toHaveLength(1);
});

test('the site takes proposals and reports in their order, once', () => {
  const builder = createBuilder();
  const record = { kind: 'marker', id: 'a/1' } as RedRecord;
  builder.propose(record);
  builder.report({ kind: 'members' });
  builder.withdraw(record);
  expect(builder.hasInner).toBe(true);
  expect(builder.takeInner().map(({ kind }) => kind)).toEqual(['propose', 'members', 'withdraw']);
  expect([builder.hasInner, builder.takeInner()]).toEqual([false, []]);
});
