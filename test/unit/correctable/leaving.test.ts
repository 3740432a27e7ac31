/** COR-10 leaving. */
import { expect, test, vi } from 'vitest';
import { isAbandoned, SIGNAL_CHECK_DELAY_MS } from '../../../src/correctable/binding.ts';
import { correctable, correctableFromValue, createClient } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';
import { codeOf, LEVELS, manual, record, settled } from './support.ts';

/** The listeners that a signal has at the moment. */
function listenersOf(signal: AbortSignal): () => number {
  let count = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    count++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    count--;
    removeEventListener.apply(signal, args);
  };
  return () => count;
}

test('COR-10: a read is cancelled → ABORTED with the reason, its signal aborts, later views have no effect', async () => {
  const binding = scriptedBinding(LEVELS);
  const read = createClient(binding).invoke(get('k'));
  const call = await binding.next();
  const { signal } = call.context;
  read.cancel('page left');
  expect(await read.catch((error: unknown) => error)).toMatchObject({
    code: 'ABORTED',
    cause: 'page left',
  });
  expect(signal.aborted).toBe(true);
  call.view(1, 'strong');
  expect(read.latest).toBeUndefined();
});

test('COR-10: all Correctables made of a read are cancelled → so is the read; it goes on as long as another one listens', async () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding);
  const read = client.invoke(get('k'));
  const [item, other] = [read.map(String), read.map(Number)];
  item.cancel('left');
  expect(await codeOf(item)).toBe('ABORTED');
  expect(read.state).toBe('pending');
  other.cancel('left too');
  expect(read.state).toBe('error');
  expect((await binding.next()).context.signal.aborted).toBe(true);
  expect(await read.catch((error: unknown) => error)).toMatchObject({
    code: 'ABORTED',
    cause: 'left too',
  });
});

test.each(['onFinal', 'await', 'subscribe', 'settle'] as const)(
  'COR-10: what is made of a read is cancelled, and %s waits for it → it goes on',
  async (how) => {
    const binding = scriptedBinding(LEVELS);
    const read = createClient(binding).invoke<unknown>({ ...get('k') });
    const reported: unknown[] = [];
    if (how === 'onFinal') read.onFinal((value) => reported.push(value));
    else if (how === 'subscribe')
      read.subscribe({ next: ({ value }) => void reported.push(value) });
    else
      void (how === 'await' ? read : read.settle().then(({ value }) => value)).then((value) =>
        reported.push(value),
      );
    const made = read.map(String);
    made.cancel();
    await codeOf(made);
    (await binding.next()).view('there', 'strong');
    await settled();
    expect(reported).toEqual(['there']);
  },
);

test('COR-10: a view of what is made of a read is enough, and the rest is given up → the read ends', async () => {
  const binding = scriptedBinding(LEVELS);
  const early = createClient(binding)
    .invoke(get('k'))
    .map(String)
    .settle({ enough: () => true, afterEarly: 'cancel' });
  const call = await binding.next();
  const { signal } = call.context;
  call.view(1, 'weak');
  expect((await early).value).toBe('1');
  expect(signal.aborted).toBe(true);
});

test('COR-10: the binding fails by itself → its signal does not abort, whenever it is read', async () => {
  for (const isAskedBefore of [true, false]) {
    const binding = scriptedBinding(LEVELS);
    const code = codeOf(createClient(binding).invoke(get('k')));
    const call = await binding.next();
    if (isAskedBefore) expect(call.context.signal.aborted).toBe(false);
    call.fail(new Error('disk'));
    expect(await code).toBe('FINAL_FAILED');
    expect(call.context.signal.aborted).toBe(false);
  }
});

test('COR-4: the signal of a subscription aborts → it is closed', () => {
  const { c } = manual();
  const controller = new AbortController();
  const subscription = c.subscribe(() => {}, { signal: controller.signal });
  expect(subscription.closed).toBe(false);
  controller.abort();
  expect(subscription.closed).toBe(true);
});

test('COR-10: a write is cancelled in flight → UNKNOWN, never "not done"', async () => {
  const binding = scriptedBinding(LEVELS);
  const write = createClient(binding).invoke(put('k', 1));
  (await binding.next()).view(undefined, 'weak');
  write.cancel();
  expect(await write.catch((error: unknown) => error)).toMatchObject({
    code: 'UNKNOWN',
    retryable: false,
    lastView: { level: 'weak' },
  });
});

test('COR-10: the signal had aborted before → ABORTED and nothing is sent, also for a write', async () => {
  const binding = scriptedBinding(LEVELS);
  const write = createClient(binding).invoke(put('k', 1), { signal: AbortSignal.abort('no') });
  expect(await codeOf(write)).toBe('ABORTED');
  expect(binding.calls).toEqual([]);
});

test('COR-10: the signal of invoke aborts → all its operations close, its reason is the cause', async () => {
  const controller = new AbortController();
  const client = createClient(scriptedBinding(LEVELS));
  const errors = [get('a'), get('b')].map((operation) =>
    client.invoke(operation, { signal: controller.signal }).catch((error: unknown) => error),
  );
  controller.abort('page left');
  const expected = { code: 'ABORTED', cause: 'page left' };
  expect(await Promise.all(errors)).toMatchObject([expected, expected]);
});

test('COR-10: disposal → cancels', async () => {
  const { c } = manual();
  {
    using scoped = c;
    scoped.onError(() => 0);
  }
  expect(await codeOf(c)).toBe('ABORTED');
});

test('COR-10: unsubscribing, a signal of callbacks, break out of for await → never cancel', async () => {
  const { c, sink } = manual<number>();
  const controller = new AbortController();
  c.subscribe(() => 0).unsubscribe();
  const lines: string[] = [];
  c.setCallbacks({ onUpdate: () => lines.push('write') }, { signal: controller.signal });
  controller.abort();
  sink.view(1, 'weak');
  for await (const _view of c) break;
  expect(lines).toEqual([]);
  expect(c.state).toBe('pending');
  sink.view(2, 'strong');
  expect(await c).toBe(2);
});

test('COR-10: a signal that has aborted before callbacks are attached → they are never called', async () => {
  const { c, sink } = manual<number>();
  const next = vi.fn();
  const subscription = c.subscribe(next, { signal: AbortSignal.abort() });
  sink.view(1, 'strong');
  await settled();
  expect(next).not.toHaveBeenCalled();
  expect(subscription.closed).toBe(true);
});

test('COR-10: one consumer unsubscribes twice → the others still see everything', () => {
  const { c, sink } = manual<number>();
  const lines = record(c);
  const leaving = c.subscribe(() => 0);
  leaving.unsubscribe();
  leaving.unsubscribe();
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  expect(lines).toEqual(['write 1 weak', 'final 2 strong']);
});

test('COR-10: 100 000 operations on one signal → one listener at most, none at the end', async () => {
  const { signal } = new AbortController();
  const listeners = listenersOf(signal);
  let most = 0;
  const binding = scriptedBinding(LEVELS, { onCall: () => (most = Math.max(most, listeners())) });
  const client = createClient(binding);
  for (let round = 0; round < 100; round++) {
    for (let i = 0; i < 1000; i++) client.invoke(get('k'), { signal });
    for (let i = 0; i < 1000; i++) binding.calls[round * 1000 + i]!.view(1, 'strong');
  }
  expect(most).toBe(1);
  expect(listeners()).toBe(0);
});

test('COR-10: callbacks with a signal on a closed Correctable → called once, no listener stays', async () => {
  const { signal } = new AbortController();
  const listeners = listenersOf(signal);
  const onFinal = vi.fn();
  correctableFromValue(1).setCallbacks({ onFinal }, { signal });
  await settled();
  expect(onFinal).toHaveBeenCalledOnce();
  expect(listeners()).toBe(0);
});

test('COR-10: a signal that has aborted before → the executor does not run', async () => {
  const executor = vi.fn();
  const c = correctable(LEVELS, executor, { signal: AbortSignal.abort('no') });
  expect(await c.catch((error: unknown) => error)).toMatchObject({ code: 'ABORTED', cause: 'no' });
  expect(executor).not.toHaveBeenCalled();
});

test('COR-10: callbacks and observers with a signal, and each end that there is → no listener stays', () => {
  const { signal } = new AbortController();
  const listeners = listenersOf(signal);
  const [won, lost, cancelled, left] = [
    manual<number>(),
    manual<number>(),
    manual<number>(),
    manual<number>(),
  ];
  const subscriptions = [won, lost, cancelled, left].map(({ c }) =>
    c.subscribe({ error: () => 0 }, { signal }),
  );
  for (const { c } of [won, lost, cancelled]) c.setCallbacks({ onError: () => 0 }, { signal });
  expect(listeners()).toBe(1);
  won.sink.view(1, 'strong');
  lost.sink.fail(new Error('down'));
  cancelled.c.cancel();
  expect(listeners()).toBe(1);
  subscriptions[3]!.unsubscribe();
  expect(listeners()).toBe(0);
});

test('COR-10: what was quick is not looked at, for the look makes a signal; what took its time is', () => {
  const look = vi.fn(() => AbortSignal.abort());
  const waiting = {
    get signal() {
      return look();
    },
  };
  expect(isAbandoned(waiting, performance.now())).toBe(false);
  expect(look).not.toHaveBeenCalled();
  expect(isAbandoned(waiting, performance.now() - SIGNAL_CHECK_DELAY_MS - 1)).toBe(true);
  expect(isAbandoned({ signal: new AbortController().signal }, -1e6)).toBe(false);
});

test('COR-10: the signal had aborted before, single levels have limits → no timer is left of them', async () => {
  const clock = virtualClock();
  const client = createClient(scriptedBinding(LEVELS), { clock, timeoutMs: Infinity });
  const read = client.invoke(get('k'), {
    signal: AbortSignal.abort(),
    levelTimeoutsMs: { weak: 5, strong: 10 },
  });
  expect(await codeOf(read)).toBe('ABORTED');
  expect(clock.pendingTimers).toBe(0);
});
