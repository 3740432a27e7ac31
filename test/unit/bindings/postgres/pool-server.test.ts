/** Connections that the binding borrows from a pool. */
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { DriverClient, DriverPool, DriverQuery, DriverResult } from '../../../../src/bindings/postgres/driver.ts';
import { postgres } from '../../../../src/bindings/postgres/index.ts';
import { PoolServer } from '../../../../src/bindings/postgres/pool-server.ts';

class FakeClient extends EventEmitter implements DriverClient {
  readonly processID = 7;
  readonly released: unknown[] = [];
  answer: (query: DriverQuery) => Promise<DriverResult> = async () => ({ rows: [{ n: 1 }], rowCount: 1 });

  query(query: DriverQuery): Promise<DriverResult> {
    return this.answer(query);
  }

  getTypeParser(): (text: never) => unknown {
    return (text) => text;
  }

  release(isBroken?: unknown): void {
    this.released.push(isBroken);
  }
}

function open() {
  const client = new FakeClient();
  const pool: DriverPool = {
    options: { pipeline: true, max: 1 },
    totalCount: 1,
    idleCount: 1,
    waitingCount: 0,
    connect: async () => client,
    on: () => {},
    end: async () => {},
  };
  const server = new PoolServer({ name: 'primary', pool, prepare: true, isOwned: false });
  const { signal } = new AbortController();
  return { client, pool, server, call: { signal, markSent: () => {} } };
}

const SELECT = { text: 'select 1', values: [] };

test('a connection that breaks reports several errors, which end nothing but its statements', async () => {
  const { client, server, call } = open();
  client.answer = async () => {
    client.emit('error', new Error('terminating connection due to unexpected postmaster exit'));
    client.emit('error', new Error('Connection terminated unexpectedly'));
    throw new Error('Connection terminated unexpectedly');
  };
  expect(await server.run([SELECT], call)).toMatchObject([{ status: 'rejected' }]);
  expect(client.released).toEqual([true]);
  client.emit('error', new Error('read ECONNRESET')); // later
});

test('a connection with an open transaction is closed, and not given back', async () => {
  for (const status of ['T', 'E', 'I']) {
    const { client, server, call } = open();
    Object.assign(client, { getTransactionStatus: () => status });
    await server.lend(call, async ({ run }) => void (await run([SELECT])));
    const failing = server.lend(call, () => Promise.reject(new Error('no JSON')));
    await expect(failing).rejects.toThrow('no JSON');
    expect(client.released).toEqual(Array(2).fill(status !== 'I'));
  }
});

test('only columns of the application pass its parsers of types', async () => {
  const { client, server, call } = open();
  const parsers: unknown[] = [];
  client.getTypeParser = () => () => 'parsed';
  client.answer = async ({ types }) => {
    parsers.push(types?.getTypeParser(25)('text' as never));
    return { rows: [] };
  };
  const statements = ([undefined, 'raw', 'application'] as const).map((columns) => ({ ...SELECT, columns }));
  await server.run(statements, call);
  expect(parsers).toEqual(['text', 'text', 'parsed']);
});

test('a connection that works is given back as it was', async () => {
  const { client, server, call } = open();
  const outcomes = await server.run([SELECT, SELECT], call);
  expect(outcomes).toMatchObject([{ value: { rows: [{ n: 1 }], changedRows: 1 } }, { status: 'fulfilled' }]);
  expect(client.released).toEqual([false]);
  expect(client.listenerCount('error')).toBe(0);
});

test('without a connection, nothing was sent', async () => {
  const { pool, server, call } = open();
  pool.connect = () => Promise.reject(new Error('timeout exceeded when trying to connect'));
  await expect(server.run([SELECT], call)).rejects.toMatchObject({ code: 'OVERLOADED' });
});

test('a caller that has left before a connection was free sends nothing, and keeps none', async () => {
  const { client, pool, server } = open();
  Object.assign(pool, { idleCount: 0 });
  const { signal } = new AbortController();
  const markSent = (): never => {
    throw new Error('the caller has left');
  };
  await expect(server.run([SELECT], { signal, markSent })).rejects.toThrow('has left');
  expect(client.released).toEqual([false]);
});

test('a new connection that breaks before the pool gives it away ends no process', () => {
  const { client, pool } = open();
  const events = new EventEmitter();
  Object.assign(pool, { on: events.on.bind(events) });
  const server = new PoolServer({ name: 'primary', pool, prepare: true, isOwned: true });
  events.emit('connect', client);
  client.emit('error', new Error('terminating connection due to unexpected postmaster exit'));
  events.emit('error', new Error('the same of an idle connection'));
  expect(server).toBeDefined();
});

test('an address that is empty is reported as empty', () => {
  expect(() => postgres({ primary: '' })).toThrow(/^primary: must not be empty/);
  expect(() => postgres({ primary: 'postgres://10.0.0.1/shop', replicas: [''] })).toThrow(
    /^replicas\[0\]: must not be/,
  );
});
