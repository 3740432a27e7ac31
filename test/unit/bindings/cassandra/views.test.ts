/**
 * Two reads through one coordinator, and what becomes of their answers and failures (C1, C3, C6 and
 * C7).
 */
import { expect, test } from 'vitest';
import { isCorrectableError, type CorrectableError } from '../../../../src/index.ts';
import { get, getMany, put } from '../../../../src/operations/index.ts';
import { bothReads, openFake, responseError, UNAVAILABLE, valueRow } from './fake-driver.ts';

const failure = (operation: PromiseLike<unknown>): Promise<CorrectableError> =>
  Promise.resolve(operation).then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => (isCorrectableError(error) ? error : Promise.reject(error as Error)),
  );

test('read: both answers alike → a weak view, and a final one that confirms it', async () => {
  const { fake, binding, client } = openFake();
  const read = client.invoke(get('k'));
  const { weak, strong } = await bothReads(fake);
  expect([weak.options.prepare, weak.options.isIdempotent, strong.options.autoPage]).toEqual([
    true,
    true,
    false,
  ]);
  weak.answer({ rows: [valueRow('k', { n: 1 }, 7)] });
  const early = await read.when('weak');
  strong.answer({ rows: [valueRow('k', { n: 1 }, 7)] });
  const views = [early, await read.settle()];
  expect(
    views.map(({ level, final, confirms, value, version }) => ({
      level,
      final,
      confirms,
      value,
      version,
    })),
  ).toEqual([
    { level: 'weak', final: false, confirms: false, value: { n: 1 }, version: 7 },
    { level: 'strong', final: true, confirms: true, value: { n: 1 }, version: 7 },
  ]);
  expect(views[1]?.value).toBe(views[0]?.value);
  expect(binding.stats).toEqual({
    finals: 1,
    withPreliminary: 1,
    diverged: 0,
    regressed: 0,
    staleFinals: 0,
  });
});

test('read: the final answer differs → it corrects the weak one, and is counted', async () => {
  const { fake, binding, client } = openFake();
  const read = client.invoke(get('k'));
  const { weak, strong } = await bothReads(fake);
  weak.answer({ rows: [valueRow('k', 'old', 1)] });
  await read.when('weak');
  strong.answer({ rows: [valueRow('k', 'new', 2)] });
  expect(await read.settle()).toMatchObject({ value: 'new', level: 'strong', confirms: false });
  expect(binding.stats).toMatchObject({ withPreliminary: 1, diverged: 1 });
});

test('read: the weak answer comes last → one view, the final one', async () => {
  const { fake, binding, client } = openFake();
  const read = client.invoke(get('k'));
  const { weak, strong } = await bothReads(fake);
  strong.answer({ rows: [valueRow('k', 'new', 2)] });
  expect(await read).toBe('new');
  weak.answer({ rows: [valueRow('k', 'old', 1)] });
  await Promise.resolve();
  expect(client.drops).toMatchObject({ closed: 0 });
  expect(binding.stats).toMatchObject({ finals: 1, withPreliminary: 0 });
});

test('read: one replica fails → the quorum answers all the same', async () => {
  const { fake, client } = openFake();
  const read = client.invoke(get('k'));
  const { weak, strong } = await bothReads(fake);
  weak.fail(responseError(0x1200, 'timed out'));
  strong.answer({ rows: [valueRow('k', 'v', 1)] });
  expect(await read).toBe('v');
});

test('read: no quorum, before the one replica has answered → the error carries the weak view', async () => {
  const { fake, client } = openFake();
  const read = client.invoke(get('k'));
  const { weak, strong } = await bothReads(fake);
  strong.fail(UNAVAILABLE);
  weak.answer({ rows: [valueRow('k', 'v', 1)] });
  const error = await failure(read);
  expect(error).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  expect((error.cause as Error).cause).toBe(UNAVAILABLE);
  expect(error.lastView).toMatchObject({ level: 'weak', value: 'v', final: false });
});

test('read: no quorum, the caller takes what there is → the weak view', async () => {
  const { fake, client } = openFake();
  const settled = client.invoke(get('k')).settle({ orLatest: true });
  const { weak, strong } = await bothReads(fake);
  strong.fail(UNAVAILABLE);
  weak.answer({ rows: [valueRow('k', 'v', 1)] });
  expect(await settled).toMatchObject({ level: 'weak', value: 'v', final: false });
});

test('read: both fail → the final failure, with that of the level', async () => {
  const { fake, client } = openFake();
  const read = client.invoke(get('k'));
  const { weak, strong } = await bothReads(fake);
  strong.fail(responseError(0x1200, 'a quorum timed out'));
  weak.fail(responseError(0x1001, 'full'));
  const error = await failure(read);
  expect(error.code).toBe('TIMEOUT');
  expect(error.levelErrors).toMatchObject({ weak: { code: 'OVERLOADED' } });
});

test('read: one level asked for → one request, at its consistency', async () => {
  const { fake, client } = openFake();
  for (const [ask, consistency] of [
    [client.invokeWeak(get('k')), 'ONE'],
    [client.invokeStrong(get('k')), 'QUORUM'],
  ] as const) {
    const executed = await fake.next();
    executed.answer({ rows: [valueRow('k', 1, 1)] });
    expect(await ask).toBe(1);
    expect(executed.consistency).toBe(consistency);
  }
  expect(fake.executed).toHaveLength(2);
});

test('read: a final view of one replica → no second request for a weak one', async () => {
  const { fake, binding, client } = openFake({ read: 'ONE', write: 'ALL' });
  expect(binding.consistencyLevels()).toEqual(['weak', 'strong']);
  const read = client.invoke(get('k'));
  (await fake.next()).answer({ rows: [] });
  expect(await read).toBeUndefined();
  expect(fake.executed).toHaveLength(1);
});

test('getMany: some absent, in any order → in the order of the keys', async () => {
  const { fake, client } = openFake();
  const read = client.invokeStrong(getMany(['a', 'b', 'c']));
  const executed = await fake.next();
  expect(executed.params).toEqual([['a', 'b', 'c']]);
  executed.answer({ rows: [valueRow('c', 3, 1), valueRow('a', 1, 2)] });
  expect(await read).toEqual([1, undefined, 3]);
});

test('getMany: more keys than a page holds → refused, nothing is sent', async () => {
  const { fake, client } = openFake();
  const keys = Array.from({ length: 1001 }, (_, n) => `key-${n}`);
  await expect(client.invokeStrong(getMany(keys))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
  expect(fake.executed).toHaveLength(0);
});

test('put: whatever levels are asked for → one write at the write consistency, final', async () => {
  const { fake, client } = openFake();
  const written = client.invoke(put('k', { n: 1 }), { levels: ['weak'] }).settle();
  const executed = await fake.next();
  expect([executed.consistency, executed.params]).toEqual(['QUORUM', ['k', '{"n":1}']]);
  executed.answer();
  expect(await written).toMatchObject({ level: 'strong', final: true, value: undefined });
  expect(fake.executed).toHaveLength(1);
});

test('put: two in one millisecond → the second is the later write', async () => {
  const { fake, client } = openFake();
  void Promise.all([client.invoke(put('k', 1)), client.invoke(put('k', 2))]);
  const [first, second] = [await fake.next(), await fake.next()];
  expect(second.options.timestamp).toBeGreaterThan(first.options.timestamp ?? Infinity);
  first.answer();
  second.answer();
});

test.each([
  ['no answer in time', responseError(0x1100, 'timed out', { writeType: 'SIMPLE' })],
  ['replicas failed', responseError(0x1500, 'failed')],
  ['the coordinator failed', responseError(0x0000, 'server error')],
  ['the connection was lost', Object.assign(new Error('ECONNRESET'), { isSocketError: true })],
  [
    'the coordinator was silent',
    Object.assign(new Error('no answer'), { name: 'OperationTimedOutError' }),
  ],
  [
    'one of the nodes tried was silent',
    Object.assign(new Error('all tried'), {
      name: 'NoHostAvailableError',
      innerErrors: {
        a: 'Host considered as DOWN',
        b: Object.assign(new Error(''), { isSocketError: true }),
      },
    }),
  ],
])('put: %s → UNKNOWN, never "not done"', async (_, cause) => {
  const { fake, client } = openFake();
  const written = client.invoke(put('k', 1));
  (await fake.next()).fail(cause);
  expect(await failure(written)).toMatchObject({
    code: 'UNKNOWN',
    operation: 'put',
    key: 'k',
    cause: { code: 'UNKNOWN', cause },
  });
});

test.each([
  ['UNAVAILABLE', UNAVAILABLE],
  ['OVERLOADED', responseError(0x1001, 'full')],
  ['UNAVAILABLE', responseError(0x1002, 'starting')],
  ['FORBIDDEN', responseError(0x2100, 'no')],
  ['FINAL_FAILED', responseError(0x2200, 'table shop.correctables_values does not exist')],
  ['UNAVAILABLE', Object.assign(new Error('x'), { isSocketError: true, requestNotWritten: true })],
  [
    'UNAVAILABLE',
    Object.assign(new Error('x'), { name: 'NoHostAvailableError', innerErrors: { a: 'DOWN' } }),
  ],
  ['OVERLOADED', Object.assign(new Error('x'), { name: 'BusyConnectionError' })],
  ['INVALID_ARGUMENT', new TypeError('Expected Number')],
])('put: refused before anything was done → %s (%#)', async (code, cause) => {
  const { fake, client } = openFake();
  const written = client.invoke(put('k', 1));
  (await fake.next()).fail(cause);
  expect(await failure(written)).toMatchObject({
    code,
    operation: 'put',
    key: 'k',
    cause: { code, cause },
  });
});

test.each([
  ['TIMEOUT', responseError(0x1200, 'timed out')],
  ['UNAVAILABLE', responseError(0x1300, 'replicas failed')],
  ['UNAUTHENTICATED', responseError(0x0100, 'who')],
  ['UNAUTHENTICATED', Object.assign(new Error('x'), { name: 'AuthenticationError' })],
  ['TIMEOUT', Object.assign(new Error('x'), { name: 'OperationTimedOutError' })],
  ['PROTOCOL', responseError(0x000a, 'what')],
  ['UNAVAILABLE', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })],
  [
    'UNAVAILABLE',
    Object.assign(new Error('x'), {
      name: 'NoHostAvailableError',
      innerErrors: { a: 'DOWN', b: UNAVAILABLE },
    }),
  ],
  [
    'UNAVAILABLE',
    Object.assign(new Error('x'), {
      name: 'NoHostAvailableError',
      innerErrors: { a: new Error('No connection available') },
    }),
  ],
  ['FINAL_FAILED', responseError(0x0000, 'server error')],
])('read: fails → %s (%#)', async (code, cause) => {
  const { fake, client } = openFake();
  const read = client.invokeStrong(get('k'));
  (await fake.next()).fail(cause);
  const own = code === 'FINAL_FAILED' ? cause : { code, cause };
  expect(await failure(read)).toMatchObject({ code, operation: 'get', key: 'k', cause: own });
});

test('read: the table is missing → the message names the call that makes it', async () => {
  const { fake, client } = openFake();
  const read = client.invokeStrong(get('k'));
  (await fake.next()).fail(responseError(0x2200, 'table correctables_values does not exist'));
  expect((await failure(read)).message).toContain(
    "getKeyValueTableCql({ keyspace: 'shop', table: 'correctables_values' })",
  );
});

test('read: the stored text is no JSON → INVALID_VALUE at that level', async () => {
  const { fake, client } = openFake();
  const read = client.invokeStrong(get('k'));
  (await fake.next()).answer({ rows: [{ key: 'k', value: 'not json', written: null }] });
  expect(await failure(read)).toMatchObject({ code: 'INVALID_VALUE' });
});

test('close: operations in flight and later → UNAVAILABLE, the driver is shut down once', async () => {
  const { fake, binding, client } = openFake();
  const read = client.invoke(get('k'));
  const { strong } = await bothReads(fake);
  await Promise.all([binding.close(), binding.close()]);
  expect(await failure(read)).toMatchObject({ code: 'UNAVAILABLE', retryable: false });
  strong.answer({ rows: [] });
  expect(await failure(client.invoke(get('k')))).toMatchObject({ code: 'UNAVAILABLE' });
  expect(fake.shutdowns).toBe(1);
});
