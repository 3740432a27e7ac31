/** A table of identifiers that was saved and loaded goes on exactly as one that was not: also in what it forgets. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IdTable } from '../../src/server/replica/once/id-table.ts';
import { operationId } from '../../src/server/records/operation-id.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? 300);
const LIMITS = { operationsMax: 6, perClientMax: 4, clientsMax: 3, clientBytesMax: 9, bytesMax: 14 };
const CODEC = {
  save: (value: string) => value,
  load: (saved: unknown) => saved as string,
  bytesOf: (value: string) => value.length,
};
const CLIENTS = ['a', 'b', 'c', 'd', 'e'];
const SEQUENCES = 12;

const client = fc.constantFrom(...CLIENTS);
const sequence = fc.integer({ min: 1, max: SEQUENCES });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ client, set: sequence }) },
  { weight: 1, arbitrary: fc.record({ client, expire: sequence }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function apply(table: IdTable<string>, each: Step): void {
  if ('set' in each) table.set(operationId(each.client, each.set), `${each.client}${each.set}`);
  else table.expire(each.client, each.expire);
}

function show(table: IdTable<string>): string[] {
  const ids = CLIENTS.flatMap((each) => Array.from({ length: SEQUENCES }, (_, n) => operationId(each, n + 1)));
  return ids.map((id) => `${id}: ${String(table.get(id))}`);
}

/** What checkpoints keep of a table: the changes of each, the later ones over the earlier. */
class Saved {
  readonly #rows: Record<string, Map<string, unknown>> = {};

  take(table: IdTable<string>): void {
    for (const [name, section] of Object.entries(table.sections('t'))) {
      const rows = (this.#rows[name] ??= new Map());
      for (const [key, value] of section.takeChanges(Infinity)) {
        if (value === undefined) rows.delete(key);
        else rows.set(key, JSON.parse(JSON.stringify(value)));
      }
    }
  }

  load(): IdTable<string> {
    const table = new IdTable<string>(LIMITS, CODEC);
    for (const [name, section] of Object.entries(table.sections('t'))) section.restore(this.#rows[name] ?? new Map());
    return table;
  }
}

test('saved at any two moments and loaded → the same from then on, whatever follows', () => {
  const steps = fc.array(step, { maxLength: 40, size: 'max' });
  fc.assert(
    fc.property(steps, steps, steps, (before, between, after) => {
      const table = new IdTable<string>(LIMITS, CODEC);
      const saved = new Saved();
      for (const each of before) apply(table, each);
      for (const section of Object.values(table.sections('t'))) section.changeAll();
      saved.take(table);
      for (const each of between) apply(table, each);
      saved.take(table);
      const loaded = saved.load();
      expect(show(loaded)).toEqual(show(table));
      for (const each of after) {
        apply(table, each);
        apply(loaded, each);
        expect(show(loaded)).toEqual(show(table));
        expect(loaded.size).toBe(table.size);
      }
    }),
    { numRuns: RUNS },
  );
});
