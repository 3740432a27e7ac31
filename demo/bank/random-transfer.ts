/** Draws random transfers of the customers of a small bank. */
import { seeded, wholeBetween, type Random } from '../shared/random.ts';
import { ACCOUNTS, getNextAccount, type Account } from './accounts.ts';
import type { Transfer } from './transfer.ts';

/** The maximum amount. It is so large that an account sometimes has too little money. */
const EUROS_MAX = 60;

/** Returns a function that draws the next transfer. */
export function drawTransfers(seed: number): () => Transfer {
  const random: Random = seeded(seed);
  return () => {
    const from = ACCOUNTS[wholeBetween(random, 0, ACCOUNTS.length - 1)] as Account;
    const to = getNextAccount(from, wholeBetween(random, 1, ACCOUNTS.length - 1));
    return { from, to, euros: wholeBetween(random, 1, EUROS_MAX) };
  };
}
