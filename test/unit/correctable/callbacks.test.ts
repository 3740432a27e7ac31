/** COR-4 callbacks, COR-5 promise. */
import { expect, test, vi } from 'vitest';
import { correctable, correctableFromValue } from '../../../src/index.ts';
import { LEVELS, manual, record, settled, unhandledDuring } from './support.ts';

test('COR-4: the three methods → chainable, each with its part', async () => {
  const { c, sink } = manual<number>();
  const seen: string[] = [];
  const same = c
    .onUpdate((value) => seen.push(`u${value}`))
    .onFinal((value) => seen.push(`f${value}`))
    .onError(({ code }) => seen.push(code));
  expect(same).toBe(c);
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  expect(seen).toEqual(['u1', 'f2']);
});

test('COR-4: subscribe → every view, then complete', () => {
  const { c, sink } = manual<number>();
  const seen: unknown[] = [];
  const subscription = c.subscribe({
    next: (view) => seen.push(view.level),
    complete: () => seen.push('complete'),
  });
  sink.view(1, 'weak');
  expect(subscription.closed).toBe(false);
  sink.view(2, 'strong');
  expect(seen).toEqual(['weak', 'strong', 'complete']);
  expect(subscription.closed).toBe(true);
});

test('COR-4: callbacks, observers and promises in turn → called in the order in which they were attached', async () => {
  const { c, sink } = manual<number>();
  const seen: string[] = [];
  c.onFinal(() => seen.push('first'));
  c.subscribe(() => seen.push('second'));
  c.onFinal(() => seen.push('third'));
  c.setCallbacks({
    onUpdate: () => seen.push('fourth, early'),
    onFinal: () => seen.push('fourth'),
  });
  void c.then(() => seen.push('then'));
  sink.view(1, 'weak');
  expect(seen).toEqual(['second', 'fourth, early']);
  sink.view(2, 'strong');
  expect(seen.slice(2)).toEqual(['first', 'second', 'third', 'fourth']);
  await settled();
  expect(seen.at(-1)).toBe('then');
});

test('COR-4: callbacks → called without a receiver, so that they cannot reach the sink', () => {
  const { c, sink } = manual<number>();
  const receivers: unknown[] = [];
  const callback = function (this: unknown): void {
    receivers.push(this);
  };
  c.onUpdate(callback).onFinal(callback);
  c.onFinal(callback);
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  expect(receivers).toEqual([undefined, undefined, undefined]);
});

test('COR-4: a callback throws → onUncaught gets it, the others are not disturbed', () => {
  const onUncaught = vi.fn();
  const { c, sink } = manual<number>({ onUncaught });
  const boom = new Error('boom');
  c.onFinal(() => {
    throw boom;
  });
  const lines = record(c);
  sink.view(1, 'strong');
  expect(lines).toEqual(['final 1 strong']);
  expect(onUncaught).toHaveBeenCalledExactlyOnceWith(boom);
});

test('COR-4: next throws on the final view → reported, and complete is called all the same', () => {
  const onUncaught = vi.fn();
  const { c, sink } = manual<number>({ onUncaught });
  const boom = new Error('boom');
  const complete = vi.fn();
  const next = (): never => {
    throw boom;
  };
  c.subscribe({ next, complete });
  sink.view(1, 'strong');
  expect(complete).toHaveBeenCalledOnce();
  expect(onUncaught).toHaveBeenCalledExactlyOnceWith(boom);
});

test('COR-4: the operation fails → its subscriptions are closed', () => {
  const { c, sink } = manual<number>();
  const subscription = c.subscribe({ error: () => 0 });
  sink.fail(new Error('down'));
  expect(subscription.closed).toBe(true);
});

test('COR-4: onEvent throws → onUncaught gets it; onUncaught throws → a process warning', async () => {
  const errors = [new Error('onEvent'), new Error('onUncaught')];
  const uncaught: unknown[] = [];
  const warned = new Promise((resolve) => process.once('warning', resolve));
  const { c, sink } = manual<number>({
    onEvent: () => {
      throw errors[0];
    },
    onUncaught: (error) => {
      uncaught.push(error);
      throw errors[1];
    },
  });
  sink.view(1, 'causal');
  sink.view(2, 'weak');
  sink.view(3, 'strong');
  expect(await c).toBe(3);
  expect(uncaught).toEqual([errors[0]]);
  expect(await warned).toBe(errors[1]);
});

test('COR-5: eager → the work begins without a consumer', () => {
  const executor = vi.fn();
  correctable(LEVELS, executor);
  expect(executor).toHaveBeenCalledOnce();
});

test('COR-5: an unobserved error → one unhandled rejection, a macrotask after closing', async () => {
  const reasons = await unhandledDuring(() => {
    manual().sink.fail(new Error('down'));
  });
  expect(reasons).toEqual([expect.objectContaining({ code: 'FINAL_FAILED' })]);
});

test('COR-5: an error observed in any of the ways, also late → no unhandled rejection', async () => {
  const ways: ((c: ReturnType<typeof manual>['c']) => unknown)[] = [
    (c) => c.catch(() => 0),
    (c) => c.then(undefined, () => 0),
    (c) => c.onError(() => 0),
    (c) => c.setCallbacks({ onError: () => 0 }),
    (c) => c.setCallbacks({ onError: () => 0 }, { signal: new AbortController().signal }),
    (c) => c.finally(() => 0).catch(() => 0),
    (c) => c.cancel(),
    (c) => c[Symbol.dispose](),
    (c) => c.subscribe({ error: () => 0 }),
    (c) => c.settle().catch(() => 0),
    (c) => c.when('weak').catch(() => 0),
    (c) =>
      c[Symbol.asyncIterator]()
        .next()
        .catch(() => 0),
  ];
  const reasons = await unhandledDuring(() => {
    for (const observe of ways) {
      const early = manual();
      observe(early.c);
      early.sink.fail(new Error('down'));
      const late = manual();
      late.sink.fail(new Error('down'));
      queueMicrotask(() => observe(late.c));
    }
  });
  expect(reasons).toEqual([]);
});

test('COR-5: callbacks that do not see errors → do not observe', async () => {
  const reasons = await unhandledDuring(() => {
    const { c, sink } = manual();
    c.onFinal(() => 0).onUpdate(() => 0);
    c.subscribe({ next: () => 0 });
    c.setCallbacks({ onFinal: () => 0 }, { signal: new AbortController().signal });
    sink.fail(new Error('down'));
  });
  expect(reasons).toHaveLength(1);
});

test('COR-5: a derived Correctable → observes its source and inherits the duty: one rejection, not two', async () => {
  const reasons = await unhandledDuring(() => {
    const { c, sink } = manual<number>();
    c.map((value) => value).map((value) => value);
    sink.fail(new Error('down'));
  });
  expect(reasons).toHaveLength(1);
});

test('COR-5: several promises of one failure → the error of each chain is its own, the source adds none', async () => {
  const reasons = await unhandledDuring(async () => {
    const { c, sink } = manual<number>();
    const all = [c.catch(() => 1), c.catch(() => 2), c.then(undefined, () => 3)];
    sink.fail(new Error('down'));
    expect(await Promise.all(all)).toEqual([1, 2, 3]);
  });
  expect(reasons).toEqual([]);
});

test('COR-5: absorbed by Promise.all, race, resolve and async return → the final value', async () => {
  const item = correctableFromValue(1);
  const { c, sink } = manual<number>();
  setTimeout(() => sink.view(2, 'strong'), 0);
  expect(await Promise.all([item, c])).toEqual([1, 2]);
  expect(await Promise.race([c, item])).toBe(2);
  expect(await Promise.resolve(c)).toBe(2);
  expect(await (async () => c)()).toBe(2);
});
