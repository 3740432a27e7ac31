/**
 * A node does not know a prepared statement: prepared by a new text, so that no value is encoded by
 * former types.
 */
import cassandraDriver from 'cassandra-driver';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineStatements } from '../../../../src/bindings/cassandra/index.ts';
import { PreparedTexts, removeMark } from '../../../../src/bindings/cassandra/prepared-texts.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { openFake, responseError } from './fake-driver.ts';

const UNPREPARED = responseError(0x2500, 'who is that?');
const NO_TABLE = responseError(0x2200, 'table t does not exist');
const LOST = Object.assign(new Error('ECONNRESET'), { isSocketError: true });
/** What the driver reports once the binding has hidden its statements. */
const HIDDEN = new cassandraDriver.errors.DriverInternalError(
  'Unprepared response invalid, id: 0x00',
);

function noHost(innerErrors: Readonly<Record<string, unknown>>): Error {
  return new cassandraDriver.errors.NoHostAvailableError(innerErrors as never);
}

test.each([['put'], ['get']])(
  '%s: no node knows the statement → prepared by another text, and the error has the cause of that',
  async (of) => {
    const { fake, client } = openFake();
    const reported = of === 'put' ? client.invoke(put('k', 1)) : client.invokeStrong(get('k'));
    const first = await fake.next();
    first.fail(HIDDEN);
    const again = await fake.next();
    expect(again.cql).toBe(first.cql);
    expect(again.text).not.toBe(first.text);
    again.fail(NO_TABLE);
    await expect(reported).rejects.toMatchObject({ code: 'FINAL_FAILED', retryable: false });
    expect(fake.executed).toHaveLength(2);
  },
);

test('a driver that prepares by itself, in vain → prepared by another text', async () => {
  const { fake, client } = openFake();
  const made = client.invoke(put('k', 1));
  (await fake.next()).fail(noHost({ a: UNPREPARED, b: 'Host considered as DOWN' }));
  (await fake.next()).answer();
  await expect(made).resolves.toBeUndefined();
  const [first, again] = fake.executed;
  expect(again?.text).not.toBe(first?.text);
});

test('several requests at once find the statement forgotten → prepared once more, not once for each', async () => {
  const { fake, client } = openFake();
  const writes = ['k', 'l', 'm'].map((key) => client.invoke(put(key, 1)));
  const first = [await fake.next(), await fake.next(), await fake.next()];
  for (const executed of first) executed.fail(HIDDEN);
  const again = [await fake.next(), await fake.next(), await fake.next()];
  expect(new Set(again.map(({ text }) => text)).size).toBe(1);
  for (const executed of again) executed.answer();
  await expect(Promise.all(writes)).resolves.toEqual([undefined, undefined, undefined]);
});

test('unknown again and again → not made, and not asked for ever', async () => {
  const { fake, client } = openFake();
  const made = client.invoke(put('k', 1));
  for (let n = 0; n < 4; n += 1) (await fake.next()).fail(HIDDEN);
  await expect(made).rejects.toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  expect(fake.executed).toHaveLength(4);
});

test('another node may have executed it → not sent again', async () => {
  const { fake, client } = openFake();
  const made = client.invoke(put('k', 1));
  (await fake.next()).fail(noHost({ a: LOST, b: UNPREPARED }));
  await expect(made).rejects.toMatchObject({ code: 'UNKNOWN' });
  expect(fake.executed).toHaveLength(1);
});

test('texts: each process and each preparation has its own; without the mark they are the statement', () => {
  const cql = 'SELECT a FROM t -- the newest';
  const [texts, others] = [new PreparedTexts(), new PreparedTexts()];
  const first = texts.getText(cql);
  expect(texts.getText(cql)).toBe(first);
  expect(others.getText(cql)).not.toBe(first);
  texts.replace(cql, first);
  const second = texts.getText(cql);
  expect(second).not.toBe(first);
  texts.replace(cql, first);
  expect(texts.getText(cql)).toBe(second);
  expect([first, second].map(removeMark)).toEqual([cql, cql]);
});

test('the driver cannot find a statement by its id, so it never prepares a text twice', async () => {
  const { fake, binding } = openFake();
  fake.metadata = { getPreparedById: () => ({ query: 'SELECT 1' }) };
  await binding.whenConnected();
  expect((fake.metadata as { getPreparedById(): unknown }).getPreparedById()).toBeUndefined();
  expect(fake.made[0]).toMatchObject({ prepareOnAllHosts: false, rePrepareOnUp: false });
});

const anything = z.record(z.string(), z.unknown());
const statements = defineStatements({
  set: { access: 'write', cql: 'INSERT INTO t (id) VALUES (:id)', args: anything },
});
const INT = { code: 0x09, type: null };
const TEXT = { code: 0x0d, type: null };

/** The types of a text as the driver has them. The node knows all texts, or none. */
function openTyped(getType: (text: string) => object, isKnown: boolean) {
  const { fake, client } = openFake({ statements });
  fake.metadata = {
    getPreparedInfo: (_keyspace: unknown, text: string) => ({
      meta: { columns: [{ name: 'id', type: getType(text) }] },
    }),
  };
  fake.answerAll(({ params }) => {
    if (params.length === 0) return isKnown ? responseError(0x2200, 'no values') : HIDDEN;
    try {
      // The driver encodes the values when it sends them.
      return { rows: [{ id: params[0] }] };
    } catch (error) {
      return error as Error;
    }
  });
  return { fake, client };
}

test('a value does not fit the former types → prepared again, and it fits', async () => {
  const { fake, client } = openTyped(
    (text) => (text === fake.executed[0]?.text ? INT : TEXT),
    false,
  );
  await expect(client.invoke(statements.set({ id: 'ada' }))).resolves.toBeUndefined();
  expect(fake.executed.map(({ params }) => params.length)).toEqual([1, 0, 1]);
});

test('a value does not fit, and the types are still valid → INVALID_ARGUMENT, and nothing was executed', async () => {
  const { fake, client } = openTyped(() => INT, true);
  const write = client.invoke(statements.set({ id: 'ada' }));
  await expect(write).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'args.id' });
  expect(fake.executed.map(({ params }) => params.length)).toEqual([1, 0]);
});
