/** A binding on top of a connection to a gateway. */
import type { Binding } from '../correctable/binding.ts';
import type { Levels } from '../correctable/level-types.ts';
import {
  restoreInputArgs,
  checkOperation,
  findOperationHash,
  isRegistered,
  type OperationRegistry,
} from '../contract/operation-registry.ts';
import type { ReconnectingClient } from './reconnecting-client.ts';
import type { ConnectionState } from './options/connection-state.ts';

/** A binding that is connected to a gateway. */
export interface RemoteBinding<L extends Levels, out C extends boolean = boolean> extends Binding<
  L,
  C
> {
  /**
   * Resolves once the gateway has accepted the client; rejects if it refuses it. Awaiting it is
   * optional.
   */
  readonly ready: Promise<void>;
  /** State of the connection, for display. */
  readonly connectionState: ConnectionState;
  /**
   * Probes or reopens the connection. Call it when the network may be back, as on a browser's
   * `online` event.
   */
  wake(): void;
}

export interface RemoteBindingParts<L extends Levels> {
  readonly name: string;
  readonly levels: L;
  readonly client: ReconnectingClient;
  /**
   * The operations of the store with their schemas. Without them, every operation is sent as it is.
   */
  readonly contract?: OperationRegistry | undefined;
  /** The names of the operations that the store has. Default: all */
  readonly operations?: readonly string[] | undefined;
  /** Whether the store keeps sessions whose tokens can move to another site. */
  readonly hasSessions: boolean;
}

export function createRemoteBinding<L extends Levels, C extends boolean = boolean>(
  parts: RemoteBindingParts<L>,
): RemoteBinding<L, C> {
  const { name, levels, client, contract, operations, hasSessions } = parts;
  const { principal } = client;
  return {
    name,
    // Clients accept idempotency keys here. Only the gateway knows whether its store supports them,
    // and refuses the operation if not.
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
      // The arguments are checked before they are sent. If the check throws, the operation fails.
      const sent =
        contract === undefined ? restoreInputArgs(operation) : checkOperation(contract, operation);
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
