/**
 * A service that replicates a list of marks between the processes of a cluster. A blue and a red operation write them.
 */
import { z } from 'zod';
import { defineContract } from 'correctables/contract';
import { blue, counter, defineService, red, register, table } from 'correctables/server';

const mark = z.object({ key: z.string() });

export const clusterContract = defineContract('marks', {
  /** Blue: adds the mark, and counts how often the operation ran. */
  add: { access: 'write', args: mark, result: z.null() },
  /** Red: returns the place of the mark in the order of all marks that were taken. */
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
