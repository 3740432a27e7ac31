/** The ZooKeeper binding on a real ensemble. */
import type { Histories } from '../histories.ts';

export const zookeeperHistories: Histories = {
  name: 'zookeeper',
  run: () => Promise.reject(new Error('not there yet')),
};
