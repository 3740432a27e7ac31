/** What a client passes to its binding, and how results come back (COR-1, COR-10, COR-14). */
import { expect, test, vi } from 'vitest';
import { cached } from '../../../../src/bindings/cache/index.ts';
import { CorrectableError, createClient, getSnapshot } from '../../../../src/index.ts';
import { retryPolicy } from '../../../../src/policies/index.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { scriptedBinding } from '../../../../src/testing/scripted-binding.ts';
import { virtualClock } from '../../../../src/testing/virtual-clock.ts';
import { LEVELS, manual, unhandledDuring } from '../support.ts';

const errorOf = (c: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(c).catch((error: unknown) => error);

test('COR-1: no timeout → the binding gets no deadline', async () => {
  const binding = scriptedBinding(LEVELS);
  void createClient(binding, { timeoutMs: Infinity }).invoke(get('k'));
  expect((await binding.next()).context.deadlineAt).toBeUndefined();
});

test('COR-1: the limit of the strongest level has passed → its signal has aborted, also where it is asked for then', async () => {
  const clock = virtualClock();
  const binding = scriptedBinding(LEVELS);
  const read = createClient(binding, { clock }).invoke(get('k'), {
    levelTimeoutsMs: { strong: 10 },
  });
  const failed = errorOf(read);
  const call = await binding.next();
  await clock.advance(10);
  expect(await failed).toMatchObject({ code: 'TIMEOUT', level: 'strong' });
  expect(call.context.signal.aborted).toBe(true);
});

test('COR-10: a write that certainly was not sent, and has timed out → UNAVAILABLE that reports that', async () => {
  const clock = virtualClock();
  const binding = scriptedBinding(LEVELS);
  const failed = errorOf(createClient(binding, { clock, timeoutMs: 10 }).invoke(put('k', 1)));
  const call = await binding.next();
  call.context.submissionStatus = { mayHaveBeenSent: false, blockedBy: undefined };
  await clock.advance(10);
  expect(await failed).toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('; it was not sent') as string,
  });
});

test.each([
  ['a read', get('k'), 'INVALID_VALUE', /chain$/],
  ['a write', put('k', 1), 'UNKNOWN', /the write may take effect all the same$/],
])(
  'COR-14: a binding gives a promise for the value of %s → %s',
  async (_what, operation, code, message) => {
    const binding = scriptedBinding(LEVELS);
    const failed = errorOf(createClient(binding).invoke<unknown>(operation));
    (await binding.next()).view(Promise.resolve(1), 'weak');
    expect(await failed).toMatchObject({ code, message: expect.stringMatching(message) as string });
  },
);

test('COR-5: a callback throws, and the platform has a place for that → reported there', async () => {
  const report = vi.fn<(error: unknown) => void>();
  vi.stubGlobal('reportError', report);
  const mistake = new Error('mistake');
  const { c, sink } = manual();
  c.onUpdate(() => {
    throw mistake;
  });
  sink.view(1, 'weak');
  vi.unstubAllGlobals();
  expect(report.mock.calls).toEqual([[mistake]]);
});

test('COR-5: only snapshots are taken of it, and it fails → an unhandled rejection all the same', async () => {
  const unhandled = await unhandledDuring(() => {
    const { c, sink } = manual();
    getSnapshot(c);
    sink.fail(new Error('disk'));
    getSnapshot(c);
  });
  expect(unhandled).toMatchObject([{ code: 'FINAL_FAILED' }]);
});

test.each(['onUpdate', 'onFinal', 'onError'] as const)(
  'COR-10: a mapped Correctable is cancelled, and the source has only an %s callback → the operation goes on',
  (callback) => {
    const { c } = manual();
    c[callback](() => {});
    c.map(String).cancel();
    expect(c.state).toBe('pending');
  },
);

test('idempotencyKey: a write → the binding gets it, at a retry too', async () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding, {
    retry: retryPolicy({ attempts: 2, backoff: { delayMs: () => 0 } }),
  });
  const written = client.invoke(put('k', 1), { idempotencyKey: 'order-4711' });
  const first = await binding.next();
  first.fail(new CorrectableError('OVERLOADED', 'later'));
  const second = await binding.next();
  second.view(undefined, 'strong');
  await written;
  expect([first, second].map(({ context }) => context.idempotencyKey)).toEqual([
    'order-4711',
    'order-4711',
  ]);
});

test('idempotencyKey: a read → ignored', async () => {
  const binding = scriptedBinding(LEVELS);
  void createClient(binding, { timeoutMs: Infinity }).invoke(get('k'), {
    idempotencyKey: 'order-4711',
  });
  expect((await binding.next()).context.idempotencyKey).toBeUndefined();
});

test.each([[''], ['x'.repeat(129)], ['a\nb'], ['\0'], ['\ud800'], [7], [null]])(
  'idempotencyKey: %j → INVALID_ARGUMENT, nothing is sent',
  async (key) => {
    const binding = scriptedBinding(LEVELS);
    const client = createClient(binding);
    for (const operation of [put('k', 1), get('k')]) {
      const error = await errorOf(
        client.invoke(operation as never, { idempotencyKey: key as never }),
      );
      expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'idempotencyKey' });
    }
    expect(binding.calls).toEqual([]);
  },
);

test.each([['x'.repeat(128)], ['commande nº 4711 – 注文 🧾']])(
  'idempotencyKey: %j → sent',
  async (idempotencyKey) => {
    const binding = scriptedBinding(LEVELS);
    void createClient(binding, { timeoutMs: Infinity }).invoke(put('k', 1), { idempotencyKey });
    expect((await binding.next()).context.idempotencyKey).toBe(idempotencyKey);
  },
);

test('idempotencyKey: a binding without keys → UNSUPPORTED, and the write was not sent', async () => {
  const binding = Object.assign(scriptedBinding(LEVELS), { hasIdempotencyKeys: undefined });
  const error = await errorOf(
    createClient(binding).invoke(put('k', 1), { idempotencyKey: 'order-4711' }),
  );
  expect(error).toMatchObject({ code: 'UNSUPPORTED', field: 'idempotencyKey' });
  expect((error as Error).message).toContain('The write was not sent');
  expect(binding.calls).toEqual([]);
});

test('onReconnect: the binding reports it, a cache in front too → so does the client, until its listener leaves', () => {
  const listeners = new Set<() => void>();
  const onReconnect = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const binding = Object.assign(scriptedBinding(LEVELS), { onReconnect });
  const reported: string[] = [];
  const leave = createClient(binding).onReconnect(() => reported.push('direct'));
  createClient(cached(binding)).onReconnect(() => reported.push('cached'));
  for (const listener of listeners) listener();
  expect(reported).toEqual(['direct', 'cached']);
  leave();
  for (const listener of listeners) listener();
  expect(reported).toEqual(['direct', 'cached', 'cached']);
});

test('onReconnect: a binding without a connection → never called; no function → INVALID_ARGUMENT', () => {
  const client = createClient(scriptedBinding(LEVELS));
  expect(client.onReconnect(() => {})()).toBeUndefined();
  expect(() => client.onReconnect('refresh' as never)).toThrow(
    expect.objectContaining({ field: 'listener' }),
  );
});
