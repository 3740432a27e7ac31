/**
 * The ZooKeeper binding keeps the contract of every binding, on a server of the tests;
 * `test/engines` has the real one.
 */
import { OP } from '../../src/bindings/zookeeper/client/requests.ts';
import { zookeeper } from '../../src/bindings/zookeeper/index.ts';
import { commit, enqueue, get, peek, put } from '../../src/operations/index.ts';
import type { OpenedBinding } from '../../src/testing/index.ts';
import { FakeEnsemble } from '../support/zookeeper-server/ensemble.ts';
import type { Fault } from '../support/zookeeper-server/server.ts';
import { runConformance } from '../support/run-conformance.ts';

const READS: readonly number[] = [OP.exists, OP.getData];

/**
 * `fault` is what becomes of all that the reader asks, which are the guesses; all else goes through
 * the leader. `strongFault`, of what the other session reads.
 */
async function open(fault?: Fault, fromLeaderMs = 0, strongFault?: Fault): Promise<OpenedBinding> {
  const ensemble = await FakeEnsemble.start();
  const place = { servers: ensemble.connectString, sessionTimeoutMs: 1_000 };
  const binding = zookeeper(place);
  await binding.whenConnected();
  const reader = [...ensemble.server.connections].at(-1)?.session;
  if (fault !== undefined) {
    ensemble.server.onRequest = ({ session, type }) => {
      if (!READS.includes(type)) return undefined;
      return session === reader ? fault : strongFault;
    };
  }
  ensemble.server.fromLeader.delayMs = fromLeaderMs;
  return { binding, secondBinding: async () => zookeeper(place), release: () => ensemble.stop() };
}

const slowBinding = (): Promise<OpenedBinding> => open(undefined, 200);

const strongLevelFails = (): Promise<OpenedBinding> =>
  open({ until: new Promise((resolve) => setTimeout(resolve, 200)) }, 0, { error: -127 });

const weakLevelFails = {
  fail: () => open({ error: -127 }),
  'are cut off': () => open({ cut: 'before' }),
  'stay away': () => open({ until: new Promise(() => {}) }),
};

runConformance({
  name: 'zookeeper, keys',
  createBinding: open,
  slowBinding,
  strongLevelFails,
  write: put('k', { n: 1 }),
  read: get('k'),
  expected: { n: 1 },
});

runConformance({
  name: 'zookeeper, queues',
  createBinding: open,
  slowBinding,
  write: enqueue('q/1', 'first'),
  read: peek('q/1'),
  expected: { item: 'first' },
  weakLevelFails,
});

runConformance({
  name: 'zookeeper, commits',
  createBinding: open,
  slowBinding,
  write: commit([], [{ key: 'k', value: { n: 1 } }]),
  read: get('k'),
  expected: { n: 1 },
  weakLevelFails,
});
