/** Valkey and Redis: a replica answers first, then the primary. */
import { systemClock } from '../../correctable/clock.ts';
import type { ReplicasBinding } from '../replicas/index.ts';
import { openReplicas } from '../replicas/replicas.ts';
import { resolveOptions, type ValkeyOptions } from './options.ts';
import { ValkeyStore } from './store.ts';

/**
 * Creates a binding to a primary of Valkey or Redis and its replicas. Level `replica` reads the
 * nearest replica, level `primary` the primary. Operations: `get`, `getMany`, `put` with `ttlMs`,
 * and `remove`.
 *
 * Connects at the first operation, through `ioredis`, which you must install beside this package.
 * For a cluster, or several regions that all write, use another binding.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option
 * @example
 * const store = createClient(
 *   valkey({ primary: '10.0.0.1:6379', replicas: ['10.0.0.2:6379'] }),
 * );
 * for await (const { level, value } of store.invoke(get('user:7')))
 *   console.log(level, value); // replica …, primary …
 */
export function valkey(options: ValkeyOptions): ReplicasBinding {
  const store = new ValkeyStore(resolveOptions(options));
  const { tokenKey, onAlarm } = options;
  return openReplicas(store, { tokenKey, onAlarm }, systemClock);
}
