/** Marks in a list, written blue or red: what processes of a cluster replicate. */
import { z } from 'zod';
import { defineContract } from 'correctables/contract';
import { blue, counter, defineService, red, register, table } from 'correctables/server';

const mark = z.object({ key: z.string() });

export const clusterContract = defineContract('marks', {
  /** Blue: marks the key, and counts how often this ran. */
  add: { access: 'write', args: mark, result: z.null() },
  /** Red: gives the place in the order of all that were taken. */
  take: { access: 'write', args: mark, result: z.int() },
  keys: { access: 'read', args: z.object({}), result: z.array(z.string()) },
  runs: { access: 'read', args: mark, result: z.int() },
});

export const service = defineService(clusterContract, {
  tables: { marks: table({ runs: counter() }), turns: table({ taken: register<number>() }) },
  shadowOperations: ({ marks, turns }) => ({
    mark: blue((a: { readonly key: string }) => [marks.row(a.key).runs.add(1)]),
    turn: red((a: { readonly key: string; readonly place: number }) => [
      turns.row('last').taken.write(a.place),
      marks.row(a.key).runs.add(1),
    ]),
  }),
  generators: {
    add: (args, { shadow }) => shadow.mark(args, null),
    take: ({ key }, { tables, shadow }) => {
      const place = (tables.turns.row('last').taken ?? 0) + 1;
      return shadow.turn({ key, place }, place);
    },
    keys: (_args, { tables }) => [...tables.marks.keys()].toSorted(),
    runs: ({ key }, { tables }) => tables.marks.row(key).runs,
  },
});
