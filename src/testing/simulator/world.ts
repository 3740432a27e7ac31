/** What a run is about: a service, what its clients ask for, and what only its own checkers know. */
import type { Origins } from '../../server/records/origin.ts';
import type { Service } from '../../server/service/service.ts';
import type { Calm } from './timeline.ts';
import type { Checker } from './checkers/checker.ts';
import type { ClientOperation, Traits } from './history.ts';
import type { SimulationOptions } from './options.ts';
import type { Random } from '../../server/collections/random.ts';

/** What a draw goes by; `own` is a text that no other operation of the run has. */
export interface DrawFrom {
  readonly random: Random;
  readonly own: string;
  readonly options: SimulationOptions;
}

/** What clients ask for. */
export type Drawn = Pick<ClientOperation, 'operation' | 'args'>;

/** What checkers of a world may go by, beside what they are told. */
export interface Circumstances {
  readonly options: SimulationOptions;
  readonly origins: Origins;
  /** After so long sites send again what has not been answered. */
  readonly resendAfterMs: number;
  /** For so long who waits at a site does so for others. */
  readonly reachTimeoutMs: number;
  readonly calm: Calm;
  /** What the last run of a generator has thrown, if it has. */
  readonly thrown: () => string | undefined;
}

/** A service in the simulator. */
export interface World {
  readonly service: Service;
  readonly traits: Traits;
  draw(from: DrawFrom): Drawn;
  /** Checkers beside those that hold for any service. */
  checkers(circumstances: Circumstances): readonly Checker[];
}

/** Of any service: what the simulation itself saw of the operations. */
export function observedTraits({ contract }: Service): Traits {
  return {
    isRead: ({ operation }) => contract.operations[operation]?.effect === 'read',
    isBlue: ({ shownAs }) => shownAs === 'blue',
    tookEffect: ({ shownAs }) => shownAs === 'blue' || shownAs === 'red',
  };
}
