/**
 * Alice in Europe and Bob in the United States share an account (RedBlue, OSDI 2012, Figures 3, 5
 * and 6).
 */
import { createClient, type Client } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { createEmbedded, type Embedded } from 'correctables/server';
import { bank } from './contract.ts';
import { bankService } from './service.ts';

const ACCOUNT = 'joint';

type BankClient = Client<RedBlueLevels>;

/** The results of the scenario, in cents. */
export interface Ending {
  /**
   * The balance at each site after a deposit by Alice, and interest accrued by Bob at the same time
   * (Figure 5).
   */
  readonly early: readonly number[];
  /** Whether Alice's and Bob's withdrawals were paid. */
  readonly paid: readonly boolean[];
  /** The balance at each site once both have all operations (Figures 5 and 6). */
  readonly final: readonly number[];
}

/**
 * Plays the first half of the example without shadow operations, as in Figure 3: each site repeats
 * the original operations, its own first. Interest then depends on the order, so the sites stay
 * different. Returns both balances.
 */
export async function playOriginals(): Promise<number[]> {
  const [europe, states] = [
    createEmbedded(bankService(), { sites: ['eu'] }),
    createEmbedded(bankService(), { sites: ['us'] }),
  ];
  const [eu, us] = [createClient(europe.site('eu')), createClient(states.site('us'))];
  const deposit = (at: BankClient, cents: number): Promise<unknown> =>
    Promise.resolve(at.invoke(bank.deposit({ account: ACCOUNT, cents })));
  const accrue = (at: BankClient): Promise<unknown> =>
    Promise.resolve(at.invoke(bank.accrueInterest({ account: ACCOUNT })));
  try {
    for (const site of [eu, us]) await deposit(site, 100_00);
    await Promise.all([deposit(eu, 20_00), accrue(us)]);
    await Promise.all([accrue(eu), deposit(us, 20_00)]);
    return await Promise.all(
      [eu, us].map((site) => site.invokeStrong(bank.balance({ account: ACCOUNT }))),
    );
  } finally {
    await Promise.all([eu, us].map((client) => client.close()));
    await Promise.all([europe.close(), states.close()]);
  }
}

/**
 * Plays the paper's example: 100 dollars; Alice deposits 20 while Bob's branch accrues 5 %
 * interest; then, at the same time, Alice withdraws 70 and Bob 60.
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

const clientsOf = (deployment: Bank): BankClient[] =>
  deployment.sites.map((site) => createClient(deployment.site(site)));

function balances(deployment: Bank): Promise<number[]> {
  return Promise.all(
    clientsOf(deployment).map((client) => client.invokeStrong(bank.balance({ account: ACCOUNT }))),
  );
}

/**
 * Waits until both sites show this balance: a blue operation is answered before the other site has
 * received it.
 */
async function allHear(deployment: Bank, cents: number): Promise<void> {
  while ((await balances(deployment)).some((balance) => balance !== cents));
}
