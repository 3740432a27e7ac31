/** Long queues in checkpoints: in parts, of which little is written again. */
// @rule STO-22
import { describe, expect, test } from 'vitest';
import { type Stamp, WHOLE_ROW } from '../../../../../src/server/service/records/effect.ts';
import { Store } from '../../../../../src/server/service/state/store.ts';
import { queue, register, table } from '../../../../../src/server/service/tables.ts';
import { Random } from '../../../../../src/server/service/collections/random.ts';
import { siteAt } from '../../../../support/origins.ts';
import { RED } from '../../../../../src/server/service/records/origin.ts';
import { saveAll } from '../../../../support/saved-rows.ts';

const TABLES = {
  plain: table({ items: queue<unknown>(), note: register<string>() }),
  carts: table({ items: queue<unknown>() }, { removable: true }),
};
type TableName = keyof typeof TABLES;

/** A store with what a checkpoint file has of it. */
class Site {
  store = new Store(TABLES);
  readonly #file = new Map<string, unknown>();
  #version = 0;

  do(
    action: 'push' | 'pop' | 'remove',
    key: string,
    { table: name = 'plain', value }: { table?: TableName; value?: unknown } = {},
  ): void {
    this.#version += 1;
    const stamp: Stamp = {
      time: this.#version,
      site: siteAt(0),
      entry: RED,
      version: this.#version,
      seen: [this.#version - 1, 0],
    };
    const on = action === 'remove' ? { field: WHOLE_ROW } : { field: 'items' };
    this.store.apply(
      { table: name, key, action, ...on, ...(value !== undefined && { value }) },
      stamp,
    );
  }

  /** Writes what has changed; the sizes of the rows that are written. */
  checkpoint(): number[] {
    const sizes: number[] = [];
    this.store.closeChanges();
    for (let rows = this.store.takeClosed(3); rows.length > 0; rows = this.store.takeClosed(3)) {
      for (const [name, value] of rows) {
        // As it comes out of a file: nothing of the store's own.
        if (value === undefined) this.#file.delete(name);
        else this.#file.set(name, JSON.parse(JSON.stringify(value)));
        sizes.push(JSON.stringify(value ?? null).length);
      }
    }
    return sizes;
  }

  get rows(): number {
    return this.#file.size;
  }

  lose(pick: (name: string) => boolean): void {
    for (const name of this.#file.keys()) if (pick(name)) this.#file.delete(name);
  }

  restart(): void {
    this.store = new Store(TABLES);
    this.store.restore(new Map(this.#file));
    saveAll(this.store);
  }
}

const ITEM = 'x'.repeat(1000);

describe('a long queue', () => {
  function stocked(count = 5_000): Site {
    const site = new Site();
    for (let n = 0; n < count; n += 1) site.do('push', 'q', { value: `${n} ${ITEM}` });
    return site;
  }

  test('saved → in rows of bounded size, of which the same queue comes back', () => {
    const site = stocked();
    const sizes = site.checkpoint();
    expect(Math.max(...sizes)).toBeLessThan(80_000);
    expect(sizes.length).toBeGreaterThan(50);
    const before = site.store.snapshot();
    site.restart();
    expect(site.store.snapshot()).toEqual(before);
  });

  test('a push, and pops → little of it is written again', () => {
    const site = stocked();
    site.checkpoint();
    site.do('push', 'q', { value: 'last' });
    for (let n = 0; n < 10; n += 1) site.do('pop', 'q');
    const sizes = site.checkpoint();
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(80_000);
    const before = site.store.snapshot();
    site.restart();
    expect(site.store.snapshot()).toEqual(before);
  });

  test('popped to its end → nothing of it is left but its row', () => {
    const site = stocked(1_000);
    site.checkpoint();
    for (let n = 0; n < 1_000; n += 1) site.do('pop', 'q');
    site.checkpoint();
    expect(site.rows).toBe(1);
    site.restart();
    site.do('push', 'q', { value: 'new' });
    expect(site.store.snapshot()).toMatchObject([
      ['plain', [['q', [['items', ['new']]]]]],
      ['carts', []],
    ]);
  });

  test('a part of it is missing → no state is made of the rest', () => {
    const site = stocked(1_000);
    site.checkpoint();
    site.lose((name) => name.includes('items\u00000\u0000'));
    expect(() => site.restart()).toThrow(/a checkpoint has \d+ items of a queue of 1000/);
  });

  test('large items → as few to a part as fit', () => {
    const site = new Site();
    for (let n = 0; n < 20; n += 1) site.do('push', 'q', { value: 'y'.repeat(100_000) });
    expect(Math.max(...site.checkpoint())).toBeLessThan(110_000);
  });
});

test('pushes, pops, removals and restarts at random → what comes back is what was saved', () => {
  for (let seed = 1; seed <= 15; seed += 1) {
    const random = new Random(seed);
    const site = new Site();
    for (let step = 0; step < 400; step += 1) {
      const value = `${step}${'z'.repeat(random.between(0, 3_000))}`;
      const input = { table: random.pick<TableName>(['carts', 'plain']), value };
      const key = random.pick(['a', 'b', 'c\u0000d']);
      if (random.chance(0.03) && input.table === 'carts')
        site.do('remove', key, { table: 'carts' });
      else if (random.chance(step < 250 ? 0.7 : 0.3)) site.do('push', key, input);
      else site.do('pop', key, { table: input.table });
      if (random.chance(0.05)) site.checkpoint();
      if (!random.chance(0.02)) continue;
      site.checkpoint();
      const before = site.store.snapshot();
      site.restart();
      expect(site.store.snapshot()).toEqual(before);
    }
  }
});
