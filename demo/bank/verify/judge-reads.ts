/**
 * Judges strong reads of all balances: whether each shows the bank between two transfers, and with
 * all that had been confirmed.
 *
 * A read looks for the rows of the transfers that had begun before, so it shows which of these it
 * includes. A transfer that began later may be included too. The transfers of a teller follow each
 * other, so the read includes the first few of those.
 */
import { ACCOUNTS } from '../accounts.ts';
import { apply, hasRow, type Balances, type Followed } from './follow-transfers.ts';
import type { LineOf } from './history.ts';

export interface ReadFaults {
  /**
   * Strong reads whose balances are not the first ones plus whole transfers: those that they and
   * earlier reads have found, and maybe some that began meanwhile.
   */
  readonly mixedReads: number;
  /** Strong reads that lack a transfer that was confirmed before they began. */
  readonly staleReads: number;
}

/** Judges the reads in their order, and marks the transfers that they have found. */
export function judgeReads(
  reads: readonly LineOf<'read'>[],
  transfers: ReadonlyMap<string, Followed>,
  opening: Balances,
): ReadFaults {
  const all = [...transfers.values()];
  const due = new DueTransfers(all);
  const later = all.toSorted((a, b) => a.begunMs - b.begunMs);
  let begun = 0;
  let expected = opening;
  let mixedReads = 0;
  let staleReads = 0;
  for (const { beganMs, atMs, balances, made } of reads) {
    for (const id of made) {
      const transfer = transfers.get(id) as Followed;
      if (!transfer.isShown && transfer.requested !== undefined)
        expected = apply(expected, transfer.requested);
      transfer.isShown = true;
    }
    if (due.has(beganMs)) staleReads += 1;

    while (begun < later.length && (later[begun] as Followed).begunMs < beganMs) begun += 1;
    const meanwhile: Followed[] = [];
    for (let at = begun; at < later.length && (later[at] as Followed).begunMs <= atMs; at += 1) {
      meanwhile.push(later[at] as Followed);
    }
    if (!listPossible(expected, meanwhile).some((possible) => isSame(possible, balances)))
      mixedReads += 1;
  }
  return { mixedReads, staleReads };
}

/** The transfers that were confirmed, and that no read has found. */
class DueTransfers {
  readonly #confirmed: readonly Followed[];
  readonly #due = new Set<Followed>();
  #next = 0;

  constructor(transfers: readonly Followed[]) {
    const confirmed = transfers.filter(({ end }) => end === 'confirmed');
    this.#confirmed = confirmed.toSorted((a, b) => a.endedMs - b.endedMs);
  }

  /**
   * Returns whether there is one that was confirmed before this time. Call it with later and later
   * times.
   */
  has(ms: number): boolean {
    for (; this.#next < this.#confirmed.length; this.#next += 1) {
      const transfer = this.#confirmed[this.#next] as Followed;
      if (transfer.endedMs >= ms) break;
      this.#due.add(transfer);
    }
    for (const transfer of this.#due) if (transfer.isShown) this.#due.delete(transfer);
    return this.#due.size > 0;
  }
}

/** Returns the balances that a read may show if these transfers began while it ran. */
function listPossible(balances: Balances, meanwhile: readonly Followed[]): Balances[] {
  const made = meanwhile.filter((transfer) => !transfer.isShown && hasRow(transfer));
  const tellers = new Set(made.map(({ teller }) => teller));
  let possible = [balances];
  for (const name of tellers) {
    const ofTeller = made.filter(({ teller }) => teller === name);
    possible = possible.flatMap((start) => listPrefixes(start, ofTeller));
  }
  return possible;
}

/** Returns the balances after none, one, and more of the transfers of a teller. */
function listPrefixes(start: Balances, transfers: readonly Followed[]): Balances[] {
  const possible = [start];
  let latest = [start];
  for (const { end, requested } of transfers) {
    if (requested === undefined) continue;
    const after = latest.map((balances) => apply(balances, requested));
    possible.push(...after);
    // A transfer without an answer may take effect after later ones of its teller.
    latest = end === 'unknown' ? [...latest, ...after] : after;
  }
  return possible;
}

function isSame(one: Balances, other: Balances): boolean {
  return ACCOUNTS.every((account) => one[account] === other[account]);
}
