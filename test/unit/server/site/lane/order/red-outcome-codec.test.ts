/** Replies of red operations are kept for resends, and no longer than that. */
import { expect, test } from 'vitest';
import { bankService } from '../../services.ts';
import { Sites } from '../../sites.ts';
import { siteAt } from '../../../../../support/origins.ts';
import { saveAll } from '../../../../../support/saved-rows.ts';

test('client acknowledges an answer with its next operation → the answer is not kept', () => {
  const sites = new Sites(bankService(), 1);
  const deposit = { name: 'deposit', args: { account: 'a', amount: 100 } };
  const withdraw = { name: 'withdraw', args: { account: 'a', amount: 10 } };
  const origin = (sequence: number, acknowledged: number) => ({
    identity: { id: `c/${sequence}`, home: siteAt(0), hop: 0, acknowledged },
  });
  sites.submit(0, deposit, origin(1, 0));
  sites.settle();
  sites.submit(0, withdraw, origin(2, 1));
  sites.settle();
  expect(keptAnswers(sites)).toEqual(['c/2']);
  sites.submit(0, withdraw, origin(3, 2));
  sites.settle();
  expect(keptAnswers(sites)).toEqual(['c/3']);
});

function keptAnswers(sites: Sites): readonly string[] {
  const retained: string[] = [];
  for (const [name, section] of Object.entries(
    sites.machines[0]?.red.lanes.main.order.sections ?? {},
  )) {
    if (name !== 'redAnswers') continue;
    for (const [id, saved] of saveAll(section))
      if (id.startsWith('c/') && saved !== undefined) retained.push(id);
  }
  return retained;
}
