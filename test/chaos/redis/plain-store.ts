/**
 * The control: the same load on plain `GET` and `SET`, with one writer a key. Its reads must be
 * torn.
 *
 * Stamps are counted in this process. They are in the order of the writes, since each key has one
 * writer.
 */
import type { Cluster } from 'ioredis';
import type { StormSession, StormStore } from './stores.ts';

export function openPlainStore(connections: readonly Cluster[]): StormStore {
  let stamps = 0;
  const openSession = (gateway: number): StormSession => {
    const connection = connections[gateway] as Cluster;
    return {
      gateway,
      site: 0,
      async write({ key, id }) {
        stamps += 1;
        const stamp = stamps;
        await connection.set(key, id);
        return { outcome: 'acknowledged', stamp };
      },
      async read(keys) {
        const values = await Promise.all(keys.map((key) => connection.get(key)));
        return { ids: values.map((value) => value ?? undefined), stamp: undefined };
      },
      move: openSession,
    };
  };
  return { gateways: connections.map(() => 0), openSession, close: async () => {} };
}
