import type { Origins } from '../../../server/service/records/origin.ts';
import type { SimulationOptions } from '../options.ts';
import { REPLICA_LIMITS } from '../replica-limits.ts';
import type { Scenario } from '../scenario.ts';
import type { SimulatedSite } from '../simulated-site.ts';
import type { HealthyPeriods } from '../timeline.ts';
import type { TracedService } from '../traced-service.ts';
import { CausalOrderChecker, TotalOrderChecker } from './causal-order.ts';
import { Checkers, type Checker } from './checker.ts';
import { ClockChecker, TermChecker } from './clocks.ts';
import { ConvergenceChecker, DurabilityChecker, type LogLosses } from './durability.ts';
import { ExactlyOnceChecker } from './exactly-once.ts';
import { InvariantChecker } from './invariants.ts';
import { LowWatermarkChecker } from './low-watermarks.ts';
import { MembersChecker } from './members.ts';
import type { OracleChecker } from './oracle.ts';
import { RejectionChecker } from './rejections.ts';
import { RowComparisonChecker } from './row-comparisons.ts';
import { SerializabilityChecker } from './serializability.ts';
import { SessionChecker } from './sessions.ts';
import { StrictChecker } from './strict-checker.ts';
import { ReplyChecker } from './submission-replies.ts';

export interface CheckedRun {
  readonly options: SimulationOptions;
  readonly origins: Origins;
  readonly traced: TracedService;
  readonly scenario: Scenario;
  readonly healthyPeriods: HealthyPeriods;
  /** The array of all sites, to which more are added during the run. */
  readonly sites: readonly SimulatedSite[];
  readonly oracle: OracleChecker;
  readonly losses: LogLosses;
}

/** Creates all checkers of a run, in the order in which each event runs them. */
export function createCheckers({
  options,
  origins,
  traced: { service, thrown },
  scenario,
  healthyPeriods,
  sites,
  oracle,
  losses,
}: CheckedRun): Checkers {
  const checkers: readonly Checker[] = [
    new CausalOrderChecker(origins),
    new TotalOrderChecker(),
    new SerializabilityChecker(),
    ...(origins.logs.length > 1 ? [new StrictChecker()] : []),
    new InvariantChecker(service),
    new SessionChecker(origins),
    new ClockChecker(sites, REPLICA_LIMITS.maxClockSkewMs),
    new ExactlyOnceChecker(options.acceptsLoss),
    new DurabilityChecker(losses),
    new ReplyChecker(options),
    new RejectionChecker({
      ...REPLICA_LIMITS,
      options,
      service,
      healthyPeriods,
      sites,
    }),
    new LowWatermarkChecker(),
    new TermChecker(),
    ...scenario.checkers({
      ...REPLICA_LIMITS,
      options,
      origins,
      healthyPeriods,
      thrown,
    }),
    new MembersChecker(origins),
    new RowComparisonChecker(),
    new ConvergenceChecker(),
    // The oracle finds most faults, so it comes last: another checker describes the same fault more
    // precisely.
    oracle,
  ];
  return new Checkers(
    options.acceptsLoss ? checkers.filter(({ holdsAfterLoss }) => holdsAfterLoss) : checkers,
  );
}
