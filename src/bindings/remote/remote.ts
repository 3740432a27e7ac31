/** The binding for a store behind a gateway: one request over a websocket, all views back. */
import { check } from '../../correctable/errors.ts';
import { checkNamed, isName, type NamesOf } from '../../correctable/given.ts';
import type { Levels } from '../../correctable/level.ts';
import { checkCatalogue, type Catalogue } from '../../protocol/contract/catalogue.ts';
import { LEVELS_MAX } from '../../protocol/rows/levels.ts';
import { CONNECTION_OPTIONS, ownContract, type ConnectionOptions } from '../../transport/settings/options.ts';
import { bindConnection, type RemoteBinding } from '../../transport/connection-binding.ts';
import { connect } from '../../transport/connection.ts';

/** Options of `remote`. */
export interface RemoteOptions<L extends Levels> extends ConnectionOptions {
  /** The levels of the store behind the gateway, weakest first: must be the same there. */
  readonly levels: L;
  /**
   * The operations of the store with their schemas, made by `defineContract`: arguments are checked before anything is
   * sent, and again at the gateway. Results are not: they are what the store gives, and only a RedBlue service holds
   * its own to the contract. At a gateway with another version of it, operations that both versions have alike are
   * served, and others fail with `UNSUPPORTED`. Without a contract, arguments are sent as they came, also where a
   * gateway with one hosts this binding: the server behind must have it too.
   */
  readonly contract?: Catalogue | undefined;
  /**
   * Names of the operations that the store has, so that others are refused before anything is sent; not needed with a
   * contract. Default: any name is sent, and the gateway refuses with `UNSUPPORTED` what its store does not have.
   */
  readonly operations?: readonly string[] | undefined;
  /** Whether the store keeps sessions that can be taken to another of its servers. Default: no, `session()` is refused. */
  readonly sessions?: boolean | undefined;
}

const CALL = 'remote({ url, levels })';

const OPTIONS: NamesOf<RemoteOptions<Levels>> = {
  ...CONNECTION_OPTIONS,
  levels: true,
  contract: true,
  operations: true,
  sessions: true,
};

/**
 * Binds a client to a store behind a gateway. Operations survive the loss of the connection and a restart of the server:
 * what has no final is submitted again under the same id.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` or `UNSUPPORTED`, naming the option that cannot work.
 * @example
 * const store = createClient(remote({ url: 'ws://127.0.0.1:7070/irl', levels: ['weak', 'strong'] }));
 * store.invoke(get('greeting')).onUpdate(show).onFinal(show);
 */
export function remote<const L extends Levels>(options: RemoteOptions<L>): RemoteBinding<L> {
  checkNamed(options, { call: CALL }, OPTIONS);
  const { levels, contract, operations, sessions = false, ...rest } = options;
  if (contract !== undefined) checkCatalogue(contract, CALL);
  checkLevels(levels);
  const connection = connect(rest, { levels, contract: contract && ownContract(contract) });
  return bindConnection({ name: 'remote', levels, connection, contract, operations, sessions });
}

function checkLevels(levels: Levels): void {
  const isList = Array.isArray(levels) && levels.every(isName) && new Set(levels).size === levels.length;
  const isRight = isList && levels.length > 0 && levels.length <= LEVELS_MAX;
  check(isRight, 'levels', `must be 1 to ${LEVELS_MAX} different names, weakest first`);
}
