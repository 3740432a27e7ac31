/**
 * The contenders: one asynchronous result as a Promise, as a Correctable, and as an RxJS subject.
 * It is created, kept in a map by id among a thousand others, and completed later, as in a client
 * of a store. Without the map, an optimizer could remove the objects.
 */
import { correctable, createClient, type Binding, type Sink, type ViewDetails } from 'correctables';
import { memory, type MemoryLevels } from 'correctables/bindings/memory';
import { get, put } from 'correctables/operations';
import { lastValueFrom, Observable, ReplaySubject, Subject, type Subscriber } from 'rxjs';

export const OUTSTANDING = 1000;
const LEVELS = ['weak', 'strong'] as const;
type Level = (typeof LEVELS)[number];

/**
 * A way to wait for a result. `start` creates a result. `finish` completes it with a preliminary
 * and a final value.
 */
export interface Way {
  start(id: number): void;
  finish(id: number, preliminary: unknown, final: unknown): void;
}

/**
 * Callbacks count their calls here. So no optimizer drops a call, and the number of calls can be
 * checked.
 */
export const seen = { count: 0 };
const see = (): void => {
  seen.count += 1;
};

/**
 * Awaits a result as a program does. For a Promise, an engine creates no further promise. For
 * another object with a `then`, it does.
 */
async function waited(result: PromiseLike<unknown>): Promise<void> {
  await result;
  see();
}

/**
 * Creates the way that uses a Promise, to which `attach` adds callbacks. It delivers only one
 * value.
 */
function viaPromise(attach: (made: Promise<unknown>) => unknown): Way {
  const pending = new Map<number, (value: unknown) => void>();
  return {
    start(id) {
      attach(new Promise((resolve) => pending.set(id, resolve)));
    },
    finish(id, _preliminary, final) {
      const resolve = pending.get(id) as (value: unknown) => void;
      pending.delete(id);
      resolve(final);
    },
  };
}

/**
 * Creates the way that uses a Correctable, to which `attach` adds callbacks. Both views are
 * delivered, and their values compared.
 */
function viaCorrectable(attach: (made: ReturnType<typeof pendingCorrectable>) => unknown): Way {
  const pending = new Map<number, Sink<unknown, Level>>();
  return {
    start(id) {
      attach(pendingCorrectable((sink) => pending.set(id, sink)));
    },
    finish(id, preliminary, final) {
      const sink = pending.get(id) as Sink<unknown, Level>;
      pending.delete(id);
      sink.view(preliminary, 'weak');
      sink.view(final, 'strong');
    },
  };
}

function pendingCorrectable(keep: (sink: Sink<unknown, Level>) => void) {
  return correctable<unknown, typeof LEVELS>(LEVELS, (sink) => keep(sink));
}

/** A Promise with one callback: the baseline of all ways that do not use `await`. */
export const promise = (): Way => viaPromise((made) => void made.then(see));
export const promiseAwaited = (): Way => viaPromise(waited);
export const callbacks = (): Way => viaCorrectable((made) => made.onUpdate(see).onFinal(see));
export const awaited = (): Way => viaCorrectable(waited);
export const speculateHit = (): Way => viaCorrectable((made) => made.speculate(twice).onFinal(see));

function twice(value: unknown): unknown {
  return [value, value];
}

/** RxJS: a subject that remembers its value, awaited for the last one. */
export function rxjs(): Way {
  const pending = new Map<number, ReplaySubject<unknown>>();
  return {
    start(id) {
      const subject = new ReplaySubject<unknown>(1);
      void lastValueFrom(subject).then(see);
      pending.set(id, subject);
    },
    finish(id, preliminary, final) {
      const subject = pending.get(id) as ReplaySubject<unknown>;
      pending.delete(id);
      subject.next(preliminary);
      subject.next(final);
      subject.complete();
    },
  };
}

/**
 * Creates `operations` results, one in each step, with a thousand in flight at any time. Returns
 * the nanoseconds per operation.
 */
export async function drive(way: Way, values: Values, operations: number): Promise<number> {
  const { preliminary, final } = values;
  for (let id = 0; id < OUTSTANDING; id += 1) way.start(id);
  const from = performance.now();
  for (let id = OUTSTANDING; id < operations + OUTSTANDING; id += 1) {
    const done = id - OUTSTANDING;
    way.finish(done, preliminary[done % OUTSTANDING], final[done % OUTSTANDING]);
    way.start(id);
    // Lets the callbacks run, as the end of a tick does.
    if (id % OUTSTANDING === 0) await Promise.resolve();
  }
  const nanoseconds = ((performance.now() - from) * 1e6) / operations;
  for (let id = operations; id < operations + OUTSTANDING; id += 1)
    way.finish(id, preliminary[0], final[0]);
  await Promise.resolve();
  return nanoseconds;
}

/** RxJS in its cheapest form: a subject that remembers nothing, with one observer of both views. */
export function rxjsCheapest(): Way {
  const pending = new Map<number, Subject<unknown>>();
  return {
    start(id) {
      const subject = new Subject<unknown>();
      subject.subscribe({ next: see, complete: see });
      pending.set(id, subject);
    },
    finish(id, preliminary, final) {
      const subject = pending.get(id) as Subject<unknown>;
      pending.delete(id);
      subject.next(preliminary);
      subject.next(final);
      subject.complete();
    },
  };
}

/** RxJS without a subject: the observable keeps its one subscriber, which a callback waits for. */
export const rxjsObservable = (): Way =>
  viaObservable((made) => void made.subscribe({ next: see, complete: see }));
/** The same, awaited for the last value. */
export const rxjsAwaited = (): Way => viaObservable((made) => void waited(lastValueFrom(made)));

function viaObservable(attach: (made: Observable<unknown>) => void): Way {
  const pending = new Map<number, Subscriber<unknown>>();
  return {
    start(id) {
      attach(new Observable<unknown>((subscriber) => void pending.set(id, subscriber)));
    },
    finish(id, preliminary, final) {
      const subscriber = pending.get(id) as Subscriber<unknown>;
      pending.delete(id);
      subscriber.next(preliminary);
      subscriber.next(final);
      subscriber.complete();
    },
  };
}

/**
 * Does the same as `invokeMemory` in the usual way of RxJS: a read of a map delivers both views,
 * and one timer serves all reads of a tick.
 */
export async function invokeRxjs(operations: number): Promise<number> {
  const store = new Map([['key', valuesOf('string').final[0]]]);
  let due: Subscriber<unknown>[] = [];
  const answer = (): void => {
    const subscribers = due;
    due = [];
    for (const subscriber of subscribers) subscriber.next(store.get('key'));
    for (const subscriber of subscribers) {
      subscriber.next(store.get('key'));
      subscriber.complete();
    }
  };
  const read = (): Observable<unknown> =>
    new Observable((subscriber) => {
      if (due.push(subscriber) === 1) setTimeout(answer, 0);
    });
  const from = performance.now();
  for (let done = 0; done < operations; done += OUTSTANDING) {
    let left = OUTSTANDING;
    await new Promise<void>((resolve) => {
      const complete = (): void => {
        if ((left -= 1) === 0) resolve();
      };
      for (let n = 0; n < OUTSTANDING; n += 1) read().subscribe({ next: see, complete });
    });
  }
  return ((performance.now() - from) * 1e6) / operations;
}

/** `client.invoke` on the memory binding, both views, one callback each, a thousand at a time. */
export async function invokeMemory(kind: Kind, operations: number): Promise<number> {
  const binding = memory({ delaysMs: { weak: 0, strong: 0 } });
  const store = createClient(kind === 'object' ? copying(binding) : binding);
  await store.invoke(put('key', valuesOf(kind).final[0]));
  const read = get('key');
  const from = performance.now();
  for (let done = 0; done < operations; done += OUTSTANDING) {
    let left = OUTSTANDING;
    await new Promise<void>((resolve) => {
      const finished = (): void => {
        if ((left -= 1) === 0) resolve();
      };
      for (let n = 0; n < OUTSTANDING; n += 1) store.invoke(read).onUpdate(see).onFinal(finished);
    });
  }
  const nanoseconds = ((performance.now() - from) * 1e6) / operations;
  await store.close();
  return nanoseconds;
}

/** Wraps the store so that each view has a separate object. */
function copying(inner: Binding<MemoryLevels>): Binding<MemoryLevels> {
  return {
    name: inner.name,
    consistencyLevels: () => inner.consistencyLevels(),
    supports: (operation) => inner.supports(operation),
    submitOperation: (operation, levels, sink, context) =>
      inner.submitOperation(operation, levels, new CopyingSink(sink), context),
    close: () => inner.close(),
  };
}

/**
 * This is a class, so that its methods are created once. Closures would be created for each call,
 * and the loader of this file would also name each of them.
 */
class CopyingSink<T, L extends string> implements Sink<T, L> {
  readonly #sink: Sink<T, L>;

  constructor(sink: Sink<T, L>) {
    this.#sink = sink;
  }

  view(value: T, level: L, details?: ViewDetails): number {
    return this.#sink.view(copied(value), level, details);
  }

  confirm(level: L, seq: number, details?: ViewDetails): void {
    this.#sink.confirm(level, seq, details);
  }

  fail(error: unknown, level?: L): void {
    this.#sink.fail(error, level);
  }
}

function copied<T>(value: T): T {
  return typeof value === 'object' && value !== null ? { ...value } : value;
}

export interface Values {
  readonly preliminary: readonly unknown[];
  readonly final: readonly unknown[];
}

/**
 * The kinds of values of the two views of one result: equal strings; equal objects that are not
 * identical, as after decoding; or the same object twice, as from a store in this process.
 */
export type Kind = 'string' | 'object' | 'shared object';

/**
 * Pairs of values of 100 bytes. Values that are not identical have a content that takes time to
 * compare.
 */
export function valuesOf(kind: Kind): Values {
  const make = (n: number): unknown => {
    const text = `value ${n} `.padEnd(kind === 'string' ? 100 : 60, 'abcdefghij');
    return kind === 'string'
      ? Buffer.from(text).toString()
      : { id: `user:${n}`, text, at: 1_700_000_000_000 + n };
  };
  const list = (): unknown[] => Array.from({ length: OUTSTANDING }, (_, n) => make(n));
  const preliminary = list();
  return { preliminary, final: kind === 'shared object' ? preliminary : list() };
}
