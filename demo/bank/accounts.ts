/** The accounts between which the tellers move money, in whole euros. */

export const ACCOUNTS = ['Ada', 'Ben', 'Cleo', 'Dan'] as const;
export type Account = (typeof ACCOUNTS)[number];

/** The balance of some accounts. */
export type Balances = Readonly<Partial<Record<Account, number>>>;

export const INITIAL_EUROS = 100;

/** The partition of each account, if there are several (`--partitions 2`). */
const PARTITIONS: Readonly<Record<Account, string>> = {
  Ada: 'main',
  Ben: 'main',
  Cleo: 'us',
  Dan: 'us',
};

/** The part before the slash names the partition, if there is one of that name. */
export function toKey(account: Account): string {
  return `${PARTITIONS[account]}/account:${account}`;
}

/**
 * Returns the key of the row that a transfer writes, in the partition of the account that it is
 * from.
 */
export function toTransferKey(id: string, from: Account): string {
  return `${PARTITIONS[from]}/transfer:${id}`;
}

/** Returns the account that is `steps` places after another one, cyclically. */
export function getNextAccount(account: Account, steps: number): Account {
  return ACCOUNTS[(ACCOUNTS.indexOf(account) + steps) % ACCOUNTS.length] as Account;
}

/** Returns the account with the highest balance, or the first of several such accounts. */
export function findRichest(balances: Balances): Account {
  return ACCOUNTS.reduce((best, account) =>
    (balances[account] ?? 0) > (balances[best] ?? 0) ? account : best,
  );
}
