/** Times of writing: of two writes Cassandra keeps the one with the later time, so what comes after must have a later one. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { cassandra, defineStatements, one } from '../../../../src/bindings/cassandra/index.ts';
import { WriteClock, wallClock, writeClock } from '../../../../src/bindings/cassandra/sessions/write-clock.ts';
import { createClient } from '../../../../src/index.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { fakeDriver, valueRow } from './fake-driver.ts';

const args = z.object({ key: z.string() });
const statements = defineStatements({
  remove: { effect: 'update', cql: 'DELETE FROM correctables_values WHERE key = :key', args },
  written: {
    effect: 'read',
    cql: 'SELECT WRITETIME(value) AS written FROM correctables_values WHERE key = :key',
    args,
    result: one(() => 'seen', { version: 'written' }),
  },
});

function open() {
  const fake = fakeDriver();
  fake.answerAll(({ cql }) => ({ rows: cql.startsWith('SELECT') ? [valueRow('k', 1, 1)] : [] }));
  return {
    fake,
    client: createClient(cassandra({ contactPoints: ['a'], keyspace: 'shop', driver: fake.driver, statements })),
  };
}

test('one process: put and statements, of any of its bindings, one after the other → each has a later time', async () => {
  const [one, another] = [open(), open()];
  const times: (number | undefined)[] = [];
  for (let n = 0; n < 50; n += 1) {
    for (const { fake, client } of [one, another]) {
      await client.invoke(statements.remove({ key: 'k' }));
      times.push(fake.executed.at(-1)?.options.timestamp);
      await client.invoke(put('k', n));
      times.push(fake.executed.at(-1)?.options.timestamp);
    }
  }
  expect(times).toEqual([...new Set(times)].sort((a, b) => a! - b!));
});

test('read: a version of a clock that is ahead → the next write comes after it', async () => {
  const { fake, client } = open();
  const ahead = (Date.now() + 5_000) * 1_000;
  fake.answerAll(({ cql }) => ({ rows: cql.startsWith('SELECT') ? [valueRow('k', 1, ahead)] : [] }));
  await client.invokeStrong(get('k'));
  await client.invoke(put('k', 2));
  expect(fake.executed.at(-1)?.options.timestamp).toBeGreaterThan(ahead);
  const further = ahead + 1_000_000;
  fake.answerAll(({ cql }) => ({ rows: cql.startsWith('SELECT') ? [valueRow('k', 1, further)] : [] }));
  await client.invokeStrong(statements.written({ key: 'k' }));
  await client.invoke(statements.remove({ key: 'k' }));
  expect(fake.executed.at(-1)?.options.timestamp).toBeGreaterThan(further);
});

test('two copies of the package in one process → one clock', async () => {
  vi.resetModules();
  const copy = await import('../../../../src/bindings/cassandra/sessions/write-clock.ts');
  expect(copy.WriteClock).not.toBe(WriteClock);
  writeClock.passed((Date.now() + 30_000) * 1_000);
  const written = writeClock.next();
  expect(copy.writeClock.next()).toBeGreaterThan(written);
});

test('clock: set back, standing still → goes on; a version far ahead → not followed', () => {
  let now = 1_000_000;
  const clock = new WriteClock(() => now);
  expect([clock.next(), clock.next()]).toEqual([1_000_000, 1_000_001]);
  now = 5;
  expect([clock.current(), clock.next()]).toEqual([1_000_001, 1_000_002]);
  clock.passed(1_000_010);
  expect(clock.next()).toBe(1_000_011);
  clock.passed(3);
  clock.passed(undefined);
  clock.passed(2 ** 52);
  expect(clock.next()).toBe(1_000_012);
});

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('wall clock: between two milliseconds → microseconds; set forward → follows', () => {
  const now = wallClock();
  const start = now();
  expect(Math.floor(start / 1_000)).toBe(Date.now());
  vi.setSystemTime(Date.now() + 60_000);
  expect(Math.floor(now() / 1_000)).toBe(Date.now());
  vi.advanceTimersByTime(7);
  expect(Math.floor(now() / 1_000)).toBe(Date.now());
});
