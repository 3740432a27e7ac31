/** Generators that keep their objects and return them again: each operation has its own values. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { InvocationContext, Sink } from '../../../../../src/correctable/binding.ts';
import type { Operation } from '../../../../../src/correctable/operation.ts';
import { createClient } from '../../../../../src/index.ts';
import { defineContract } from '../../../../../src/contract/contract.ts';
import { createEmbedded, type Embedded } from '../../../../../src/server/node/embedded/embedded.ts';
import type { Effect } from '../../../../../src/server/service/records/effect.ts';
import { defineService } from '../../../../../src/server/service/service.ts';
import { blue, red } from '../../../../../src/server/service/shadow-operation.ts';
import {
  cell,
  counter,
  log,
  queue,
  register,
  table,
} from '../../../../../src/server/service/tables.ts';

const SITES = ['ireland', 'frankfurt', 'virginia'] as const;
const THREE = [1, 2, 3] as const;
const n = z.object({ n: z.int() });
const update = { access: 'write', args: n, result: z.unknown() } as const;
const contract = defineContract('reused', {
  args: update,
  poison: update,
  list: update,
  redList: update,
  effect: update,
  getter: update,
  shared: update,
  line: update,
  push: update,
  pop: update,
  again: { access: 'read', args: n, result: z.unknown() },
  all: { access: 'read', args: z.object({}), result: z.unknown() },
});

interface Given {
  n: number;
  more?: unknown;
}

/** What the application goes on with. */
let shared: { readonly at: Date };
/** What replies were given. */
let popped: number[];

/** Each keeps one of what it gives. */
function makeService() {
  const [ARGS, OUT]: [Given, Given] = [{ n: 0 }, { n: 0 }];
  const [LIST, RED_LIST]: [Effect<undefined, 'blue', false>[], Effect[]] = [[], []];
  let HAND: { value: unknown } & Effect<undefined, 'blue', false>;
  let reads = 0;
  return defineService(contract, {
    tables: {
      blues: table({ sum: counter(), doc: register<unknown>(), lines: log<unknown>() }),
      reds: table({ owner: cell<unknown>(), items: queue<unknown>(), lines: log<unknown>() }),
    },
    shadowOperations: ({ blues, reds }) => ({
      args: red(
        ({ n: key }: Given) => [reds.row(`k${key}`).owner.assign(key)],
        (_, { n: reported }) => reported,
      ),
      list: blue(({ n: by }: Given) => {
        LIST.splice(0, 1, blues.row('list').sum.add(by));
        return LIST;
      }),
      redList: red(({ n: key }: Given) => {
        RED_LIST.splice(0, 1, reds.row(`l${key}`).owner.assign(key));
        return RED_LIST;
      }),
      effect: blue(({ n: value }: Given) => {
        HAND ??= { ...blues.row('hand').lines.append(0), value: 0 };
        HAND.value = value;
        return [HAND];
      }),
      getter: blue((_given: Given) => [
        {
          ...blues.row('getter').doc.write(0),
          get value(): number {
            return (reads += 1);
          },
        },
      ]),
      shared: blue((_given: Given) => [{ ...blues.row('shared').doc.write(0), value: shared }]),
      line: red(({ n: time }: Given) => [reds.row('r').lines.append(new Date(time))]),
      push: red(({ n: time }: Given) => [reds.row('r').items.push(new Date(time))]),
      pop: red(
        (_given: Given) => [reds.row('r').items.pop()],
        ([first]) => {
          const at = (first as { readonly item: Date }).item;
          popped.push(at.getTime());
          at.setTime(at.getTime() + 1);
          return at.getTime();
        },
      ),
    }),
    generators: {
      args: (value, { shadow }) => shadow.args(Object.assign(ARGS, value)),
      poison: (_, { shadow }) => shadow.args(Object.assign(ARGS, { more: new Map() })),
      list: (value, { shadow }) => shadow.list(value, null),
      redList: (value, { shadow }) => shadow.redList(value, null),
      effect: (value, { shadow }) => shadow.effect(value, null),
      getter: (value, { shadow }) => shadow.getter(value, null),
      shared: (value, { shadow }) => shadow.shared(value, null),
      line: (value, { shadow, tables }) => {
        for (const line of tables.reds.row('r').lines) (line as Date).setTime(9);
        return shadow.line(value, null);
      },
      push: (value, { shadow }) => shadow.push(value, null),
      pop: (value, { shadow }) => shadow.pop(value),
      again: (value) => Object.assign(OUT, value),
      all: (_, { tables: { blues, reds } }) => ({
        args: THREE.map((key) => reds.row(`k${key}`).owner),
        redList: THREE.map((key) => reds.row(`l${key}`).owner),
        list: blues.row('list').sum,
        effect: blues.row('hand').lines,
        getter: blues.row('getter').doc,
        shared: (blues.row('shared').doc as typeof shared | undefined)?.at.getTime(),
        line: reds.row('r').lines.map((line) => (line as Date).getTime()),
      }),
    },
  });
}

let deployment: Embedded<(typeof SITES)[number]>;
beforeEach(() => {
  [shared, popped] = [{ at: new Date(1000) }, []];
  const latency = { 'ireland-frankfurt': 10, 'ireland-virginia': 10, 'frankfurt-virginia': 10 };
  const remaining = {
    redLeader: 'frankfurt',
    latency,
    checkColors: false,
    generators: { determinismCheckRate: 0 },
  } as const;
  deployment = createEmbedded(makeService(), { sites: SITES, ...remaining });
});
afterEach(() => deployment.close());

/**
 * Returns the last view of an operation with an operationId of its own: the site keeps more of
 * those.
 */
function getFinal(operation: Operation<unknown>, operationId: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const context = { signal: new AbortController().signal, operationId } as InvocationContext;
    const update = (value: unknown, level: string): void => {
      if (level !== 'tentative') resolve(value);
    };
    const sink = { view: update, confirm: reject, fail: reject } as unknown as Sink<unknown>;
    deployment.site('ireland').submitOperation(operation, ['causal', 'strong'], sink, context);
  });
}

/** Three at once. */
function three(name: 'args' | 'list' | 'redList' | 'effect' | 'line'): Promise<unknown[]> {
  return Promise.all(
    THREE.map((number) => getFinal(contract[name]({ n: number }), `${name} ${number}`)),
  );
}

/** What all sites show of it, which has to be the same. */
async function shown(name: string): Promise<unknown> {
  const all = await Promise.all(
    SITES.map(async (site) => {
      const client = createClient(deployment.site(site));
      let value: unknown;
      await expect
        .poll(async () => {
          value = ((await client.invokeStrong(contract.all({}))) as Record<string, unknown>)[name];
          return value;
        })
        .not.toBeUndefined();
      return value;
    }),
  );
  for (const other of all) expect(other).toEqual(all[0]);
  return all[0];
}

test('arguments → each reply and each row is that of its own operation', async () => {
  expect(await three('args')).toEqual([1, 2, 3]);
  expect(await shown('args')).toEqual([1, 2, 3]);
});

test('arguments that cannot be written down later on → that operation alone is refused', async () => {
  const [done, refused] = await Promise.allSettled([
    getFinal(contract.args({ n: 1 }), 'one'),
    getFinal(contract.poison({ n: 2 }), 'two'),
  ]);
  expect(done).toMatchObject({ value: 1 });
  expect(refused).toMatchObject({ reason: { code: 'INVALID_VALUE' } });
});

test('a list of effects, red or blue → each operation has its own', async () => {
  await three('list');
  await three('redList');
  expect(await shown('list')).toBe(6);
  expect(await shown('redList')).toEqual([1, 2, 3]);
});

test('an effect made by hand → is what it was when it was given', async () => {
  await three('effect');
  expect(await shown('effect')).toEqual([1, 2, 3]);
  const client = createClient(deployment.site('ireland'));
  await client.invokeStrong(contract.getter({ n: 1 }));
  expect(await shown('getter')).toBe(1);
});

test("what an effect made by hand writes is the author's as before, and the state's is another", async () => {
  const client = createClient(deployment.site('ireland'));
  await client.invokeStrong(contract.shared({ n: 1 }));
  shared.at.setTime(777);
  expect(Object.isFrozen(shared)).toBe(false);
  expect(await shown('shared')).toBe(1000);
});

test('a read that returns the same object each time → each caller gets the value of its time', async () => {
  const client = createClient(deployment.site('ireland'));
  const strong = THREE.map((number) => client.invokeStrong(contract.again({ n: number })));
  const weak = THREE.map((number) => client.invokeWeak(contract.again({ n: number })));
  expect(await Promise.all([...strong, ...weak])).toEqual(
    [...THREE, ...THREE].map((number) => ({ n: number })),
  );
});

test('a generator that changes a line in flight → changes a copy', async () => {
  await three('line');
  expect(await shown('line')).toEqual([1, 2, 3]);
});

test('a reply that changes the item that was popped → changes a copy, at each site', async () => {
  const client = createClient(deployment.site('ireland'));
  await client.invokeStrong(contract.push({ n: 1000 }));
  expect(await client.invokeStrong(contract.pop({ n: 0 }))).toBe(1001);
  await shown('list');
  expect(new Set(popped)).toEqual(new Set([1000]));
});
