/**
 * Delays some commands of a connection by a random time.
 *
 * Without it, the reads of several keys arrive at the servers together, and plain reads are not
 * torn. A test with such a load would show nothing. If all commands were late, no chain of writes
 * would be faster than one read.
 */
import type { Cluster } from 'ioredis';
import type { Random } from '../../../src/server/service/collections/random.ts';
import { pause } from '../../histories/pause.ts';

const LATE_CHANCE = 0.25;

/** What is no command. */
const IMMEDIATE: ReadonlySet<PropertyKey> = new Set(['on', 'once', 'off', 'nodes', 'disconnect']);

/**
 * Returns a view of the connection of whose commands one in four is sent late, by up to `maxMs`.
 */
export function withJitter(connection: Cluster, random: Random, maxMs: number): Cluster {
  return new Proxy(connection, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...args: unknown[]) => unknown;
      if (IMMEDIATE.has(name)) return method;
      return async (...args: unknown[]) => {
        if (random.chance(LATE_CHANCE)) await pause(random.fraction() * maxMs);
        return method(...args);
      };
    },
  });
}
