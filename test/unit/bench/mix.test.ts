/** The mix of operations: its shares, and kinds that do not depend on the keys. */
import { expect, test } from 'vitest';
import type { Submit } from '../../../bench/load/loops.ts';
import { KEYS, mixOf, SHARES, type Submits } from '../../../bench/load/mix.ts';

interface Begun {
  readonly kind: string;
  readonly key: number;
}

const DRAWS = 200_000;

/** The first operations of a mix. */
function begunBy(mix: (submits: Submits) => Submit): Begun[] {
  const begun: Begun[] = [];
  const submit =
    (kind: string): Submit =>
    (n) => {
      begun.push({ kind, key: n % KEYS });
      return Promise.resolve();
    };
  const next = mix({ read: submit('read'), deposit: submit('deposit'), withdraw: submit('withdraw') });
  for (let n = 0; n < DRAWS; n += 1) void next(n);
  return begun;
}

const percentOf = (begun: readonly Begun[], kind: string): number =>
  (100 * begun.filter((each) => each.kind === kind).length) / begun.length;

test('mix: 80 reads, 15 deposits and 5 withdrawals of a hundred', () => {
  const begun = begunBy(mixOf);
  expect(SHARES).toEqual({ read: 80, deposit: 15, withdraw: 5 });
  for (const [kind, percent] of Object.entries(SHARES)) {
    expect(Math.abs(percentOf(begun, kind) - percent)).toBeLessThan(0.5);
  }
});

test('mix: every key is read, paid in and drawn from, about as often as any other', () => {
  const begun = begunBy(mixOf);
  const byKey = new Map<number, Begun[]>();
  for (const each of begun) {
    const of = byKey.get(each.key);
    if (of === undefined) byKey.set(each.key, [each]);
    else of.push(each);
  }
  expect(byKey.size).toBe(KEYS);
  for (const of of byKey.values()) {
    const percent = percentOf(of, 'read');
    const kinds = new Set(of.map(({ kind }) => kind));
    if (kinds.size < 3 || percent < 65 || percent > 95) expect.fail(`${[...kinds].join(', ')}; ${percent} % reads`);
  }
});

test('mix: kinds do not come in turns, and are the same for every contender', () => {
  const begun = begunBy(mixOf);
  const changes = begun.filter(({ kind }, n) => n > 0 && kind !== begun[n - 1]?.kind).length;
  // 1 - 0.8² - 0.15² - 0.05²: of two neighbours drawn independently.
  expect(changes / begun.length).toBeCloseTo(0.335, 2);
  expect(begunBy(mixOf).slice(0, 1000)).toEqual(begun.slice(0, 1000));
});
