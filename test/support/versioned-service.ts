/** A service in two versions, as sites have them during an upgrade. */
import { z } from 'zod';
import { defineContract } from '../../src/contract/index.ts';
import { blue, counter, defineService, red, register, table } from '../../src/server/index.ts';

const item = z.object({ id: z.string() });

const operations = {
  /** Blue. */
  buy: { access: 'write', args: item, result: z.null() },
  count: { access: 'read', args: z.object({}), result: z.int() },
  note: { access: 'write', args: item, result: z.null() },
  mark: { access: 'write', args: item, result: z.null() },
  quote: { access: 'write', args: item, result: z.string() },
} as const;

const sales = { sold: counter(), note: register<string>() };
const one = (a: { readonly id: string }) => a;

/** The first version. */
export function shopV1() {
  return defineService(defineContract('shop', operations), {
    tables: { sales: table(sales) },
    shadowOperations: (tables) => ({
      sell: blue((a: { id: string }) => [tables.sales.row(a.id).sold.add(1)]),
      write: red((a: { id: string }) => [tables.sales.row(a.id).note.write('n')]),
    }),
    generators: {
      buy: (args, { shadow }) => shadow.sell(one(args), null),
      count: (_args, { tables }) => [...tables.sales.keys()].length,
      note: (args, { shadow }) => shadow.write(one(args), null),
      mark: (args, { shadow }) => shadow.write(one(args), null),
      quote: (args, { shadow }) => shadow.write(one(args), 'old'),
    },
  });
}

/** A table, a field and two operations more. Three old operations do something new. */
export function shopV2() {
  const contract = defineContract('shop', {
    ...operations,
    tag: { access: 'write', args: z.object({ id: z.string(), text: z.string() }), result: z.null() },
    tags: { access: 'read', args: z.object({}), result: z.int() },
  });
  return defineService(contract, {
    tables: { sales: table({ ...sales, stars: counter() }), tags: table({ text: register<string>() }) },
    shadowOperations: (tables) => ({
      sell: blue((a: { id: string }) => [tables.sales.row(a.id).sold.add(1)]),
      write: red((a: { id: string }) => [tables.sales.row(a.id).note.write('n')]),
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
      note: (args, { shadow }) => shadow.star(one(args), null),
      mark: ({ id }, { shadow }) => shadow.label({ id, text: 'm' }, null),
      quote: (args, { shadow }) => shadow.quoted(one(args)),
      tag: (args, { shadow }) => shadow.label(args, null),
      tags: (_args, { tables }) => [...tables.tags.keys()].length,
    },
  });
}
