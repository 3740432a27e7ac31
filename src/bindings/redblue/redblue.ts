/** The binding for a RedBlue service behind a gateway (RedBlue, OSDI 2012), typed and checked by its contract. */
import { checkNamed } from '../../correctable/given.ts';
import { checkCatalogue, type Catalogue } from '../../protocol/contract/catalogue.ts';
import { REDBLUE_LEVELS, type RedBlueLevels } from '../../protocol/redblue-levels.ts';
import { CONNECTION_OPTIONS, ownContract, type ConnectionOptions } from '../../transport/settings/options.ts';
import { bindConnection, type RemoteBinding } from '../../transport/connection-binding.ts';
import { connect } from '../../transport/connection.ts';

const CALL = "redblue(contract, { url: 'ws://127.0.0.1:7070/irl' })";

/**
 * Binds a client to a site of a RedBlue service. Arguments are checked against the contract before anything is sent. At
 * a server with another version of the contract, operations that both versions have alike are served, and others fail
 * with `UNSUPPORTED`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` or `UNSUPPORTED` for options that cannot work.
 * @example
 * const shop = createClient(redblue(tickets, { url: 'ws://127.0.0.1:7070/irl' }));
 * shop.invoke(tickets.dequeue({ queue: 'concert' })).onUpdate(showGuess).onFinal(showTicket);
 */
export function redblue(contract: Catalogue, options: ConnectionOptions): RemoteBinding<RedBlueLevels, true> {
  checkCatalogue(contract, CALL);
  checkNamed(options, { call: CALL }, CONNECTION_OPTIONS);
  const connection = connect(options, { levels: REDBLUE_LEVELS, contract: ownContract(contract) });
  return bindConnection({ name: 'redblue', levels: REDBLUE_LEVELS, connection, contract, sessions: true });
}
