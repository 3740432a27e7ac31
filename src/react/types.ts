/** The types of the client that an application has registered. */
import type { AnyClient, Client } from '../correctable/client/client.ts';
import type {
  ContractFinalLevels,
  FinalLevel,
  FinalLevels,
  Levels,
} from '../correctable/level-types.ts';

/**
 * Names the client of your application, so that hooks without the option `client` know its levels.
 *
 * @example
 * declare module 'correctables/react' {
 *   interface Register {
 *     client: typeof client;
 *   }
 * }
 */
// oxlint-disable-next-line typescript/no-empty-interface -- applications add to it
export interface Register {}

/** The client of hooks that have no option `client`. */
export type RegisteredClient = Register extends {
  readonly client: infer C extends AnyClient;
}
  ? C
  : AnyClient;

/** The levels of a client. */
export type ClientLevels<C> = C extends {
  readonly levels: infer L extends Levels;
}
  ? L
  : Levels;

type HasContractLevels<C> = C extends Client<infer _L, infer B> ? B : boolean;

/** The level that the final of an operation can have at a client. */
export type FinalLevelFor<C, R extends FinalLevels> = FinalLevel<
  ClientLevels<C>,
  ClientLevels<C>,
  ContractFinalLevels<R, HasContractLevels<C>>
>;
