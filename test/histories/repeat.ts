/** What happens again and again in a run. */
import type { Random } from '../../src/server/service/collections/random.ts';
import { pause } from './pause.ts';

/** Plays an episode again and again, until the end. */
export async function repeat(
  [minMs, maxDelayMs]: readonly [number, number],
  { random, signal }: { readonly random: Random; readonly signal: AbortSignal },
  episode: () => Promise<void>,
): Promise<void> {
  for (;;) {
    await pause(random.between(minMs, maxDelayMs), signal);
    if (signal.aborted) return;
    await episode();
  }
}

/** What happens, by how often: shares add up to one. */
export type Shares<T> = readonly (readonly [share: number, what: T])[];

/** Draws one of `shares`, each in proportion to its share. */
export function drawShare<T>(random: Random, shares: Shares<T>): T {
  let draw = random.fraction();
  const generated = shares.find(([share]) => (draw -= share) < 0) ?? shares[0];
  return (generated as Shares<T>[number])[1];
}
