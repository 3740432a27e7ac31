/** The causal store in this process and the one on Redis keep the same values: those of JSON. */
import { describe, expect, test } from 'vitest';
import { createCausalStore, type CausalLevels } from '../../src/bindings/causal/index.ts';
import type { Binding } from '../../src/correctable/binding.ts';
import { systemClock } from '../../src/correctable/clock.ts';
import { createClient } from '../../src/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { CausalRedisWorld } from '../support/causal-redis-world.ts';

function openInProcess(): Binding<CausalLevels> {
  return createCausalStore({ sites: ['dublin'] }).site('dublin');
}

function openOnRedis(): Binding<CausalLevels> {
  const world = new CausalRedisWorld({ clock: systemClock, sites: ['dublin'] });
  world.prepareAll();
  return world.open('dublin');
}

describe.each([
  ['causal', openInProcess],
  ['causalRedis', openOnRedis],
])('values of %s', (_, open) => {
  /** Returns what a read shows after the write of `value`, with `change` in between. */
  async function store(value: unknown, change: () => void = () => {}): Promise<unknown> {
    const binding = open();
    const client = createClient(binding);
    try {
      await client.invoke(put('a', value));
      change();
      return await client.invokeWeak(get('a'));
    } finally {
      await binding.close?.();
    }
  }

  // `toStrictEqual` distinguishes -0 from 0.
  test.each<[string, unknown, unknown]>([
    ['-0 becomes 0', -0, 0],
    ['-0 within a value becomes 0', { balance: -0, list: [-0, 1] }, { balance: 0, list: [0, 1] }],
    ['other values come back', { a: [1.5, 'ü', null, true] }, { a: [1.5, 'ü', null, true] }],
  ])('%s, as in JSON', async (_title, value, expected) => {
    expect(await store(value)).toStrictEqual(expected);
  });

  test.each<[string, unknown, string]>([
    ['NaN', { price: Number.NaN }, 'args.value.price'],
    ['a Date', { at: new Date(0) }, 'args.value.at'],
    ['undefined in an array', [undefined], 'args.value.0'],
    ['a Map', new Map(), 'args.value'],
  ])('%s is refused, since JSON would change it', async (_title, value, field) => {
    await expect(store(value)).rejects.toMatchObject({ code: 'INVALID_VALUE', field });
  });

  test('a value that changes after it was written stays as it was in the store', async () => {
    const items = ['one'];
    expect(await store(items, () => items.push('two'))).toEqual(['one']);
  });
});
