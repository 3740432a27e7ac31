/**
 * Views of a store with replicas: which replica answers, what a failure is, how far a view is
 * behind.
 */
import { expect, test } from 'vitest';
import { getLagMs, replicas } from '../../../../src/bindings/replicas/index.ts';
import { openReplicas } from '../../../../src/bindings/replicas/replicas.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { CorrectableError } from '../../../../src/correctable/errors.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { virtualClock } from '../../../../src/testing/index.ts';
import { ReplicatedMemory } from '../../../support/replicated-memory.ts';

function open(names?: readonly string[]) {
  const store = new ReplicatedMemory(names);
  const clock = virtualClock();
  const binding = openReplicas(store, {}, clock);
  return { store, clock, binding, client: createClient(binding, { clock }) };
}

type Opened = ReturnType<typeof open>;

async function collect(
  { client }: Pick<Opened, 'client'>,
  operation = get('k'),
): Promise<(readonly [string, unknown])[]> {
  const views: (readonly [string, unknown])[] = [];
  for await (const { level, value } of client.invoke(operation)) views.push([level, value]);
  return views;
}

/** A server that does not answer until `release` is called. */
function hold(): { readonly held: Promise<void>; readonly release: () => void } {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  return { held, release };
}

// @rule REPL-1
test('a read has the view of the nearest replica, then that of the primary', async () => {
  const opened = open();
  const { store } = opened;
  store.append('k', 'old');
  store.isFollowing = false;
  store.append('k', 'new');
  store.catchUp('far');
  expect(await collect(opened)).toEqual([
    ['replica', 'old'],
    ['primary', 'new'],
  ]);
  expect(store.requests).toEqual(['near get', 'primary get']);
});

// @rule REPL-1
test('an update has one view, at the primary', async () => {
  const opened = open();
  expect(await collect(opened, put('k', 1))).toEqual([['primary', undefined]]);
  expect(opened.store.requests).toEqual(['primary put']);
});

// @rule REPL-2
test('a replica that fails is left alone for a while, and the next one answers', async () => {
  const opened = open();
  const { store, clock, binding } = opened;
  store.append('k', 1);
  store.before = (_, server) => {
    if (server === 'near') throw new Error('ECONNREFUSED');
  };
  expect(await collect(opened)).toHaveLength(2);
  expect(await collect(opened)).toHaveLength(2);
  expect(store.requests.filter((request) => request.startsWith('near'))).toHaveLength(1);
  expect(binding.stats.replicaFailures).toBe(1);

  store.before = () => {};
  await clock.advance(500);
  await collect(opened);
  expect(store.requests.at(-2)).toBe('near get');
});

// @rule REPL-2
test('if no replica answers, only the level fails', async () => {
  const opened = open();
  opened.store.append('k', 1);
  opened.store.before = (_, server) => {
    if (server !== 'primary') throw new Error('down');
  };
  expect(await collect(opened)).toEqual([['primary', 1]]);
  expect(await opened.client.invokeWeak(get('k'))).toBe(1); // by the primary
});

// @rule REPL-2
test('arguments that do not fit are not retried at another replica', async () => {
  const { store, client, binding } = open();
  store.before = () => {
    throw new CorrectableError('INVALID_ARGUMENT', 'no such column');
  };
  await expect(client.invoke(get('k'))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  expect(store.requests).toEqual(['near get', 'primary get']);
  expect(binding.stats.replicaFailures).toBe(0);
});

// @rule REPL-3
test('if the primary does not answer, the error has the view of the replica', async () => {
  const { store, client } = open();
  store.append('k', 1);
  store.before = (_, server) => {
    if (server === 'primary') throw new Error('ECONNREFUSED');
  };
  const failure: unknown = await client.invoke(get('k')).then(undefined, (error: unknown) => error);
  expect(failure).toMatchObject({ code: 'UNAVAILABLE', lastView: { value: 1, level: 'replica' } });
});

// @rule REPL-4
test('a write whose answer is lost is UNKNOWN, one that was not sent is UNAVAILABLE', async () => {
  const { store, client } = open();
  store.beforeAnswer = () => {
    throw new Error('ECONNRESET');
  };
  await expect(client.invoke(put('k', 1))).rejects.toMatchObject({
    code: 'UNKNOWN',
    retryable: false,
  });
  store.isConnected = false;
  store.before = () => {
    throw new Error('ECONNREFUSED');
  };
  await expect(client.invoke(put('k', 2))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  store.before = () => {};
  expect(await client.invokeStrong(get('k'))).toBe(1);
});

// @rule REPL-4
test('a write whose caller leaves before it is sent is not sent', async () => {
  const { store, client } = open();
  const { held, release } = hold();
  store.isConnected = false;
  store.before = () => held;
  const leaving = new AbortController();
  const writing = client.invoke(put('k', 1), { signal: leaving.signal });
  leaving.abort();
  await expect(writing).rejects.toMatchObject({ code: 'ABORTED' });
  release();
  store.before = () => {};
  expect(await client.invokeStrong(get('k'))).toBeUndefined();
});

// @rule REPL-4
test('closing fails reads, and reports writes in flight as UNKNOWN', async () => {
  const { store, binding, client } = open();
  const { held } = hold();
  store.beforeAnswer = () => held;
  const writing = client.invoke(put('k', 1));
  await Promise.resolve();
  store.before = () => held;
  const reading = client.invoke(get('k'));
  const failures = Promise.allSettled([writing, reading]);
  await binding.close();
  expect(await failures).toMatchObject([
    { reason: { code: 'UNKNOWN' } },
    { reason: { code: 'UNAVAILABLE' } },
  ]);
  expect(store.closed).toBe(1);
  expect(() => binding.submitOperation(get('k'), ['primary'], {} as never, {} as never)).toThrow(
    /closed/,
  );
});

// @rule REPL-8
test('a final that contradicts a replica that is as far is read once more', async () => {
  const opened = open();
  const { store, binding } = opened;
  store.append('k', 1);
  let reads = 0;
  const read = store.read.bind(store);
  // The primary does not show the write yet, as its client has no answer. The replica does.
  store.read = async (operation, server, call) => {
    const answer = await read(operation, server, call);
    if (server !== 'primary') return answer;
    reads += 1;
    return reads === 1 ? { ...answer, value: undefined } : answer;
  };
  expect(await collect(opened)).toEqual([
    ['replica', 1],
    ['primary', 1],
  ]);
  expect(binding.stats).toMatchObject({ repeatedFinals: 1, corrected: 0 });
});

// @rule REPL-9
test('the lag of a view is the age of the newest request of the primary that it covers', async () => {
  const { store, client, clock } = open();
  const readLag = async (): Promise<number> => {
    const reading = client.invoke(get('k'));
    const view = await reading.when('replica');
    await reading;
    return getLagMs(view);
  };
  expect(await readLag()).toBeNaN(); // nothing is known yet

  await clock.advance(30);
  expect(await readLag()).toBe(30);
  store.isFollowing = false;
  store.append('k', 1);
  await clock.advance(70);
  expect(await readLag()).toBe(70);
  await clock.advance(400);
  expect(await readLag()).toBe(470); // the write was there 400 ms ago
  store.catchUp();
  expect(await readLag()).toBe(0);
  expect(getLagMs(await client.invoke(get('k')).when('primary'))).toBe(0);
});

// @rule REPL-9
test('reads of replicas alone ask for the position of the primary now and then', async () => {
  const { store, client, clock } = open();
  for (let count = 0; count < 10; count += 1) {
    await client.invokeWeak(get('k'));
    await clock.advance(100);
  }
  expect(store.requests.filter((request) => request === 'primary position')).toHaveLength(4);
  const view = await client.invoke(get('k'), { levels: ['replica'] }).when('replica');
  expect(getLagMs(view)).toBeLessThan(400);
});

test('without replicas, the primary answers', async () => {
  const opened = open([]);
  opened.store.append('k', 1);
  expect(await collect(opened)).toEqual([['primary', 1]]);
});

test('options and stores that do not fit are refused', () => {
  const store = new ReplicatedMemory();
  expect(() => replicas(store, { tokenkey: 'x' } as object)).toThrow('tokenKey');
  expect(() => replicas(store, { tokenKey: 'short' })).toThrow('16 bytes');
  expect(() => replicas({} as never)).toThrow('store');
});

// @rule REPL-8
test('a final is not older than the view of a replica that was read later', async () => {
  const { store, client } = open();
  store.append('k', 1);
  const primaryWasRead = hold();
  const replicaWasShown = hold();
  const read = store.read.bind(store);
  store.read = async (operation, server, call) => {
    if (server !== 'primary') {
      await primaryWasRead.held;
      store.append('another', 1);
      return await read(operation, server, call);
    }
    const answer = await read(operation, server, call);
    primaryWasRead.release();
    await replicaWasShown.held;
    return answer;
  };
  const reading = client.invoke(get('k'));
  expect((await reading.when('replica')).version).toEqual({ epoch: 1, at: 2 });
  replicaWasShown.release();
  const final = await reading.when('primary');
  expect(final).toMatchObject({ value: 1, version: { epoch: 1, at: 2 } });
  expect(final.regressed).toBeUndefined();
});

// @rule REPL-2
test('a statement that takes too long is not started at another replica', async () => {
  const { store, client, binding } = open();
  store.before = (_, server) => {
    if (server !== 'primary') throw new CorrectableError('TIMEOUT', 'statement timeout');
  };
  await client.invoke(get('k'));
  expect(store.requests).toEqual(['near get', 'primary get']);
  expect(binding.stats.replicaFailures).toBe(0);
});

/** A store whose replicas know what a write will return. */
function openWithPreviews(answer: () => Promise<unknown>) {
  const opened = open();
  const { position } = opened.store;
  opened.store.beforeAnswer = () => new Promise((resolve) => setImmediate(resolve));
  Object.assign(opened.store, { preview: async () => ({ value: await answer(), position }) });
  return opened;
}

// @rule REPL-1
test('an update may have a preliminary view of a replica, without a version', async () => {
  const { client, binding } = openWithPreviews(async () => 'guess');
  const writing = client.invoke(put('k', 1));
  expect(await writing.when('replica')).toMatchObject({ level: 'replica', value: 'guess' });
  expect((await writing.when('replica')).version).toBeUndefined();
  expect((await writing.when('primary')).value).toBeUndefined();
  expect(binding.stats.replicaViews).toBe(1);
});

// @rule REPL-1
test('a preliminary view of an update that fails does not fail the update', async () => {
  const opened = openWithPreviews(() => Promise.reject(new Error('down')));
  expect(await collect(opened, put('k', 1))).toEqual([['primary', undefined]]);
  expect(await opened.client.invokeStrong(get('k'))).toBe(1);
});

// @rule REPL-5
test('an update has no preliminary view of a replica that is behind its session', async () => {
  const opened = openWithPreviews(async () => 'old');
  const session = opened.client.session();
  await opened.client.invokeStrong(put('k', 1), { session });
  const views: string[] = [];
  for await (const { level } of opened.client.invoke(put('k', 2), { session })) views.push(level);
  expect(views).toEqual(['primary']);
  expect(opened.binding.stats.behindSession).toBe(1);
});

/** Counts the reads that a replica got. */
function countReads({ requests }: ReplicatedMemory, server: string): number {
  return requests.filter((request) => request === `${server} get`).length;
}

// @rule REPL-17
test('a replica that gives no answer is checked, and the next one answers', async () => {
  const { store, clock, client } = open();
  const probes: string[] = [];
  let isThere = false;
  const probed = Object.assign(store, {
    async probe(server: string) {
      probes.push(server);
      if (!isThere) throw new Error('no answer');
    },
  });
  const binding = openReplicas(probed, {}, clock);
  const probing = createClient(binding, { clock, timeoutMs: 1_000 });
  store.append('k', 1);
  store.before = (_, server) => (server === 'near' ? hold().held : undefined);
  const reading = probing.invoke(get('k'), { levels: ['replica'] });
  await clock.advance(250);
  expect(await reading).toBe(1);
  expect(probes).toEqual(['near']);

  // It is left alone. After a while, a probe decides whether a read may go there.
  expect(await probing.invoke(get('k'), { levels: ['replica'] })).toBe(1);
  await clock.advance(500);
  expect(await probing.invoke(get('k'), { levels: ['replica'] })).toBe(1);
  expect(probes).toEqual(['near', 'near']);
  expect(countReads(store, 'near')).toBe(1);
  store.before = () => {};
  isThere = true;
  await clock.advance(1_000);
  await probing.invoke(get('k'), { levels: ['replica'] });
  await probing.invoke(get('k'), { levels: ['replica'] });
  expect(countReads(store, 'near')).toBe(2);
  await client.close();
});

// @rule REPL-17
test('a slow read is awaited if the replica answers a probe', async () => {
  const { store, clock } = open();
  const binding = openReplicas(Object.assign(store, { probe: async () => {} }), {}, clock);
  const client = createClient(binding, { clock, timeoutMs: 10_000 });
  store.append('k', 1);
  const { held, release } = hold();
  store.before = (_, server) => (server === 'near' ? held : undefined);
  const reading = client.invoke(get('k'), { levels: ['replica'] });
  await clock.advance(6_000);
  release();
  expect(await reading).toBe(1);
  expect(countReads(store, 'far')).toBe(0);
});

// @rule REPL-17
test('without a probe, a replica that gives no answer for a quarter of the timeout counts as failed', async () => {
  const { store, clock, binding } = open();
  const client = createClient(binding, { clock, timeoutMs: 8_000 });
  store.append('k', 1);
  store.before = (_, server) => (server === 'near' ? hold().held : undefined);
  const reading = client.invoke(get('k'), { levels: ['replica'] });
  await clock.advance(2_000);
  expect(await reading).toBe(1);
  expect(await client.invoke(get('k'), { levels: ['replica'] })).toBe(1);
  expect(countReads(store, 'near')).toBe(1);
});

// @rule REPL-17
test('a silent replica is noticed although each caller has its answer from the primary', async () => {
  const { store, clock, binding } = open(['near']);
  const client = createClient(binding, { clock, timeoutMs: 1_000 });
  store.append('k', 1);
  store.before = (_, server) => (server === 'near' ? hold().held : undefined);
  expect(await client.invoke(get('k'))).toBe(1);
  await clock.advance(250);
  expect(await client.invoke(get('k'))).toBe(1);
  expect(countReads(store, 'near')).toBe(1);
});

// @rule REPL-2
test('a value that cannot be read is no failure of the replica', async () => {
  const { store, client, binding } = open();
  store.before = () => void JSON.parse('plain text');
  const failure: unknown = await client.invoke(get('k')).then(undefined, (error: unknown) => error);
  expect(failure).toMatchObject({ code: 'INVALID_VALUE', retryable: false });
  expect(countReads(store, 'near')).toBe(1);
  expect(countReads(store, 'far')).toBe(0);
  store.before = () => {};
  await client.invoke(get('k'));
  expect(countReads(store, 'near')).toBe(2);
  expect(binding.stats.replicaFailures).toBe(0);
});

// @rule REPL-2
test('the store decides which failures are those of the server', async () => {
  const { store, clock } = open();
  const isServerFailure = (error: unknown): boolean => /ECONNREFUSED/.test(String(error));
  const binding = openReplicas(Object.assign(store, { isServerFailure }), {}, clock);
  const client = createClient(binding, { clock });
  store.append('k', 1);
  store.before = (_, server) => {
    if (server === 'near') throw new CorrectableError('UNAVAILABLE', 'canceled by the replay');
  };
  expect(await client.invoke(get('k'), { levels: ['replica'] })).toBe(1); // by the next one
  await client.invoke(get('k'), { levels: ['replica'] });
  expect(countReads(store, 'near')).toBe(2);
});
