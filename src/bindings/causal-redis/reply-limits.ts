/** Limits how long a command waits for Redis: a server may accept connections and never answer. */
import { DEFAULT_LIMITS } from '../../causal/limits.ts';
import { MICROSECONDS_PER_MS } from '../../causal/stamps.ts';
import type { Clock } from '../../correctable/clock.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Keyspace } from './keyspace.ts';
import type { SiteStores } from './site-stores.ts';

const REPLY_MS = DEFAULT_LIMITS.requestTimeout / MICROSECONDS_PER_MS;

/** Returns stores whose calls reject with `UNAVAILABLE` if no reply comes in time. */
export function limitReplies(stores: SiteStores, clock: Clock): SiteStores {
  const limited = [...stores.keyspaces].map(
    ([site, keyspace]) => [site, limitKeyspace(keyspace, site, clock)] as const,
  );
  return {
    keyspaces: new Map(limited),
    // `createPort` applies the same limit to calls of partitions.
    createPort: (options) => stores.createPort(options),
    close: () => stores.close(),
  };
}

function limitKeyspace(keyspace: Keyspace, site: string, clock: Clock): Keyspace {
  const limit = <T>(reply: Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const timer = clock.setTimer(() => reject(createSilentError(site)), REPLY_MS);
      void reply.then(resolve, reject).finally(() => timer.cancel());
    });
  return {
    readRecord: () => limit(keyspace.readRecord()),
    createRecord: (record) => limit(keyspace.createRecord(record)),
    restoreRecord: (record) => limit(keyspace.restoreRecord(record)),
    exchangeView: (request) => limit(keyspace.exchangeView(request)),
    releaseLease: (gateway) => limit(keyspace.releaseLease(gateway)),
    readView: () => limit(keyspace.readView()),
    inspect: () => limit(keyspace.inspect()),
    checkRights: () => limit(keyspace.checkRights()),
  };
}

function createSilentError(site: string): CorrectableError {
  const message = `no reply came within ${REPLY_MS} ms (PING shows whether its servers run and are not blocked)`;
  return new CorrectableError('UNAVAILABLE', message, { field: `sites.${site}` });
}
