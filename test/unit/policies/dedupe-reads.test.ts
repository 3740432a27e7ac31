/** COR-15: one submission for equal reads under way. */
import { describe, expect, test, vi } from 'vitest';
import type { InvokeOptions, Operation, Policy, Sink } from '../../../src/index.ts';
import { createClient } from '../../../src/index.ts';
import { dequeue, get, getMany, put } from '../../../src/operations/index.ts';
import { retryPolicy, dedupeReads } from '../../../src/policies/index.ts';
import { codeOf, heldBytes, LEVELS, record, settled } from '../correctable/support.ts';
import { errorOf, failure, setUp } from './support.ts';

const shared = { dedupeReads: dedupeReads() };

describe('COR-15: equal reads in flight', () => {
  test('unless asked for → each is submitted', () => {
    const { binding, client } = setUp({});
    for (let n = 0; n < 2; n++) client.invoke(get('k')).onError(() => 0);
    expect(binding.calls).toHaveLength(2);
  });

  test('one submission; every read gets all views, and the final once', async () => {
    const { binding, client } = setUp(shared);
    const reads = [1, 2, 3].map(() => client.invoke(get<string>('k')));
    const lines = reads.map((read) => record(read));
    const call = await binding.next();
    call.view('old', 'weak', { version: 1, meta: { remaining: 3 } });
    call.view('new', 'causal');
    call.confirm('strong', 1);
    for (const reported of lines)
      expect(reported).toEqual(['write old weak', 'write new causal', 'final new strong']);
    for (const read of reads) expect(read.latest).toMatchObject({ seq: 1, confirms: true });
    expect(binding.calls).toHaveLength(1);
    expect(client.stats).toMatchObject({ deduped: 2, confirmed: 3, corrected: 0 });
  });

  test('one comes later → the latest view first, not inside the call, then what follows', async () => {
    const { binding, client } = setUp(shared);
    client.invoke(get<string>('k')).onError(() => 0);
    const call = await binding.next();
    call.view('old', 'weak');
    call.view('new', 'causal', { version: 2 });
    const late = client.invoke(get<string>('k'));
    const lines = record(late);
    expect(late.latest).toBeUndefined();
    await settled();
    call.view('new', 'strong');
    expect(lines).toEqual(['write new causal', 'final new strong']);
    expect(await late.settle()).toMatchObject({ confirms: true });
    expect(binding.calls).toHaveLength(1);
  });

  test('the final has come, or the failure → the next read is submitted, also from inside a callback', async () => {
    const { binding, client } = setUp(shared);
    const ends = [
      () => binding.calls.at(-1)!.view(1, 'strong'),
      () => binding.calls.at(-1)!.fail(failure()),
    ];
    for (const [at, end] of ends.entries()) {
      const again: unknown[] = [];
      const next = (): void => void again.push(client.invoke(get('k')).onError(() => 0));
      client.invoke(get('k')).setCallbacks({ onFinal: next, onError: next });
      end();
      expect(again).toHaveLength(1);
      expect(binding.calls).toHaveLength(2 * at + 2);
      binding.calls.at(-1)!.view(2, 'strong');
    }
  });

  const keyed = (args: unknown): Operation => ({ name: 'find', args, access: 'read' });
  test.each<[string, Operation, Operation]>([
    ['key', get('a'), get('b')],
    ['operation', get('a'), { ...get('a'), name: 'peek' }],
    ['arguments', getMany(['a', 'b']), getMany(['a', 'c'])],
    ['arguments that look alike', keyed({ a: 1 }), keyed({ a: '1' })],
    ['deep arguments', keyed({ where: { a: 1 } }), keyed({ where: { a: 2 } })],
  ])('another %s → another submission', (_what, item, other) => {
    const { binding, client } = setUp(shared);
    for (const operation of [item, other, item, other])
      client.invoke({ ...operation }).onError(() => 0);
    expect(binding.calls).toHaveLength(2);
  });

  test('arguments in another order or without a prototype, the same content → one', () => {
    const { binding, client } = setUp(shared);
    for (const args of [
      { a: 1, b: new Date(5) },
      { b: new Date(5), a: 1 },
      Object.assign(Object.create(null) as object, { a: 1, b: new Date(5) }),
    ]) {
      client.invoke(keyed(args)).onError(() => 0);
    }
    expect(binding.calls).toHaveLength(1);
  });

  test('arguments are changed while a read of them is in flight → another, and the one before is found again', () => {
    const { binding, client } = setUp(shared);
    const args = { table: 't', page: { from: 0 } };
    for (const from of [0, 2, 0, 2]) {
      args.page.from = from;
      client.invoke(keyed(args)).onError(() => 0);
    }
    expect(binding.calls).toHaveLength(2);
  });

  test.each<[string, unknown, unknown]>([
    ['0 and -0', 0, -0],
    ['a key that is undefined, and none', { a: undefined }, {}],
    ['a text and a list that read alike', ['a,b'], ['a', 'b']],
    ['maps', new Map([['a', 1]]), new Map([['a', 2]])],
    ['a set and a map', new Set([1]), new Map([[1, 1]])],
    ['dates', new Date(1), new Date(2)],
    ['bytes', Uint8Array.of(1, 2), Uint8Array.of(12)],
    ['a number and a bigint', 1, 1n],
  ])('%s → another submission each', (_what, item, other) => {
    const { binding, client } = setUp(shared);
    for (const args of [item, other]) client.invoke(keyed({ args })).onError(() => 0);
    expect(binding.calls).toHaveLength(2);
  });

  test.each<[string, () => unknown]>([
    [
      'maps in another order',
      () => new Map([['a', { n: 1n }] as const, ['b', { n: 2n }] as const]),
    ],
    ['sets of objects', () => new Set([{ a: 1 }, { a: Number.NaN }])],
    ['bytes', () => Buffer.from([1, 2])],
  ])('%s → one', (_what, make) => {
    const { binding, client } = setUp(shared);
    const made = make();
    const other =
      made instanceof Map
        ? new Map([...made].toReversed())
        : made instanceof Set
          ? new Set([...made].toReversed())
          : Uint8Array.of(1, 2);
    for (const args of [made, other]) client.invoke(keyed({ args })).onError(() => 0);
    expect(binding.calls).toHaveLength(1);
  });

  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  let dag: unknown = 1;
  for (let level = 0; level < 40; level++) dag = [dag, dag];
  class Page {
    from = 0;
  }
  test.each([
    ['of a class', new Page()],
    ['a function', () => 0],
    ['one that refers to itself', cyclic],
    ['one whose parts are shared, level upon level', dag],
  ])('an argument that is no plain data: %s → each', (_what, args) => {
    const { binding, client } = setUp(shared);
    for (let n = 0; n < 2; n++) client.invoke(keyed(args)).onError(() => 0);
    expect(binding.calls).toHaveLength(2);
  });

  test.each<[string, (looked: () => void) => unknown]>([
    ['an object', (looked) => new Proxy({ ...Array(20_000).fill(1) }, { get: () => looked() })],
    [
      'a map',
      (looked) => counted(new Map(Array.from({ length: 20_000 }, (_, n) => [n, n])), looked),
    ],
    ['a set', (looked) => counted(new Set(Array.from({ length: 20_000 }, (_, n) => n)), looked)],
  ])('%s of more parts than are looked at → none is, and none sorted', (_what, of) => {
    const { binding, client } = setUp(shared);
    let looks = 0;
    const large = of(() => (looks += 1));
    for (let n = 0; n < 2; n++) client.invoke(keyed(large)).onError(() => 0);
    expect(binding.calls).toHaveLength(2);
    expect(looks).toBe(0);
  });

  test('other levels → another submission', () => {
    const { binding, client } = setUp(shared);
    client.invoke(get('k')).onError(() => 0);
    client.invokeWeak(get('k')).onError(() => 0);
    client.invoke(get('k'), { levels: ['weak'] }).onError(() => 0);
    expect(binding.calls.map(({ levels }) => levels.join())).toEqual([
      'weak,causal,strong',
      'weak',
    ]);
  });

  test('equality of their own → each confirms by its own', async () => {
    const { binding, client } = setUp(shared);
    const strict = client.invoke<unknown>(get('k'));
    const lax = client.invoke<unknown>({ ...get('k'), equals: () => true });
    const call = await binding.next();
    call.view({ n: 1 }, 'weak');
    call.view({ n: 2 }, 'strong');
    expect((await strict.settle()).confirms).toBe(false);
    expect((await lax.settle()).confirms).toBe(true);
    expect(await lax).toEqual({ n: 2 });
  });
});

describe('COR-15: reads that are submitted by themselves', () => {
  test('writes, whatever they return → each is submitted', () => {
    const { binding, client } = setUp(shared);
    for (let n = 0; n < 2; n++) client.invoke(dequeue('q')).onError(() => 0);
    expect(binding.calls).toHaveLength(2);
  });

  test('in a session, with timeouts of levels, or with dedupeReads: false → submitted separately, and not joined by others', () => {
    const { binding, client } = setUp(shared);
    const session = client.session();
    const ways: readonly InvokeOptions<'weak'>[] = [
      { session },
      { levelTimeoutsMs: { weak: 5 } },
      { dedupeReads: false },
      { dedupeReads: false, retry: false },
    ];
    for (const how of ways) {
      const before = binding.calls.length;
      for (let n = 0; n < 2; n++) client.invoke(get('k'), how).onError(() => 0);
      expect(binding.calls).toHaveLength(before + 2);
    }
    client.invoke(get('k')).onError(() => 0);
    expect(binding.calls).toHaveLength(2 * ways.length + 1);
  });

  test('a write of the client was submitted, or has ended, since → a read of its own', async () => {
    const { binding, client } = setUp(shared);
    const read = (): number => {
      client.invoke(get('k')).onError(() => 0);
      return binding.calls.length;
    };
    expect([read(), read()]).toEqual([1, 1]);
    const write = client.invoke(put('other', 1));
    const update = binding.calls.at(-1)!;
    expect([read(), read()]).toEqual([3, 3]);
    // The one under way may be from before the update took effect.
    update.view(undefined, 'strong');
    await write;
    expect([read(), read()]).toEqual([4, 4]);
  });

  test('a write ends → a read from inside its callbacks is one of its own', () => {
    const { binding, client } = setUp(shared);
    const write = client.invoke(put('k', 1));
    client.invoke(get('k')).onError(() => 0);
    write.onFinal(() => void client.invoke(get('k')).onError(() => 0));
    binding.calls[0]!.view(undefined, 'strong');
    expect(binding.calls.map(({ operation }) => operation.name)).toEqual(['put', 'get', 'get']);
  });

  test('of another client → each', () => {
    const item = setUp(shared);
    const other = setUp(shared);
    for (const { client } of [item, other]) client.invoke(get('k')).onError(() => 0);
    expect([item.binding.calls.length, other.binding.calls.length]).toEqual([1, 1]);
  });
});

describe('COR-15: leaving a shared submission', () => {
  test('one is cancelled, one is too late → the others go on; with the last, it is let go', async () => {
    const { clock, binding, client } = setUp(shared);
    const [first, late, last] = [
      client.invoke(get('k')),
      client.invoke(get('k'), { timeoutMs: 10 }),
      client.invoke(get('k')),
    ];
    const call = await binding.next();
    const { signal } = call.context;
    expect(call.context.deadlineAt).toBeUndefined();
    first.cancel('left');
    expect(await codeOf(first)).toBe('ABORTED');
    const isLate = codeOf(late);
    await clock.advance(10);
    expect(await isLate).toBe('TIMEOUT');
    call.view(1, 'weak');
    expect([last.latest?.value, signal.aborted]).toEqual([1, false]);
    last.cancel('gone');
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBe(await errorOf(last));
    expect(client.drops.closed).toBe(0);
  });

  test('all have left → the next read is submitted', async () => {
    const { binding, client } = setUp(shared);
    const read = client.invoke(get('k'));
    read.cancel();
    await codeOf(read);
    client.invoke(get('k')).onError(() => 0);
    expect(binding.calls).toHaveLength(2);
  });

  test('the store fails by itself → its signal does not abort', async () => {
    const { binding, client } = setUp(shared);
    const errors = [1, 2].map(() => errorOf(client.invoke(get('k'))));
    const call = await binding.next();
    const failed = failure();
    call.fail(failed);
    const { message } = failed;
    expect(await Promise.all(errors)).toMatchObject([{ message }, { message }]);
    expect(call.context.signal.aborted).toBe(false);
  });

  test('a callback throws, cancels its own read, or reads again → the others get their views all the same', async () => {
    const { binding, client, uncaught } = setUp(shared);
    const throwing = client.invoke(get('k')).onUpdate(() => {
      throw new Error('mine');
    });
    const leaving = client.invoke(get('k'));
    leaving.onUpdate(() => leaving.cancel()).onError(() => 0);
    const asking = client.invoke(get('k'));
    let requested: PromiseLike<unknown> | undefined;
    asking.onUpdate(() => void (requested ??= client.invoke(get('k'))));
    const call = await binding.next();
    call.view(1, 'weak');
    call.view(2, 'strong');
    expect([await throwing, await asking, await requested]).toEqual([2, 2, 2]);
    expect(uncaught).toHaveLength(1);
    expect(binding.calls).toHaveLength(1);
  });

  test('the binding knows the cause of the delay → each read that times out has it', async () => {
    const { clock, binding, client } = setUp(shared);
    const errors = [5, 10].map((timeoutMs) => errorOf(client.invoke(get('k'), { timeoutMs })));
    (await binding.next()).context.submissionStatus = {
      mayHaveBeenSent: false,
      blockedBy: failure(),
    };
    await clock.advance(10);
    for (const error of errors)
      expect(await error).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  });

  test.each([{ dedupeReads: false }, { retry: false }] as const)(
    'a write, with %j of its own, has ended since → a read of its own',
    async (how) => {
      const { binding, client } = setUp(shared);
      const before = client.invoke(get('k'));
      const read = await binding.next();
      const write = client.invoke(put('k', 'new'), how);
      (await binding.next()).view(null, 'strong');
      await write;
      const after = client.invoke(get('k'));
      (await binding.next()).view('new', 'strong');
      read.view('old', 'strong');
      expect([await before, await after]).toEqual(['old', 'new']);
    },
  );

  test('a write has a retry of its own → that one submits it', () => {
    const { binding, client } = setUp(shared);
    const retry = vi.fn<Policy>((submit) => submit);
    client.invoke(put('k', 'new'), { retry }).onError(() => 0);
    expect(retry).toHaveBeenCalledTimes(1);
    expect(binding.calls).toHaveLength(1);
  });

  test('an answer was lost, one has waited in vain → the next read is submitted; who waits still does', async () => {
    const { clock, binding, client } = setUp(shared);
    const [impatient, patient] = [
      client.invoke(get('k'), { timeoutMs: 10 }),
      client.invoke(get('k')),
    ];
    const gone = errorOf(impatient);
    const lost = await binding.next();
    await clock.advance(10);
    expect(await gone).toMatchObject({ code: 'TIMEOUT' });
    const next = client.invoke(get('k'));
    (await binding.next()).view('there', 'strong');
    expect(await next).toBe('there');
    lost.view('late', 'strong');
    expect(await patient).toBe('late');
  });

  test('retried → the attempts are shared, however much chance is in the wait', async () => {
    let draws = 0;
    const { clock, binding, client } = setUp({
      ...shared,
      retry: retryPolicy({ random: () => (draws += 0.1) }),
    });
    const reads = [1, 2, 3].map(() => client.invoke(get('k')));
    (await binding.next()).fail(failure());
    await clock.advance(150);
    (await binding.next()).fail(failure());
    await clock.advance(300);
    (await binding.next()).view('there', 'strong');
    expect(await Promise.all(reads)).toEqual(['there', 'there', 'there']);
    expect(binding.calls).toHaveLength(3);
    expect(client.stats).toMatchObject({ retried: 2, deduped: 2 });
  });

  test('retried, one comes between two attempts, one leaves → shares the next, which goes on for the other', async () => {
    const { clock, binding, client } = setUp({
      ...shared,
      retry: retryPolicy({ backoff: { delayMs: () => 10 } }),
    });
    const first = client.invoke(get('k'), { timeoutMs: 5 });
    const gone = errorOf(first);
    (await binding.next()).fail(failure());
    await clock.advance(4);
    const later = client.invoke(get('k'));
    await clock.advance(1);
    expect(await gone).toMatchObject({ code: 'UNAVAILABLE' });
    await clock.advance(5);
    (await binding.next()).view('there', 'strong');
    expect(await later).toBe('there');
    expect(binding.calls).toHaveLength(2);
  });

  test('retried, all leave between two attempts → no more of them, and no timer', async () => {
    const { clock, binding, client } = setUp({
      ...shared,
      retry: retryPolicy({ backoff: { delayMs: () => 10 } }),
    });
    const reads = [client.invoke(get('k')), client.invoke(get('k'))];
    const gone = reads.map(errorOf);
    (await binding.next()).fail(failure());
    await clock.advance(5);
    for (const read of reads) read.cancel();
    expect(await Promise.all(gone)).toMatchObject([{ code: 'ABORTED' }, { code: 'ABORTED' }]);
    expect(clock.pendingTimers).toBe(0);
    expect(binding.calls).toHaveLength(1);
  });

  test('a policy of its own for trying again → a submission of its own', async () => {
    const { binding, client } = setUp({ ...shared, retry: retryPolicy() });
    const reads = [client.invoke(get('k')), client.invoke(get('k'), { retry: false })];
    (await binding.next()).view('there', 'strong');
    const own = errorOf(reads[1]!);
    (await binding.next()).fail(failure());
    expect(await reads[0]).toBe('there');
    expect(await own).toMatchObject({ message: 'the store is busy' });
    expect(client.stats).toMatchObject({ retried: 0, deduped: 0 });
  });
});

describe('COR-15: what the binding reports for a shared submission', () => {
  test('a weaker view is the final one → for all, also where it is confirmed', async () => {
    const { binding, client } = setUp(shared);
    for (const confirmed of [false, true]) {
      const reads = [1, 2].map(() => client.invoke(get('k')));
      const call = await binding.next();
      call.view('seen', 'weak', { version: 1 });
      if (confirmed) call.confirm('causal', 0, { version: 2, final: true });
      else call.view('seen', 'causal', { version: 2, final: true });
      for (const read of reads) {
        expect(read.latest).toMatchObject({ level: 'causal', version: 2, final: true });
      }
    }
  });

  test('an older version → dropped as without sharing, and a final view of it has `regressed`', async () => {
    const { binding, client } = setUp(shared);
    const reads = [1, 2].map(() => client.invoke(get('k')));
    const call = await binding.next();
    call.view('new', 'weak', { version: 2 });
    call.view('old', 'strong', { version: 1 });
    for (const read of reads) expect(await read.settle()).toMatchObject({ regressed: true });
  });

  test('equal arguments of another key → another submission', () => {
    const { binding, client } = setUp(shared);
    for (const key of ['a', 'b']) {
      client.invoke({ name: 'size', args: {}, access: 'read', key }).onError(() => 0);
    }
    expect(binding.calls).toHaveLength(2);
  });

  test('of two that look alike one ends → the next read joins the other', async () => {
    const { binding, client } = setUp(shared);
    const find = (a: unknown): Operation => ({
      name: 'find',
      args: { where: { a } },
      access: 'read',
    });
    for (const a of [1, 2]) client.invoke(find(a)).onError(() => 0);
    const [first] = binding.calls;
    first!.view(0, 'strong');
    client.invoke(find(2)).onError(() => 0);
    expect(binding.calls).toHaveLength(2);
    client.invoke(find(1)).onError(() => 0);
    expect(binding.calls).toHaveLength(3);
  });

  test('many keys were read → nothing of them is kept', async () => {
    const submitOperation = (_operation: Operation, _levels: unknown, sink: Sink): void => {
      sink.view(1, 'strong');
    };
    const binding = { consistencyLevels: () => LEVELS, supports: () => true, submitOperation };
    const client = createClient(
      { name: 'at once', ...binding, close: () => Promise.resolve() },
      shared,
    );
    const readMany = async (round: number): Promise<void> => {
      for (let n = 0; n < 500; n++) {
        const key = Buffer.alloc(4_000, `${round} ${n} `).toString();
        client.invoke(get(key)).onError(() => 0);
      }
      await settled();
    };
    await readMany(1);
    const before = heldBytes();
    await readMany(2);
    expect(heldBytes() - before).toBeLessThan(1_000_000);
  });
});

test('COR-15: an equal read of another principal in flight → one of its own; each gets the answer to their own', async () => {
  const { binding, client } = setUp(shared);
  const page = { user: 'ann' };
  binding.principal = () => page.user;
  const anns = client.invoke(get('profile'));
  page.user = 'bob';
  const bobs = [client.invoke(get('profile')), client.invoke(get('profile'))];
  (await binding.next()).view('that of ann', 'strong');
  (await binding.next()).view('that of bob', 'strong');
  expect(await Promise.all([anns, ...bobs])).toEqual(['that of ann', 'that of bob', 'that of bob']);
  expect(binding.calls).toHaveLength(2);
});

/** The same map or set, which calls `looked` when it is iterated. */
function counted<T extends Map<unknown, unknown> | Set<unknown>>(all: T, looked: () => void): T {
  const entries = all.entries.bind(all);
  const watched = (): ReturnType<typeof entries> => {
    looked();
    return entries();
  };
  return Object.assign(all, { entries: watched, [Symbol.iterator]: watched });
}
