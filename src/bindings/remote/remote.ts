/** The binding for a store behind a gateway: one request over a websocket, all views back. */
import {
  anyValue,
  distinctNames,
  optional,
  readOptions,
  required,
  trueOrFalse,
  type OptionsOf,
} from '../../correctable/options.ts';
import type { Levels } from '../../correctable/level-types.ts';
import { checkRegistry, type OperationRegistry } from '../../contract/operation-registry.ts';
import { MAX_LEVELS } from '../../protocol/messages/level-bits.ts';
import {
  CONNECTION_OPTIONS,
  toClientContract,
  type ConnectionOptions,
} from '../../transport/options/options.ts';
import { createRemoteBinding, type RemoteBinding } from '../../transport/remote-binding.ts';
import { connectClient } from '../../transport/reconnecting-client.ts';

/** Options of `remote`. */
export interface RemoteOptions<L extends Levels> extends ConnectionOptions {
  /** The levels of the store behind the gateway, weakest first. They must be the same there. */
  readonly levels: L;
  /**
   * The operations of the store with their schemas, made by `defineContract`. Arguments are checked
   * before anything is sent, and again at the gateway. Results are not checked: only a RedBlue
   * service checks its own.
   *
   * If the gateway has another version, it serves operations that are the same in both. Others fail
   * with `UNSUPPORTED`. Without a contract, arguments are sent unchanged, even if a gateway with a
   * contract hosts this binding. The server behind must then have the contract too.
   */
  readonly contract?: OperationRegistry | undefined;
  /**
   * Names of the store's operations: others are refused before anything is sent. Not needed with a
   * contract. Default: any name is sent, and the gateway refuses unknown ones with `UNSUPPORTED`.
   */
  readonly operations?: readonly string[] | undefined;
  /**
   * Whether the store keeps sessions that can move to another of its servers. Default: `false`, so
   * that `session()` is refused
   */
  readonly hasSessions?: boolean | undefined;
}

const CALL = 'remote({ url, levels })';

export const REMOTE_OPTIONS = {
  ...CONNECTION_OPTIONS,
  levels: required(distinctNames("['weak', 'strong']", MAX_LEVELS)),
  contract: optional(anyValue),
  operations: optional(anyValue),
  hasSessions: optional(trueOrFalse, false),
} satisfies OptionsOf<RemoteOptions<Levels>>;

/**
 * Binds a client to a store behind a gateway. Operations survive the loss of the connection and a
 * restart of the server. The client resends an operation that has no final view, under the same id.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` or `UNSUPPORTED`, naming the option that cannot work
 * @example
 * const store = createClient(
 *   remote({
 *     url: 'ws://127.0.0.1:7070/ireland',
 *     levels: ['weak', 'strong'],
 *   }),
 * );
 * store.invoke(get('greeting')).onUpdate(show).onFinal(show);
 */
export function remote<const L extends Levels>(options: RemoteOptions<L>): RemoteBinding<L> {
  const { levels, contract, operations, hasSessions, ...connection } = readOptions(
    options,
    { call: CALL },
    REMOTE_OPTIONS,
  );
  if (contract !== undefined) checkRegistry(contract, CALL);
  const client = connectClient(connection, {
    levels,
    contract: contract && toClientContract(contract),
  });
  return createRemoteBinding({
    name: 'remote',
    levels,
    client,
    contract,
    operations,
    hasSessions,
  });
}
