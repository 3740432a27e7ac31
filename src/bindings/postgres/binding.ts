/** PostgreSQL: a replica answers first, then the primary. */
import { systemClock } from '../../correctable/clock.ts';
import type { ReplicasBinding } from '../replicas/index.ts';
import { openReplicas } from '../replicas/replicas.ts';
import { resolveOptions, type PostgresOptions } from './options.ts';
import { PostgresStore } from './store.ts';

/**
 * Creates a binding to a PostgreSQL primary and its streaming replicas. Level `replica` reads the
 * nearest replica, level `primary` the primary. Operations: those of `statements`, and `get`,
 * `getMany`, `put`, `remove`, transactions, `enqueue`, `dequeue` and `peek` on the tables of
 * `migrations`.
 *
 * Connects at the first operation, through `pg` 8.23 or later, which you must install beside this
 * package. Sessions need a role that may read all statistics of replicas (pg_read_all_stats).
 * Without it they read at the primary.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option
 * @example
 * const store = createClient(
 *   postgres({
 *     primary: 'postgres://10.0.0.1/shop',
 *     replicas: ['postgres://10.0.0.2/shop'],
 *   }),
 * );
 * for await (const { level, value } of store.invoke(get('user:7')))
 *   console.log(level, value); // replica …, primary …
 */
export function postgres(options: PostgresOptions): ReplicasBinding {
  const store = new PostgresStore(resolveOptions(options));
  const { tokenKey, onAlarm } = options;
  return openReplicas(store, { tokenKey, onAlarm }, systemClock);
}
