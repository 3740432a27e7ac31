/** A service in two versions, as sites have them during an upgrade. */
import { z } from 'zod';
import { defineContract } from 'correctables/contract';
import { blue, counter, defineService, red, register, table } from 'correctables/server';

const item = z.object({ id: z.string() });

const operations = {
  /** Blue: records a purchase. */
  buy: { access: 'write', args: item, result: z.null() },
  count: { access: 'read', args: z.object({}), result: z.int() },
  note: { access: 'write', partitionBy: 'id', args: item, result: z.null() },
  mark: { access: 'write', args: item, result: z.null() },
  quote: { access: 'write', partitionBy: 'id', args: item, result: z.string() },
  /** Red: returns the place in the order of all items that were taken. */
  take: { access: 'write', args: item, result: z.int() },
  /** How often each item was bought or taken. */
  list: { access: 'read', args: z.object({}), result: z.array(z.tuple([z.string(), z.int()])) },
} as const;

/** The contract of clients of the first version. */
export const contractV1 = defineContract('shop', operations);

const sales = { sold: counter(), note: register<string>() };
const turns = table({ taken: register<number>() });
const one = (a: { readonly id: string }) => a;

/** The contract of clients of the second version. */
export const contractV2 = defineContract('shop', {
  ...operations,
  tag: { access: 'write', args: z.object({ id: z.string(), text: z.string() }), result: z.null() },
  tags: { access: 'read', args: z.object({}), result: z.int() },
});

/** The first version. */
export function shopV1() {
  return defineService(contractV1, {
    tables: { sales: table(sales, { partition: 'key' }), turns },
    shadowOperations: (tables) => ({
      sell: blue((a: { id: string }) => [tables.sales.row(a.id).sold.add(1)]),
      write: red((a: { id: string }) => [tables.sales.row(a.id).note.write('n')]),
      turn: red((a: { id: string; place: number }) => [
        tables.turns.row('last').taken.write(a.place),
        tables.sales.row(a.id).sold.add(1),
      ]),
    }),
    generators: {
      buy: (args, { shadow }) => shadow.sell(one(args), null),
      count: (_args, { tables }) => [...tables.sales.keys()].length,
      take: ({ id }, { tables, shadow }) => {
        const place = (tables.turns.row('last').taken ?? 0) + 1;
        return shadow.turn({ id, place }, place);
      },
      list: (_args, { tables }) =>
        [...tables.sales.keys()].map((id) => [id, tables.sales.row(id).sold] as const),
      note: (args, { shadow }) => shadow.write(one(args), null),
      mark: (args, { shadow }) => shadow.write(one(args), null),
      quote: (args, { shadow }) => shadow.write(one(args), 'old'),
    },
  });
}

/** A table, a field and two operations more. Three old operations do something new. */
export function shopV2() {
  return defineService(contractV2, {
    tables: {
      sales: table({ ...sales, stars: counter() }, { partition: 'key' }),
      turns,
      tags: table({ text: register<string>() }),
    },
    shadowOperations: (tables) => ({
      sell: blue((a: { id: string }) => [tables.sales.row(a.id).sold.add(1)]),
      write: red((a: { id: string }) => [tables.sales.row(a.id).note.write('n')]),
      turn: red((a: { id: string; place: number }) => [
        tables.turns.row('last').taken.write(a.place),
        tables.sales.row(a.id).sold.add(1),
      ]),
      star: blue((a: { id: string }) => [tables.sales.row(a.id).stars.add(1)]),
      label: blue((a: { id: string; text: string }) => [tables.tags.row(a.id).text.write(a.text)]),
      quoted: red(
        (a: { id: string }) => [tables.sales.row(a.id).note.write('q')],
        () => 'new',
      ),
    }),
    generators: {
      buy: (args, { shadow }) => shadow.sell(one(args), null),
      count: (_args, { tables }) => [...tables.sales.keys()].length,
      take: ({ id }, { tables, shadow }) => {
        const place = (tables.turns.row('last').taken ?? 0) + 1;
        return shadow.turn({ id, place }, place);
      },
      list: (_args, { tables }) =>
        [...tables.sales.keys()].map((id) => [id, tables.sales.row(id).sold] as const),
      note: (args, { shadow }) => shadow.star(one(args), null),
      mark: ({ id }, { shadow }) => shadow.label({ id, text: 'm' }, null),
      quote: (args, { shadow }) => shadow.quoted(one(args)),
      tag: (args, { shadow }) => shadow.label(args, null),
      tags: (_args, { tables }) => [...tables.tags.keys()].length,
    },
  });
}
