/** Whether the outcomes of an exclusive hold are possible. Each claim has a name of its own. */
import type { Call } from '../../history.ts';
import { getReportedOutcome } from '../../reported-outcomes.ts';

interface Hold {
  readonly by: string;
  /** When it was held for certain; from `Infinity` on where it may not have been. */
  readonly surely: readonly [fromMs: number, toMs: number];
  /** When it may have been held. */
  readonly perhaps: readonly [fromMs: number, toMs: number];
}

/** @param calls of the kinds `claim` and `release` on one key */
export function holdFaults(key: string, calls: readonly Call[]): string[] {
  const holds = holdsOf(calls);
  const certain = holds.filter(({ surely: [from, to] }) => from < to).toSorted((a, b) => a.surely[0] - b.surely[0]);
  const faults = certain.flatMap((hold, n) => {
    const next = certain[n + 1];
    if (next === undefined || next.surely[0] >= hold.surely[1]) return [];
    return [`${key}: ${hold.by} and ${next.by} held it at ${Math.round(next.surely[0])} ms`];
  });
  for (const { input, beginMs, endMs = Infinity } of calls.filter(
    (call) => call.kind === 'claim' && hasReturned(call, false),
  )) {
    const isHeld = holds.some(({ by, perhaps: [from, to] }) => by !== input && from < endMs && to > beginMs);
    if (!isHeld)
      faults.push(`${key}: ${String(input)} failed at ${Math.round(endMs)} ms to claim it, and no claim held it`);
  }
  return faults;
}

function holdsOf(calls: readonly Call[]): Hold[] {
  return calls
    .filter((call) => call.kind === 'claim' && !hasReturned(call, false) && getReportedOutcome(call) !== 'not made')
    .map((call) => {
      const release = calls.find(({ kind, input }) => kind === 'release' && input === call.input);
      const isBack = release !== undefined && hasReturned(release, true);
      const isSure = hasReturned(call, true);
      return {
        by: String(call.input),
        surely: [isSure ? (call.endMs ?? Infinity) : Infinity, release?.beginMs ?? Infinity],
        perhaps: [call.beginMs, isBack ? (release.endMs ?? Infinity) : Infinity],
      };
    });
}

/** Whether the final view, in the order of all sites, was this value. */
function hasReturned({ outcome, output, views }: Call, description: boolean): boolean {
  return outcome === 'success' && output === description && views?.at(-1)?.level === 'strong';
}
