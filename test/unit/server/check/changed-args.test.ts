/**
 * Generators that change their arguments are blamed for that, and those that do not are not,
 * whatever a schema makes.
 */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { analyzeColors } from '../../../../src/server/check/analyze-colors.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import { blue } from '../../../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../../../src/server/service/tables.ts';
import { scaleRuns } from '../../../support/lane.ts';

class Money {
  readonly cents = 1;
  readonly #currency = 'euro';
  get shown(): string {
    return `${this.cents} ${this.#currency}`;
  }
}
class Tags extends Set<string> {}

const CHANGED = ['it changes its arguments'];

/**
 * Returns the problems that labeling reports for a generator that makes this change to its parsed
 * arguments.
 */
function problemsOf(
  make: () => unknown,
  change: (args: { n: number; made: unknown; list: number[] }) => void,
): string[] {
  const args = z
    .object({ n: z.int().min(1).max(5) })
    .transform(({ n }) => ({ n, made: make(), list: [n] }));
  const contract = defineContract('made', { add: { access: 'write', args, result: z.null() } });
  const service = defineService(contract, {
    tables: { rows: table({ sum: counter() }) },
    shadowOperations: ({ rows }) => ({
      add: blue(({ n }: { n: number }) => [rows.row('k').sum.add(n)]),
    }),
    generators: {
      add: (value, { shadow }) => {
        const { n } = value;
        change(value);
        return shadow.add({ n }, null);
      },
    },
  });
  return analyzeColors(service, { runs: scaleRuns(20), seed: 1 }).generators.map(
    ({ problem }) => problem,
  );
}

function cyclic(): object {
  const made: { me?: object } = {};
  made.me = made;
  return made;
}

test.each<[string, () => unknown]>([
  ['an object of a class', () => new Money()],
  ['such objects in an array', () => [new Money()]],
  ['such objects in a map', () => new Map([['a', new Money()]])],
  ['a class of sets', () => new Tags(['a'])],
  ['an address', () => new URL('http://a/')],
  ['a pattern', () => /a/g],
  ['an error', () => new Error('x')],
  ['an object without a prototype', () => Object.assign(Object.create(null) as object, { a: 1 })],
  ['an object that contains itself', cyclic],
])('beside %s: who changes nothing → no fault; who changes something else → one', (_, make) => {
  expect(problemsOf(make, () => {})).toEqual([]);
  expect(problemsOf(make, ({ list }) => list.push(9))).toEqual(CHANGED);
});

test.each<[string, () => unknown, (made: never) => void]>([
  [
    'an object without a prototype',
    () => Object.assign(Object.create(null) as object, { a: 1 }),
    (made: { a: number }) => void (made.a += 1),
  ],
  ['an object that contains itself', cyclic, (made: { me: object }) => void (made.me = {})],
  ['a date', () => new Date(5), (made: Date) => void made.setTime(6)],
  ['bytes', () => Buffer.from('a'), (made: Buffer) => void made.fill(0)],
])('who changes %s → a fault', (_, make, change) => {
  expect(problemsOf(make, ({ made }) => change(made as never))).toEqual(CHANGED);
});
