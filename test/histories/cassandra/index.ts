/**
 * The Cassandra binding on a real cluster of three sites, far from each other, with preliminary
 * views.
 */
import { useCluster } from '../../../engines/cassandra/engine.ts';
import type { Histories } from '../histories.ts';
import { runOn } from './run.ts';

export const cassandraHistories: Histories = {
  name: 'cassandra',
  async run(options) {
    // What is acknowledged is on the disk, and no hints hide what repairs have to bring.
    const kind = { nodes: 3, wan: 'paper', plugin: true, fast: true } as const;
    const { cluster, stop } = await useCluster(kind, options.progress);
    try {
      return await runOn(cluster, options);
    } finally {
      await stop();
    }
  },
};
