/** A binding on top of a connection. */
import type { Binding } from '../correctable/binding.ts';
import type { Levels } from '../correctable/level.ts';
import type { Operation } from '../correctable/operation.ts';
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
  readonly supports: (operation: Operation) => boolean;
  /** Whether the store keeps sessions whose tokens travel. */
  readonly sessions: boolean;
  /** As `Binding.operationHash`, if there is a contract. */
  readonly operationHash?: ((name: string) => string | undefined) | undefined;
  /** Checks an operation before it is sent; what it throws fails the operation. */
  readonly check: <T>(operation: Operation<T>) => Operation<T>;
}

/** Makes the binding. */
export function bindConnection<L extends Levels, C extends boolean = boolean>(
  parts: ConnectionBindingParts<L>,
): RemoteBinding<L, C> {
  const { name, levels, connection, supports, sessions, check, operationHash } = parts;
  const { principal } = connection;
  return {
    name,
    ready: connection.ready,
    get connectionState() {
      return connection.state;
    },
    consistencyLevels: () => levels,
    supports,
    submitOperation(operation, requested, sink, context) {
      connection.submit(check(operation), requested, sink, context);
    },
    ...(sessions && { openSession: (tokens?: readonly string[]) => connection.openSession(tokens) }),
    ...(principal !== undefined && { principal }),
    ...(operationHash !== undefined && { operationHash }),
    wake: () => connection.wake(),
    close: () => connection.close(),
  };
}
