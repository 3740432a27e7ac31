/** A binding on top of a connection. */
import type { Binding } from '../correctable/binding.ts';
import type { Levels } from '../correctable/level.ts';
import {
  asGiven,
  checkOperation,
  findOperationHash,
  isListed,
  type Catalogue,
} from '../protocol/contract/catalogue.ts';
import type { Connection } from './connection.ts';
import type { ConnectionState } from './settings/connection-state.ts';

/** A binding with a connection to a gateway behind it. */
export interface RemoteBinding<L extends Levels, out C extends boolean = boolean> extends Binding<L, C> {
  /** Fulfilled once the gateway has accepted the client; rejected when it refuses it. Waiting for it is optional. */
  readonly ready: Promise<void>;
  /** State of the connection, for display. */
  readonly connectionState: ConnectionState;
  /** Says that the network may be back, for example from the browser's `online` event. */
  wake(): void;
}

/** What a binding adds to its connection. */
export interface ConnectionBindingParts<L extends Levels> {
  readonly name: string;
  readonly levels: L;
  readonly connection: Connection;
  /** The operations of the store with their schemas: without them any is sent, as it came. */
  readonly contract?: Catalogue | undefined;
  /** The names of those that the store has; none for all. */
  readonly operations?: readonly string[] | undefined;
  /** Whether the store keeps sessions whose tokens travel. */
  readonly sessions: boolean;
}

/** Makes the binding. */
export function bindConnection<L extends Levels, C extends boolean = boolean>(
  parts: ConnectionBindingParts<L>,
): RemoteBinding<L, C> {
  const { name, levels, connection, contract, operations, sessions } = parts;
  const { principal } = connection;
  return {
    name,
    // Whether the store behind has them, its gateway knows: it refuses the operation if not.
    hasIdempotencyKeys: true,
    ready: connection.ready,
    get connectionState() {
      return connection.state;
    },
    consistencyLevels: () => levels,
    supports: (operation) =>
      (contract === undefined || isListed(contract, operation)) && (operations?.includes(operation.name) ?? true),
    submitOperation(operation, requested, sink, context) {
      // Checked before it is sent: what is thrown fails the operation.
      const sent = contract === undefined ? asGiven(operation) : checkOperation(contract, operation);
      connection.submit(sent, requested, sink, context);
    },
    ...(sessions && { openSession: (tokens?: readonly string[]) => connection.openSession(tokens) }),
    ...(principal !== undefined && { principal }),
    ...(contract !== undefined && { operationHash: (name: string) => findOperationHash(contract, name) }),
    wake: () => connection.wake(),
    close: () => connection.close(),
  };
}
