import type { Binding, Principal } from '../../../correctable/binding.ts';
import type { Operation } from '../../../correctable/operation.ts';
import type { ClientTable } from '../clients/client-table.ts';
import type { HostedContract } from './compile-schema.ts';
import type { InternalLimits } from '../limits/limits.ts';
import type { TotalLoad } from '../limits/in-flight-load.ts';
import type { OperationStats } from '../operations/operation-stats.ts';
import type { Logger } from './logger.ts';
import type { Principals } from '../limits/principal-shares.ts';

export type { Principal };

/** The source of a connection. */
export interface Peer {
  readonly remoteAddress: string | undefined;
  /** Origin of the page that opened it, or `undefined` outside browsers. */
  readonly origin: string | undefined;
}

/**
 * Verifies a token. Throw or reject to refuse the connection. A value that is no principal refuses
 * it too. If you cannot decide, for example because a directory service is down, throw a retryable
 * error like `UNAVAILABLE`. The client then retries.
 */
export type Authenticate = (
  token: string | undefined,
  peer: Peer,
) => Principal | Promise<Principal>;

/**
 * Decides whether a principal may execute an operation. Only `true` allows it: any other value or
 * an error refuses it. If you cannot decide, throw a retryable error such as `UNAVAILABLE`: the
 * client may then retry.
 *
 * With a contract, the arguments are parsed by its schemas, and the contract computes `key`.
 * Without one, a client may send a `key` that does not match its arguments. In that case, check the
 * field that the store uses. The bindings of this package use `args`. With `tiered`, your own
 * functions decide.
 */
export type Authorize = (principal: Principal, operation: Operation) => boolean | Promise<boolean>;

/** Counts of events at a gateway. */
export interface GatewayStats {
  submitted: number;
  malformed: number;
  overloaded: number;
  /** Views after the end, and views or failures at an unknown level, from the hosted binding. */
  bindingViolations: number;
}

/** What all connections of one gateway share. */
export interface GatewayContext {
  /** Name of the site. */
  readonly site: string | undefined;
  readonly binding: Binding;
  readonly levels: readonly string[];
  /** The contract, if clients may use only its operations. */
  readonly hostedContract: HostedContract | undefined;
  /** Whether clients must authenticate. */
  readonly requiresAuthentication: boolean;
  /**
   * Returns the principal of this token; rejects if the token is rejected. The token of the result
   * may have expired already.
   */
  identify(token: string | undefined, peer: Peer): Promise<Principal>;
  /**
   * Decides whether a principal may execute an operation. Without it, every principal may execute
   * every operation.
   */
  readonly authorize: Authorize | undefined;
  readonly internalLimits: InternalLimits;
  readonly logger: Logger;
  readonly clients: ClientTable;
  readonly principals: Principals;
  /** The operations in flight in the store. */
  readonly load: TotalLoad;
  readonly stats: GatewayStats;
  readonly operationStats: OperationStats;
  readonly isDraining: boolean;
  /** The names of a set of levels, given as bits. */
  getLevels(bits: number): readonly string[];
  /** Logs a violation of the binding's interface, or an operation's failure. */
  report(operation: string, description: string, error: unknown): void;
  /** Called when the connection has closed. */
  onConnectionClosed(connection: object): void;
}
