/**
 * A table of holds that looks up names finds the same conflict as one that compares an operation
 * with each hold.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  toFieldName,
  toRowName,
  toTableName,
} from '../../src/server/service/generator/read-set.ts';
import { createRemoveEffect, type Effect } from '../../src/server/service/records/effect.ts';
import type { Origin } from '../../src/server/service/records/origin.ts';
import type { ReadRange } from '../../src/server/service/records/read-range.ts';
import type { GlobalOperation } from '../../src/server/service/records/records.ts';
import { findReadName, findWrittenName } from '../../src/server/site/lane/order/footprint.ts';
import { HoldTable, type TouchedRows } from '../../src/server/site/lane/order/hold-table.ts';

const PARTITION = 0;
const PARTITIONS = {
  ofRow: (_table: string, key: string) => (key === 'elsewhere' ? 1 : PARTITION),
};

const table = fc.constantFrom('accounts', 'orders');
const key = fc.constantFrom('a', 'b', 'c', 'elsewhere');
const value = fc.integer({ min: 0, max: 9 });
const assignment = fc.record({
  table,
  key,
  field: fc.constant('value'),
  action: fc.constant('assign' as const),
  value: fc.oneof({ arbitrary: value, weight: 3 }, fc.constant(null)),
});
const removal = fc.tuple(table, key).map(([name, row]) => createRemoveEffect(name, row));
const effect = fc.oneof({ arbitrary: assignment, weight: 3 }, removal) as fc.Arbitrary<Effect>;
const read = fc
  .tuple(table, key, fc.constantFrom('field', 'field', 'field', 'row', 'table'))
  .map(([name, row, what]) =>
    what === 'field'
      ? toFieldName(name, row, 'value')
      : what === 'row'
        ? toRowName(name, row)
        : toTableName(name),
  );
const withBounds = <T>(bound: fc.Arbitrary<T>) => ({ from: bound, before: bound, upTo: bound });
const range = fc.oneof(
  fc.record(
    { table, field: fc.constant('value'), ...withBounds(value) },
    { requiredKeys: ['table', 'field'] },
  ),
  fc.record({ table, ...withBounds(key) }, { requiredKeys: ['table'] }),
) as fc.Arbitrary<ReadRange>;

const touched = fc
  .record({
    reads: fc.array(read, { maxLength: 3 }),
    ranges: fc.array(range, { maxLength: 2 }),
    effects: fc.array(effect, { maxLength: 3 }),
    isNew: fc.boolean(),
  })
  .map(({ isNew, ...rest }): TouchedRows => {
    const created = isNew ? rest.effects.map((item) => toRowName(item.table, item.key)) : [];
    return { ...rest, created };
  });

const toGlobal = (rows: TouchedRows, at: number): GlobalOperation => ({
  kind: 'operation',
  id: `held ${at}`,
  site: 1 as Origin,
  attempt: 1,
  epoch: 1,
  snapshot: [0],
  operation: 'change',
  reads: [...rows.reads],
  ranges: rows.ranges ?? [],
  created: rows.created ?? [],
  clock: 1,
  effects: rows.effects,
  reply: { value: null },
  others: [1],
});

test('the first hold that overlaps is found, and none that has ended', () => {
  let conflicts = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(touched, fc.boolean()), { maxLength: 8 }),
      touched,
      (held, later) => {
        const holds = new HoldTable(PARTITIONS, PARTITION);
        for (const [at, [rows]] of held.entries()) holds.add(toGlobal(rows, at), at + 1);
        const executions = [...holds.standing.keys()];
        for (const [at, [, hasEnded]] of held.entries())
          if (hasEnded) holds.end(executions[at]!, 'released', held.length + at + 1);

        const footprint = holds.getFootprint(later);
        const first = [...holds.standing].find(([, { operation }]) => {
          const other = holds.getFootprint(operation);
          return (
            findReadName(footprint, other) ??
            findWrittenName(footprint, other) ??
            findReadName(other, footprint)
          );
        });
        expect(holds.findOverlap(later)?.execution).toBe(first?.[0]);
        if (first !== undefined) conflicts += 1;
      },
    ),
    { numRuns: 2_000 },
  );
  expect(conflicts).toBeGreaterThan(100);
});
