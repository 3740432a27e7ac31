/**
 * What views, errors, signals and observers have where nothing is special about them: no more than
 * they should.
 */
import { expect, test } from 'vitest';
import { correctable, CorrectableError } from '../../../src/index.ts';
import type { Sink } from '../../../src/index.ts';
import type { Three } from './support.ts';
import { LEVELS, manual, settled } from './support.ts';

test('COR-2: a final with a version, no older than the one before → has not regressed', () => {
  const { c, sink } = manual<number>();
  sink.view(1, 'weak', { version: 1 });
  sink.view(2, 'strong', { version: 1 });
  expect(c.latest).not.toHaveProperty('regressed');
});

test('COR-3: the binding knows that the store has lost something → the final view has regressed, also of a derived source', () => {
  const meta = { regressed: true };
  const { c, sink } = manual<number>();
  const mapped = c.map((value) => value);
  const early = sink.view(1, 'weak', { meta });
  expect(c.latest).not.toHaveProperty('regressed');
  sink.confirm('strong', early, { meta });
  for (const item of [c, mapped])
    expect(item.latest).toMatchObject({ value: 1, final: true, regressed: true });
});

test('COR-7: a confirmation has a version and a fact, or none → the newer of either, and the others stay', () => {
  const reported = (retained: object, details?: object): object => {
    const { c, sink } = manual<number>();
    sink.confirm('strong', sink.view(1, 'weak', retained), details);
    const { version, meta } = c.latest ?? {};
    return { version, meta };
  };
  const a = { version: 1, meta: { a: 1 } };
  expect(reported(a)).toEqual(a);
  expect(reported({}, a)).toEqual(a);
  expect(reported(a, { version: 2, meta: { b: 2 } })).toEqual({ version: 2, meta: { a: 1, b: 2 } });
  expect(reported({}, {})).toEqual({});
});

test('COR-7: an operation with an equality of its own → what is equal by structure too shares one reference', () => {
  const { c, sink } = manual<{ id: number; at?: number }>({ equals: (a, b) => a.id === b.id });
  const first = { id: 1 };
  sink.view(first, 'weak');
  sink.view({ id: 1 }, 'causal');
  expect(c.latest?.value).toBe(first);
  sink.view({ id: 1, at: 2 }, 'strong');
  expect(c.latest).toMatchObject({ confirms: true, value: { id: 1, at: 2 } });
});

test('COR-10: the work has failed through its sink, and then ends → its signal does not abort', async () => {
  let reported: AbortSignal | undefined;
  const failed = correctable(LEVELS, (sink, signal) => {
    reported = signal;
    sink.fail(new Error('on purpose'));
    return Promise.resolve();
  });
  await expect(failed).rejects.toThrow(CorrectableError);
  await settled();
  expect(reported?.aborted).toBe(false);
});

test('COR-13: an executor that declares its sink alone → is given that alone', () => {
  let count = 0;
  function executor(_sink: Sink<unknown, Three[number]>): void {
    // oxlint-disable-next-line prefer-rest-params
    count = arguments.length;
  }
  void correctable(LEVELS, executor);
  expect(count).toBe(1);
});
