/** COR-11 joining. */
import { expect, test, vi } from 'vitest';
import { all, correctableFromValue, createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import type { Manual } from './support.ts';
import { codeOf, LEVELS, manual, record, settled } from './support.ts';

test('COR-11: map → each view, at its level, with its version and metadata', () => {
  const { c, sink } = manual<number>();
  const doubled = c.map((value) => value * 2);
  const lines = record(doubled);
  sink.view(1, 'weak', { version: 3, meta: { remaining: 4 } });
  expect(doubled.latest).toMatchObject({ version: 3, meta: { remaining: 4 } });
  sink.view(2, 'strong');
  expect(lines).toEqual(['write 2 weak', 'final 4 strong']);
});

test('COR-11: map of a confirmed value → computed once', () => {
  const { c, sink } = manual<number>();
  const transform = vi.fn((value: number) => ({ value }));
  const mapped = c.map(transform);
  sink.view(1, 'weak');
  sink.confirm('strong', 0);
  expect(transform).toHaveBeenCalledOnce();
  expect(mapped.latest).toMatchObject({ final: true, confirms: true });
});

test('COR-11: map throws on a preliminary value → that level fails; on the final → closes', async () => {
  const { c, sink } = manual<number>();
  const cause = new Error('odd');
  const mapped = c.map((value) => {
    if (value % 2 === 1) throw cause;
    return value;
  });
  sink.view(1, 'weak');
  expect(mapped.state).toBe('pending');
  sink.view(3, 'strong');
  expect(await mapped.catch((error: unknown) => error)).toMatchObject({
    code: 'FINAL_FAILED',
    cause,
    levelErrors: { weak: cause },
  });
});

test('COR-11: map to a promise → INVALID_VALUE', async () => {
  const { c, sink } = manual<number>();
  const mapped = c.map<unknown>(async (value) => value);
  sink.view(1, 'weak');
  expect(await codeOf(mapped)).toBe('INVALID_VALUE');
});

test('COR-11: chain → follows the next Correctable level by level', () => {
  const outer = manual<number>();
  const inner = manual<string>();
  const lines = record(outer.c.chain(() => inner.c));
  outer.sink.view(1, 'weak');
  inner.sink.view('a', 'causal');
  outer.sink.confirm('strong', 0);
  inner.sink.view('b', 'strong');
  expect(lines).toEqual(['write a weak', 'write a causal', 'final b strong']);
});

test('COR-11: chain to a Correctable of another binding → preliminary until both are final', async () => {
  const outer = manual<number>();
  const lines = record(outer.c.chain(() => correctableFromValue('x')));
  outer.sink.view(1, 'weak');
  await settled();
  outer.sink.view(1, 'strong');
  expect(lines).toEqual(['write x weak', 'final x strong']);
});

test('COR-11: chain fails on the final value → that error, as it is', async () => {
  const outer = manual<number>();
  const inner = manual<string>();
  const chained = outer.c.chain(() => inner.c);
  outer.sink.view(1, 'strong');
  inner.c.cancel();
  expect(await codeOf(chained)).toBe('ABORTED');
});

test('COR-11: all of one binding → the level of the weakest part', async () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding);
  const joined = all([client.invoke(get<number>('a')), client.invoke(get<number>('b'))]);
  const lines: string[] = [];
  joined.subscribe(({ value, level, final }) => lines.push(`${value.join()} ${level} ${final}`));
  const [a, b] = [binding.calls[0]!, binding.calls[1]!];
  a.view(1, 'causal');
  expect(joined.latest).toBeUndefined();
  b.view(2, 'weak');
  b.view(2, 'strong');
  a.view(3, 'strong');
  expect(lines).toEqual(['1,2 weak false', '1,2 causal false', '3,2 strong true']);
  expect(await joined).toEqual([3, 2]);
});

test.each([
  { is: 'the same', levels: LEVELS, views: ['1,2 causal', '1,3 strong'] },
  {
    is: 'others',
    levels: ['near', 'causal', 'strong'] as const,
    views: ['1,2 preliminary', '1,3 final'],
  },
  { is: 'fewer', levels: ['causal', 'strong'] as const, views: ['1,2 preliminary', '1,3 final'] },
  {
    is: 'the same in another order',
    levels: ['causal', 'weak', 'strong'] as const,
    views: ['1,2 preliminary', '1,3 final'],
  },
])(
  'COR-11: all of several bindings, the levels of one are $is → $views',
  ({ levels, views: reported }) => {
    const item = scriptedBinding(LEVELS);
    const two = scriptedBinding(levels);
    const joined = all([createClient(item).invoke(get('a')), createClient(two).invoke(get('b'))]);
    const lines: string[] = [];
    joined.subscribe(({ value, level }) => lines.push(`${String(value)} ${level}`));
    item.calls[0]!.view(1, 'strong');
    two.calls[0]!.view(2, 'causal');
    two.calls[0]!.view(3, 'strong');
    expect(lines).toEqual(reported);
  },
);

test('COR-11: all of several bindings, one of which has a level more that was not asked for → preliminary, then final', async () => {
  const few = scriptedBinding(['causal', 'strong']);
  const more = scriptedBinding(['near', 'causal', 'strong']);
  const levels = ['causal', 'strong'] as const;
  const joined = all([
    createClient(few).invoke(get('a')),
    createClient(more).invoke(get('b'), { levels }),
  ]);
  few.calls[0]!.view(1, 'strong');
  more.calls[0]!.view(2, 'causal');
  expect(joined.latest?.level).toBe('preliminary');
  more.calls[0]!.view(3, 'strong');
  expect(joined.latest).toMatchObject({ level: 'final', value: [1, 3] });
});

test('COR-11: all of parts by name → values by name, level by level', async () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding);
  const page = all({
    user: client.invoke(get<number>('user')),
    cart: client.invoke(get<number>('cart')),
  });
  const [user, cart] = [binding.calls[0]!, binding.calls[1]!];
  cart.view(2, 'weak');
  expect(page.latest).toBeUndefined();
  user.view(1, 'causal');
  expect(page.latest).toMatchObject({ value: { user: 1, cart: 2 }, level: 'weak' });
  user.view(1, 'strong');
  cart.view(3, 'strong');
  expect(await page).toEqual({ user: 1, cart: 3 });
  expect(page.latest).toMatchObject({ level: 'strong', confirms: false });
});

test('COR-11: all, one part fails → fails with its error', async () => {
  const parts: [Manual<number>, Manual<number>] = [manual(), manual()];
  const joined = all([parts[0].c, parts[1].c]);
  parts[1].c.cancel();
  expect(await codeOf(joined)).toBe('ABORTED');
});

test('COR-11: all of nothing → final at once', async () => {
  expect(await all([])).toEqual([]);
  expect(await all({})).toEqual({});
});

test('COR-11: all of very many parts → made in a time that grows with their number alone', () => {
  const tookMs = (count: number): number => {
    const parts = Array.from({ length: count }, () => manual<number>().c);
    const from = performance.now();
    all(parts).cancel();
    return performance.now() - from;
  };
  tookMs(4_000);
  // 64 times as long, where each part looks through those before it; the machine may be busy.
  expect(tookMs(32_000)).toBeLessThan(24 * tookMs(4_000) + 100);
});

test('COR-11: all of one binding, of which other levels were requested → preliminary, then final', () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding);
  const joined = all([
    client.invoke(get('a')),
    client.invoke(get('b'), { levels: ['weak', 'causal'] }),
  ]);
  const lines: string[] = [];
  joined.subscribe(({ value, level }) => lines.push(`${String(value)} ${level}`));
  binding.calls[0]!.view(1, 'strong');
  binding.calls[1]!.view(2, 'weak');
  binding.calls[1]!.view(3, 'causal');
  expect(lines).toEqual(['1,2 preliminary', '1,3 final']);
});

test('COR-11: a part of a join is corrected at the level of the join → so is the join, again', () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding);
  const joined = all([client.invoke(get('a')), client.invoke(get('b'))]);
  const lines: string[] = [];
  joined.subscribe(({ value, level }) => lines.push(`${String(value)} ${level}`));
  const [a, b] = [binding.calls[0]!, binding.calls[1]!];
  a.view(1, 'weak');
  a.view(2, 'causal');
  expect(lines).toEqual([]);
  b.view(3, 'weak');
  a.view(4, 'strong');
  b.view(5, 'strong');
  expect(lines).toEqual(['2,3 weak', '4,3 weak', '4,5 strong']);
});
