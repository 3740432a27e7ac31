/** The subject of a run: a service, the operations that its clients draw, and its own checkers. */
import type { Principal } from '../../correctable/binding.ts';
import type { Origins } from '../../server/service/records/origin.ts';
import type { Service } from '../../server/service/service.ts';
import type { HealthyPeriods } from './timeline.ts';
import type { Checker } from './checkers/checker.ts';
import type { OperationTraits } from './history.ts';
import type { SimulationOptions } from './options.ts';
import type { Random } from '../../server/service/collections/random.ts';

/** The inputs of a draw. `own` is a string that no other operation of the run has. */
export interface DrawOptions {
  readonly random: Random;
  readonly unique: string;
  readonly options: SimulationOptions;
}

export interface DrawnOperation {
  readonly operation: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The facts that checkers of a scenario may use beside their events. */
export interface CheckerContext {
  readonly options: SimulationOptions;
  readonly origins: Origins;
  /** After this time, sites resend a message that was not answered. */
  readonly resendAfterMs: number;
  /** How long an operation may wait at a site for other sites. */
  readonly reachTimeoutMs: number;
  readonly healthyPeriods: HealthyPeriods;
  /** Returns what the last run of a generator has thrown, if it has. */
  readonly thrown: () => string | undefined;
}

export interface Scenario {
  readonly service: Service;
  readonly traits: OperationTraits;
  /** The users of the clients, by turns. Default: none */
  readonly principals?: readonly Principal[];
  draw(from: DrawOptions): DrawnOperation;
  /** Returns checkers in addition to those of every service. */
  checkers(context: CheckerContext): readonly Checker[];
}

/** Returns the traits of any service, from what the simulation itself saw of the operations. */
export function getObservedTraits({ contract }: Service): OperationTraits {
  return {
    isRead: ({ operation }) => contract.operations[operation]?.access === 'read',
    isBlue: ({ shownColor }) => shownColor === 'blue',
    hasEffect: ({ shownColor }) => shownColor === 'blue' || shownColor === 'red',
  };
}
