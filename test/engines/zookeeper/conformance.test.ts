/** The ZooKeeper binding keeps the contract of every binding, on a real ensemble. */
import { zookeeper } from '../../../src/bindings/zookeeper/index.ts';
import { enqueue, get, peek, put } from '../../../src/operations/index.ts';
import type { OpenedBinding } from '../../../src/testing/index.ts';
import { withEnsemble } from '../support/zookeeper.ts';
import { runConformance } from '../../support/run-conformance.ts';

const cluster = withEnsemble();
let opened = 0;

async function open(): Promise<OpenedBinding> {
  opened += 1;
  const place = {
    servers: cluster.ensemble.connectString('frankfurt'),
    root: `/contract-${opened}`,
  };
  return { binding: zookeeper(place), secondBinding: async () => zookeeper(place) };
}

runConformance({
  name: 'zookeeper, keys',
  createBinding: open,
  write: put('k', { n: 1 }),
  read: get('k'),
  expected: { n: 1 },
});

runConformance({
  name: 'zookeeper, queues',
  createBinding: open,
  write: enqueue('q/1', 'first'),
  read: peek('q/1'),
  expected: { item: 'first' },
});
