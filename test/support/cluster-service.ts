/**
 * A service that replicates a list of marks between the processes of a cluster. A blue and a red
 * operation write them. If the cluster has partitions, a mark such as `us/1` is in the partition
 * `us`.
 */
import { z } from 'zod';
import { defineContract } from 'correctables/contract';
import { blue, counter, defineService, red, register, table } from 'correctables/server';

const mark = z.object({ key: z.string() });

export const clusterContract = defineContract('marks', {
  /** Blue: adds the mark, and counts how often the operation ran. */
  add: { access: 'write', args: mark, result: z.null() },
  /** Red: returns the place of the mark in the order of all marks that were taken. */
  take: { access: 'write', partitionBy: 'key', args: mark, result: z.int() },
  keys: { access: 'read', args: z.object({}), result: z.array(z.string()) },
  runs: { access: 'read', partitionBy: 'key', args: mark, result: z.int() },
});

/** Returns the row that has the last place, in the partition of the mark. */
const findTurn = (key: string): string =>
  key.includes('/') ? `${key.split('/')[0]}/last` : 'last';

export const service = defineService(clusterContract, {
  tables: {
    marks: table({ runs: counter() }, { partition: 'key' }),
    turns: table({ taken: register<number>() }, { partition: 'key' }),
  },
  shadowOperations: ({ marks, turns }) => ({
    mark: blue((a: { readonly key: string }) => [marks.row(a.key).runs.add(1)]),
    turn: red((a: { readonly key: string; readonly place: number }) => [
      turns.row(findTurn(a.key)).taken.write(a.place),
      marks.row(a.key).runs.add(1),
    ]),
  }),
  generators: {
    add: (args, { shadow }) => shadow.mark(args, null),
    take: ({ key }, { tables, shadow }) => {
      const place = (tables.turns.row(findTurn(key)).taken ?? 0) + 1;
      return shadow.turn({ key, place }, place);
    },
    keys: (_args, { tables }) => [...tables.marks.keys()].toSorted(),
    runs: ({ key }, { tables }) => tables.marks.row(key).runs,
  },
});
