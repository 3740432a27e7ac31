/**
 * A bank on the ready key-value service: each transfer is a transaction over two accounts. An
 * account lists the transfers in its balance, so a checker can see which of them were applied, how
 * often, and in which order.
 */
import type { Transaction } from '../../src/transactions/index.ts';
import type { Shares } from '../histories/repeat.ts';
import type { Overview } from './contract.ts';
import { nameRows } from './partition.ts';
import { insist, pick, type Draw, type Scene } from './steps.ts';
import type { Step, User } from './user.ts';

type Account = Overview['accounts'][number];

/** The input of a transfer. */
export interface Transfer {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly amount: number;
}

/**
 * The result of a transfer: where its function expects it in the lists of both accounts. `false` if
 * refused.
 */
export type Places = { readonly out: number; readonly in: number } | false;

/** Fewer accounts would make nearly every transfer run several times. */
const ACCOUNTS = 6;
const OPENING = 100;
const AMOUNT_MAX = 60;
/** Some users do not wait for the commit, so they do not know its outcome. */
const HASTY = 0.12;
const HASTY_MS = [30, 400] as const;

export function createBankScene(seed: number, partitions: number): Scene {
  const names = Array.from({ length: ACCOUNTS }, (_, n) => `account-${n}`);
  const accounts = nameRows(seed, partitions, names);
  return {
    queues: [],
    seats: {},
    keys: { accounts, halls: [], profiles: [], values: [] },
    total: ACCOUNTS * OPENING,
  };
}

/** Opens all accounts by one transaction. Throws if that fails again and again. */
export async function openBank(users: readonly User[], { keys }: Scene): Promise<void> {
  const [user] = users as [User];
  const openAccounts = async (tx: Transaction): Promise<void> => {
    const present = await tx.getMany(keys.accounts);
    // An attempt whose outcome is unknown may have opened them.
    if (present.some((account) => account !== undefined)) return;
    for (const account of keys.accounts) {
      tx.put(account, { balance: OPENING, ids: [nameOpening(account)] } satisfies Account);
    }
  };
  const input = keys.accounts.map((account) => ({ id: nameOpening(account), amount: OPENING }));
  await insist(user, { name: 'fund', key: 'all', input, operation: openAccounts });
}

function nameOpening(account: string): string {
  return `${account} opened`;
}

/**
 * The name that a transfer has in the list of the account that pays, or of the one that is paid.
 */
export function nameHalf(id: string, half: 'out' | 'in'): string {
  return `${id} ${half}`;
}

/** What users do in a bank. */
export const TRANSFERS: Shares<Draw> = [
  [0.7, drawTransfer],
  [0.15, (_, scene) => lookAtBank(scene, ['causal'])],
  [0.15, (_, scene) => lookAtBank(scene, ['strong'])],
];

function drawTransfer(user: User, { keys }: Scene): Step {
  const from = pick(user, keys.accounts);
  const to = pick(
    user,
    keys.accounts.filter((account) => account !== from),
  );
  const amount = user.random.between(1, AMOUNT_MAX);
  const step = createTransfer({ id: user.newName(), from, to, amount }, user.random.chance(0.5));
  return user.random.chance(HASTY)
    ? { ...step, timeoutMs: user.random.between(...HASTY_MS) }
    : step;
}

/**
 * Returns a transfer that no balance refuses. It has a name of its own: a transaction has no
 * idempotency key.
 */
export function createProbe(user: User, { keys }: Scene): Step {
  const [from = '', to = ''] = keys.accounts;
  return createTransfer({ id: user.newName(), from, to, amount: 0 }, false);
}

/**
 * @param inTwoRequests whether the second account is read after the first one, which reads the
 * first one again
 */
function createTransfer(input: Transfer, inTwoRequests: boolean): Step {
  const { id, from, to, amount } = input;
  const move = async (tx: Transaction): Promise<Places> => {
    if (!inTwoRequests) await tx.getMany([from, to]);
    const payer = await readAccount(tx, from);
    if (payer.balance < amount) return false;
    const payee = await readAccount(tx, to);
    tx.put(from, append(payer, nameHalf(id, 'out'), -amount));
    tx.put(to, append(payee, nameHalf(id, 'in'), amount));
    return { out: payer.ids.length, in: payee.ids.length };
  };
  return { name: 'transfer', key: from, input, operation: move };
}

/** Requests all accounts by one transaction without writes. */
export function lookAtBank({ keys }: Scene, levels: NonNullable<Step['levels']>): Step {
  const readAll = async (tx: Transaction): Promise<Overview> => {
    const accounts = await tx.getMany<Account>(keys.accounts);
    return {
      accounts: accounts.map((account) => account ?? EMPTY),
      halls: [],
      profiles: [],
      values: [],
    };
  };
  return { name: 'look', key: 'all', operation: readAll, levels };
}

const EMPTY: Account = { balance: 0, ids: [] };

/** A site may not have the opening yet. */
async function readAccount(tx: Transaction, name: string): Promise<Account> {
  return (await tx.get<Account>(name)) ?? EMPTY;
}

function append({ balance, ids }: Account, id: string, amount: number): Account {
  return { balance: balance + amount, ids: [...ids, id] };
}
