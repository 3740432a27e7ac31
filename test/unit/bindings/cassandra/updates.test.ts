/** Outcomes of writes: "not made" only if that is certain; made once; otherwise unknown. */
import cassandraDriver from 'cassandra-driver';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { wasApplied, defineStatements, oneRow } from '../../../../src/bindings/cassandra/index.ts';
import { isSinglePartitionChange } from '../../../../src/bindings/cassandra/statements/cql-text.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { openFake, responseError, UNAVAILABLE } from './fake-driver.ts';

const args = z.object({ id: z.string() });
const update = { access: 'write', args } as const;
const statements = defineStatements({
  plain: { ...update, cql: "UPDATE t SET v = 'if in' WHERE id = :id", isIdempotent: true },
  conditional: {
    ...update,
    cql: 'INSERT INTO t (id) VALUES (:id) IF NOT EXISTS',
    result: wasApplied(),
  },
  batch: {
    ...update,
    cql: 'BEGIN UNLOGGED BATCH INSERT INTO t (id) VALUES (:id); INSERT INTO u (id) VALUES (:id); APPLY BATCH',
  },
  several: { ...update, cql: "DELETE FROM t WHERE id IN (:id, 'x')" },
  withRow: {
    ...update,
    cql: 'INSERT INTO t (id) VALUES (:id) IF NOT EXISTS',
    result: oneRow(z.object({ '[applied]': z.boolean(), id: z.string() })),
  },
});

const open = () => openFake({ statements });
const OVERLOADED = responseError(0x1001, 'full');
/** Refused by a limit of the node, before anything was executed. */
const LIMITED = responseError(
  0x1001,
  'Request breached global limit of 9 requests/second and triggered backpressure.',
);
const DISK_FULL = responseError(
  0x2200,
  'Guardrail replica_disk_usage violated: Write request failed because disk usage',
);
const writeTimeout = (writeType: string): Error =>
  responseError(0x1100, 'Operation timed out', { writeType });

test.each([
  ['plain', UNAVAILABLE, 'UNAVAILABLE'],
  ['plain', OVERLOADED, 'OVERLOADED'],
  ['conditional', UNAVAILABLE, 'UNKNOWN'],
  ['conditional', OVERLOADED, 'UNKNOWN'],
  ['batch', UNAVAILABLE, 'UNKNOWN'],
  ['several', UNAVAILABLE, 'UNKNOWN'],
  ['conditional', LIMITED, 'OVERLOADED'],
  ['batch', LIMITED, 'OVERLOADED'],
  ['batch', DISK_FULL, 'OVERLOADED'],
  ['plain', writeTimeout('SIMPLE'), 'UNKNOWN'],
  ['batch', writeTimeout('UNLOGGED_BATCH'), 'UNKNOWN'],
  ['batch', writeTimeout('BATCH_LOG'), 'UNKNOWN'], // the log may be replayed later
  ['plain', writeTimeout('COUNTER'), 'UNKNOWN'],
  ['conditional', writeTimeout('CAS'), 'UNKNOWN'],
  ['conditional', responseError(0x1700, 'CAS operation result is unknown'), 'UNKNOWN'],
  ['plain', responseError(0x1500, 'Operation failed'), 'UNKNOWN'],
  ['several', responseError(0x1003, 'Error during truncate'), 'UNKNOWN'],
  ['conditional', responseError(0x2200, 'no such table'), 'FINAL_FAILED'],
  ['batch', responseError(0x2100, 'no'), 'FORBIDDEN'],
] as const)(
  '%s write: %s → %s, since a part may have been made before a shortage was seen',
  async (name, cause, code) => {
    const { fake, client } = open();
    const made = client.invoke<unknown>(statements[name]({ id: 'x' }));
    (await fake.next()).fail(cause);
    await expect(made).rejects.toMatchObject({
      code,
      retryable: code === 'UNAVAILABLE' || code === 'OVERLOADED',
      operation: name,
      cause: { code, cause },
    });
  },
);

test.each([
  ['INSERT INTO t (id) VALUES (1)', true],
  [' -- with a comment: IN\n UPDATE t SET "if" = \'in\' WHERE id = 1', true],
  ['DELETE FROM t WHERE id = 1 IF EXISTS', false],
  ['UPDATE t SET v = 1 WHERE id in :ids', false],
  ['BEGIN BATCH INSERT INTO t (id) VALUES (1); APPLY BATCH', false],
  ['TRUNCATE t', false],
])('%s → one plain write of one partition: %s', (cql, isOne) => {
  expect(isSinglePartitionChange(cql)).toBe(isOne);
});

test.each([
  ['a lost connection', Object.assign(new Error('ECONNRESET'), { isSocketError: true }), 'UNKNOWN'],
  ['the node was full', OVERLOADED, 'UNAVAILABLE'],
])(
  'sent again after %s, then rejected → the error counts the first attempt too',
  async (_, first, code) => {
    const { fake, client } = open();
    const made = client.invoke(statements.plain({ id: 'x' }));
    const sent = await fake.next();
    const policy = sent.options.retry as unknown as {
      onRequestError(info: object, level: number, error: Error): object;
    };
    expect(policy.onRequestError({ nbRetry: 0 }, 4, first)).toMatchObject({ decision: 1 });
    sent.fail(UNAVAILABLE);
    await expect(made).rejects.toMatchObject({ code, retryable: code === 'UNAVAILABLE' });
  },
);

test('answered, and the result does not fit → UNKNOWN with the reason, never "the call is wrong"', async () => {
  const { fake, client } = open();
  const made = client.invoke(statements.withRow({ id: 'x' }));
  (await fake.next()).answer({ rows: [{ '[applied]': true }] });
  await expect(made).rejects.toMatchObject({
    code: 'UNKNOWN',
    retryable: false,
    cause: { code: 'UNKNOWN', cause: { code: 'INVALID_VALUE' } },
  });
});

test('close: a write in flight → UNKNOWN; its late reply has no effect', async () => {
  const { fake, binding, client } = open();
  const made = client.invoke(put('k', 1));
  const sent = await fake.next();
  await binding.close();
  await expect(made).rejects.toMatchObject({ code: 'UNKNOWN', retryable: false });
  sent.answer();
  await Promise.resolve();
  expect(client.drops.closed).toBe(0);
});

test('close: a write that waits for the connection → certainly not made, and not sent later', async () => {
  const { fake, client } = open();
  let connected = (): void => {};
  fake.connect = () => new Promise((resolve) => (connected = resolve));
  const made = client.invoke(put('k', 1));
  await expect.poll(() => fake.made.length).toBe(1);
  await client.close();
  await expect(made).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  connected();
  await expect.poll(() => fake.shutdowns).toBe(1);
  expect(fake.executed).toEqual([]);
});

test('cancelled while it waits for the connection → ABORTED, and not sent later; on its way → UNKNOWN', async () => {
  const { fake, client } = open();
  let connected = (): void => {};
  fake.connect = () => new Promise((resolve) => (connected = resolve));
  const waiting = client.invoke(put('k', 1));
  await expect.poll(() => fake.made.length).toBe(1);
  waiting.cancel();
  await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' });
  const read = client.invokeStrong(get('k'));
  connected();
  const first = await fake.next();
  expect(first.cql).toMatch(/^SELECT/);
  first.answer({ rows: [] });
  await read;
  const sent = client.invoke(put('k', 2));
  await fake.next();
  sent.cancel();
  await expect(sent).rejects.toMatchObject({ code: 'UNKNOWN' });
});

test.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
  'cancelled %i microtasks after the connection is there → the true outcome: sent and UNKNOWN, or neither',
  async (microtasks) => {
    const { fake, client } = open();
    let connected = (): void => {};
    fake.connect = () => new Promise((resolve) => (connected = resolve));
    const put1 = client.invoke(put('k', 1));
    const failed = put1.then(undefined, (error: unknown) => (error as { code: string }).code);
    await expect.poll(() => fake.made.length).toBe(1);
    connected();
    for (let n = 0; n < microtasks; n += 1) await Promise.resolve();
    put1.cancel();
    const code = await failed;
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(code).toBe(
      fake.executed.some(({ cql }) => cql.startsWith('INSERT')) ? 'UNKNOWN' : 'ABORTED',
    );
  },
);

test('no answer to the connection → TIMEOUT, certainly not made: the write was not sent', async () => {
  const { fake, client } = open();
  const { NoHostAvailableError, OperationTimedOutError } = cassandraDriver.errors;
  const silent = { '10.0.0.1:9042': new OperationTimedOutError('The host did not reply') };
  fake.connect = () => Promise.reject(new NoHostAvailableError(silent));
  await expect(client.invoke(put('k', 1))).rejects.toMatchObject({
    code: 'TIMEOUT',
    retryable: true,
  });
  expect(fake.executed).toEqual([]);
});
