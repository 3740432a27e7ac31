/** Reads as queries: the cache has each view, and what the query is doing meanwhile. */
// @rule TQ-1, TQ-2, TQ-3, TQ-4, TQ-5
import {
  dehydrate,
  hydrate,
  QueryClient,
  QueryObserver,
  type QueryObserverResult,
} from '@tanstack/query-core';
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest';
import { memory } from '../../../src/bindings/memory/index.ts';
import {
  createClient,
  type AnyView,
  type CorrectableError,
  type View,
} from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { correctableQuery } from '../../../src/tanstack-query/index.ts';
import { scriptedBinding, type ScriptedCall } from '../../../src/testing/scripted-binding.ts';
import { collectGarbage } from '../../support/garbage.ts';

const LEVELS = ['weak', 'strong'] as const;

const queryClients: QueryClient[] = [];
afterEach(() => {
  for (const queryClient of queryClients.splice(0)) queryClient.clear();
});

function open({ staleTime = 0 } = {}) {
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime } } });
  queryClients.push(queryClient);
  const binding = scriptedBinding(LEVELS);
  const store = createClient(binding);
  const options = correctableQuery(store, get<string>('k'));
  return { queryClient, binding, store, options };
}

type World = ReturnType<typeof open>;

/** A component that shows the query, as its lines. */
function mount({ queryClient, options }: Pick<World, 'queryClient' | 'options'>) {
  const observer = new QueryObserver(queryClient, options);
  const lines: string[] = [];
  const show = ({ data, fetchStatus, error }: QueryObserverResult<AnyView<unknown>>): void => {
    const line = `${data === undefined ? 'none' : `${String(data.value)} ${data.level}`} ${error ? 'failed' : fetchStatus}`;
    if (line !== lines.at(-1)) lines.push(line);
  };
  const unmount = observer.subscribe(show);
  show(observer.getCurrentResult());
  return { lines, unmount, observer };
}

const delivered = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

describe('views', () => {
  test('a query → data from the first view on, fetching until the final one', async () => {
    const world = open();
    const { lines } = mount(world);
    const call = await world.binding.next();
    call.view('old', 'weak');
    await expect.poll(() => lines).toEqual(['none fetching', 'old weak fetching']);
    call.view('new', 'strong');
    await expect.poll(() => lines.at(-1)).toBe('new strong idle');
    expect(world.binding.calls).toHaveLength(1);
  });

  test('fetchQuery → resolves with the final view', async () => {
    const { queryClient, binding, options } = open();
    const fetched = queryClient.fetchQuery(options);
    const call = await binding.next();
    call.view('old', 'weak');
    call.confirm('strong', 0);
    expect(await fetched).toMatchObject({
      value: 'old',
      level: 'strong',
      final: true,
      confirms: true,
    });
    expect(queryClient.getQueryData(options.queryKey)?.value).toBe('old');
  });

  test('the final view fails → the preliminary one stays, with the typed error', async () => {
    const world = open({ staleTime: 60_000 });
    const { lines, observer } = mount(world);
    const call = await world.binding.next();
    call.view('old', 'weak');
    call.fail(new Error('down'));
    await expect.poll(() => lines.at(-1)).toBe('old weak failed');
    expect(observer.getCurrentResult().error?.code).toBe('FINAL_FAILED');
    expect(observer.getCurrentResult().isStale).toBe(true);
  });

  test('a refetch whose preliminary view has an older version → it is skipped', async () => {
    const world = open();
    const { lines, observer } = mount(world);
    (await world.binding.next()).view('new', 'strong', { version: 2 });
    await expect.poll(() => lines.at(-1)).toBe('new strong idle');
    void observer.refetch();
    const call = await world.binding.next();
    call.view('old', 'weak', { version: 1 });
    await delivered();
    expect(lines.at(-1)).toBe('new strong fetching');
    call.view('newer', 'strong', { version: 3 });
    await expect.poll(() => lines.at(-1)).toBe('newer strong idle');
  });

  test('chosen levels → only these, under a key of their own', async () => {
    const { queryClient, binding, store, options } = open();
    const strong = correctableQuery(store, get<string>('k'), { levels: ['strong'] });
    expect(strong.queryKey).not.toEqual(options.queryKey);
    const fetched = queryClient.fetchQuery(strong);
    const call = await binding.next();
    expect(call.levels).toEqual(['strong']);
    call.view('new', 'strong');
    expect((await fetched).value).toBe('new');
  });
});

describe('leaving', () => {
  test('the last component unmounts → the read is canceled, and what follows is not shown', async () => {
    const world = open();
    const { unmount } = mount(world);
    const call = await world.binding.next();
    const isAborted = new Promise<void>((resolve) =>
      call.context.signal.addEventListener('abort', () => resolve()),
    );
    call.view('old', 'weak');
    await expect
      .poll(() => world.queryClient.getQueryData(world.options.queryKey)?.value)
      .toBe('old');
    unmount();
    await isAborted;
    call.view('new', 'strong');
    await delivered();
    expect(world.queryClient.getQueryData(world.options.queryKey)?.value).toBe('old');
  });

  test.each([60_000, Infinity])(
    'it comes back while data of %s ms is fresh → it reads again',
    async (staleTime) => {
      const world = open({ staleTime });
      const first = mount(world);
      (await world.binding.next()).view('old', 'weak');
      await expect.poll(() => first.lines.at(-1)).toBe('old weak fetching');
      first.unmount();
      const { lines } = mount(world);
      (await world.binding.next()).view('new', 'strong');
      await expect.poll(() => lines).toEqual(['old weak fetching', 'new strong idle']);
    },
  );

  test('mounted, unmounted and mounted in one tick, as in StrictMode → one read', async () => {
    const world = open();
    mount(world).unmount();
    mount(world);
    await world.binding.next();
    await delivered();
    expect(world.binding.calls).toHaveLength(1);
  });

  test('200 queries that come and go → nothing is left of them', async () => {
    const world = open();
    const refs: WeakRef<ScriptedCall>[] = [];
    for (let n = 0; n < 200; n++) {
      const options = correctableQuery(world.store, get<string>(`k${n}`));
      const { unmount } = mount({ queryClient: world.queryClient, options });
      const call = await world.binding.next();
      refs.push(new WeakRef(call));
      call.view('old', 'weak');
      unmount();
      world.queryClient.removeQueries(options);
    }
    (world.binding.calls as ScriptedCall[]).length = 0;
    await expect
      .poll(() => {
        collectGarbage();
        return refs.filter((ref) => ref.deref()).length;
      })
      .toBeLessThan(5);
  });
});

describe('keys', () => {
  test('equal arguments → equal keys; other arguments or another prefix → others', () => {
    const { store, options } = open();
    expect(correctableQuery(store, get('k')).queryKey).toEqual(options.queryKey);
    expect(correctableQuery(store, get('other')).queryKey).not.toEqual(options.queryKey);
    expect(correctableQuery(store, get('k'), { keyPrefix: 'shop' }).queryKey[0]).toBe('shop');
  });

  test('bigints and dates → keys that TanStack Query can write and tell apart', async () => {
    const { queryClient, store, binding } = open();
    const read = (args: unknown) => correctableQuery(store, { name: 'read', access: 'read', args });
    const day = new Date(0);
    const hashes = [{ n: 1n }, { n: '1' }, { n: day }, { n: day.toISOString() }].map(
      (args) => queryClient.getQueryCache().build(queryClient, read(args)).queryHash,
    );
    expect(new Set(hashes).size).toBe(4);
    queryClient.fetchQuery(read({ n: 1n })).catch(() => {});
    expect((await binding.next()).operation.args).toEqual({ n: 1n });
  });

  test('invalidated by the name of the operation → reads again', async () => {
    const world = open();
    const { lines } = mount(world);
    (await world.binding.next()).view('old', 'strong');
    await expect.poll(() => lines.at(-1)).toBe('old strong idle');
    void world.queryClient.invalidateQueries({ queryKey: ['correctables', 'get'] });
    (await world.binding.next()).view('new', 'strong');
    await expect.poll(() => lines.at(-1)).toBe('new strong idle');
  });
});

test.each([60_000, Infinity])(
  'dehydrated preliminary view, fresh for %s ms → shown, and read',
  async (staleTime) => {
    const server = open();
    mount(server);
    (await server.binding.next()).view('old', 'weak');
    await expect
      .poll(() => server.queryClient.getQueryData(server.options.queryKey)?.value)
      .toBe('old');
    const page = open({ staleTime });
    hydrate(page.queryClient, JSON.parse(JSON.stringify(dehydrate(server.queryClient))));
    const { lines } = mount(page);
    (await page.binding.next()).view('new', 'strong');
    await expect.poll(() => lines).toEqual(['old weak fetching', 'new strong idle']);
  },
);

test('dehydrated with the final view → no second read', async () => {
  const server = open();
  mount(server);
  (await server.binding.next()).view('new', 'strong');
  await expect
    .poll(() => server.queryClient.getQueryData(server.options.queryKey)?.final)
    .toBe(true);
  const page = open({ staleTime: 60_000 });
  hydrate(page.queryClient, JSON.parse(JSON.stringify(dehydrate(server.queryClient))));
  expect(mount(page).lines).toEqual(['new strong idle']);
  await delivered();
  expect(page.binding.calls).toHaveLength(0);
});

test('arguments that are no plain data → INVALID_VALUE', () => {
  const { store } = open();
  const odd = { name: 'read', access: 'read', args: { when: new Map() } } as const;
  expect(() => correctableQuery(store, odd)).toThrow(
    expect.objectContaining({ code: 'INVALID_VALUE', field: 'args.when' }),
  );
});

test('types: the value, the levels and the error are inferred', () => {
  const store = createClient(memory());
  const options = correctableQuery(store, get<number>('n'));
  const observer = new QueryObserver(new QueryClient(), {
    ...options,
    select: ({ value }) => value,
  });
  expectTypeOf(observer.getCurrentResult().data).toEqualTypeOf<number | undefined>();
  const plain = new QueryObserver(new QueryClient(), options);
  expectTypeOf(plain.getCurrentResult().data?.level).toEqualTypeOf<'weak' | 'strong' | undefined>();
  expectTypeOf(plain.getCurrentResult().error).toEqualTypeOf<CorrectableError | null>();
  const data = new QueryClient().getQueryData(options.queryKey);
  expectTypeOf(data).toEqualTypeOf<
    View<number | undefined, readonly ['weak', 'strong']> | undefined
  >();
  const weak = correctableQuery(store, get<number>('n'), { levels: ['weak'] });
  expectTypeOf(new QueryClient().getQueryData(weak.queryKey)?.level).toEqualTypeOf<
    'weak' | 'strong' | undefined
  >();
  // @ts-expect-error: the store has no such level
  correctableQuery(store, get('n'), { levels: ['quorum'] });
});
