/** Alice in Europe and Bob in the United States share an account (RedBlue, OSDI 2012, Figures 3, 5 and 7). */
import { createClient, type Client } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { createEmbedded, type Embedded } from 'correctables/server';
import { bank } from './contract.ts';
import { bankService } from './service.ts';

const ACCOUNT = 'joint';

/** What both see in the end, in cents, and what they were told. */
export interface Ending {
  /** After a deposit by Alice, and interest accrued by Bob at the same time (Figure 3): at each site. */
  readonly early: readonly number[];
  /** Whether Alice's and Bob's withdrawals were paid. */
  readonly paid: readonly boolean[];
  /** The balance at each site once both have heard of everything (Figures 5 and 7). */
  readonly final: readonly number[];
}

/**
 * Plays the paper's example: 100 dollars; Alice deposits 20 while Bob's branch accrues 5 % interest; then, at the same
 * time, Alice withdraws 70 and Bob 60.
 */
export async function play(withdrawals: 'red' | 'blue'): Promise<Ending> {
  const deployment = createEmbedded(bankService(withdrawals), { sites: ['eu', 'us'] });
  const [alice, bob] = [createClient(deployment.site('eu')), createClient(deployment.site('us'))];
  try {
    await alice.invoke(bank.deposit({ account: ACCOUNT, cents: 100_00 }));
    await allHear(deployment, 100_00);
    await Promise.all([
      alice.invoke(bank.deposit({ account: ACCOUNT, cents: 20_00 })),
      bob.invoke(bank.accrueInterest({ account: ACCOUNT })),
    ]);
    await allHear(deployment, 125_00);
    const early = await balances(deployment);
    const reported = await Promise.all([
      alice.invoke(bank.withdraw({ account: ACCOUNT, cents: 70_00 })),
      bob.invoke(bank.withdraw({ account: ACCOUNT, cents: 60_00 })),
    ]);
    const paid = reported.map((answer) => answer.paid);
    await allHear(deployment, 125_00 - (paid[0] ? 70_00 : 0) - (paid[1] ? 60_00 : 0));
    return { early, paid, final: await balances(deployment) };
  } finally {
    await Promise.all([alice.close(), bob.close()]);
    await deployment.close();
  }
}

type Bank = Embedded<'eu' | 'us'>;

const clientsOf = (deployment: Bank): Client<RedBlueLevels>[] =>
  deployment.sites.map((site) => createClient(deployment.site(site)));

function balances(deployment: Bank): Promise<number[]> {
  return Promise.all(clientsOf(deployment).map((client) => client.invokeStrong(bank.balance({ account: ACCOUNT }))));
}

/** Blue operations are on their way to the other site when they are answered: waits until both show this balance. */
async function allHear(deployment: Bank, cents: number): Promise<void> {
  while ((await balances(deployment)).some((balance) => balance !== cents));
}
