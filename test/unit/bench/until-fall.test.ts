/** A sweep goes on until throughput has fallen on all sides. */
import { expect, test } from 'vitest';
import { loadsUntilFall } from '../../../bench/harness/until-fall.ts';

const LOADS = [4, 16, 64, 256, 1024];

/** Two sides whose throughput is looked up by load. */
function sweep(one: readonly number[], other: readonly number[]): Promise<number[]> {
  return loadsUntilFall(LOADS, async (load) => {
    const at = LOADS.indexOf(load);
    return [one[at] as number, other[at] as number];
  });
}

test('loads: one side falls, the other still grows → on, until both have fallen', async () => {
  expect(await sweep([10, 30, 20, 20, 20], [10, 20, 30, 40, 30])).toEqual(LOADS);
  expect(await sweep([10, 30, 20, 20, 20], [10, 20, 30, 25, 40])).toEqual([4, 16, 64, 256]);
});

test('loads: a little less is noise; what never falls is measured up to the bound', async () => {
  expect(await sweep([10, 30, 29.5, 20, 20], [10, 30, 29.5, 20, 20])).toEqual([4, 16, 64, 256]);
  expect(await sweep([1, 2, 3, 4, 5], [1, 2, 3, 4, 5])).toEqual(LOADS);
});
