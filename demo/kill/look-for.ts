/** Looks at one site for operations that any site has acknowledged. */
import type { Client } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { pause } from '../tickets/pause.ts';
import { ledger } from './contract.ts';

/**
 * How long blue operations may be missing at a site after a restart, because they still travel
 * between the sites.
 */
const TRAVEL_MAX_MS = 20_000;
const LOOK_AGAIN_MS = 100;

/** Returns the time limit of a search that begins now. */
export const getLookEnd = (): number => performance.now() + TRAVEL_MAX_MS;

/**
 * Returns how often each operation has taken effect: 0 for one that is still missing at `endMs`.
 */
export async function lookFor(
  client: Client<RedBlueLevels>,
  operations: readonly string[],
  endMs: number,
): Promise<readonly number[]> {
  for (;;) {
    const times = await client.invokeStrong(ledger.times({ operations: [...operations] }));
    if (!times.includes(0) || performance.now() >= endMs) return times;
    await pause(LOOK_AGAIN_MS);
  }
}
