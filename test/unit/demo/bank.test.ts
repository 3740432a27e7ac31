/** The bank of RedBlue (OSDI 2012, §4-5) with the paper's own scenarios, and with random ones. */
import { createClient } from 'correctables';
import { createEmbedded } from 'correctables/server';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bank } from '../../../demo/bank/contract.ts';
import { play, playOriginals } from '../../../demo/bank/scenario.ts';
import { bankService } from '../../../demo/bank/service.ts';
import { scaleRuns } from '../../support/lane.ts';

describe('bank: the scenarios of the paper', () => {
  test('Figure 3: without shadow operations the two sites end at different balances', async () => {
    expect(await playOriginals()).toEqual([126_00, 125_00]);
  });

  test('Figure 5: all shadow operations blue → both sites agree on 125, and later on -5', async () => {
    expect(await play('blue')).toEqual({ early: [125_00, 125_00], paid: [true, true], final: [-5_00, -5_00] });
  });

  test("Figure 6: withdrawAck' red → one of the two is refused, and no balance is below zero", async () => {
    const { early, paid, final } = await play('red');
    expect(early).toEqual([125_00, 125_00]);
    expect(paid.toSorted()).toEqual([false, true]);
    expect(final).toEqual(paid[0] === true ? [55_00, 55_00] : [65_00, 65_00]);
  });
});

describe('bank: anybody, anywhere', () => {
  const sites = ['eu', 'us', 'asia'] as const;
  const step = fc.record({
    site: fc.constantFrom(...sites),
    kind: fc.constantFrom('deposit', 'withdraw', 'withdraw', 'accrueInterest'),
    cents: fc.integer({ min: 1, max: 80_00 }),
  });

  test('withdrawals red: random operations at three sites, several at once → never below zero, nothing lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 6 }), async (rounds) => {
        const deployment = createEmbedded(bankService(), { sites });
        const clients = Object.fromEntries(sites.map((site) => [site, createClient(deployment.site(site))]));
        const account = 'a';
        let expected = 0;
        for (const round of rounds) {
          const booked = round.map(async ({ site, kind, cents }) => {
            const client = clients[site] as (typeof clients)[string];
            if (kind === 'accrueInterest') return (await client.invoke(bank.accrueInterest({ account }))).cents;
            if (kind === 'withdraw') return (await client.invoke(bank.withdraw({ account, cents }))).paid ? -cents : 0;
            await client.invoke(bank.deposit({ account, cents }));
            return cents;
          });
          for (const amount of await Promise.all(booked)) expected += amount;
          for (const client of Object.values(clients)) {
            const views: number[] = [];
            for await (const { value } of client.invoke(bank.balance({ account }))) views.push(value);
            expect(Math.min(...views)).toBeGreaterThanOrEqual(0);
          }
        }
        for (const client of Object.values(clients)) {
          while ((await client.invokeStrong(bank.balance({ account }))) !== expected);
        }
        await deployment.close();
      }),
      { numRuns: scaleRuns(50) },
    );
  });
});
