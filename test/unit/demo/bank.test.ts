/** The bank of RedBlue (OSDI 2012, §4-5) with the paper's own scenarios. */
import { describe, expect, test } from 'vitest';
import { play, playOriginals } from '../../../demo/bank/scenario.ts';

describe('bank: the scenarios of the paper', () => {
  test('Figure 3: without shadow operations the two sites end at different balances', async () => {
    expect(await playOriginals()).toEqual([126_00, 125_00]);
  });

  test('Figure 5: all shadow operations blue → both sites agree on 125, and later on -5', async () => {
    expect(await play('blue')).toEqual({
      early: [125_00, 125_00],
      paid: [true, true],
      final: [-5_00, -5_00],
    });
  });

  test("Figure 6: withdrawAck' red → one of the two is refused, and no balance is below zero", async () => {
    const { early, paid, final } = await play('red');
    expect(early).toEqual([125_00, 125_00]);
    expect(paid.toSorted()).toEqual([false, true]);
    expect(final).toEqual(paid[0] === true ? [55_00, 55_00] : [65_00, 65_00]);
  });
});
