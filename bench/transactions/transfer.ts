/** A transfer by `transaction`, as the guide shows it. */
import type { Client, Correctable } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { transaction } from 'correctables/transactions';

/** Moves one cent, and returns the remaining balance. */
export function transferOne(
  store: Client<RedBlueLevels>,
  from: string,
  to: string,
): Correctable<number, RedBlueLevels> {
  return transaction(store, async (tx) => {
    const [payer = 0, payee = 0] = await tx.getMany<number>([from, to]);
    if (payer < 1) throw new Error(`${from} has too little`);
    tx.put(from, payer - 1);
    tx.put(to, payee + 1);
    return payer - 1;
  });
}
