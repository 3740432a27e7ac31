/**
 * The driver has prepared a statement again in vain, and reports that no host is there: the error has the real cause.
 */
import cassandraDriver from 'cassandra-driver';
import { expect, test } from 'vitest';
import { get, put } from '../../../../src/operations/index.ts';
import { openFake, responseError } from './fake-driver.ts';

const UNPREPARED = responseError(0x2500, 'who is that?');
const NO_TABLE = responseError(0x2200, 'table t does not exist');
const LOST = Object.assign(new Error('ECONNRESET'), { isSocketError: true });

function noHost(innerErrors: Readonly<Record<string, unknown>>): Error {
  return new cassandraDriver.errors.NoHostAvailableError(innerErrors as never);
}

function open() {
  const { fake, client } = openFake();
  const statement: { queryId?: unknown } = { queryId: 'abc' };
  fake.metadata = { getPreparedInfo: () => statement };
  return { fake, client, statement };
}

test.each([['put'], ['get']])(
  '%s: no node knows the statement → prepared again, and the error has the cause of that',
  async (of) => {
    const { fake, client, statement } = open();
    const reported = of === 'put' ? client.invoke(put('k', 1)) : client.invokeStrong(get('k'));
    (await fake.next()).fail(noHost({ a: UNPREPARED, b: 'Host considered as DOWN' }));
    const again = await fake.next();
    expect(statement.queryId).toBeUndefined();
    again.fail(NO_TABLE);
    await expect(reported).rejects.toMatchObject({ code: 'FINAL_FAILED', retryable: false });
    expect(fake.executed).toHaveLength(2);
  },
);

test('the table is there again → the write is made', async () => {
  const { fake, client } = open();
  const made = client.invoke(put('k', 1));
  (await fake.next()).fail(noHost({ a: UNPREPARED }));
  (await fake.next()).answer();
  await expect(made).resolves.toBeUndefined();
});

test('unknown once more → not made, and not asked for ever', async () => {
  const { fake, client } = open();
  const made = client.invoke(put('k', 1));
  for (let n = 0; n < 2; n += 1) (await fake.next()).fail(noHost({ a: UNPREPARED }));
  await expect(made).rejects.toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  expect(fake.executed).toHaveLength(2);
});

test('another node may have executed it → not sent again', async () => {
  const { fake, client, statement } = open();
  const made = client.invoke(put('k', 1));
  (await fake.next()).fail(noHost({ a: LOST, b: UNPREPARED }));
  await expect(made).rejects.toMatchObject({ code: 'UNKNOWN' });
  expect([fake.executed.length, statement.queryId]).toEqual([1, 'abc']);
});

test('a driver that does not show its statements → its own error', async () => {
  const { fake, client } = open();
  fake.metadata = undefined;
  const made = client.invoke(put('k', 1));
  (await fake.next()).fail(noHost({ a: UNPREPARED }));
  await expect(made).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});
