/** What was measured in which way. */
import { estimate, type Estimate } from '../harness/bars.ts';
import { pairedRatios } from '../harness/statistics.ts';
import type { Measured } from '../load/processes.ts';
import { middleOf, type Samples } from '../load/rounds.ts';
import type { Plan } from '../load/starts.ts';
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

/** One figure of one contender. */
export function figureOf(samples: Samples<Name>, name: Name, of: keyof Measured): Estimate {
  return estimate((samples.get(name) ?? []).flatMap((one) => one[of] ?? []));
}

/** One figure of `of` as a multiple of that of `to` in the same round. */
export function figureRatioOf(
  samples: Samples<Name>,
  { of, to }: Pick<Pair, 'of' | 'to'>,
  figure: keyof Measured,
): Estimate {
  const values = (name: Name): number[] => (samples.get(name) ?? []).flatMap((one) => one[figure] ?? []);
  return estimate(pairedRatios(values(of), values(to)));
}

/** The open loops of a pair: at shares of what the slower of both reaches in a closed loop, so that both can follow. */
export function openPlansOf(closed: Samples<Name>, { of, to }: Pair, plan: Omit<Plan<Name>, 'names'>): Plan<Name>[] {
  const peaks = [of, to].map((name) => middleOf(closed.get(name) ?? [], 'opsPerSecond') ?? 0);
  return SHARES.map((share) => ({ ...plan, names: [of, to], perSecond: Math.round(share * Math.min(...peaks)) }));
}
