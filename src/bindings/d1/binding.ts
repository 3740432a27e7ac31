/** Cloudflare D1: the nearest replica answers first, then the primary. */
import { systemClock } from '../../correctable/clock.ts';
import type { ReplicasBinding } from '../replicas/index.ts';
import { openReplicas } from '../replicas/replicas.ts';
import { D1Store } from './store.ts';
import { resolveOptions, type D1Options } from './options.ts';

/**
 * Creates a binding to a D1 database with read replication. Level `replica` reads the server that
 * D1 chooses, level `primary` the primary. Operations: those of `statements`, and `get`, `getMany`,
 * `put` and `remove` on the table of `migrations`.
 *
 * Runs in a Worker with the flag `nodejs_compat`. Create it for each request. Positions are the
 * bookmarks of D1's sessions.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option
 * @example
 * const store = createClient(
 *   d1({ database: env.DB, tokenKey: env.TOKEN_KEY }),
 * );
 * for await (const { level, value } of store.invoke(get('user:7')))
 *   console.log(level, value); // replica …, primary …
 */
export function d1(options: D1Options): ReplicasBinding {
  const store = new D1Store(resolveOptions(options));
  const { tokenKey, onAlarm } = options;
  return openReplicas(store, { tokenKey, onAlarm }, systemClock);
}
