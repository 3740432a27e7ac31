/** Sessions over replicas: no view is older than what the session has written or seen. */
import { expect, test, vi } from 'vitest';
import { replicas, type ReplicaRead } from '../../../../src/bindings/replicas/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { ReplicatedMemory, type LogPosition } from '../../../support/replicated-memory.ts';

const TOKEN_KEY = 'a secret of all processes';

function open(store = new ReplicatedMemory()) {
  const binding = replicas(store, { tokenKey: TOKEN_KEY });
  return { store, binding, client: createClient(binding) };
}

type Client = ReturnType<typeof open>['client'];

async function collect(client: Client, session: ReturnType<Client['session']>): Promise<string[]> {
  const views: string[] = [];
  for await (const { level, value } of client.invoke(get('k'), { session }))
    views.push(`${level} ${String(value)}`);
  return views;
}

// @rule REPL-5
test('a replica that lacks a write of the session gives no view, and is counted', async () => {
  const { store, client, binding } = open();
  const session = client.session();
  store.isFollowing = false;
  await client.invoke(put('k', 1), { session });
  expect(await collect(client, session)).toEqual(['primary 1']);
  expect(binding.stats.behindSession).toBe(1);
  expect(await client.invokeWeak(get('k'), { session })).toBe(1); // by the primary
  store.catchUp();
  expect(await collect(client, session)).toEqual(['replica 1', 'primary 1']);
});

// @rule REPL-5
test('a server that can wait gets the position of the session', async () => {
  class WaitingMemory extends ReplicatedMemory {
    readonly after: unknown[] = [];

    override read(...[operation, server, call]: Parameters<ReplicatedMemory['read']>) {
      if (server === 'near') {
        this.after.push(call.after);
        // It waits: it has each write then.
        if (call.after !== undefined) this.catchUp('near');
      }
      return super.read(operation, server, call);
    }
  }
  const store = new WaitingMemory();
  const { client } = open(store);
  store.isFollowing = false;
  const session = client.session();
  await client.invoke(put('k', 1), { session });
  await client.invoke(get('k'));
  expect(await collect(client, session)).toEqual(['replica 1', 'primary 1']);
  expect(store.after).toEqual([undefined, store.position]);
});

// @rule REPL-5
test('reads of a session never go back, from one replica to another', async () => {
  const { store, client } = open();
  const session = client.session();
  store.isFollowing = false;
  store.append('k', 1);
  store.catchUp('near');
  expect(await client.invokeWeak(get('k'), { session })).toBe(1);
  store.before = (_, server) => {
    if (server === 'near') throw new Error('down');
  };
  expect(await client.invokeWeak(get('k'), { session })).toBe(1); // not by the replica that is behind
  expect(await client.invokeWeak(get('k'))).toBeUndefined(); // without the session
});

// @rule REPL-6
test('what a read has seen may be newer than its position', async () => {
  const { store, client } = open();
  const session = client.session();
  store.isFollowing = false;
  // A write is applied between the two statements that read the position and the value.
  const read = store.read.bind(store);
  store.read = async (operation, server, call): Promise<ReplicaRead<LogPosition>> => {
    const { position } = await read(operation, server, call);
    if (server === 'near' && position!.at === 0) {
      store.append('k', 1);
      store.catchUp('near');
    }
    const later = await read(operation, server, call);
    return { value: later.value, position, seenUpTo: later.position };
  };
  expect(await client.invokeWeak(get('k'), { session })).toBe(1);
  store.before = (_, server) => {
    if (server === 'near') throw new Error('down');
  };
  expect(await client.invokeWeak(get('k'), { session })).toBe(1);
});

// @rule REPL-7
test('a token carries a session to another process', async () => {
  const { store, client } = open();
  const other = open(store).client;
  const session = client.session();
  store.isFollowing = false;
  await client.invoke(put('k', 1), { session });
  const there = other.session({ tokens: session.tokens });
  expect(await collect(other, there)).toEqual(['primary 1']);
  expect(await collect(other, other.session())).toEqual(['replica undefined', 'primary 1']);
});

// @rule REPL-7
test('a token of others is refused, with the fix', () => {
  const store = new ReplicatedMemory();
  const [mine, theirs] = [replicas(store), replicas(store, { tokenKey: TOKEN_KEY })];
  const [token = ''] = theirs.openSession!().tokens!;
  expect(() => mine.openSession!([token])).toThrow('tokenKey');
  expect(() => theirs.openSession!([`${token}x`])).toThrow('Open a new session');
});

// @rule REPL-10
test('after a promotion, a session starts at the primary again', async () => {
  const { store, client } = open();
  const session = client.session();
  await client.invoke(put('k', 1), { session });
  store.promote('near');
  store.catchUp();
  expect(await collect(client, session)).toEqual(['primary 1']);
  expect(await collect(client, session)).toEqual(['replica 1', 'primary 1']);
});

// @rule REPL-10
test('tokens of two logs start at the primary', async () => {
  const { store, client } = open();
  const before = client.session();
  await client.invoke(put('k', 1), { session: before });
  const [old] = before.tokens;
  store.promote('near');
  store.catchUp();
  const after = client.session();
  await client.invoke(put('k', 2), { session: after });
  const both = client.session({ tokens: [after.tokens[0]!, old!] });
  expect(await collect(client, both)).toEqual(['primary 2']);
});

// @rule REPL-10
test('a primary that is behind the session is read once more, then refused', async () => {
  const { store, client, binding } = open();
  const session = client.session();
  await client.invoke(put('k', 1), { session });
  const read = store.read.bind(store);
  store.read = async (...request) => ({
    ...(await read(...request)),
    position: { epoch: 1, at: 0 },
  });
  await expect(client.invokeStrong(get('k'), { session })).rejects.toMatchObject({
    code: 'REPLICA_BEHIND',
  });
  expect(binding.stats.repeatedFinals).toBe(1);
});

// @rule REPL-5
test('after a write whose position is unknown, the session reads at the primary once', async () => {
  const { store, client } = open();
  const session = client.session();
  const write = store.write.bind(store);
  store.write = async (...request) => ({ ...(await write(...request)), position: undefined });
  await client.invoke(put('k', 1), { session });
  const elsewhere = client.session({ tokens: session.tokens });
  expect(await collect(client, session)).toEqual(['primary 1']);
  expect(await collect(client, session)).toEqual(['replica 1', 'primary 1']);
  expect(await collect(client, elsewhere)).toEqual(['primary 1']);
});

// @rule REPL-11
test('replicas without positions serve no session, which is reported once', async () => {
  const store = new ReplicatedMemory();
  store.hasPositions = false;
  const onAlarm = vi.fn<(alarm: object) => void>();
  const client = createClient(replicas(store, { onAlarm }));
  const session = client.session();
  expect(await collect(client, session)).toEqual(['primary undefined']);
  expect(await collect(client, session)).toEqual(['primary undefined']);
  expect(onAlarm.mock.calls).toMatchObject([[{ code: 'no-position' }]]);
});

// @rule REPL-7
test('tokens that leave the process without a tokenKey are reported once', async () => {
  const onAlarm = vi.fn();
  const store = new ReplicatedMemory();
  const binding = replicas(store, { onAlarm });
  const client = createClient(binding);
  const session = client.session();
  await client.invoke(put('k', 1), { session });
  await client.invoke(get('k'), { session });
  expect(onAlarm).not.toHaveBeenCalled(); // in this process alone, no key is needed
  expect(session.tokens).toHaveLength(1);
  expect(client.session({ tokens: session.tokens }).tokens).toHaveLength(1);
  const message = expect.stringMatching(/UNAUTHENTICATED.*restart.*tokenKey/) as string;
  expect(onAlarm.mock.calls).toMatchObject([[{ code: 'no-token-key', message }]]);

  const withKey = createClient(replicas(store, { onAlarm, tokenKey: TOKEN_KEY }));
  expect(withKey.session().tokens).toBeDefined();
  expect(onAlarm).toHaveBeenCalledOnce();
});
