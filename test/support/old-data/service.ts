/** Every kind of field that is kept in files in a way of its own, in both colours, with removals. */
import { z } from 'zod/v4';
import { defineContract } from '../../../src/protocol/contract/contract.ts';
import { defineService } from '../../../src/server/service/service.ts';
import type { Service } from '../../../src/server/service/service.ts';
import { blue, red } from '../../../src/server/service/shadow-operation.ts';
import { cell, counter, log, queue, register, set, stock, table } from '../../../src/server/service/tables.ts';

const args = z.object({ key: z.string(), text: z.string() });
const update = { effect: 'update', args, result: z.number() } as const;

/** Its contract. */
export const keptContract = defineContract('kept-data', {
  note: update,
  forget: update,
  count: update,
  sell: update,
  close: update,
  show: { effect: 'read', args: z.object({}), result: z.unknown() },
});

interface Args {
  readonly key: string;
  readonly text: string;
}

/** The service; a number is how often the operation had been done at this key, as the site knows. */
export function keptService(): Service {
  return defineService(keptContract, {
    tables: {
      notes: table(
        { text: register<string>(), edits: counter(), tags: set<string>(), lines: log<string>() },
        { removable: true },
      ),
      totals: table({ sum: counter(), last: register<string>() }),
      sales: table({ left: stock(), buyer: cell<string>(), line: queue<string>(), sold: counter() }),
    },
    shadowOperations: ({ notes, totals, sales }) => ({
      note: blue((a: Args) => {
        const { text, edits, tags, lines } = notes.row(a.key);
        return [text.write(a.text), edits.add(1), tags.add(a.text), lines.append(a.text)];
      }),
      forget: blue((a: Args) => [notes.remove(a.key)]),
      count: blue((a: Args) => [totals.row(a.key).sum.add(1), totals.row(a.key).last.write(a.text)]),
      sell: red((a: Args) => {
        const { left, buyer, line, sold } = sales.row(a.key);
        return [left.add(2), left.take(1), buyer.assign(a.text), line.push(a.text), sold.add(1)];
      }),
      close: red((a: Args) => [notes.remove(a.key)]),
    }),
    generators: {
      note: (a, { tables, shadow }) => shadow.note(a, tables.notes.row(a.key).edits),
      forget: (a, { tables, shadow }) => shadow.forget(a, tables.notes.row(a.key).edits),
      count: (a, { tables, shadow }) => shadow.count(a, tables.totals.row(a.key).sum),
      sell: (a, { tables, shadow }) => shadow.sell(a, tables.sales.row(a.key).sold),
      close: (a, { tables, shadow }) => shadow.close(a, tables.notes.row(a.key).edits),
      show: (_, { tables: { notes, totals, sales } }) => ({
        notes: notes.keys().map((key) => {
          const { text, edits, tags, lines } = notes.row(key);
          return { key, text, edits, tags: [...tags].toSorted(), lines: [...lines] };
        }),
        totals: totals.keys().map((key) => ({ key, sum: totals.row(key).sum, last: totals.row(key).last })),
        sales: sales.keys().map((key) => {
          const { left, buyer, line, sold } = sales.row(key);
          return { key, left, buyer, line: Array.from({ length: line.size }, (_item, index) => line.at(index)), sold };
        }),
      }),
    },
  });
}
