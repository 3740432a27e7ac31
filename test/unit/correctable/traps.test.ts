/**
 * Traps that libraries around asynchronous results have fallen into, each by name. Most are covered by an invariant's
 * tests too; here they are told as the users met them.
 */
import { getEventListeners } from 'node:events';
import { from } from 'rxjs';
import { describe, expect, test, vi } from 'vitest';
import type { Binding, Sink } from '../../../src/index.ts';
import { boxed, correctable, correctableOf, createClient, getSnapshot } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';
import { codeOf, heldBytes, manual, record, settled, unhandledDuring } from './support.ts';

const TWO = ['weak', 'strong'] as const;

test('trap: await ends the delivery → views go on for everybody else', async () => {
  const { c, sink } = manual<number>();
  const lines = record(c);
  const awaited = c.then((value) => value);
  sink.update(1, 'weak');
  await settled();
  sink.update(2, 'strong');
  expect(await awaited).toBe(2);
  expect(lines).toEqual(['update 1 weak', 'final 2 strong']);
});

describe('trap: a thenable runs twice, or is absorbed', () => {
  test('awaited twice and chained → one submission, and what runs it runs once', async () => {
    const binding = scriptedBinding(TWO, { onCall: (call) => void call.view(1, 'strong') });
    const read = createClient(binding).invoke(get('k'));
    expect([await read, await read, await read.then((value) => value)]).toEqual([1, 1, 1]);
    expect(binding.calls).toHaveLength(1);
    const executor = vi.fn((sink: Sink<number, 'strong'>) => void sink.update(1, 'strong'));
    const c = correctable<number, readonly ['strong']>(['strong'], executor);
    expect([await c, await c.map((value) => value), await c.chain((value) => value)]).toEqual([1, 1, 1]);
    expect(executor).toHaveBeenCalledOnce();
  });

  test('returned by an async function → boxed() keeps its views', async () => {
    const { c } = manual<number>();
    expect((await (async () => boxed(c))()).correctable).toBe(c);
  });

  test('subclassing promise makes copies without views → it is no Promise, and then gives a plain one', () => {
    const c = correctableOf(1);
    expect(c).not.toBeInstanceOf(Promise);
    expect(c.then(() => 2).constructor).toBe(Promise);
  });
});

test('trap: Symbol.observable is missing in Node → RxJS from() sees every view all the same', async () => {
  const { c, sink } = manual<number>();
  const seen: unknown[] = [];
  // By the types it may be told of a promise's value too.
  from(c).subscribe((told) => seen.push(typeof told === 'object' ? told.value : 'no view'));
  sink.update(1, 'weak');
  await settled();
  sink.update(2, 'strong');
  await settled();
  expect(seen).toEqual([1, 2]);
});

test('trap: a race keeps its losers alive → a waiter that leaves early leaves nothing behind', async () => {
  const { c, sink } = manual<number>();
  sink.update(1, 'weak');
  const before = heldBytes();
  for (let n = 0; n < 50_000; n += 1) await c.settle({ enough: () => true });
  expect(heldBytes() - before).toBeLessThan(1_000_000);
  sink.update(2, 'strong');
  await c;
});

test('trap: what once ran is kept for ever → steps on 5,000 refined inputs leave nothing behind', async () => {
  const { c, sink } = manual<number>({ refining: true });
  const chained = c.chain((n) => correctableOf(Array.from({ length: 1000 }, () => n)));
  const before = heldBytes();
  for (let n = 0; n < 5_000; n += 1) {
    sink.update(n, 'weak');
    // A refuted run is undone before the next one begins.
    await settled();
  }
  // As many values as are kept for confirmations.
  expect(heldBytes() - before).toBeLessThan(20_000_000);
  sink.update(-1, 'strong');
  expect((await chained)[0]).toBe(-1);
});

test('trap: listeners of a signal leak → none is left after 10,000 operations, whichever way they end', async () => {
  const binding = scriptedBinding(TWO);
  const client = createClient(binding);
  const { signal } = new AbortController();
  for (let n = 0; n < 10_000; n += 1) {
    const read = client.invoke(get('k'), { signal });
    read.catch(() => undefined);
    const call = await binding.next();
    if (n % 3 === 0) call.view(1, 'strong');
    else if (n % 3 === 1) call.fail(new Error('down'));
    else read.cancel();
  }
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

describe('trap: one who leaves takes the others with him', () => {
  test('unsubscribed, as a component that mounts twice → the operation goes on', async () => {
    const { c, sink } = manual<number>();
    c.subscribe(() => undefined).unsubscribe();
    const again = vi.fn();
    c.subscribe((view) => again(view.value));
    sink.update(1, 'strong');
    await settled();
    expect(again.mock.calls).toEqual([[1]]);
  });

  test("a consumer's signal → ends his callbacks, not the operation", async () => {
    const { c, sink } = manual<number>();
    const leaving = new AbortController();
    const gone = vi.fn();
    c.setCallbacks({ onFinal: gone }, { signal: leaving.signal });
    leaving.abort();
    sink.update(1, 'strong');
    expect(await c).toBe(1);
    expect(gone).not.toHaveBeenCalled();
  });
});

test('trap: one failure, three eager promises, three unhandled rejections → one', async () => {
  const reasons = await unhandledDuring(() => {
    const { c, sink } = manual<number>();
    c.onUpdate(() => undefined).onFinal(() => undefined);
    void c.state;
    sink.fail(new Error('down'));
  });
  expect(reasons).toHaveLength(1);
});

describe('trap: equality', () => {
  test('asked again and again → once per view', async () => {
    const equals = vi.fn((a: number, b: number) => a === b);
    const { c, sink } = manual<number>({ equals });
    const lines = [record(c), record(c), record(c)];
    sink.update(1, 'weak');
    sink.update(2, 'strong');
    await settled();
    expect(lines.map((each) => each.length)).toEqual([2, 2, 2]);
    expect(equals).toHaveBeenCalledOnce();
  });

  test('blind to Date and Map → equal by content', async () => {
    const { c, sink } = manual<unknown>();
    const value = (): unknown => ({ at: new Date(5), by: new Map([['k', new Set([1])]]) });
    sink.update(value(), 'weak');
    sink.update(value(), 'strong');
    expect((await c.settle()).confirms).toBe(true);
  });

  test('sharing structure hides newer data → the value keeps its identity, the view its freshness', async () => {
    const { c, sink } = manual<object>();
    const early = { a: 1 };
    sink.update(early, 'weak', { version: 1, meta: { remaining: 5 } });
    sink.update({ a: 1 }, 'strong', { version: 2, meta: { remaining: 4 } });
    const view = await c.settle();
    expect(view.value).toBe(early);
    expect(view).toMatchObject({ version: 2, meta: { remaining: 4 } });
  });
});

test('trap: a late weak answer overwrites a newer one → dropped and counted', async () => {
  const binding = scriptedBinding(['weak', 'causal', 'strong']);
  const client = createClient(binding);
  const read = client.invoke(get<string>('k'));
  const call = await binding.next();
  call.view('newer', 'causal');
  call.view('older', 'weak');
  expect(read.latest?.value).toBe('newer');
  expect(Object.values(client.drops).reduce((sum, count) => sum + count, 0)).toBe(1);
  call.view('newest', 'strong');
  expect(await read).toBe('newest');
});

test('trap: roll-backs overlap → one live run, undone in reverse order before the next begins', async () => {
  const { c, sink } = manual<number>();
  const order: string[] = [];
  const result = c.speculate((value, scope) => {
    order.push(`run ${value}`);
    scope.onAbort(() => void order.push(`undo first of ${value}`));
    scope.onAbort(() => void order.push(`undo second of ${value}`));
    return value;
  });
  sink.update(1, 'weak');
  await settled();
  sink.update(2, 'strong');
  expect(await result).toBe(2);
  expect(order).toEqual(['run 1', 'undo second of 1', 'undo first of 1', 'run 2']);
});

test('trap: a promise that never settles → TIMEOUT, with the best view so far', async () => {
  const clock = virtualClock();
  const binding = scriptedBinding(TWO);
  const read = createClient(binding, { clock }).invoke(get('k'));
  (await binding.next()).view('early', 'weak');
  const failure = read.then(undefined, (error: unknown) => error);
  await clock.advance(31_000);
  expect(await failure).toMatchObject({ code: 'TIMEOUT', lastView: { value: 'early' } });
});

test("trap: aborting a mass of operations empties the driver's pool → settling early detaches, nothing is aborted", async () => {
  const binding = scriptedBinding(TWO);
  const read = createClient(binding).invoke(get('k'));
  const call = await binding.next();
  call.view(1, 'weak');
  await read.settle({ enough: () => true });
  expect(call.context.signal.aborted).toBe(false);
  call.view(1, 'strong');
  expect(await read).toBe(1);
});

test('trap: a renderer that compares snapshots loops for ever → the same snapshot until something changes', () => {
  const { c, sink } = manual<number>();
  const before = getSnapshot(c);
  expect(getSnapshot(c)).toBe(before);
  sink.update(1, 'weak');
  expect(getSnapshot(c)).not.toBe(before);
  expect(getSnapshot(c)).toBe(getSnapshot(c));
  sink.update(1, 'strong');
});

describe('trap: weak is T or undefined', () => {
  test('an empty answer → a view, with its level', async () => {
    const { c, sink } = manual<string | undefined>();
    sink.update(undefined, 'weak');
    expect(c.latest).toMatchObject({ value: undefined, level: 'weak' });
    sink.update('there', 'strong');
    await c;
  });

  test('nothing to say at a level → no view, rather than an empty one', async () => {
    const c = correctable<string, typeof TWO>(TWO, (sink) => void sink.update('there', 'strong'));
    const levels: string[] = [];
    for await (const view of c) levels.push(view.level);
    expect(levels).toEqual(['strong']);
  });
});

test('trap: cancelled means not done → an update that was submitted ends as UNKNOWN', async () => {
  const client = createClient(scriptedBinding(TWO));
  const write = client.invoke(put('k', 1));
  const failure = codeOf(write);
  write.cancel();
  expect(await failure).toBe('UNKNOWN');
});

describe('trap: what is over keeps what it was for', () => {
  /** How many of `refs` are held by something. */
  const heldOf = (refs: readonly WeakRef<object>[]): number => {
    heldBytes();
    return refs.filter((ref) => ref.deref() !== undefined).length;
  };

  test('a Correctable that has closed and is kept → its callbacks are not', async () => {
    const refs: WeakRef<object>[] = [];
    const watched = (): (() => void) => {
      const page = { seen: 0 };
      refs.push(new WeakRef(page));
      return () => void (page.seen += 1);
    };
    const { c, sink } = manual<number>();
    c.onUpdate(watched()).onFinal(watched()).onError(watched()).onFinal(watched()).subscribe(watched());
    sink.update(1, 'weak');
    sink.update(2, 'strong');
    await settled();
    expect(heldOf(refs)).toBe(0);
    expect(await c).toBe(2);
  });

  test('an operation hangs, others with its limit have closed → their values are not', async () => {
    const refs: WeakRef<object>[] = [];
    const answer = (sink: Sink): void => {
      const value = { page: refs.length };
      refs.push(new WeakRef(value));
      sink.update(value, 'strong');
    };
    const binding: Binding<typeof TWO> = {
      name: 'forgetful',
      consistencyLevels: () => TWO,
      supports: () => true,
      submitOperation: ({ key }, _levels, sink) => (key === 'hangs' ? undefined : answer(sink as Sink)),
      close: async () => {},
    };
    const client = createClient(binding, { clock: virtualClock() });
    const hanging = client.invoke(get('hangs'));
    for (let n = 0; n < 50; n += 1) await client.invoke(get('k'));
    await settled();
    // The list of deadlines is tidied once half of it is over.
    expect(heldOf(refs)).toBeLessThan(3);
    hanging.onError(() => 0).cancel();
  });
});
