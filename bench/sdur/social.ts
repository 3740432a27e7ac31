/**
 * The social network of the paper: what reordering changes for each of its operations, and what
 * they take in the product.
 */
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { limitTime, reported, type GoalResult } from '../harness/goals.ts';
import { rounded } from '../harness/statistics.ts';
import { getLatencies, meanOf, planRun, quantile, toSlug } from './cells.ts';
import { WANS, type Wan } from './systems/layouts.ts';
import { runLoad, type SystemName } from './systems/run-load.ts';
import { GLOBAL_FOLLOW, LOCAL_FOLLOW, POST, socialNetwork, TIMELINE } from './systems/workloads.ts';

export const KINDS = [TIMELINE, POST, LOCAL_FOLLOW, GLOBAL_FOLLOW] as const;
export type Kind = (typeof KINDS)[number];

/** A system in a deployment. The paper does not say with which threshold it has measured. */
export interface Variant {
  readonly system: SystemName;
  /** The reordering threshold R of the machine. 0 in the product, which has none. */
  readonly threshold: number;
}

export const BASELINE: Variant = { system: 'machine', threshold: 0 };
export const REORDERING: Variant = { system: 'machine', threshold: 320 };
export const PRODUCT: Variant = { system: 'product', threshold: 0 };
const VARIANTS = [BASELINE, REORDERING, PRODUCT];

export interface SocialRow extends Variant {
  readonly wan: Wan;
  readonly kind: Kind;
  readonly perSecond: number;
  readonly count: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly meanMs: number | null;
}

export const sdurSocial: Bench = {
  name: 'sdur-social',
  about:
    'the social network of the paper: 85 % timelines, 7.5 % posts and 7.5 % follows, in virtual time',
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const rows = WANS.flatMap((wan) =>
    VARIANTS.flatMap(({ system, threshold }): SocialRow[] => {
      progress(`${wan}, ${system}, R = ${threshold}`);
      const plan = planRun(system, quick);
      const result = runLoad({
        wan,
        system,
        threshold,
        delayMs: 0,
        workload: socialNetwork,
        ...plan,
      });
      return KINDS.map((kind) => {
        const values = getLatencies(result, kind);
        return {
          wan,
          system,
          threshold,
          kind,
          perSecond: Math.round(result.perSecond),
          count: values.length,
          p50Ms: quantile(values, 0.5),
          p99Ms: quantile(values, 0.99),
          meanMs: meanOf(values),
        };
      });
    }),
  );
  return {
    rounds: 1,
    rows: rows.map((row) => ({ ...row })),
    bars: computeGoalResults(rows),
    samples: rows,
  };
}

/** Returns the 99th percentile of an operation. Throws if no such operation has ended. */
export function readP99(
  rows: readonly SocialRow[],
  wan: Wan,
  kind: Kind,
  { system, threshold }: Variant,
): number {
  const row = rows.find(
    (item) =>
      item.wan === wan &&
      item.kind === kind &&
      item.system === system &&
      item.threshold === threshold,
  );
  if (typeof row?.p99Ms !== 'number') throw new Error(`no ${kind} of the ${system} in ${wan}`);
  return row.p99Ms;
}

export function computeGoalResults(rows: readonly SocialRow[]): readonly GoalResult[] {
  const ratio = (wan: Wan, kind: Kind, variant: Variant): number =>
    rounded(readP99(rows, wan, kind, variant) / readP99(rows, wan, kind, BASELINE));
  const [near] = WANS;
  const nearLeader = [POST, LOCAL_FOLLOW] as const;
  return [
    limitTime(
      'locals-p99-with-reordering-wan-1',
      Math.max(...nearLeader.map((kind) => ratio(near, kind, REORDERING))),
      {
        aim: 1,
      },
    ),
    limitTime(
      'product-locals-p99-vs-machine-wan-1',
      Math.max(...nearLeader.map((kind) => ratio(near, kind, PRODUCT))),
      {
        aim: 1,
      },
    ),
    ...WANS.flatMap((wan) =>
      KINDS.flatMap((kind) => {
        const of = `${kind.replace(' ', '-')}-p99`;
        return [
          reported(`${of}-r-320-${toSlug(wan)}`, ratio(wan, kind, REORDERING)),
          reported(`${of}-product-vs-machine-${toSlug(wan)}`, ratio(wan, kind, PRODUCT)),
        ];
      }),
    ),
  ];
}
