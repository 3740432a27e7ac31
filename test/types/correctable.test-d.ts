/**
 * What the types promise: levels inferred from the binding, subsets as tuples, honest levels of the
 * final view.
 */
import type { Client, Operation } from '../../src/index.ts';
import { expectTypeOf, test } from 'vitest';
import { memory } from '../../src/bindings/memory/index.ts';
import type {
  AnyClient,
  AtLeast,
  Binding,
  CorrectableBox,
  Correctable,
  ErrorCode,
  FinalView,
  JoinedLevels,
  Levels,
  PreliminaryView,
  RequestedLevels,
  SettleOptions,
  Sink,
  Strongest,
  Subset,
  View,
  Weakest,
} from '../../src/index.ts';
import {
  all,
  boxCorrectable,
  correctable,
  CorrectableError,
  correctableFromPromise,
  correctableFromValue,
  createClient,
  isCorrectableError,
} from '../../src/index.ts';
import { dequeue, get, getMany, put } from '../../src/operations/index.ts';
import { exponentialBackoff, retryPolicy, dedupeReads } from '../../src/policies/index.ts';

type Three = readonly ['weak', 'causal', 'strong'];
declare const three: Binding<Three>;
declare const anyBinding: Binding;

test('levels: weakest, strongest, subsets, at least', () => {
  expectTypeOf<Weakest<Three>>().toEqualTypeOf<'weak'>();
  expectTypeOf<Strongest<Three>>().toEqualTypeOf<'strong'>();
  expectTypeOf<Subset<Three, 'strong' | 'weak'>>().toEqualTypeOf<readonly ['weak', 'strong']>();
  expectTypeOf<AtLeast<Three, 'causal'>>().toEqualTypeOf<'causal' | 'strong'>();
  expectTypeOf<RequestedLevels<Three, readonly ['strong', 'weak']>>().toEqualTypeOf<
    readonly ['weak', 'strong']
  >();
  expectTypeOf<Strongest<Levels>>().toEqualTypeOf<string>();
  expectTypeOf<AtLeast<Levels, string>>().toEqualTypeOf<string>();
});

test('memory: its levels, or those that it was given', () => {
  expectTypeOf(createClient(memory()).levels).toEqualTypeOf<readonly ['weak', 'strong']>();
  expectTypeOf(createClient(memory({ levels: ['a', 'b'] })).strongest).toEqualTypeOf<'b'>();
});

test('invoke: all levels → the tuple of the binding', () => {
  const read = createClient(three).invoke(get<number>('k'));
  expectTypeOf(read).toEqualTypeOf<Correctable<number | undefined, Three>>();
  read.onUpdate((value, view) => {
    expectTypeOf(value).toEqualTypeOf<number | undefined>();
    expectTypeOf(view).toEqualTypeOf<PreliminaryView<number | undefined, Three>>();
    expectTypeOf(view.level).toEqualTypeOf<'weak' | 'causal' | 'strong'>();
  });
  // The levels of the operation are unknown.
  read.onFinal((_value, view) =>
    expectTypeOf(view.level).toEqualTypeOf<'weak' | 'causal' | 'strong'>(),
  );
});

test('invoke: some levels → a tuple in the order of the binding; the final may have any level of it', () => {
  const read = createClient(three).invoke(get<number>('k'), { levels: ['causal', 'weak'] });
  expectTypeOf(read).toEqualTypeOf<
    Correctable<number | undefined, readonly ['weak', 'causal'], 'weak' | 'causal' | 'strong'>
  >();
  // @ts-expect-error the level does not exist
  createClient(three).invoke(get('k'), { levels: ['eventual'] });
  // @ts-expect-error at least one level
  createClient(three).invoke(get('k'), { levels: [] });
  // @ts-expect-error the level does not exist
  createClient(three).invoke(get('k'), { levelTimeoutsMs: { eventual: 1 } });
});

test('invokeWeak and invokeStrong: one level each', () => {
  const client = createClient(three);
  expectTypeOf(client.invokeWeak(get<1>('k'))).toEqualTypeOf<
    Correctable<1 | undefined, readonly ['weak'], 'weak' | 'causal' | 'strong'>
  >();
  expectTypeOf(client.invokeStrong(get<1>('k'))).toEqualTypeOf<
    Correctable<1 | undefined, readonly ['strong'], 'weak' | 'causal' | 'strong'>
  >();
});

test('policies: made by their functions, the counters for reading', () => {
  const client = createClient(three, {
    retry: retryPolicy({ attempts: 2 }),
    dedupeReads: dedupeReads(),
  });
  void client.invoke(get('k'), { retry: false, dedupeReads: false, levels: ['weak'] });
  void client.invokeWeak(get('k'), {
    retry: retryPolicy({ backoff: exponentialBackoff({ initialDelayMs: 5 }) }),
  });
  expectTypeOf(client.stats.confirmed).toEqualTypeOf<number>();
  // @ts-expect-error counters are read-only
  client.stats.confirmed = 0;
  // @ts-expect-error a policy is made by retries
  createClient(three, { retry: { attempts: 3 } });
  // @ts-expect-error it is to be called
  createClient(three, { retry: retries });
  // @ts-expect-error it is to be called
  createClient(three, { dedupeReads });
  // @ts-expect-error what the client does not share is not shared for one call
  void client.invoke(get('k'), { dedupeReads: dedupeReads() });
});

test('a binding whose levels are not known: strings', () => {
  const read = createClient(anyBinding).invoke(get<number>('k'));
  read.onFinal((_value, view) => expectTypeOf(view.level).toEqualTypeOf<string>());
  expectTypeOf(createClient(anyBinding).invokeStrong(get<number>('k')).latest?.level).toEqualTypeOf<
    string | undefined
  >();
});

test('results: await, for await, settle, when', async () => {
  const read = createClient(three).invoke(dequeue<string>('q'));
  expectTypeOf(await read).toEqualTypeOf<{ readonly item: string } | null>();
  for await (const view of read) {
    expectTypeOf(view).toEqualTypeOf<View<{ readonly item: string } | null, Three>>();
    if (view.final)
      expectTypeOf(view).toEqualTypeOf<FinalView<{ readonly item: string } | null, Three>>();
  }
  // @ts-expect-error the level does not exist
  void read.when('eventual');
  expectTypeOf(await createClient(three).invoke(put('k', 1))).toEqualTypeOf<void>();
  expectTypeOf(await createClient(three).invoke(getMany<number>(['k']))).toEqualTypeOf<
    (number | undefined)[]
  >();
});

test('when: a view at that level or a stronger one; at the strongest, the final one', async () => {
  const read = createClient(three).invoke(get<number>('k'));
  expectTypeOf(await read.when('strong')).toEqualTypeOf<
    FinalView<number | undefined, Three, 'strong'>
  >();
  const causal = await read.when('causal');
  expectTypeOf(causal.level).toEqualTypeOf<'causal' | 'strong'>();
  if (!causal.final) expectTypeOf(causal.level).toEqualTypeOf<'causal'>();
  expectTypeOf(causal.value).toEqualTypeOf<number | undefined>();
  // A level that is chosen at run time.
  const level = 'weak' as 'weak' | 'causal';
  expectTypeOf((await read.when(level)).level).toEqualTypeOf<'weak' | 'causal' | 'strong'>();
  // Of a request for some levels, the final may have one that was not asked for.
  const some = createClient(three).invoke(get<number>('k'), { levels: ['weak', 'causal'] });
  expectTypeOf((await some.when('causal')).level).toEqualTypeOf<'causal' | 'strong'>();
  const any = createClient(anyBinding).invoke(get<number>('k'));
  expectTypeOf(await any.when('whatever')).toEqualTypeOf<
    View<number | undefined, Levels, string>
  >();
});

test('settle: without a condition → the final view', async () => {
  const read = createClient(three).invoke(get<number>('k'));
  expectTypeOf(await read.settle()).toEqualTypeOf<FinalView<number | undefined, Three>>();
  expectTypeOf(await read.settle({ afterEarly: 'cancel' })).toEqualTypeOf<
    FinalView<number | undefined, Three>
  >();
  expectTypeOf(await read.settle({ enough: ({ level }) => level === 'causal' })).toEqualTypeOf<
    View<number | undefined, Three>
  >();
  expectTypeOf(await read.settle({ withinMs: 5 })).toEqualTypeOf<View<number | undefined, Three>>();
  expectTypeOf(await read.settle({ orLatest: true })).toEqualTypeOf<
    View<number | undefined, Three>
  >();
  const options: SettleOptions<number | undefined, Three> = {};
  expectTypeOf(await read.settle(options)).toEqualTypeOf<View<number | undefined, Three>>();
});

test('speculate, map, chain: the result type, flattened', () => {
  const read = createClient(three).invoke(get<number>('k'));
  expectTypeOf(read.map(String)).toEqualTypeOf<Correctable<string, Three>>();
  expectTypeOf(read.map((n) => (n === undefined ? null : [n]))).toEqualTypeOf<
    Correctable<number[] | null, Three>
  >();
  expectTypeOf(read.map(async (n) => [n])).toEqualTypeOf<'map takes no promise: use chain'>();
  expectTypeOf(read.map(() => read)).toEqualTypeOf<'map takes no promise: use chain'>();
  const known = new Map<number | undefined, string>();
  const retained = read.map((n) => known.get(n) ?? Promise.resolve('fetched'));
  expectTypeOf(retained).toEqualTypeOf<'map takes no promise: use chain'>();
  const some = read.map((n) => (n === 1 ? read : undefined));
  expectTypeOf(some).toEqualTypeOf<'map takes no promise: use chain'>();
  expectTypeOf(read.map((n): unknown => n)).toEqualTypeOf<Correctable<unknown, Three>>();
  expectTypeOf(read.map(() => JSON.parse('1'))).resolves.toBeAny();
  const refuse = (): never => {
    throw new Error('refused');
  };
  expectTypeOf(read.map(refuse)).toEqualTypeOf<Correctable<never, Three>>();
  expectTypeOf(read.speculate(async (n) => [n])).toEqualTypeOf<
    Correctable<(number | undefined)[], Three>
  >();
  expectTypeOf(read.chain(() => createClient(three).invoke(get<Date>('d')))).toEqualTypeOf<
    Correctable<Date | undefined, Three>
  >();
  read.speculate(
    (value, scope) => {
      expectTypeOf(scope.signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(scope.view.level).toEqualTypeOf<'weak' | 'causal' | 'strong'>();
      return String(value);
    },
    (input, result) => {
      expectTypeOf(input).toEqualTypeOf<number | undefined>();
      expectTypeOf(result).toEqualTypeOf<string | undefined>();
    },
  );
});

test('map: in generic code → the type that the function gives', () => {
  const pluck = <T, K extends keyof T>(c: Correctable<T>, key: K): Correctable<T[K]> =>
    c.map((value) => value[key]);
  const by = <T, U>(c: Correctable<T>, f: (value: T) => U): Correctable<U> => c.map(f);
  const same = <T>(c: Correctable<T>): Correctable<T> => c.map((value) => value);
  const or = <T>(c: Correctable<T | null>, other: T): Correctable<T> =>
    c.map((value) => value ?? other);
  const user = correctableFromValue({ name: 'Ann' });
  expectTypeOf(pluck(user, 'name')).toEqualTypeOf<Correctable<string>>();
  expectTypeOf(by(user, ({ name }) => name.length)).toEqualTypeOf<Correctable<number>>();
  expectTypeOf(or(same(user), { name: 'Bo' })).toEqualTypeOf<Correctable<{ name: string }>>();
});

test('speculate, chain: what is followed may be weaker → the final may have either level', () => {
  const strong = correctable<number, Three>(['weak', 'causal', 'strong'], () => {}) as Correctable<
    number,
    Three,
    'strong'
  >;
  const causal = correctable<Date, Three>(['weak', 'causal', 'strong'], () => {}) as Correctable<
    Date,
    Three,
    'causal'
  >;
  expectTypeOf(strong.chain(() => causal)).toEqualTypeOf<
    Correctable<Date, Three, 'causal' | 'strong'>
  >();
  // An explicit type of the value does not determine the level.
  // @ts-expect-error: what is followed may be weaker
  strong.chain<Date>(() => causal);
  // @ts-expect-error: what is followed may be weaker
  strong.speculate<Date>(() => causal);
  expectTypeOf(strong.chain<Date, 'causal'>(() => causal)).toEqualTypeOf<
    Correctable<Date, Three, 'causal' | 'strong'>
  >();
  expectTypeOf(strong.chain<string>(async () => 'x')).toEqualTypeOf<
    Correctable<string, Three, 'strong'>
  >();
  expectTypeOf(strong.speculate(() => causal)).toEqualTypeOf<
    Correctable<Date, Three, 'causal' | 'strong'>
  >();
  expectTypeOf(strong.chain(async () => 'x')).toEqualTypeOf<Correctable<string, Three, 'strong'>>();
  expectTypeOf(strong.chain(String)).toEqualTypeOf<Correctable<string, Three, 'strong'>>();
});

test('correctable: levels from the tuple, values from the type argument; sinks take its levels only', () => {
  const c = correctable(['quoted', 'charged'], (sink) => {
    sink.view(1, 'quoted');
    // @ts-expect-error the level does not exist
    sink.view(1, 'paid');
  });
  expectTypeOf(c).toEqualTypeOf<Correctable<unknown, readonly ['quoted', 'charged']>>();
  expectTypeOf(correctable<number>(['a', 'b'], () => {}).latest?.value).toEqualTypeOf<
    number | undefined
  >();
  expectTypeOf(correctableFromValue(1)).toEqualTypeOf<Correctable<number, readonly ['final']>>();
  expectTypeOf(correctableFromPromise(Promise.resolve('x'))).toEqualTypeOf<
    Correctable<string, readonly ['final']>
  >();
});

test('correctable in two steps: the value is explicit, the levels are inferred', () => {
  const make = correctable(['quoted', 'charged']);
  const price = make<number>((sink, signal) => {
    expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
    sink.view(1, 'quoted');
    // @ts-expect-error the level does not exist
    sink.view(1, 'paid');
    // @ts-expect-error the value is a number
    sink.view('1', 'charged');
  });
  expectTypeOf(price).toEqualTypeOf<Correctable<number, readonly ['quoted', 'charged']>>();
  // What options say of the value counts too.
  expectTypeOf(make(() => {}, { equals: (a: Date, b: Date) => a === b })).toEqualTypeOf<
    Correctable<Date, readonly ['quoted', 'charged']>
  >();
  // @ts-expect-error no level
  correctable([]);
});

test('withSink: the Correctable and its sink, of one type', () => {
  const {
    correctable: price,
    sink,
    signal,
  } = correctable(['quoted', 'charged']).withSink<number>({ timeoutMs: 5 });
  expectTypeOf(price).toEqualTypeOf<Correctable<number, readonly ['quoted', 'charged']>>();
  expectTypeOf(sink).toEqualTypeOf<Sink<number, 'quoted' | 'charged'>>();
  expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
});

test('isCorrectableError: a code → that of the error', () => {
  const error: unknown = 1;
  if (isCorrectableError(error)) expectTypeOf(error.code).toEqualTypeOf<ErrorCode>();
  if (isCorrectableError(error)) expectTypeOf(error.docs).toEqualTypeOf<string>();
  if (isCorrectableError(error, 'TIMEOUT')) expectTypeOf(error.code).toEqualTypeOf<'TIMEOUT'>();
  const either: 'TIMEOUT' | 'ABORTED' = Math.random() > 0.5 ? 'TIMEOUT' : 'ABORTED';
  if (isCorrectableError(error, either))
    expectTypeOf(error.code).toEqualTypeOf<'TIMEOUT' | 'ABORTED'>();
  // @ts-expect-error there is no such code
  isCorrectableError(error, 'LATE');
  const typed = new CorrectableError('TIMEOUT', 'late');
  // One of another code is still one.
  if (!isCorrectableError(typed, 'ABORTED')) expectTypeOf(typed).toEqualTypeOf<CorrectableError>();
});

test('all: values as a tuple; the levels that all have, or the two of a join', async () => {
  const client = createClient(three);
  const joined = all([client.invoke(get<number>('a')), client.invoke(get<string>('b'))]);
  expectTypeOf((await joined.when('strong')).level).toEqualTypeOf<'strong'>();
  // @ts-expect-error all have the levels of their binding
  void joined.when('preliminary');
  const other = all([client.invoke(get<number>('a')), correctableFromValue('Ada')]);
  expectTypeOf((await other.when('preliminary')).level).toEqualTypeOf<'preliminary' | 'final'>();
  // @ts-expect-error nothing that both have
  void other.when('strong');
  expectTypeOf(joined).toExtend<PromiseLike<readonly [number | undefined, string | undefined]>>();
  joined.onFinal((_values, view) => expectTypeOf(view.level).toEqualTypeOf<Three[number]>());
  expectTypeOf<JoinedLevels>().toEqualTypeOf<readonly ['preliminary', 'final']>();
});

test('all: the same levels of stores that have others → those, or the two of a join', () => {
  const levels = ['weak', 'strong'] as const;
  const two = createClient(memory()).invoke(get<number>('a'), { levels });
  const some = createClient(three).invoke(get<number>('a'), { levels });
  const joined = all([two, some]);
  type Either = readonly ['weak', 'strong'] | JoinedLevels;
  expectTypeOf(joined.latest!.level).toEqualTypeOf<Either[number] | 'causal'>();
  // @ts-expect-error a join of other stores has the two of a join
  void joined.when('weak');
  // The final of a part may be weaker than what was requested, and so is the join.
  const strong = createClient(three).invoke(get<number>('a'), { levels: ['strong'] });
  all([strong, strong]).onFinal((_values, { level }) =>
    expectTypeOf(level).toEqualTypeOf<Three[number]>(),
  );
});

test('all: what may be empty → the two of a join, too', async () => {
  expectTypeOf(all([])).toEqualTypeOf<Correctable<[], JoinedLevels>>();
  expectTypeOf((await all({}).when('final')).level).toEqualTypeOf<'final'>();
  const read = createClient(three).invoke(get<number>('a'));
  type Read = typeof read;
  const list = (parts: readonly Read[]) => all(parts);
  expectTypeOf<ReturnType<typeof list>>().toEqualTypeOf<
    Correctable<(number | undefined)[], Three | JoinedLevels, Three[number] | JoinedLevels[number]>
  >();
  // @ts-expect-error none of them may be there
  void list([]).when('strong');
  const some = (parts: readonly [Read, ...Read[]]) => all(parts);
  expectTypeOf((await some([read]).when('strong')).level).toEqualTypeOf<'strong'>();
  const named = (parts: Record<string, Read>) => all(parts);
  // @ts-expect-error none of them may be there
  void named({}).when('strong');
  const optional = (parts: { readonly a?: Read }) => all(parts);
  // @ts-expect-error it may not be there
  void optional({}).when('strong');
});

test('all: one of several kinds of parts is empty, or their names are no list → the two of a join, too', () => {
  const read = createClient(three).invoke(get<number>('a'));
  type Read = typeof read;
  type Either = Three[number] | JoinedLevels[number];
  const list = (parts: [Read] | []) => all(parts).latest!.level;
  const named = (parts: { readonly a: Read } | { readonly [K in never]: Read }) =>
    all(parts).latest!.level;
  const byNumber = (parts: Record<number, Read>) => all(parts).latest!.level;
  const byPattern = (parts: Record<`x${string}`, Read>) => all(parts).latest!.level;
  const item = (parts: [Read] | [Read, Read]) => all(parts).latest!.level;
  expectTypeOf<ReturnType<typeof list>>().toEqualTypeOf<Either>();
  expectTypeOf<ReturnType<typeof named>>().toEqualTypeOf<Either>();
  expectTypeOf<ReturnType<typeof byNumber>>().toEqualTypeOf<Either>();
  expectTypeOf<ReturnType<typeof byPattern>>().toEqualTypeOf<Either>();
  expectTypeOf<ReturnType<typeof item>>().toEqualTypeOf<Three[number]>();
});

test('all: parts by name → values by name', async () => {
  const client = createClient(three);
  const page = all({
    user: client.invoke(get<number>('user')),
    cart: client.invoke(get<string>('cart')),
  });
  expectTypeOf(await page).toEqualTypeOf<{ user: number | undefined; cart: string | undefined }>();
  page.onFinal((_values, view) => expectTypeOf(view.level).toEqualTypeOf<Three[number]>());
  // @ts-expect-error a part that is no Correctable
  all({ user: 1 });
});

test('all: a part that may be missing → a value that may', async () => {
  interface Page {
    readonly user?: Correctable<string, Three>;
    readonly cart: Correctable<number, Three>;
  }
  const page = (parts: Page) => all(parts);
  type Joined = ReturnType<typeof page>;
  expectTypeOf<Awaited<Joined>>().toEqualTypeOf<{ user?: string; cart: number }>();
  expectTypeOf<Joined>().toEqualTypeOf<Correctable<{ user?: string; cart: number }, Three>>();
  const list = (parts: readonly [Correctable<string, Three>, Correctable<number, Three>?]) =>
    all(parts);
  expectTypeOf<Awaited<ReturnType<typeof list>>>().toEqualTypeOf<[string, number?]>();
  expectTypeOf<ReturnType<typeof list>>().toEqualTypeOf<Correctable<[string, number?], Three>>();
});

test('boxed: keeps the whole type', () => {
  const read = createClient(three).invoke(get<number>('k'));
  expectTypeOf(boxCorrectable(read)).toEqualTypeOf<CorrectableBox<number | undefined, Three>>();
});

test('a Correctable of known levels → fits where any is wanted', () => {
  const read = createClient(three).invoke(get<number>('k'));
  expectTypeOf(read).toExtend<Correctable<unknown, Levels, string>>();
  expectTypeOf(read).toExtend<PromiseLike<number | undefined>>();
  expectTypeOf(memory()).toExtend<Binding>();
  expectTypeOf(createClient(three)).toExtend<AnyClient>();
});

test('all: parts whose names come from an interface', () => {
  interface Page {
    readonly user: Correctable<string, Three>;
    readonly cart: Correctable<number, Three>;
  }
  const page = (parts: Page) => all(parts);
  expectTypeOf<Awaited<ReturnType<typeof page>>>().toEqualTypeOf<{ user: string; cart: number }>();
  // @ts-expect-error one of them is no Correctable
  all({ user: correctableFromValue('Ada'), cart: 5 });
});

test('operation: equals takes two of its values', () => {
  const read: Operation<{ id: number }> = {
    name: 'read',
    args: {},
    access: 'read',
    equals: (a, b) => a.id === b.id,
  };
  expectTypeOf(read).toExtend<Operation>();
  const equals = (a: string, b: string): boolean => a === b;
  // @ts-expect-error compares what the operation does not give
  const wrong: Operation<number> = { name: 'read', args: {}, access: 'read', equals };
  expectTypeOf(wrong).not.toBeAny();
});

test('invoke of one name or another → can be called', () => {
  const client = {} as Client<readonly ['cache', 'primary'], false>;
  const call = (name: 'invoke' | 'invokeWeak' | 'invokeStrong') =>
    client[name]({} as Operation<number>);
  expectTypeOf<ReturnType<typeof call>>().toExtend<PromiseLike<number>>();
});
