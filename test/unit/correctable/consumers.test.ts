/** COR-4, COR-5: however many consumers there are, and of whatever kind. */
import { from, lastValueFrom, map, toArray } from 'rxjs';
import { expect, test, vi } from 'vitest';
import type { AnyView, Correctable } from '../../../src/index.ts';
import { all, createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import type { Three } from './support.ts';
import { LEVELS, manual, settled } from './support.ts';

/** Every way to consume. Each returns the views, or the value of the final one, that it got. */
const CONSUMERS: Record<string, (c: Correctable<number | undefined, Three>) => Promise<unknown>> = {
  await: async (c) => [await c],
  then: (c) => c.then((value) => [value]),
  finally: async (c) => [await c.finally(() => 0)],
  callbacks: (c) => {
    const reported: unknown[] = [];
    return new Promise((resolve) => {
      c.setCallbacks({
        onUpdate: (value) => void reported.push(value),
        onFinal: (value) => resolve([...reported, value]),
      });
    });
  },
  subscribe: (c) => {
    const reported: unknown[] = [];
    return new Promise((complete) => {
      c.subscribe({
        next: ({ value }) => void reported.push(value),
        complete: () => complete(reported),
      });
    });
  },
  'for await': async (c) => {
    const reported: unknown[] = [];
    for await (const { value } of c) reported.push(value);
    return reported;
  },
  settle: async (c) => [(await c.settle()).value],
  when: async (c) => [(await c.when('strong')).value],
  map: async (c) => [await c.map((value) => value)],
  chain: async (c) => [await c.chain((value) => value)],
  speculate: async (c) => [await c.speculate((value) => value)],
  all: async (c) => [...(await all([c]))],
  RxJS: (c) => lastValueFrom(from(c).pipe(map(valueOf), toArray())),
};

/** Returns a view, or the value of the final one, from what RxJS emits. */
function valueOf(reported: AnyView | number | undefined): unknown {
  return typeof reported === 'object' ? reported.value : `${reported}, and no view`;
}

/** Consumers that get preliminary views too. */
const SEE_ALL = ['callbacks', 'subscribe', 'for await', 'RxJS'];

test('COR-4, COR-5: consumers of every kind, early, in between and late → one operation, and each gets all its views', async () => {
  const binding = scriptedBinding(LEVELS);
  const read = createClient(binding).invoke(get<number>('k'));
  const call = await binding.next();
  const consume = (): Promise<unknown>[] =>
    Object.values(CONSUMERS).map((consumer) => consumer(read));
  const early = consume();
  call.view(1, 'weak');
  call.view(2, 'causal');
  const between = consume();
  await settled();
  call.view(3, 'strong');
  const late = consume();
  const due = (views: unknown[]): unknown[] =>
    Object.keys(CONSUMERS).map((name) => (SEE_ALL.includes(name) ? views : views.slice(-1)));
  expect(await Promise.all(early)).toEqual(due([1, 2, 3]));
  expect(await Promise.all(between)).toEqual(due([2, 3]));
  expect(await Promise.all(late)).toEqual(due([3]));
  expect(binding.calls).toHaveLength(1);
});

/** How many promises `body` makes by `new Promise`: none of those that `then` and its kind give. */
function promisesMadeBy(body: () => void): number {
  let made = 0;
  const construct = (
    native: PromiseConstructor,
    [executor]: ConstructorParameters<PromiseConstructor>,
  ): object => {
    made += 1;
    return new native(executor);
  };
  vi.stubGlobal('Promise', new Proxy(Promise, { construct }));
  try {
    body();
  } finally {
    vi.unstubAllGlobals();
  }
  return made;
}

test('COR-5: then, catch and finally, again and again → one native promise, made when first asked for', async () => {
  for (const isLate of [false, true]) {
    const { c, sink } = manual<number>();
    if (isLate) sink.view(1, 'strong');
    const requested: Promise<unknown>[] = [];
    const unasked = (): void => void c.onFinal(() => 0).subscribe(() => 0);
    const same = (value: number): number => value;
    const nothing = (): undefined => undefined;
    const ask = (): void =>
      void requested.push(c.then(same), c.catch(nothing), c.finally(nothing), c.then(same));
    expect([unasked, ask, ask].map(promisesMadeBy)).toEqual([0, 1, 0]);
    if (!isLate) sink.view(1, 'strong');
    expect(new Set(await Promise.all(requested))).toEqual(new Set([1]));
    expect(promisesMadeBy(ask)).toBe(0);
  }
});
