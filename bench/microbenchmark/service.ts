/**
 * RedBlue's microbenchmark (OSDI 2012, §8.2): each request changes one record, drawn at random, by
 * one shadow operation. The same change exists as a blue and as a red operation, which differ only
 * in the color.
 */
import { defineContract } from 'correctables/contract';
import {
  blue,
  counter,
  defineService,
  red,
  register,
  table,
  type Service,
} from 'correctables/server';
import * as z from 'zod';

const update = {
  access: 'write',
  args: z.object({ record: z.string() }),
  result: z.null(),
} as const;

export const microbenchmark = defineContract('microbenchmark', {
  touchBlue: update,
  touchRed: update,
});

/** One text and four numbers, as in the paper. */
const fields = { text: register<string>(), a: counter(), b: counter(), c: counter(), d: counter() };

interface Touched {
  readonly record: string;
}

export const service: Service = defineService(microbenchmark, {
  tables: { records: table(fields) },
  shadowOperations: ({ records }) => {
    const touch = ({ record }: Touched) => [records.row(record).a.add(1)];
    return { touchBlue: blue(touch), touchRed: red(touch) };
  },
  generators: {
    touchBlue: (args, { shadow }) => shadow.touchBlue(args, null),
    touchRed: (args, { shadow }) => shadow.touchRed(args, null),
  },
});
