/** The goals of the causal store in comparison with CC-LO. */
import {
  atLeast,
  estimate,
  limitTime,
  reported,
  type Estimate,
  type GoalResult,
} from '../harness/goals.ts';
import { LOOKS } from '../harness/adaptive-rounds.ts';
import { SYSTEMS, type SystemName } from './systems/closed-loop.ts';
import { findCrossing } from './curves.ts';
import type { PutCost } from './put-cost.ts';
import {
  createCurvePoints,
  findPeak,
  findRow,
  fitIds,
  selectRows,
  type Row,
  type RowKey,
} from './rows.ts';
import { SIZES, SKEWS, VALUE_BYTES, WRITES } from './settings.ts';
import { rounded } from '../harness/statistics.ts';

/** The result for one seed: the cost of puts, and their latency at half of CC-LO's peak. */
export interface Round {
  readonly costs: readonly {
    readonly system: SystemName;
    readonly few: PutCost;
    readonly many: PutCost;
  }[];
  readonly atHalfPeak: readonly {
    readonly system: SystemName;
    readonly clients: number;
    readonly putMeanMs: number;
  }[];
}

/** The findings of the checker. */
export interface Checked {
  readonly system: SystemName;
  readonly sites: number;
  readonly reads: number;
  readonly faults: number;
  readonly lateFaults: number;
}

export interface Measured {
  readonly rows: readonly Row[];
  readonly rounds: readonly Round[];
  readonly checked: readonly Checked[];
}

const [CONTRARIAN, ONE_ROUND, CCLO] = SYSTEMS;
const ONE_SITE = { figure: 'default', sites: 1 } as const;
const THREE_SITES = { figure: 'default', sites: 3 } as const;

export function computeGoalResults({ rows, rounds, checked }: Measured): readonly GoalResult[] {
  return [
    ...computeRoundGoals(rounds),
    ...computeIdGoals(rows),
    ...computeCheckGoals(rows, checked),
    ...computePeakGoals(rows),
    ...computeLatencyGoals(rows),
    ...computeVariedGoals(rows),
  ];
}

export function computeRoundGoals(rounds: readonly Round[]): readonly GoalResult[] {
  const growth = (system: SystemName, of: keyof PutCost): Estimate =>
    ratio(rounds, ({ costs }) => {
      const found = costs.find((item) => item.system === system);
      return found === undefined ? NaN : found.many[of] / found.few[of];
    });
  const vsCclo = (system: SystemName): Estimate =>
    ratio(rounds, ({ atHalfPeak }) => {
      const putMs = (name: SystemName): number =>
        atHalfPeak.find((item) => item.system === name)?.putMeanMs ?? NaN;
      return putMs(system) / putMs(CCLO);
    });
  return [
    limitTime('put-cost-growth', growth(CONTRARIAN, 'us'), { aim: 1.1 }),
    reported('put-cost-growth-cc-lo', growth(CCLO, 'us')),
    reported('put-bytes-growth', growth(CONTRARIAN, 'bytes')),
    reported('put-bytes-growth-cc-lo', growth(CCLO, 'bytes')),
    limitTime('put-latency-vs-cc-lo', vsCclo(CONTRARIAN), { aim: 0.7 }),
    reported('put-latency-one-round-vs-cc-lo', vsCclo(ONE_ROUND)),
  ];
}

function ratio(rounds: readonly Round[], of: (round: Round) => number): Estimate {
  return estimate(rounds.map(of), LOOKS);
}

function computeIdGoals(rows: readonly Row[]): readonly GoalResult[] {
  const [all, distinct] = [fitIds(rows, 'ids'), fitIds(rows, 'distinctIds')];
  const cclo = selectRows(rows, { system: CCLO, ...ONE_SITE });
  const share = Math.max(...cclo.map(({ distinctIds, clients }) => distinctIds / clients));
  return [
    atLeast('ids-fit', rounded(all.rSquared), { aim: 0.95 }),
    reported('ids-per-client', rounded(all.slope), 'ids'),
    atLeast('distinct-ids-fit', rounded(distinct.rSquared), { aim: 0.95 }),
    reported('distinct-ids-per-client', rounded(distinct.slope), 'ids'),
    limitTime('distinct-ids-vs-clients', rounded(share), { aim: 1 }),
  ];
}

function computeCheckGoals(
  rows: readonly Row[],
  checked: readonly Checked[],
): readonly GoalResult[] {
  const sum = (values: readonly number[]): number =>
    values.reduce((total, value) => total + value, 0);
  const blocked = rows
    .filter(({ system }) => system !== CCLO)
    .map(({ blockedReads }) => blockedReads);
  const late = checked.filter(({ system }) => system === CCLO).map(({ lateFaults }) => lateFaults);
  const faults = checked.map(({ system, faults, lateFaults }) =>
    system === CCLO ? faults : faults + lateFaults,
  );
  return [
    limitTime('rot-blocked', sum(blocked), { aim: 0 }, 'reads'),
    limitTime('faults', sum(faults), { floor: 0 }, 'faults'),
    reported('cc-lo-faults-of-long-reads', sum(late), 'faults'),
    reported('checked-reads', sum(checked.map(({ reads }) => reads)), 'reads'),
    reported('long-reads', sum(rows.map(({ longReads }) => longReads)), 'reads'),
  ];
}

function computePeakGoals(rows: readonly Row[]): readonly GoalResult[] {
  const peak = (system: SystemName, where: Partial<Row>): number =>
    findPeak(rows, { system, ...where });
  const vsCclo = (system: SystemName, where: Partial<Row>): number =>
    rounded(peak(system, where) / peak(CCLO, where));
  return [
    atLeast('peak-vs-cc-lo', vsCclo(CONTRARIAN, ONE_SITE), { aim: 2 }),
    atLeast('peak-vs-cc-lo-three-sites', vsCclo(CONTRARIAN, THREE_SITES), { aim: 2 }),
    reported('peak-one-round-vs-cc-lo', vsCclo(ONE_ROUND, ONE_SITE)),
    reported(
      'peak-one-round-vs-two',
      rounded(peak(ONE_ROUND, ONE_SITE) / peak(CONTRARIAN, ONE_SITE)),
    ),
    reported('peak', peak(CONTRARIAN, ONE_SITE), 'operations/s'),
    reported('peak-cc-lo', peak(CCLO, ONE_SITE), 'operations/s'),
  ];
}

function computeLatencyGoals(rows: readonly Row[]): readonly GoalResult[] {
  const alone = (system: SystemName, where: Partial<Row>): number =>
    findRow(rows, { system, clients: 1, ...where }).readMeanMs;
  const peak = findPeak(rows, { system: CONTRARIAN, ...ONE_SITE });
  const crossing = (figure: 'readMeanMs' | 'readP95Ms' | 'readP99Ms'): number =>
    findCrossing(
      createCurvePoints(rows, { system: CONTRARIAN, ...ONE_SITE }, figure),
      createCurvePoints(rows, { system: CCLO, ...ONE_SITE }, figure),
    );
  const [mean, p95, p99] = [crossing('readMeanMs'), crossing('readP95Ms'), crossing('readP99Ms')];
  return [
    reported('rot-latency-vs-cc-lo', rounded(alone(CONTRARIAN, ONE_SITE) / alone(CCLO, ONE_SITE))),
    reported(
      'rot-latency-vs-cc-lo-three-sites',
      rounded(alone(CONTRARIAN, THREE_SITES) / alone(CCLO, THREE_SITES)),
    ),
    reported(
      'rot-latency-one-round-vs-two',
      rounded(alone(ONE_ROUND, ONE_SITE) / alone(CONTRARIAN, ONE_SITE)),
    ),
    reported('crossing-mean', rounded(mean / peak), 'share of peak'),
    reported('crossing-p95', rounded(p95 / peak), 'share of peak'),
    reported('crossing-p99', rounded(p99 / peak), 'share of peak'),
    limitTime('crossing-p99-vs-mean', rounded(p99 / mean), { aim: 1 }),
  ];
}

/** Computes the goals of the workloads in which one parameter differs from the default. */
function computeVariedGoals(rows: readonly Row[]): readonly GoalResult[] {
  const vsCclo = (where: Partial<Row>): number =>
    rounded(
      findPeak(rows, { system: CONTRARIAN, ...where }) / findPeak(rows, { system: CCLO, ...where }),
    );
  const aloneVsCclo = (where: Partial<Row>): number => {
    const alone = (key: RowKey): number =>
      findRow(rows, { ...key, clients: 1, ...where }).readMeanMs;
    return rounded(alone({ system: CONTRARIAN }) / alone({ system: CCLO }));
  };
  const skewed = (system: SystemName): number =>
    rounded(
      findPeak(rows, { system, ...ONE_SITE }) / findPeak(rows, { system, figure: 'skew', skew: 0 }),
    );
  /** The default workload has no separate curve in these figures. */
  const isVaried = (at: Partial<Row>): boolean =>
    selectRows(rows, { system: CCLO, ...at }).length > 0;
  return [
    ...WRITES.filter((writes) => isVaried({ figure: 'writes', writes })).map((writes) =>
      reported(
        `peak-vs-cc-lo-writes-${100 * writes}-percent`,
        vsCclo({ figure: 'writes', writes }),
      ),
    ),
    reported('peak-skewed-vs-uniform', skewed(CONTRARIAN)),
    reported('peak-skewed-vs-uniform-cc-lo', skewed(CCLO)),
    ...SKEWS.filter((skew) => isVaried({ figure: 'skew', skew })).map((skew) =>
      reported(`peak-vs-cc-lo-skew-${skew}`, vsCclo({ figure: 'skew', skew })),
    ),
    ...SIZES.filter((partitionsPerRead) => isVaried({ figure: 'size', partitionsPerRead })).flatMap(
      (partitionsPerRead) => [
        reported(
          `rot-latency-vs-cc-lo-${partitionsPerRead}-partitions`,
          aloneVsCclo({ figure: 'size', partitionsPerRead }),
        ),
        reported(
          `peak-vs-cc-lo-${partitionsPerRead}-partitions`,
          vsCclo({ figure: 'size', partitionsPerRead }),
        ),
      ],
    ),
    ...VALUE_BYTES.filter((valueBytes) => isVaried({ figure: 'values', valueBytes })).map(
      (valueBytes) =>
        reported(`peak-vs-cc-lo-${valueBytes}-bytes`, vsCclo({ figure: 'values', valueBytes })),
    ),
  ];
}
