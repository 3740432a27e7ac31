/** The in-process store: what lags, what diverges, what never happens. */
import { expect, test, vi } from 'vitest';
import type { MemoryOptions } from '../../../../src/bindings/memory/index.ts';
import { memory, memoryStore } from '../../../../src/bindings/memory/index.ts';
import type { Client } from '../../../../src/index.ts';
import { createClient, isCorrectableError } from '../../../../src/index.ts';
import { dequeue, enqueue, get, getMany, peek, put } from '../../../../src/operations/index.ts';
import type { VirtualClock } from '../../../../src/testing/index.ts';
import { virtualClock } from '../../../../src/testing/virtual-clock.ts';

interface Setup {
  readonly clock: VirtualClock;
  readonly store: Client<readonly ['weak', 'strong']>;
}

function setup(options: MemoryOptions = {}): Setup {
  const clock = virtualClock();
  return { clock, store: createClient(memory({ clock, ...options }), { clock }) };
}

test('memory: read → weak from the backup at once, strong from the primary after its delay', async () => {
  const { clock, store } = setup({ delaysMs: { weak: 1, strong: 50 } });
  void store.invoke(put('k', 'v'));
  await clock.advance(100);
  const read = store.invoke(get('k'));
  await clock.advance(1);
  expect(read.latest).toMatchObject({ value: 'v', level: 'weak' });
  await clock.advance(48);
  expect(read.state).toBe('pending');
  await clock.advance(1);
  expect(read.latest).toMatchObject({ value: 'v', level: 'strong', confirms: true });
});

test('memory: the backup lags → the preliminary view is old, the final is not', async () => {
  const { clock, store } = setup({ delaysMs: { weak: 0, strong: 20 }, lagMs: 100 });
  void store.invoke(put('k', 'new'));
  await clock.advance(20);
  const read = store.invoke(get('k'));
  await clock.advance(0);
  expect(read.latest).toMatchObject({ value: undefined, level: 'weak', version: 0 });
  await clock.advance(20);
  expect(read.latest).toMatchObject({ value: 'new', level: 'strong', version: 1, confirms: false });
});

test('memory: own writes in flight → a write is simulated on top of them', async () => {
  const { clock, store } = setup();
  const early = [enqueue('q', 'a'), enqueue('q', 'b')].map((operation) => store.invoke(operation));
  const taken = [
    store.invoke(dequeue('q')),
    store.invoke(dequeue('q')),
    store.invoke(dequeue('q')),
  ];
  await clock.advance(0);
  expect(early.map(({ latest }) => latest?.level)).toEqual(['weak', 'weak']);
  expect(taken.map(({ latest }) => latest)).toMatchObject([
    { value: { item: 'a' }, meta: { remaining: 1 }, level: 'weak' },
    { value: { item: 'b' }, meta: { remaining: 0 } },
    { value: null, meta: { remaining: 0 } },
  ]);
  await clock.advance(20);
  expect(taken.map(({ latest }) => latest)).toMatchObject([
    { value: { item: 'a' }, meta: { remaining: 1 }, level: 'strong', final: true },
    { value: { item: 'b' }, meta: { remaining: 0 } },
    { value: null },
  ]);
});

test('memory: two sites take from one queue → preliminary views clash, finals never', async () => {
  const clock = virtualClock();
  const shared = memoryStore();
  const sites = [0, 1].map(() => createClient(memory({ clock, store: shared }), { clock }));
  void sites[0]!.invoke(enqueue('q', 'only'));
  await clock.advance(100);
  const taken = sites.map((site) => site.invoke(dequeue('q')));
  await clock.advance(0);
  expect(taken.map(({ latest }) => latest?.value)).toEqual([{ item: 'only' }, { item: 'only' }]);
  await clock.advance(20);
  expect(taken.map(({ latest }) => latest?.value)).toEqual([{ item: 'only' }, null]);
  expect(taken.map(({ latest }) => latest?.confirms)).toEqual([true, false]);
});

test('memory: a site that joins late → starts with what is there', async () => {
  const clock = virtualClock();
  const shared = memoryStore();
  const first = createClient(memory({ clock, store: shared }), { clock });
  void first.invoke(put('k', 1));
  void first.invoke(enqueue('q', 'a'));
  await clock.advance(20);
  expect(shared.applied).toBe(2);
  const second = createClient(memory({ clock, store: shared }), { clock });
  const reads = [second.invokeWeak(get('k')), second.invokeWeak(peek('q'))];
  await clock.advance(0);
  expect(reads.map(({ latest }) => latest?.value)).toEqual([1, { item: 'a' }]);
});

test('memory: getMany → one state, in the order of the keys', async () => {
  const { clock, store } = setup();
  void store.invoke(put('a', 1));
  void store.invoke(put('b', 2));
  await clock.advance(100);
  const read = store.invoke(getMany(['b', 'none', 'a']));
  await clock.advance(20);
  expect(await read).toEqual([2, undefined, 1]);
});

test('memory: in a session → a weak view behind its own write is skipped and counted, not delayed', async () => {
  const clock = virtualClock();
  const binding = memory({ clock, lagMs: 1000 });
  const store = createClient(binding, { clock });
  const session = store.session();
  void store.invoke(put('k', 1), { session });
  await clock.advance(20);
  const read = store.invoke(get('k'), { session });
  await clock.advance(0);
  expect(read.latest).toBeUndefined();
  expect(binding.skippedForSession).toBe(1);
  await clock.advance(20);
  expect(read.latest).toMatchObject({ value: 1, final: true });
});

test('memory: invokeWeak in a session that the backup is behind → answered by the primary, labeled so', async () => {
  const { clock, store } = setup({ lagMs: 1000 });
  const session = store.session();
  void store.invoke(put('k', 1), { session });
  await clock.advance(20);
  const read = store.invokeWeak(get('k'), { session });
  await clock.advance(20);
  expect(read.latest).toMatchObject({ value: 1, level: 'strong', final: true });
});

test('memory: closed with operations in flight → reads: UNAVAILABLE; writes: UNKNOWN, since they reach a shared store', async () => {
  const shared = memoryStore();
  const { store } = setup({ store: shared });
  const codes = [store.invoke(put('k', 1)), store.invoke(get('k'))].map((operation) =>
    operation.catch((error: unknown) => (isCorrectableError(error) ? error.code : error)),
  );
  await store.close();
  expect(await Promise.all(codes)).toEqual(['UNKNOWN', 'UNAVAILABLE']);
  expect(shared.applied).toBe(1);
  const late = await store.invoke(get('k')).catch((error: unknown) => error);
  expect(late).toMatchObject({ code: 'UNAVAILABLE', retryable: false });
});

test('memory: closed inside a callback → no harm', async () => {
  const { clock, store } = setup();
  const first = store.invoke(get('a'));
  const second = store.invoke(get('b'));
  second.onError(() => 0);
  first.onUpdate(() => void store.close()).onError(() => 0);
  await clock.advance(20);
  expect([first.state, second.state]).toEqual(['error', 'error']);
});

test('memory: the backup is slower than the primary → it sends nothing after the final, and drops nothing', async () => {
  const clock = virtualClock();
  const levels = ['weak', 'causal', 'strong'] as const;
  const store = createClient(
    memory({ clock, levels, delaysMs: { weak: 30, causal: 20, strong: 10 } }),
    { clock },
  );
  const read = store.invoke(get('k'));
  await clock.advance(10);
  expect(read.state).toBe('final');
  await clock.advance(50);
  expect(Object.values(store.drops).reduce((sum, count) => sum + count, 0)).toBe(0);
});

test.each<[name: string, access: 'read' | 'write', args: unknown, field: string]>([
  ['put', 'write', null, 'args'],
  ['put', 'write', 'k', 'args'],
  ['put', 'write', { key: null }, 'args.key'],
  ['put', 'write', {}, 'args.key'],
  ['get', 'read', { key: '' }, 'args.key'],
  ['getMany', 'read', { keys: 5 }, 'args.keys'],
  ['getMany', 'read', { keys: ['k', null] }, 'args.keys[1]'],
  ['enqueue', 'write', { item: 1 }, 'args.queue'],
  ['dequeue', 'write', undefined, 'args'],
  ['peek', 'read', { queue: {} }, 'args.queue'],
])(
  'memory: %s, a %s, with %j → INVALID_ARGUMENT before anything is done',
  async (name, access, args, field) => {
    const { store } = setup();
    const requested = store.invoke({ name, access, args });
    await expect(requested).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field });
  },
);

test('memory: a name with another effect than its own → UNSUPPORTED, and nothing is taken', async () => {
  const store = createClient(memory({ delaysMs: { weak: 0, strong: 0 } }));
  await store.invoke(enqueue('q', 'first'));
  for (const [name, access] of [
    ['get', 'write'],
    ['peek', 'write'],
    ['dequeue', 'read'],
    ['put', 'read'],
    ['constructor', 'read'],
  ] as const) {
    const requested = store.invoke({ name, access, args: { queue: 'q', key: 'k' } });
    await expect(requested).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  }
  expect(await store.invokeStrong(peek('q'))).toEqual({ item: 'first' });
});

test('memory: arguments that are changed after the call → what was given is executed', async () => {
  const store = createClient(memory({ delaysMs: { weak: 0, strong: 0 } }));
  const operation = { ...getMany(['k']), args: { keys: ['k'] } as { keys: string[] | null } };
  const read = store.invoke(operation);
  operation.args.keys = null;
  expect(await read).toEqual([undefined]);
});

test('timers are faked, the clock is not → views arrive with the timers', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const client = createClient(memory({ delaysMs: { weak: 5, strong: 50 } }));
    const reads = [client.invoke(get('k')), client.invoke(get('k'))];
    await vi.advanceTimersByTimeAsync(49);
    expect(reads.map(({ latest }) => latest?.level)).toEqual(['weak', 'weak']);
    await vi.advanceTimersByTimeAsync(51);
    expect(reads.map(({ state }) => state)).toEqual(['final', 'final']);
  } finally {
    vi.useRealTimers();
  }
});

test.each([-3_600_000, 3_600_000])(
  'the wall clock is set by %i ms while operations are in flight → delays and limits last as long as they do',
  async (byMs) => {
    const wallNow = Date.now.bind(Date);
    const client = createClient(memory({ delaysMs: { weak: 20, strong: 30 } }));
    const lasting = async (options?: { readonly timeoutMs: number }): Promise<number> => {
      const from = performance.now();
      await client.invoke(get('k'), options).catch(() => {});
      return performance.now() - from;
    };
    await client.invoke(get('k')).when('weak'); // its final is under way
    const before = lasting();
    vi.spyOn(Date, 'now').mockImplementation(() => wallNow() + byMs);
    try {
      const lastedMs = await Promise.all([before, lasting(), lasting({ timeoutMs: 10 })]);
      expect(lastedMs.map((ms, at) => ms > [28, 28, 8][at]! && ms < 60_000)).toEqual([
        true,
        true,
        true,
      ]);
    } finally {
      vi.restoreAllMocks();
    }
  },
);

test('memory: one idempotency key from two clients of a store → done once, the first outcome for both', async () => {
  const clock = virtualClock();
  const primary = memoryStore();
  const [a, b] = [1, 2].map(() => createClient(memory({ clock, store: primary }), { clock }));
  void a!.invoke(enqueue('q', 'x'));
  void a!.invoke(enqueue('q', 'y'));
  await clock.advance(100);
  const taken = [a!, b!, b!].map((client) =>
    client.invoke(dequeue('q'), { idempotencyKey: 'one' }),
  );
  await clock.advance(100);
  const later = b!.invokeWeak(dequeue('q'), { idempotencyKey: 'one' });
  const other = b!.invokeStrong(dequeue('q'), { idempotencyKey: 'two' });
  await clock.advance(100);
  expect(await Promise.all(taken)).toEqual([{ item: 'x' }, { item: 'x' }, { item: 'x' }]);
  expect([await later, await other]).toEqual([{ item: 'x' }, { item: 'y' }]);
  expect(primary.applied).toBe(4);
});

test('memory: a repetition under an idempotency key → later previews do not count it', async () => {
  const { clock, store } = setup();
  for (const item of ['x', 'y']) void store.invoke(enqueue('q', item));
  await clock.advance(100);
  for (let attempt = 0; attempt < 2; attempt += 1) {
    void store.invoke(dequeue('q'), { idempotencyKey: 'one' });
    await clock.advance(100);
  }
  const next = store.invoke(dequeue('q'));
  await clock.advance(0);
  expect(next.latest).toMatchObject({ value: { item: 'y' }, level: 'weak' });
  await clock.advance(100);
});

test('memory: the same write under the idempotency key, its value in another order or with an undefined field → answered', async () => {
  const { clock, store } = setup();
  const values = [
    { a: 1, b: 0 },
    { b: -0, a: 1 },
    { a: 1, b: 0, c: undefined },
  ];
  for (const value of values) {
    const write = store.invoke(put('k', value), { idempotencyKey: 'one' });
    await clock.advance(100);
    expect(await write.then(() => 'done')).toBe('done');
  }
});

test('memory: another write under the idempotency key → INVALID_ARGUMENT, not applied', async () => {
  const { clock, store } = setup();
  void store.invoke(put('k', 1), { idempotencyKey: 'one' });
  await clock.advance(100);
  const refused = [put('k', 2), put('l', 1), enqueue('k', 1)].map((operation) =>
    Promise.resolve(store.invoke(operation, { idempotencyKey: 'one' })).catch(
      (error: unknown) => error,
    ),
  );
  const read = store.invokeStrong(get('k'));
  await clock.advance(100);
  for (const error of await Promise.all(refused)) {
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'idempotencyKey' });
  }
  expect(await read).toBe(1);
});
