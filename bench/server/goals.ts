/** The goals of the server. */
import { atLeast, reported, type GoalResult, type Estimate } from '../harness/goals.ts';
import { figureOf, figureRatioOf, ratioOf, type Samples } from '../load/rounds.ts';
import { samplesOf, type Measurement } from './measurement.ts';
import { CLIENTS, NAMED, PAIRS, SHARES, WINDOWS, type Name, type Window } from './targets.ts';

/**
 * Computes the goals. `closed` has the samples of closed loops. `open` has those of open loops, by
 * pair, one for each share of its rate.
 */
export function computeGoalResults(
  closed: readonly Measurement[],
  open: readonly (readonly Measurement[])[],
): GoalResult[] {
  const set = (window: Window, clients = 1): Samples<Name> =>
    samplesOf(closed, { workload: 'set', window, clients });
  const red = samplesOf(closed, { workload: 'withdraw' });
  const rate = (name: Name): Estimate => figureOf(red.get(name) ?? [], 'opsPerSecond');
  return [
    ...PAIRS.flatMap(({ bar, of, to, aims, floors }) =>
      WINDOWS.map((window) =>
        atLeast(`${bar}-${window}`, ratioOf(set(window), of, to), {
          floor: floors[window],
          aim: aims[window],
        }),
      ),
    ),
    ...PAIRS.flatMap((pair, index) => {
      const { bar, of, to } = pair;
      return [
        ...CLIENTS.map((clients) =>
          reported(`${bar}-${NAMED}-clients-${clients}`, ratioOf(set(NAMED, clients), of, to)),
        ),
        reported(`${bar}-${NAMED}-server-time`, figureRatioOf(set(NAMED), pair, 'serverUsPerOp')),
        reported(`${bar}-${NAMED}-client-time`, figureRatioOf(set(NAMED), pair, 'clientUsPerOp')),
        ...(open[index] ?? []).map(({ samples }, at) =>
          reported(
            `${bar}-p99-at-${(SHARES[at] ?? 0) * 100}-percent`,
            figureRatioOf(samples, pair, 'p99Ms'),
          ),
        ),
      ];
    }),
    reported('red-rate', rate('ephemeral'), 'operations/s'),
    reported('red-rate-three-sites', rate('three sites'), 'operations/s'),
    reported('red-rate-durable', rate('durable'), 'operations/s'),
    reported('cpu-per-blue-us', figureOf(set(NAMED).get('ephemeral') ?? [], 'serverUsPerOp'), 'us'),
    reported('three-sites-vs-one', ratioOf(set(NAMED), 'three sites', 'ephemeral')),
    ...(['ephemeral', 'durable'] as const).flatMap((site) => [
      ...besideOther(`blue-${site}`, set(NAMED), site),
      ...besideOther(`red-${site}`, red, site),
    ]),
  ];
}

/**
 * Compares the processor time of a site with that of the same site of another checkout, if one was
 * measured.
 */
function besideOther(
  name: string,
  samples: Samples<Name>,
  of: 'ephemeral' | 'durable',
): GoalResult[] {
  const to: Name = `other ${of}`;
  if (!samples.has(to)) return [];
  return [
    reported(`${name}-server-time-vs-other`, figureRatioOf(samples, { of, to }, 'serverUsPerOp')),
  ];
}
