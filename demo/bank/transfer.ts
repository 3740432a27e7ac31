/**
 * The transactions of the bank: each function is one transaction, on any store that supports them.
 */
import type { Client, Correctable } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { getMany } from 'correctables/operations';
import { transaction } from 'correctables/transactions';
import {
  ACCOUNTS,
  INITIAL_EUROS,
  toKey,
  toTransferKey,
  type Account,
  type Balances,
} from './accounts.ts';

export type BankClient = Client<RedBlueLevels>;

export interface Transfer {
  readonly from: Account;
  readonly to: Account;
  readonly euros: number;
}

/**
 * Thrown by a transfer of more money than the account has. The caller gets it only if the balance
 * is certain.
 */
export class NotEnough extends Error {
  readonly account: Account;
  readonly balance: number;

  constructor(account: Account, balance: number) {
    super(`${account} has €${balance}`);
    this.account = account;
    this.balance = balance;
  }
}

/**
 * Moves money. `id` is an identifier that no other transfer has: by its row, it is certain
 * afterwards whether the transfer was made, also without an answer.
 *
 * Each view has both balances afterwards: `tentative` at once, `strong` once they are committed.
 */
export function transfer(
  bank: BankClient,
  id: string,
  { from, to, euros }: Transfer,
): Correctable<Balances, RedBlueLevels> {
  return transaction(bank, async (tx) => {
    const own = toTransferKey(id, from);
    const [source = 0, target = 0] = await tx.getMany<number>([toKey(from), toKey(to), own]);
    if (source < euros) throw new NotEnough(from, source);

    tx.put(toKey(from), source - euros);
    tx.put(toKey(to), target + euros);
    tx.put(own, { from, to, euros });
    return { [from]: source - euros, [to]: target + euros };
  });
}

/** The value of the row of a transfer that was not made. */
const NOT_MADE = 'not made';

/**
 * Ends a transfer whose outcome is unknown: unless it was made, it is not made later. Its commit
 * has read its row, and is refused once this has changed the row.
 */
export async function endUnknownTransfer(
  bank: BankClient,
  id: string,
  { from }: Transfer,
): Promise<void> {
  await transaction(bank, async (tx) => {
    const own = toTransferKey(id, from);
    if ((await tx.get(own)) === undefined) tx.put(own, NOT_MADE);
  });
}

/**
 * The balances, and the transfers that were made of those that were looked for, all at one moment.
 */
export interface Statement {
  readonly balances: Required<Balances>;
  readonly made: ReadonlyMap<string, Transfer>;
}

/**
 * Reads a statement by one strong read. `transfers` has the identifiers to look for, with their
 * accounts.
 */
export async function readStatement(
  bank: BankClient,
  transfers: readonly (readonly [id: string, from: Account])[],
): Promise<Statement> {
  const keys = [...ACCOUNTS.map(toKey), ...transfers.map(([id, from]) => toTransferKey(id, from))];
  const values = await bank.invokeStrong(getMany<number | Transfer | typeof NOT_MADE>(keys));
  const balances = ACCOUNTS.map((account, at) => [account, values[at] ?? 0]);
  const made = transfers.flatMap(([id], at) => {
    const row = values[ACCOUNTS.length + at];
    return typeof row === 'object' ? [[id, row] as const] : [];
  });
  return { balances: Object.fromEntries(balances) as Required<Balances>, made: new Map(made) };
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
