/** The measurements and their plans. */
import { middleOf, type Samples } from '../load/rounds.ts';
import type { Plan } from '../load/restart-rounds.ts';
import { SHARES, type Name, type Pair } from './targets.ts';

export interface Measurement {
  readonly plan: Plan<Name>;
  readonly samples: Samples<Name>;
}

/** Returns the samples of one plan. */
export function samplesOf(
  measured: readonly Measurement[],
  like: Partial<Plan<Name>>,
): Samples<Name> {
  const isLike = ({ plan: { clients = 1, ...plan } }: Measurement): boolean =>
    Object.entries({ clients: 1, ...like }).every(
      ([name, value]) => ({ clients, ...plan })[name as 'window'] === value,
    );
  const found = measured.find(isLike);
  if (found === undefined) throw new Error(`not measured: ${JSON.stringify(like)}`);
  return found.samples;
}

/**
 * Returns the plans of open loops for a pair, at shares of the rate that the slower system reaches
 * in a closed loop, so that both can sustain it.
 */
export function openPlansOf(
  closed: Samples<Name>,
  { of, to }: Pair,
  plan: Omit<Plan<Name>, 'names'>,
): Plan<Name>[] {
  const peaks = [of, to].map((name) => middleOf(closed.get(name) ?? [], 'opsPerSecond') ?? 0);
  return SHARES.map((share) => ({
    ...plan,
    names: [of, to],
    perSecond: Math.round(share * Math.min(...peaks)),
  }));
}
