/** The ZooKeeper binding keeps the contract of every binding, on a real ensemble. */
import { zookeeper } from '../../../src/bindings/zookeeper/index.ts';
import { enqueue, get, peek, put } from '../../../src/operations/index.ts';
import type { OpenBinding } from '../../../src/testing/index.ts';
import { withEnsemble } from '../support/zookeeper.ts';
import { keepsContract } from '../../support/keeps-contract.ts';

const cluster = withEnsemble();
let opened = 0;

async function open(): Promise<OpenBinding> {
  opened += 1;
  const place = { servers: cluster.ensemble.connectString('frk'), root: `/contract-${opened}` };
  return { binding: zookeeper(place), another: async () => zookeeper(place) };
}

keepsContract({ name: 'zookeeper, keys', open, update: put('k', { n: 1 }), read: get('k'), expected: { n: 1 } });

keepsContract({
  name: 'zookeeper, queues',
  open,
  update: enqueue('q/1', 'first'),
  read: peek('q/1'),
  expected: { item: 'first' },
});
