/**
 * What a run is about: a service, what its clients ask for, and what only its
 * own checkers know.
 */
import type { Principal } from '../../correctable/binding.ts';
import type { Origins } from '../../server/records/origin.ts';
import type { Service } from '../../server/service/service.ts';
import type { HealthyPeriods } from './timeline.ts';
import type { Checker } from './checkers/checker.ts';
import type { ClientOperation, OperationTraits } from './history.ts';
import type { SimulationOptions } from './options.ts';
import type { Random } from '../../server/collections/random.ts';

/**
 * What a draw goes by; `own` is a text that no other operation of the run has.
 */
export interface DrawOptions {
  readonly random: Random;
  readonly unique: string;
  readonly options: SimulationOptions;
}

export type DrawnOperation = Pick<ClientOperation, 'operation' | 'args'>;

/** What checkers of a world may use, beside the events that they get. */
export interface CheckerContext {
  readonly options: SimulationOptions;
  readonly origins: Origins;
  /** After so long sites send again what has not been answered. */
  readonly resendAfterMs: number;
  /** For so long who waits at a site does so for others. */
  readonly reachTimeoutMs: number;
  readonly healthyPeriods: HealthyPeriods;
  /** What the last run of a generator has thrown, if it has. */
  readonly thrown: () => string | undefined;
}

export interface Scenario {
  readonly service: Service;
  readonly traits: OperationTraits;
  /** The users of the clients, by turns. Default: none */
  readonly principals?: readonly Principal[];
  draw(from: DrawOptions): DrawnOperation;
  /** Checkers beside those that hold for any service. */
  checkers(circumstances: CheckerContext): readonly Checker[];
}

/** Of any service: what the simulation itself saw of the operations. */
export function getObservedTraits({ contract }: Service): OperationTraits {
  return {
    isRead: ({ operation }) =>
      contract.operations[operation]?.access === 'read',
    isBlue: ({ shownColor }) => shownColor === 'blue',
    hasEffect: ({ shownColor }) =>
      shownColor === 'blue' || shownColor === 'red',
  };
}
