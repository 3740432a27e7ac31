/** What was measured in which way. */
import { middleOf, type Samples } from '../load/rounds.ts';
import type { Plan } from '../load/restart-rounds.ts';
import { SHARES, type Name, type Pair } from './targets.ts';

export interface Measurement {
  readonly plan: Plan<Name>;
  readonly samples: Samples<Name>;
}

/** The samples of one plan. */
export function samplesOf(measured: readonly Measurement[], like: Partial<Plan<Name>>): Samples<Name> {
  const isLike = ({ plan: { clients = 1, ...plan } }: Measurement): boolean =>
    Object.entries({ clients: 1, ...like }).every(
      ([name, value]) => ({ clients, ...plan })[name as 'window'] === value,
    );
  const found = measured.find(isLike);
  if (found === undefined) throw new Error(`not measured: ${JSON.stringify(like)}`);
  return found.samples;
}

/** The open loops of a pair: at shares of what the slower of both reaches in a closed loop, so that both can follow. */
export function openPlansOf(closed: Samples<Name>, { of, to }: Pair, plan: Omit<Plan<Name>, 'names'>): Plan<Name>[] {
  const peaks = [of, to].map((name) => middleOf(closed.get(name) ?? [], 'opsPerSecond') ?? 0);
  return SHARES.map((share) => ({ ...plan, names: [of, to], perSecond: Math.round(share * Math.min(...peaks)) }));
}
