/** A binding on top of a connection. */
import type { Binding } from '../correctable/binding.ts';
import type { Levels } from '../correctable/level-types.ts';
import {
  restoreInputArgs,
  checkOperation,
  findOperationHash,
  isRegistered,
  type OperationRegistry,
} from '../protocol/contract/operation-registry.ts';
import type { ReconnectingClient } from './reconnecting-client.ts';
import type { ConnectionState } from './options/connection-state.ts';

/** A binding that is connected to a gateway. */
export interface RemoteBinding<
  L extends Levels,
  out C extends boolean = boolean,
> extends Binding<L, C> {
  /**
   * Resolves once the gateway has accepted the client; rejects if it refuses
   * it. Awaiting it is optional.
   */
  readonly ready: Promise<void>;
  /** State of the connection, for display. */
  readonly connectionState: ConnectionState;
  /**
   * Probes or reopens the connection. Call it when the network may be back, as
   * on a browser's `online` event.
   */
  wake(): void;
}

export interface RemoteBindingParts<L extends Levels> {
  readonly name: string;
  readonly levels: L;
  readonly client: ReconnectingClient;
  /**
   * The operations of the store with their schemas: without them any is sent,
   * as it came.
   */
  readonly contract?: OperationRegistry | undefined;
  /** The names of those that the store has; none for all. */
  readonly operations?: readonly string[] | undefined;
  /** Whether the store keeps sessions whose tokens travel. */
  readonly hasSessions: boolean;
}

export function createRemoteBinding<
  L extends Levels,
  C extends boolean = boolean,
>(parts: RemoteBindingParts<L>): RemoteBinding<L, C> {
  const { name, levels, client, contract, operations, hasSessions } = parts;
  const { principal } = client;
  return {
    name,
    // Whether the store behind has them, its gateway knows: it refuses the
    // operation if not.
    hasIdempotencyKeys: true,
    identifiesByConnection: true,
    ready: client.ready,
    get connectionState() {
      return client.state;
    },
    consistencyLevels: () => levels,
    supports: (operation) =>
      (contract === undefined || isRegistered(contract, operation)) &&
      (operations?.includes(operation.name) ?? true),
    submitOperation(operation, requested, sink, context) {
      // Checked before it is sent: what is thrown fails the operation.
      const sent =
        contract === undefined
          ? restoreInputArgs(operation)
          : checkOperation(contract, operation);
      client.submit(sent, requested, sink, context);
    },
    ...(hasSessions && {
      openSession: (tokens?: readonly string[]) => client.openSession(tokens),
    }),
    ...(principal !== undefined && { principal }),
    ...(contract !== undefined && {
      operationHash: (name: string) => findOperationHash(contract, name),
    }),
    onReconnect: (listener) => client.onReconnect(listener),
    wake: () => client.wake(),
    close: () => client.close(),
  };
}
