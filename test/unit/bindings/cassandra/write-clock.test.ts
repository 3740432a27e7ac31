/**
 * Times of writing: of two writes Cassandra keeps the one with the later time, so what comes after
 * must have a later one.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineStatements, oneRow } from '../../../../src/bindings/cassandra/index.ts';
import {
  WriteClock,
  createWallClock,
  writeClock,
} from '../../../../src/bindings/cassandra/session-guarantees/write-clock.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { openFake, valueRow } from './fake-driver.ts';

const args = z.object({ key: z.string() });
const statements = defineStatements({
  remove: { access: 'write', cql: 'DELETE FROM correctables_values WHERE key = :key', args },
  written: {
    access: 'read',
    cql: 'SELECT WRITETIME(value) AS written FROM correctables_values WHERE key = :key',
    args,
    result: oneRow(() => 'seen', { version: 'written' }),
  },
});

function open() {
  const { fake, client } = openFake({ statements });
  fake.answerAll(({ cql }) => ({ rows: cql.startsWith('SELECT') ? [valueRow('k', 1, 1)] : [] }));
  return { fake, client };
}

test('one process: put and statements, of any of its bindings, one after the other → each has a later time', async () => {
  const [item, another] = [open(), open()];
  const times: (number | undefined)[] = [];
  for (let n = 0; n < 50; n += 1) {
    for (const { fake, client } of [item, another]) {
      await client.invoke(statements.remove({ key: 'k' }));
      times.push(fake.executed.at(-1)?.options.timestamp);
      await client.invoke(put('k', n));
      times.push(fake.executed.at(-1)?.options.timestamp);
    }
  }
  expect(times).toEqual([...new Set(times)].sort((a, b) => a! - b!));
});

test('read: a version of a clock that is a little ahead → whatever is written next comes after it', async () => {
  const { fake, client } = open();
  for (const [ahead, reading] of [
    [300, get('k')],
    [600, statements.written({ key: 'k' })],
  ] as const) {
    const version = (Date.now() + ahead) * 1_000;
    fake.answerAll(({ cql }) => ({
      rows: cql.startsWith('SELECT') ? [valueRow('k', 1, version)] : [],
    }));
    await client.invokeStrong(reading);
    await client.invoke(statements.remove({ key: 'other' }));
    expect(fake.executed.at(-1)?.options.timestamp).toBeGreaterThan(version);
  }
});

test('read: a version of a clock that is far ahead → all writes of that key come after it, and nothing else', async () => {
  const [{ fake, client }, another] = [open(), open()];
  const ahead = (Date.now() + 3_600_000) * 1_000;
  fake.answerAll(({ cql }) => ({
    rows: cql.startsWith('SELECT') ? [valueRow('k', 1, ahead)] : [],
  }));
  await client.invokeStrong(get('k'));
  await another.client.invoke(put('k', 2));
  expect(another.fake.executed.at(-1)?.options.timestamp).toBe(ahead + 1);
  await client.invoke(put('k', 3));
  expect(fake.executed.at(-1)?.options.timestamp).toBe(ahead + 2);
  for (const update of [put('other', 2), statements.remove({ key: 'other' })]) {
    await client.invoke(update);
    expect(fake.executed.at(-1)?.options.timestamp).toBeLessThan((Date.now() + 2_000) * 1_000);
  }
});

test('read: a version of the highest possible time → put fails, since it would be lost', async () => {
  const { fake, client } = open();
  fake.answerAll(({ cql }) => ({
    rows: cql.startsWith('SELECT') ? [valueRow('late', 1, Date.now() * 1_000_000)] : [],
  }));
  await client.invokeStrong(get('late'));
  const message = expect.stringMatching(
    /The write was not sent\..*Do not delete the version with USING TIMESTAMP/,
  );
  await expect(client.invoke(put('late', 2))).rejects.toMatchObject({
    code: 'CONFLICT',
    retryable: false,
    message,
  });
});

test('two copies of the package in one process → one clock', async () => {
  vi.resetModules();
  const copy = await import('../../../../src/bindings/cassandra/session-guarantees/write-clock.ts');
  expect(copy.WriteClock).not.toBe(WriteClock);
  writeClock.advanceTo((Date.now() + 500) * 1_000);
  const written = writeClock.next();
  expect(copy.writeClock.next()).toBeGreaterThan(written);
});

test('clock: set back, standing still → goes on; a version far ahead → not followed, but for its object', () => {
  let now = 1_000_000;
  const clock = new WriteClock(() => now);
  expect([clock.next(), clock.next()]).toEqual([1_000_000, 1_000_001]);
  now = 5;
  expect([clock.current(), clock.next()]).toEqual([1_000_001, 1_000_002]);
  clock.advanceTo(1_000_004);
  expect(clock.next()).toBe(1_000_005);
  clock.advanceTo(3);
  clock.advanceTo(undefined);
  clock.advanceTo(2 ** 52, 'far');
  expect([clock.next(), clock.next('near'), clock.next('far')]).toEqual([
    1_000_006,
    1_000_007,
    2 ** 52 + 1,
  ]);
});

test('clock: what was written before a moment is not later, what is written after it is', () => {
  const clock = new WriteClock(() => 7);
  expect([clock.current(), clock.next(), clock.current(), clock.next()]).toEqual([7, 8, 8, 9]);
});

test('clock: more objects far ahead than are kept → those seen longest ago are forgotten', () => {
  const clock = new WriteClock(() => 7);
  for (let n = 0; n <= 10_000; n += 1) clock.advanceTo(2 ** 40, `object ${n}`);
  expect([clock.next('object 0'), clock.next('object 1')]).toEqual([7, 2 ** 40 + 1]);
});

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('wall clock: between two milliseconds → microseconds; set forward → follows', () => {
  const now = createWallClock();
  const start = now();
  expect(Math.floor(start / 1_000)).toBe(Date.now());
  vi.setSystemTime(Date.now() + 60_000);
  expect(Math.floor(now() / 1_000)).toBe(Date.now());
  vi.advanceTimersByTime(7);
  expect(Math.floor(now() / 1_000)).toBe(Date.now());
});
