/** The transactions of the bank: each function is one transaction, on any store that supports them. */
import type { Client, Correctable } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { getMany } from 'correctables/operations';
import { transaction } from 'correctables/transactions';
import { ACCOUNTS, INITIAL_EUROS, toKey, type Account, type Balances } from './accounts.ts';

export type BankClient = Client<RedBlueLevels>;

export interface Transfer {
  readonly from: Account;
  readonly to: Account;
  readonly euros: number;
}

/** Thrown by a transfer of more money than the account has. The caller gets it only if the balance is certain. */
export class NotEnough extends Error {
  readonly account: Account;
  readonly balance: number;

  constructor(account: Account, balance: number) {
    super(`${account} has €${balance}`);
    this.account = account;
    this.balance = balance;
  }
}

/** Moves money. Each view has both balances afterwards: `tentative` at once, `strong` once they are committed. */
export function transfer(bank: BankClient, { from, to, euros }: Transfer): Correctable<Balances, RedBlueLevels> {
  return transaction(bank, async (tx) => {
    const [source = 0, target = 0] = await tx.getMany<number>([toKey(from), toKey(to)]);
    if (source < euros) throw new NotEnough(from, source);

    tx.put(toKey(from), source - euros);
    tx.put(toKey(to), target + euros);
    return { [from]: source - euros, [to]: target + euros };
  });
}

/** Adds up all accounts as they were at one moment: a strong read never sees half of a transfer. */
export async function readTotal(bank: BankClient): Promise<number> {
  const balances = await bank.invokeStrong(getMany<number>(ACCOUNTS.map(toKey)));
  return balances.reduce<number>((total, balance = 0) => total + balance, 0);
}

/** Reads the balances at the site of the client, which may be stale. */
export async function readBalances(bank: BankClient): Promise<Balances> {
  const balances = await bank.invokeWeak(getMany<number>(ACCOUNTS.map(toKey)));
  return Object.fromEntries(ACCOUNTS.map((account, at) => [account, balances[at] ?? 0]));
}

/** Gives each account its first money, unless that has been done. */
export async function openAccounts(bank: BankClient): Promise<void> {
  await transaction(bank, async (tx) => {
    const balances = await tx.getMany<number>(ACCOUNTS.map(toKey));
    if (balances.some((balance) => balance !== undefined)) return;
    for (const account of ACCOUNTS) tx.put(toKey(account), INITIAL_EUROS);
  });
}
