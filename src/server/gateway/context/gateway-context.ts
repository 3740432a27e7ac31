/** What all connections of one gateway share. */
import type { Binding } from '../../../correctable/binding.ts';
import type { Operation } from '../../../correctable/operation.ts';
import type { ClientTable } from '../clients/client-table.ts';
import type { CompiledRegistry } from './compile-schema.ts';
import type { InternalLimits } from '../limits/limits.ts';
import type { TotalLoad } from '../limits/in-flight-load.ts';
import type { Logger } from './logger.ts';
import type { Principals } from '../limits/principal-shares.ts';

/** Who is behind a connection. */
export interface Principal {
  /** Stable name: operation ids belong to it. */
  readonly id: string;
  /** When the token ends, in milliseconds since the epoch: the connection is closed then unless it was renewed. */
  readonly expiresAt?: number | undefined;
}

/** Where a connection comes from. */
export interface Peer {
  readonly remoteAddress: string | undefined;
  /** The page that opened it; `undefined` outside browsers. */
  readonly origin: string | undefined;
}

/**
 * Verifies a token; throws or rejects to refuse the connection. Whatever is no principal refuses it too. Who cannot tell,
 * since a directory is down, throws a retryable error of this package (`UNAVAILABLE`): the client then asks again.
 */
export type Authenticate = (token: string | undefined, peer: Peer) => Principal | Promise<Principal>;

/**
 * Whether a principal may execute an operation. Only `true` allows it: anything else, or what it throws, refuses. Who
 * cannot tell throws a retryable error of this package (`UNAVAILABLE`): the client may then try again.
 *
 * Of a gateway with a contract, arguments are what the schemas made of them, and `key` is what the contract makes of
 * those. Without one all of it is what the client claims: its `key` need not be that of its arguments, so look at what
 * the store looks at. That is `args` in the bindings of this package, `tiered` with functions of yours apart.
 */
export type Authorize = (principal: Principal, operation: Operation) => boolean | Promise<boolean>;

/** Counts of what a gateway has seen. */
export interface GatewayStats {
  submitted: number;
  malformed: number;
  overloaded: number;
  /** Views after the end, and views or failures at an unknown level, from the hosted binding. */
  bindingViolations: number;
}

/** The shared part of a gateway. */
export interface GatewayContext {
  /** Name of the site. */
  readonly site: string | undefined;
  readonly binding: Binding;
  readonly levels: readonly string[];
  readonly registry: CompiledRegistry | undefined;
  /** Whether clients must authenticate. */
  readonly requiresAuthentication: boolean;
  /** Who has this token; rejects where that is refused. The token may have ended. */
  identify(token: string | undefined, peer: Peer): Promise<Principal>;
  readonly authorize: Authorize;
  readonly bounds: InternalLimits;
  readonly logger: Logger;
  readonly clients: ClientTable;
  readonly principals: Principals;
  /** What is in flight in the store. */
  readonly load: TotalLoad;
  readonly stats: GatewayStats;
  readonly isDraining: boolean;
  /** The names of a set of levels, given as bits. */
  getLevels(bits: number): readonly string[];
  /** What a binding did against its interface, or an operation's failure. */
  report(operation: string, description: string, error: unknown): void;
  /** The connection has closed. */
  onConnectionClosed(connection: object): void;
}
