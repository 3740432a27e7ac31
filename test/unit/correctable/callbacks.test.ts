/** C4 callbacks, C5 promise. */
import { expect, test, vi } from 'vitest';
import { correctable, correctableFromValue } from '../../../src/index.ts';
import { LEVELS, manual, record, settled, unhandledDuring } from './support.ts';

test('C4: onUpdate and onFinal → preliminary views to one, the final to the other', () => {
  const { c, sink } = manual<number>();
  const lines = record(c);
  sink.view(1, 'weak');
  sink.view(2, 'causal');
  sink.view(3, 'strong');
  expect(lines).toEqual(['write 1 weak', 'write 2 causal', 'final 3 strong']);
});

test('C4: the three methods → chainable, each with its part', async () => {
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

test('C4: subscribe → every view, then complete', () => {
  const { c, sink } = manual<number>();
  const seen: unknown[] = [];
  const subscription = c.subscribe({ next: (view) => seen.push(view.level), complete: () => seen.push('complete') });
  sink.view(1, 'weak');
  expect(subscription.closed).toBe(false);
  sink.view(2, 'strong');
  expect(seen).toEqual(['weak', 'strong', 'complete']);
  expect(subscription.closed).toBe(true);
});

test('C4: callbacks, observers and promises in turn → called in the order in which they were attached', async () => {
  const { c, sink } = manual<number>();
  const seen: string[] = [];
  c.onFinal(() => seen.push('first'));
  c.subscribe(() => seen.push('second'));
  c.onFinal(() => seen.push('third'));
  c.setCallbacks({ onUpdate: () => seen.push('fourth, early'), onFinal: () => seen.push('fourth') });
  void c.then(() => seen.push('then'));
  sink.view(1, 'weak');
  expect(seen).toEqual(['second', 'fourth, early']);
  sink.view(2, 'strong');
  expect(seen.slice(2)).toEqual(['first', 'second', 'third', 'fourth']);
  await settled();
  expect(seen.at(-1)).toBe('then');
});

test('C4: callbacks → called without a receiver, so that they cannot reach the sink', () => {
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

test('C4: attached late, and a view comes before the latest was delivered → both, in order, once', async () => {
  const { c, sink } = manual<number>();
  sink.view(1, 'weak');
  const lines = record(c);
  sink.view(2, 'causal');
  expect(lines).toEqual(['write 1 weak', 'write 2 causal']);
  await settled();
  expect(lines).toHaveLength(2);
});

test('C4: attached after the end → the final once, preliminary views not at all', async () => {
  const { c, sink } = manual<number>();
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  const lines = record(c);
  const views: string[] = [];
  c.subscribe((view) => views.push(view.level));
  expect(lines).toEqual([]);
  await settled();
  expect(lines).toEqual(['final 2 strong']);
  expect(views).toEqual(['strong']);
});

test('C4: attached after a failure → everyone the error once', async () => {
  const { c, sink } = manual<number>();
  sink.view(1, 'weak');
  sink.fail(new Error('down'));
  const lines = record(c);
  const errors: unknown[] = [];
  c.subscribe({ error: ({ code }) => errors.push(code) });
  await settled();
  expect(lines).toEqual(['error FINAL_FAILED']);
  expect(errors).toEqual(['FINAL_FAILED']);
});

test('C4: attached inside a callback → not called inside it, and no view twice', async () => {
  const { c, sink } = manual<number>();
  const inner: number[] = [];
  let inside = false;
  c.onUpdate(() => {
    inside = true;
    c.onUpdate((value) => {
      expect(inside).toBe(false);
      inner.push(value);
    });
    inside = false;
  });
  sink.view(1, 'weak');
  expect(inner).toEqual([]);
  await settled();
  expect(inner).toEqual([1]);
});

test('C4: a view that arises inside a callback → all listeners see the views in one order', () => {
  const { c, sink } = manual<number>();
  const first: number[] = [];
  const second: number[] = [];
  c.subscribe(({ value }) => {
    if (value === 1) sink.view(2, 'strong');
    first.push(value);
  });
  c.subscribe(({ value }) => second.push(value));
  sink.view(1, 'weak');
  expect(first).toEqual([1, 2]);
  expect(second).toEqual([1, 2]);
});

test('C4: a callback throws → onUncaught gets it, the others are not disturbed', () => {
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

test('C4: next throws on the final view → reported, and complete is called all the same', () => {
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

test('C4: the operation fails → its subscriptions are closed', () => {
  const { c, sink } = manual<number>();
  const subscription = c.subscribe({ error: () => 0 });
  sink.fail(new Error('down'));
  expect(subscription.closed).toBe(true);
});

test('C4: onEvent throws → onUncaught gets it; onUncaught throws → a process warning', async () => {
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

test('C4: unsubscribed between two views, also from inside → no more views', () => {
  const { c, sink } = manual<number>();
  const seen: number[] = [];
  const other: number[] = [];
  const subscription = c.subscribe(({ value }) => {
    seen.push(value);
    subscription.unsubscribe();
  });
  c.subscribe(({ value }) => other.push(value));
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  expect(seen).toEqual([1]);
  expect(other).toEqual([1, 2]);
});

test('C4: one listener ends the next inside a delivery → it is not called, later ones are', () => {
  const { c, sink } = manual<number>();
  const seen: string[] = [];
  c.subscribe(() => second.unsubscribe());
  const second = c.subscribe(() => seen.push('second'));
  c.subscribe(() => seen.push('third'));
  sink.view(1, 'weak');
  expect(seen).toEqual(['third']);
});

test('C5: eager → the work begins without a consumer', () => {
  const executor = vi.fn();
  correctable(LEVELS, executor);
  expect(executor).toHaveBeenCalledOnce();
});

test('C5: an unobserved error → one unhandled rejection, a macrotask after closing', async () => {
  const reasons = await unhandledDuring(() => {
    manual().sink.fail(new Error('down'));
  });
  expect(reasons).toEqual([expect.objectContaining({ code: 'FINAL_FAILED' })]);
});

test('C5: an error observed in any of the ways, also late → no unhandled rejection', async () => {
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

test('C5: callbacks that do not see errors → do not observe', async () => {
  const reasons = await unhandledDuring(() => {
    const { c, sink } = manual();
    c.onFinal(() => 0).onUpdate(() => 0);
    c.subscribe({ next: () => 0 });
    c.setCallbacks({ onFinal: () => 0 }, { signal: new AbortController().signal });
    sink.fail(new Error('down'));
  });
  expect(reasons).toHaveLength(1);
});

test('C5: a derived Correctable → observes its source and inherits the duty: one rejection, not two', async () => {
  const reasons = await unhandledDuring(() => {
    const { c, sink } = manual<number>();
    c.map((value) => value).map((value) => value);
    sink.fail(new Error('down'));
  });
  expect(reasons).toHaveLength(1);
});

test('C5: several promises of one failure → the error of each chain is its own, the source adds none', async () => {
  const reasons = await unhandledDuring(async () => {
    const { c, sink } = manual<number>();
    const all = [c.catch(() => 1), c.catch(() => 2), c.then(undefined, () => 3)];
    sink.fail(new Error('down'));
    expect(await Promise.all(all)).toEqual([1, 2, 3]);
  });
  expect(reasons).toEqual([]);
});

test('C5: then obeys Promises/A+ → 2.2.4 later, 2.2.5 without this, 2.2.6 in order, 2.2.7 chaining', async () => {
  const { c, sink } = manual<number>();
  sink.view(1, 'strong');
  const order: string[] = [];
  const chained = c.then(function (this: unknown, value) {
    order.push(`a${value}${String(this)}`);
    return Promise.resolve(value + 1);
  });
  const thrown = c.then(() => {
    order.push('b');
    throw new Error('from the handler');
  });
  order.push('sync');
  expect(await chained).toBe(2);
  await expect(thrown).rejects.toThrow('from the handler');
  expect(order).toEqual(['sync', 'a1undefined', 'b']);
  // @ts-expect-error 2.2.1: what is no function is ignored
  expect(await c.then(5, 'x')).toBe(1);
  expect(await c.finally(() => 9)).toBe(1);
});

test('C5: absorbed by Promise.all, race, resolve and async return → the final value', async () => {
  const item = correctableFromValue(1);
  const { c, sink } = manual<number>();
  setTimeout(() => sink.view(2, 'strong'), 0);
  expect(await Promise.all([item, c])).toEqual([1, 2]);
  expect(await Promise.race([c, item])).toBe(2);
  expect(await Promise.resolve(c)).toBe(2);
  expect(await (async () => c)()).toBe(2);
});
