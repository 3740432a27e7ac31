/** Which contact point a binding starts with, and what it reports if it cannot start. */
import cassandraDriver from 'cassandra-driver';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connectFirst } from '../../../../src/bindings/cassandra/connect-client.ts';
import type { CassandraAlarm, DriverClient } from '../../../../src/bindings/cassandra/index.ts';
import type { ServerAddress } from '../../../../src/bindings/shared/server-address.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { openFake, responseError } from './fake-driver.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const { AuthenticationError, NoHostAvailableError } = cassandraDriver.errors;
const REFUSED = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** Contact points `a`, `b`, `c`, whose connections the test settles. */
function connect(hosts: readonly string[]) {
  const settle = new Map<string, { resolve(): void; reject(error: Error): void }>();
  const shutDown: string[] = [];
  const points = hosts.map((host): ServerAddress => ({ host, port: 9042 }));
  const connected = connectFirst(points, ({ host }) => {
    const client: DriverClient = {
      connect: () => new Promise((resolve, reject) => settle.set(host, { resolve, reject })),
      execute: () => Promise.resolve({}),
      shutdown: async () => void shutDown.push(host),
    };
    return { client, host };
  });
  const tried = (): string[] => [...settle.keys()];
  return { connected: connected.then(({ host }) => host), settle, shutDown, tried };
}

test('the first contact point answers → the others are not tried', async () => {
  const { connected, settle, tried } = connect(['a', 'b']);
  settle.get('a')?.resolve();
  expect(await connected).toBe('a');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(tried()).toEqual(['a']);
});

test('the first contact point is silent → the next one is tried after a second, and the late one is closed', async () => {
  const { connected, settle, shutDown, tried } = connect(['a', 'b', 'c']);
  await vi.advanceTimersByTimeAsync(999);
  expect(tried()).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(1);
  expect(tried()).toEqual(['a', 'b']);
  settle.get('b')?.resolve();
  expect(await connected).toBe('b');
  settle.get('a')?.resolve();
  await vi.advanceTimersByTimeAsync(2_000);
  expect([tried(), shutDown]).toEqual([['a', 'b'], ['a']]);
});

test('a contact point fails → the next one at once; all fail → an error with each', async () => {
  const { connected, settle } = connect(['a', 'b']);
  settle.get('a')?.reject(REFUSED);
  await vi.advanceTimersByTimeAsync(0);
  const refused = responseError(0x2100, 'no');
  settle.get('b')?.reject(refused);
  await expect(connected).rejects.toMatchObject({
    innerErrors: { 'a:9042': REFUSED, 'b:9042': refused },
  });
});

const UNTRUSTED = Object.assign(new Error('self-signed certificate'), {
  code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
});

test.each([
  [new AuthenticationError('Provided username and/or password are incorrect'), 'UNAUTHENTICATED'],
  [UNTRUSTED, 'UNAVAILABLE'],
])(
  'refused: %s → %s, not retryable, with the cause and one alarm; accepted again → works',
  async (cause, code) => {
    vi.useRealTimers();
    const alarms: CassandraAlarm[] = [];
    const onAlarm = (alarm: CassandraAlarm): void => void alarms.push(alarm);
    const { fake, client } = openFake({ contactPoints: ['a', 'b'], onAlarm });
    fake.answerAll(() => ({ rows: [] }));
    const refusals = [REFUSED, cause];
    fake.connect = () =>
      Promise.reject(new NoHostAvailableError({ x: refusals[fake.made.length % 2] } as never));
    for (let n = 0; n < 2; n += 1) {
      const read = client.invoke(get('k'));
      await expect(read).rejects.toMatchObject({ code, retryable: false });
      await expect(read).rejects.toThrow(cause.message);
    }
    expect(alarms).toEqual([
      { code: 'access-refused', message: expect.stringContaining(cause.message) },
    ]);
    fake.connect = () => Promise.resolve();
    await client.invoke(put('k', 1));
  },
);

test('no node can be reached → UNAVAILABLE, retryable, without an alarm', async () => {
  vi.useRealTimers();
  const alarms: CassandraAlarm[] = [];
  const { fake, client } = openFake({ onAlarm: (alarm: CassandraAlarm) => alarms.push(alarm) });
  fake.connect = () => Promise.reject(new NoHostAvailableError({ x: REFUSED } as never));
  await expect(client.invoke(put('k', 1))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    retryable: true,
  });
  expect(alarms).toEqual([]);
});
