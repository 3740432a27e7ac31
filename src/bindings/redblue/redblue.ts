/**
 * The binding for a RedBlue service behind a gateway (RedBlue, OSDI 2012), typed and checked by its
 * contract.
 */
import { readOptions } from '../../correctable/options.ts';
import { checkRegistry, type OperationRegistry } from '../../contract/operation-registry.ts';
import { REDBLUE_LEVELS, type RedBlueLevels } from '../../protocol/redblue-levels.ts';
import {
  CONNECTION_OPTIONS,
  toClientContract,
  type ConnectionOptions,
} from '../../transport/options/options.ts';
import { createRemoteBinding, type RemoteBinding } from '../../transport/remote-binding.ts';
import { connectClient } from '../../transport/reconnecting-client.ts';

const CALL = "redblue(contract, { url: 'ws://127.0.0.1:7070/ireland' })";

/**
 * Binds a client to a site of a RedBlue service. Arguments are checked against the contract before
 * anything is sent. If the server has another version of the contract, it serves operations that
 * are the same in both versions. Others fail with `UNSUPPORTED`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` or `UNSUPPORTED` if the options cannot work
 * @example
 * const shop = createClient(redblue(tickets, { url: 'ws://127.0.0.1:7070/ireland' }));
 * shop.invoke(tickets.dequeue({ queue: 'concert' })).onUpdate(showGuess).onFinal(showTicket);
 */
export function redblue(
  contract: OperationRegistry,
  options: ConnectionOptions,
): RemoteBinding<RedBlueLevels, true> {
  checkRegistry(contract, CALL);
  const connection = readOptions(options, { call: CALL }, CONNECTION_OPTIONS);
  const client = connectClient(connection, {
    levels: REDBLUE_LEVELS,
    contract: toClientContract(contract),
  });
  return createRemoteBinding({
    name: 'redblue',
    levels: REDBLUE_LEVELS,
    client,
    contract,
    hasSessions: true,
  });
}
