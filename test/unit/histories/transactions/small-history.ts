/**
 * Random histories of four transactions, most of which are faulty: few enough to try all orders.
 */
import fc from 'fast-check';
import type {
  ListOperation,
  RecordedTransaction,
} from '../../../histories/transactions/recorded-transaction.ts';

/** Lists that a read may return. */
const read = fc.record({
  key: fc.constantFrom('x', 'y'),
  reader: fc.nat({ max: 3 }),
  list: fc.nat({ max: 5 }),
});
const times = fc.record({ startAt: fc.nat({ max: 30 }), durationMs: fc.nat({ max: 30 }) });
const LISTS: readonly (readonly number[])[] = [[], [0], [1], [0, 1], [1, 0], [0, 1, 2]];

const draws = fc.record({
  writers: fc.array(fc.nat({ max: 3 }), { minLength: 5, maxLength: 5 }),
  reads: fc.array(read, { minLength: 1, maxLength: 5 }),
  times: fc.array(times, { minLength: 4, maxLength: 4 }),
  isReadFirst: fc.boolean(),
});
type Draws = typeof draws extends fc.Arbitrary<infer T> ? T : never;

function build({ writers, reads, times: intervals, isReadFirst }: Draws): RecordedTransaction[] {
  return intervals.map(({ startAt, durationMs }, index) => {
    const appends = writers.flatMap((writer, at): ListOperation[] =>
      writer === index ? [{ append: at < 3 ? ['x', at] : ['y', at - 3] }] : [],
    );
    const own = reads.flatMap(({ key, reader, list }): ListOperation[] =>
      reader === index ? [{ read: [key, LISTS[list]!] }] : [],
    );
    const operations = isReadFirst ? [...own, ...appends] : [...appends, ...own];
    const endAt = startAt + durationMs;
    return {
      id: `t${index}`,
      process: `p${index}`,
      startAt,
      endAt,
      outcome: 'committed',
      operations,
    };
  });
}

export const smallHistory: fc.Arbitrary<RecordedTransaction[]> = draws.map(build);
