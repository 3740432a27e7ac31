/** COR-2 levels, COR-3 order, COR-7 confirmation. */
import { expect, test, vi } from 'vitest';
import type { CorrectableEvent, Sink } from '../../../src/index.ts';
import { all, correctable, createClient } from '../../../src/index.ts';
import { dequeue, get, put } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { codeOf, LEVELS, manual, record } from './support.ts';

test('COR-2: levels in any order → requested in the order of the binding, final at the strongest of them', async () => {
  const binding = scriptedBinding(LEVELS);
  const read = createClient(binding).invoke(get('k'), { levels: ['causal', 'weak'] });
  const call = await binding.next();
  expect(call.levels).toEqual(['weak', 'causal']);
  call.view(1, 'weak');
  expect(read.latest?.final).toBe(false);
  call.view(1, 'causal');
  expect(read.latest).toMatchObject({ final: true, level: 'causal' });
});

test('COR-2: the binding calls a weaker view final → it is, at its own level, and nothing follows', async () => {
  const { c, sink } = manual<number>();
  sink.view(1, 'weak');
  sink.view(2, 'causal', { final: true });
  sink.view(3, 'strong');
  expect(c.latest).toMatchObject({ value: 2, level: 'causal', final: true });
  expect(await c).toBe(2);
});

test('COR-2: a confirmation calls its view final → it is', () => {
  const { c, sink } = manual<number>();
  sink.confirm('causal', sink.view(1, 'weak'), { final: true });
  expect(c.latest).toMatchObject({ value: 1, level: 'causal', final: true });
});

test('COR-2: a final below the level that was waited for → LEVEL_NOT_REACHED', async () => {
  const { c, sink } = manual<number>();
  const strong = c.when('strong');
  sink.view(1, 'causal', { final: true });
  expect(await codeOf(strong)).toBe('LEVEL_NOT_REACHED');
  expect(await codeOf(c.when('strong'))).toBe('LEVEL_NOT_REACHED');
  expect(await c.when('causal')).toMatchObject({ value: 1, level: 'causal' });
});

test('COR-2, COR-11: what is made of a final below what was asked for → final too, at no stronger level', async () => {
  const [low, high] = [manual<number>(), manual<number>()];
  const made = [low.c.map((n) => n + 1), low.c.speculate((n) => n + 1), low.c.chain((n) => n + 1)];
  const joined = all([low.c, high.c]);
  low.sink.view(1, 'causal', { final: true });
  for (const item of made) {
    expect(await item).toBe(2);
    expect(item.latest).toMatchObject({ level: 'causal', final: true });
  }
  high.sink.view(1, 'strong');
  expect(await joined).toEqual([1, 1]);
  expect(joined.latest).toMatchObject({ level: 'causal', final: true });
});

test.each(['chain', 'speculate'] as const)(
  'COR-2, COR-11: %s: the step is final at a weaker level → so is the whole',
  async (how) => {
    const [outer, inner] = [manual<number>(), manual<string>()];
    const made = outer.c[how](() => inner.c);
    outer.sink.view(1, 'strong');
    inner.sink.view('a', 'causal', { final: true });
    expect(await made).toBe('a');
    expect(made.latest).toMatchObject({ level: 'causal', final: true });
    await expect(made.when('strong')).rejects.toMatchObject({ code: 'LEVEL_NOT_REACHED' });
  },
);

test('COR-2, COR-11: a step requested at its weakest level only → the whole has that level', async () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding);
  const made = client.invokeStrong(get('a')).chain(() => client.invokeWeak(get('b')));
  (await binding.next()).view(1, 'strong');
  (await binding.next()).view(2, 'weak');
  expect(await made.settle()).toMatchObject({ value: 2, level: 'weak', final: true });
});

test('COR-2, COR-11: a step of a binding whose levels do not compare → the level of its input', async () => {
  const { c, sink } = manual<number>();
  const made = c.chain(() =>
    correctable(['guess', 'sure'], (other) => void other.view(2, 'guess', { final: true })),
  );
  sink.view(1, 'strong');
  expect(await made.settle()).toMatchObject({ value: 2, level: 'strong', final: true });
});

test('COR-2: an unknown level that is called final → dropped', () => {
  const { c, sink } = manual<number>();
  (sink as Sink<number>).view(1, 'eventual', { final: true });
  expect(c.state).toBe('pending');
});

test('COR-2: an unknown level → UNKNOWN_LEVEL and nothing is sent', async () => {
  const binding = scriptedBinding(LEVELS);
  // @ts-expect-error the level does not exist
  const read = createClient(binding).invoke(get('k'), { levels: ['eventual'] });
  const error = await read.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'UNKNOWN_LEVEL', level: 'eventual', field: 'levels' });
  expect(binding.calls).toEqual([]);
});

test('COR-2: no level at all → INVALID_ARGUMENT and nothing is sent', async () => {
  const binding = scriptedBinding(LEVELS);
  // @ts-expect-error at least one level
  expect(await codeOf(createClient(binding).invoke(get('k'), { levels: [] }))).toBe(
    'INVALID_ARGUMENT',
  );
  expect(binding.calls).toEqual([]);
});

test('COR-2: an operation that the binding lacks → UNSUPPORTED and nothing is sent', async () => {
  const binding = scriptedBinding(LEVELS, { supports: ({ name }) => name === 'get' });
  expect(await codeOf(createClient(binding).invoke(put('k', 1)))).toBe('UNSUPPORTED');
  expect(binding.calls).toEqual([]);
});

test('COR-2: a level stronger than requested answers → final, labeled with the level achieved', async () => {
  const binding = scriptedBinding(LEVELS);
  const write = createClient(binding).invoke(put('k', 1), { levels: ['weak', 'causal'] });
  (await binding.next()).view(undefined, 'strong');
  expect(write.latest).toMatchObject({ final: true, level: 'strong' });
});

test('COR-2: invokeWeak and invokeStrong → one view, at the first and last level of the binding', async () => {
  const binding = scriptedBinding(LEVELS, {
    onCall: (call) => call.view(call.levels[0], call.levels[0]!),
  });
  const client = createClient(binding);
  expect(await client.invokeWeak(get('k'))).toBe('weak');
  expect(await client.invokeStrong(get('k'))).toBe('strong');
  expect([client.weakest, client.strongest]).toEqual(['weak', 'strong']);
});

test('COR-2: a level that was not requested → its view is dropped and counted', async () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding);
  const read = client.invoke(get('k'), { levels: ['weak', 'strong'] });
  const call = await binding.next();
  call.view(1, 'causal');
  expect(read.latest).toBeUndefined();
  expect(client.drops['not-requested']).toBe(1);
  call.view(2, 'strong');
  expect(await read).toBe(2);
});

test('COR-3: a weaker view after a stronger one → dropped and counted', () => {
  const onEvent = vi.fn<(event: CorrectableEvent) => void>();
  const { c, sink } = manual<number>({ onEvent });
  const lines = record(c);
  sink.view(1, 'causal');
  sink.view(2, 'weak');
  sink.view(3, 'strong');
  expect(lines).toEqual(['write 1 causal', 'final 3 strong']);
  expect(onEvent.mock.calls).toEqual([[{ type: 'drop', reason: 'weaker', level: 'weak' }]]);
});

test('COR-3: versions of the binding compare its way; those that do not compare are never older', () => {
  const isOlder = (a: unknown, b: unknown): boolean => String(a).length < String(b).length;
  const own = manual<number>({ isOlder });
  own.sink.view(1, 'weak', { version: 'xx' });
  own.sink.view(2, 'causal', { version: 'y' });
  expect(own.c.latest?.value).toBe(1);
  const plain = manual<number>();
  plain.sink.view(1, 'weak', { version: { a: 2 } });
  plain.sink.view(2, 'causal', { version: { a: 1 } });
  expect(plain.c.latest?.value).toBe(2);
});

test('COR-7: a confirmation without payload → the earlier value, as a view that confirms', async () => {
  const { c, sink } = manual<{ n: number }>();
  const value = { n: 1 };
  const seq = sink.view(value, 'weak', { version: 1, meta: { remaining: 3, hint: 'a' } });
  sink.confirm('strong', seq, { meta: { remaining: 2 } });
  expect(await c).toBe(value);
  expect(c.latest).toMatchObject({
    seq: 0,
    confirms: true,
    version: 1,
    meta: { remaining: 2, hint: 'a' },
  });
});

test('COR-7: a confirmation of nothing → PROTOCOL, never a guessed final', async () => {
  for (const seq of [0, 1, -1, Number.NaN]) {
    const { c, sink } = manual<string>();
    if (seq !== 0) sink.view('x', 'weak');
    sink.confirm('strong', seq);
    expect(await codeOf(c)).toBe('PROTOCOL');
  }
});

test('COR-7: an equal value that did travel → confirms, and the old reference stays', () => {
  const { c, sink } = manual<object>();
  const first = { at: new Date(5), tags: new Set(['a']) };
  sink.view(first, 'weak');
  sink.view({ at: new Date(5), tags: new Set(['a']) }, 'strong', { version: 9 });
  expect(c.latest?.value).toBe(first);
  expect(c.latest).toMatchObject({ confirms: true, version: 9, seq: 1 });
});

test('COR-7: equal only to the operation → confirms, but the value of the final stands', async () => {
  const binding = scriptedBinding(LEVELS);
  const taken = createClient(binding).invoke(dequeue<number>('q', { anyItem: true }));
  const call = await binding.next();
  call.view({ item: 1 }, 'weak');
  call.view({ item: 2 }, 'strong');
  expect(taken.latest).toMatchObject({ confirms: true, value: { item: 2 } });
});

test('COR-7: another item of a queue than the one guessed → a correction, and what was begun for it is undone', async () => {
  const binding = scriptedBinding(LEVELS);
  const inputs: unknown[] = [];
  const taken = createClient(binding).invoke(dequeue<number>('q'));
  const done = taken.speculate((value) => void inputs.push(value?.item));
  const call = await binding.next();
  call.view({ item: 1 }, 'weak');
  call.view({ item: 2 }, 'strong');
  await done;
  expect(taken.latest).toMatchObject({ confirms: false, value: { item: 2 } });
  expect(inputs).toEqual([1, 2]);
});

test('COR-3, COR-7: what the application is asked throws → counts as no, and goes to onUncaught', async () => {
  const uncaught: unknown[] = [];
  const throwing = (description: string) => (): never => {
    throw new Error(description);
  };
  const { c, sink } = manual<object>({
    isOlder: throwing('isOlder'),
    onUncaught: (error) => void uncaught.push((error as Error).message),
  });
  const evil = {
    get field(): never {
      return throwing('getter')();
    },
  };
  sink.view(evil, 'weak', { version: 1 });
  sink.view({ field: 1 }, 'causal', { version: 2 });
  sink.view({ field: 1 }, 'strong', { version: 3 });
  expect(await c).toEqual({ field: 1 });
  expect(uncaught).toEqual(['isOlder', 'getter', 'isOlder']);
});

test('COR-7: equals throws → reported, and the view counts as different', () => {
  const onUncaught = vi.fn();
  const boom = new Error('boom');
  const { c, sink } = manual<number>({
    onUncaught,
    equals: () => {
      throw boom;
    },
  });
  sink.view(1, 'weak');
  sink.view(2, 'strong');
  expect(c.latest).toMatchObject({ value: 2, confirms: false });
  expect(onUncaught).toHaveBeenCalledExactlyOnceWith(boom);
});

test.each([
  ['numbers', 1, 2, true],
  ['bigints', 1n, 2n, true],
  ['dates', new Date(1), new Date(2), true],
  ['the same', 2, 2, false],
  ['a number and a bigint', 1, 2n, false],
  ['a date and a number', new Date(1), 2, false],
  ['a number and a date', 1, new Date(2), false],
  ['texts', 'a', 'b', false],
])('COR-3: versions that are %s → by size, where there is one', (_, version, than, isOlder) => {
  const { c, sink } = manual<string>();
  sink.view('first', 'weak', { version: than });
  sink.view('second', 'causal', { version });
  expect(c.latest?.value).toBe(isOlder ? 'first' : 'second');
});

test('COR-3: the binding defines which version is older → for its operations, and for those derived from them', async () => {
  const isOlder = (version: unknown, than: unknown): boolean =>
    String(version).length < String(than).length;
  const binding = scriptedBinding(LEVELS, { isOlder });
  const read = createClient(binding).invoke(get('k'));
  const mapped = read.map((value) => value);
  const call = await binding.next();
  call.view('first', 'weak', { version: 'xx' });
  call.view('second', 'causal', { version: 'y' });
  call.view('third', 'strong', { version: 'z' });
  for (const item of [read, mapped])
    expect(item.latest).toMatchObject({ value: 'third', regressed: true });
  expect(binding.calls).toHaveLength(1);
});

test('COR-7: the last 1024 values are kept for confirmations, delivered or dropped; those before them not', async () => {
  for (const [seq, isKept] of [
    [0, false],
    [1, true],
    [2, true],
    [1025, true],
  ] as const) {
    const { c, sink } = manual<number>({ isRefining: true });
    // The latest one counts beside them.
    sink.view(-1, 'causal');
    for (let n = 1; n < 1025; n += 1) sink.view(n, n % 2 === 0 ? 'weak' : 'causal');
    sink.view(1025, 'causal');
    sink.confirm('strong', seq);
    expect(await codeOf(c)).toBe(isKept ? `no error but ${seq}` : 'PROTOCOL');
  }
});
