/** Connections that the binding borrows from a pool. */
import { EventEmitter } from 'node:events';
import { expect, test, vi } from 'vitest';
import type {
  DriverClient,
  DriverPool,
  DriverQuery,
  DriverResult,
} from '../../../../../src/bindings/postgres/driver.ts';
import { postgres } from '../../../../../src/bindings/postgres/index.ts';
import { ParserError } from '../../../../../src/bindings/postgres/connections/column-parsers.ts';
import { PoolServer } from '../../../../../src/bindings/postgres/connections/pool-server.ts';

class FakeClient extends EventEmitter implements DriverClient {
  readonly processID: number = 7;
  readonly released: unknown[] = [];
  answer: (query: DriverQuery) => Promise<DriverResult> = async () => ({
    rows: [{ n: 1 }],
    rowCount: 1,
  });

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
  const statements = ([undefined, 'raw', 'application'] as const).map((columns) => ({
    ...SELECT,
    columns,
  }));
  await server.run(statements, call);
  expect(parsers).toEqual(['text', 'text', 'parsed']);
});

test('an error of a parser of the application is known as one', async () => {
  const { client, server, call } = open();
  const cause = new Error('no such date');
  client.getTypeParser = () => () => {
    throw cause;
  };
  client.answer = async ({ types }) => ({
    rows: [{ at: types?.getTypeParser(1083)('x' as never) as object }],
  });
  const [outcome] = await server.run([{ ...SELECT, columns: 'application' }], call);
  expect(outcome).toMatchObject({ reason: expect.any(ParserError) });
  expect(outcome).toMatchObject({ reason: { cause } });
});

test('a connection that works is given back as it was', async () => {
  const { client, server, call } = open();
  const outcomes = await server.run([SELECT, SELECT], call);
  expect(outcomes).toMatchObject([
    { value: { rows: [{ n: 1 }], changedRows: 1 } },
    { status: 'fulfilled' },
  ]);
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

/** A connection of a pool that makes as many as are asked for. */
class PooledClient extends FakeClient {
  isDestroyed = false;
  readonly #onDestroy: (() => void)[] = [];
  readonly connection = {
    stream: {
      destroy: (): void => {
        this.isDestroyed = true;
        for (const fail of this.#onDestroy) fail();
      },
    },
  };

  /** Gives no answer until the connection is destroyed. */
  readonly silent = (): Promise<DriverResult> =>
    new Promise((_, reject) =>
      this.#onDestroy.push(() => reject(new Error('Connection terminated unexpectedly'))),
    );
}

/** What a new connection finds at the server. */
type Probed = () => Promise<readonly object[]>;

function openPool(probed: Probed = async () => []) {
  const events = new EventEmitter();
  const ask = vi.fn(probed);
  const idle: PooledClient[] = [];
  const made: PooledClient[] = [];
  class Client extends FakeClient {
    override readonly processID: number = 9;
    readonly connect = async (): Promise<void> => {};
    override readonly answer = async (): Promise<DriverResult> => ({ rows: await ask() });
  }
  const pool: DriverPool = {
    options: { pipeline: true, max: 10, connectionTimeoutMillis: 1_000 },
    Client: Client as DriverPool['Client'],
    totalCount: 1,
    get idleCount() {
      return idle.length;
    },
    waitingCount: 0,
    async connect() {
      const client = idle.pop() ?? new PooledClient();
      if (!made.includes(client)) {
        made.push(client);
        events.emit('connect', client);
        const release = client.release.bind(client);
        client.release = (isBroken) => {
          release(isBroken);
          if (isBroken !== true) idle.push(client);
          else events.emit('remove', client);
        };
      }
      return client;
    },
    on: events.on.bind(events) as DriverPool['on'],
    end: async () => {},
  };
  const server = new PoolServer({ name: 'primary', pool, prepare: true, isOwned: true });
  const { signal } = new AbortController();
  /** Waits until a silent call was checked, and its verdict is there. */
  const untilProbed = async (): Promise<void> => {
    await vi.waitFor(() => expect(ask).toHaveBeenCalled());
    await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    server,
    made,
    untilProbed,
    call: { signal, markSent: () => {}, deadlineAt: Date.now() + 400 },
  };
}

const OWN = { pid: 9, state: 'active', wait_event: null, is_own: true };

// @rule REPL-18
test('a connection whose server has nothing to do for it is given up, and so are all that were made before', async () => {
  const { server, made, call } = openPool(async () => [
    OWN,
    { pid: 7, state: 'idle', wait_event: 'ClientRead' },
  ]);
  await Promise.all([server.run([SELECT], call), server.run([SELECT], call)]);
  expect(made).toHaveLength(2);
  for (const client of made) client.answer = client.silent;
  const outcomes = await server.run([SELECT], call);
  expect(outcomes).toMatchObject([
    { status: 'rejected', reason: { message: expect.stringContaining('it was lost') } },
  ]);
  expect(await server.run([SELECT], call)).toMatchObject([{ status: 'fulfilled' }]);
  expect(made).toHaveLength(3);
  expect(made.map(({ isDestroyed }) => isDestroyed)).toEqual([true, true, false]);
});

// @rule REPL-18
test('a slow statement is awaited', async () => {
  const { server, made, untilProbed, call } = openPool(async () => [
    OWN,
    { pid: 7, state: 'active', wait_event: 'Lock' },
  ]);
  await server.run([SELECT], call);
  let answer = (): void => {};
  made[0]!.answer = () => new Promise((resolve) => (answer = () => resolve({ rows: [{ n: 2 }] })));
  const running = server.run([SELECT], call);
  await untilProbed();
  answer();
  expect(await running).toMatchObject([{ value: { rows: [{ n: 2 }] } }]);
  expect(made[0]!.isDestroyed).toBe(false);
});

// @rule REPL-18
test('behind a pooler, a process that is not there says nothing', async () => {
  const { server, made, untilProbed, call } = openPool(async () => [{ ...OWN, is_own: false }]);
  await server.run([SELECT], call);
  made[0]!.answer = made[0]!.silent;
  const running = server.run([SELECT], call);
  await untilProbed();
  expect(made[0]!.isDestroyed).toBe(false);
  made[0]!.connection.stream.destroy();
  await running;
});

// @rule REPL-18
test('a server that does not answer on a new connection either loses its connections', async () => {
  const { server, made, call } = openPool(() =>
    Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' })),
  );
  await server.run([SELECT], call);
  made[0]!.answer = made[0]!.silent;
  expect(await server.run([SELECT], call)).toMatchObject([
    { status: 'rejected', reason: { cause: { code: 'ECONNREFUSED' } } },
  ]);
  expect(made[0]!.isDestroyed).toBe(true);
});

test('a server that accepts no more connections is there', async () => {
  const { server, made, untilProbed, call } = openPool(() =>
    Promise.reject(Object.assign(new Error('too many'), { code: '53300' })),
  );
  await server.run([SELECT], call);
  made[0]!.answer = made[0]!.silent;
  const running = server.run([SELECT], call);
  await untilProbed();
  expect(made[0]!.isDestroyed).toBe(false);
  made[0]!.connection.stream.destroy();
  await running;
  await expect(server.probe()).rejects.toMatchObject({ code: 'OVERLOADED' });
});

// @rule REPL-18
test('connections to a wrong server are not used again', async () => {
  const { server, made, call } = openPool();
  await server.run([SELECT], call);
  server.renew();
  const states: number[] = [];
  await server.run([SELECT], { ...call, markSent: () => void states.push(made.length) });
  expect(made).toHaveLength(2);
  expect(states).toEqual([2]); // A connection that is given up sends nothing.
});

// @rule REPL-27
test('a statement whose columns have changed is prepared by another name, and nothing fails', async () => {
  const { server, made, call } = openPool();
  const names: unknown[] = [];
  const changed = Object.assign(new Error('cached plan must not change result type'), {
    code: '0A000',
    routine: 'RevalidateCachedQuery',
  });
  await server.run([SELECT], call);
  made[0]!.answer = async ({ name }) => {
    names.push(name);
    if (name === names[0]) throw changed;
    return { rows: [{ n: 3 }] };
  };
  expect(await server.run([SELECT], call)).toMatchObject([{ value: { rows: [{ n: 3 }] } }]);
  expect(new Set(names).size).toBe(2);

  // A write that came before it in the batch is not made twice.
  const other = { text: 'select 2', values: [] };
  made[0]!.answer = async ({ text }) => {
    if (text === other.text) throw changed;
    return { rows: [] };
  };
  expect(await server.run([SELECT, other], call)).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected' },
  ]);
});

/** What a statement fails with after another program has removed it. */
const removed = Object.assign(new Error('prepared statement does not exist'), { code: '26000' });

// @rule REPL-27
test('a write is not repeated if only a statement after its commit was removed', async () => {
  const { server, made, call } = openPool();
  await server.run([SELECT], call);
  const sent: string[] = [];
  made[0]!.answer = async ({ text }) => {
    sent.push(text);
    if (text === 'select position') throw removed;
    return { rows: [] };
  };
  const texts = ['begin', 'select fence', 'insert', 'commit', 'select position'];
  const outcomes = await server.run(
    texts.map((text) => ({ text, values: [] })),
    call,
  );
  expect(outcomes.map(({ status }) => status)).toEqual([...Array(4).fill('fulfilled'), 'rejected']);
  expect(sent).toEqual(texts);
  expect(made[0]!.released).toEqual([false, true]);
});

// @rule REPL-27
test('a connection whose statements were removed is closed, and the batch runs on one that works', async () => {
  const { server, made, call } = openPool();
  await Promise.all([server.run([SELECT], call), server.run([SELECT], call)]);
  const names: unknown[] = [];
  for (const client of made)
    client.answer = async ({ text, name }) => {
      names.push(name);
      if (text === 'select 2') throw removed;
      return { rows: [] };
    };
  const batch = ['begin', 'select 2', 'commit'].map((text) => ({ text, values: [] }));
  expect((await server.run(batch, call)).map(({ status }) => status)).toEqual(
    Array(3).fill('fulfilled'),
  );
  expect(made.map(({ released }) => released.at(-1))).toEqual([true, true, false]);
  // Without its begin, a write would be made by itself, and once more with it.
  expect(names).toEqual([undefined, expect.any(String), undefined, undefined, names[1], undefined]);
});

test('a pool of the application keeps no listener of a binding that was closed', async () => {
  const { client, pool } = open();
  const events = new EventEmitter();
  Object.assign(pool, {
    on: events.on.bind(events),
    removeListener: events.removeListener.bind(events),
  });
  const server = new PoolServer({ name: 'primary', pool, prepare: true, isOwned: false });
  events.emit('connect', client);
  await server.close();
  expect(events.eventNames()).toEqual([]);
  expect(client.eventNames()).toEqual([]);
});

test('a probe leaves no connection of a client whose socket is unknown', async () => {
  const end = vi.fn(async () => {});
  class Client extends FakeClient {
    readonly connect = async (): Promise<void> => {};
    readonly end = end;
  }
  const { pool } = open();
  Object.assign(pool, { Client });
  await new PoolServer({ name: 'primary', pool, prepare: true, isOwned: false }).probe();
  expect(end).toHaveBeenCalledTimes(1);
});

test.each([
  [
    { code: '28P01', message: 'password authentication failed for user "clerk"' },
    'UNAUTHENTICATED',
    false,
  ],
  [{ code: '28000', message: 'role "clerk" is not permitted to log in' }, 'UNAUTHENTICATED', false],
  [{ code: '53300', message: 'sorry, too many clients already' }, 'OVERLOADED', true],
  [{ code: '3D000', message: 'database "shop" does not exist' }, 'FINAL_FAILED', false],
  [
    { code: 'DEPTH_ZERO_SELF_SIGNED_CERT', message: 'self-signed certificate' },
    'UNAVAILABLE',
    false,
  ],
  [{ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 10.0.0.1:5432' }, 'UNAVAILABLE', true],
])(
  'a connection that is refused is reported with the reason: %j',
  async (fields, code, retryable) => {
    const { pool, server, call } = open();
    const cause = Object.assign(new Error(fields.message), fields);
    pool.connect = () => Promise.reject(cause);
    await expect(server.run([SELECT], call)).rejects.toMatchObject({
      code,
      retryable,
      cause,
      message: expect.stringContaining(`${fields.message}. Nothing was sent.`),
    });
  },
);
