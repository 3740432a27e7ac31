/**
 * One asynchronous result, as a Promise, as a Correctable and as an RxJS subject: made, kept in a map by id among a
 * thousand others, and completed later, as a client of a store does it. (Without the map an optimiser may remove the
 * objects altogether.)
 */
import { correctable, createClient, type Binding, type Sink, type ViewDetails } from 'correctables';
import { memory, type MemoryLevels } from 'correctables/bindings/memory';
import { get, put } from 'correctables/operations';
import { lastValueFrom, Observable, ReplaySubject, Subject, type Subscriber } from 'rxjs';

export const OUTSTANDING = 1000;
const LEVELS = ['weak', 'strong'] as const;
type Level = (typeof LEVELS)[number];

/** A way to wait for a result. `start` makes one, `finish` completes it with a preliminary and a final value. */
export interface Way {
  start(id: number): void;
  finish(id: number, preliminary: unknown, final: unknown): void;
}

/** What callbacks do with a value, so that no optimiser drops the call, and it can be seen that all were made. */
export const seen = { count: 0 };
const see = (): void => {
  seen.count += 1;
};

/** As a program waits for a result: of a Promise an engine makes no other one for that, of what has a `then` it does. */
async function waited(result: PromiseLike<unknown>): Promise<void> {
  await result;
  see();
}

/** A Promise with what `attach` hangs on it. It sees one value only. */
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

/** A Correctable with what `attach` hangs on it. Both views are delivered, their values compared. */
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

/** One callback waits: the baseline of all that are not awaited. */
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

/** `operations` results, one a step, a thousand on their way at any time; returns nanoseconds per operation. */
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
  for (let id = operations; id < operations + OUTSTANDING; id += 1) way.finish(id, preliminary[0], final[0]);
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
export const rxjsObservable = (): Way => viaObservable((made) => void made.subscribe({ next: see, complete: see }));
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

/** What `invokeMemory` does, as one writes it with RxJS: a read of a map gives both views, those of one tick by one timer. */
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

/**
 * `client.invoke` on the memory binding, both views, one callback each, a thousand at a time.
 */
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

/** The same store, but each view has an object of its own. */
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

/** A class, whose methods are made once: closures would be made, and by the loader of this file named, for each call. */
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
 * What the two views of one result have as values: equal texts; equal objects that are not identical, as they come off a
 * wire; or one object, as a store in this process answers twice.
 */
export type Kind = 'string' | 'object' | 'shared object';

/** Pairs of values of 100 bytes. Those that are not identical are so that comparing them is work. */
export function valuesOf(kind: Kind): Values {
  const make = (n: number): unknown => {
    const text = `value ${n} `.padEnd(kind === 'string' ? 100 : 60, 'abcdefghij');
    return kind === 'string' ? Buffer.from(text).toString() : { id: `user:${n}`, text, at: 1_700_000_000_000 + n };
  };
  const list = (): unknown[] => Array.from({ length: OUTSTANDING }, (_, n) => make(n));
  const preliminary = list();
  return { preliminary, final: kind === 'shared object' ? preliminary : list() };
}
