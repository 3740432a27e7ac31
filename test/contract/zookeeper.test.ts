/** The ZooKeeper binding keeps the contract of every binding, on a server of the tests; `test/engines` has the real one. */
import { OP } from '../../src/bindings/zookeeper/client/requests.ts';
import { zookeeper } from '../../src/bindings/zookeeper/index.ts';
import { enqueue, get, peek, put } from '../../src/operations/index.ts';
import type { OpenBinding } from '../../src/testing/index.ts';
import { FakeEnsemble } from '../support/zookeeper-server/ensemble.ts';
import type { Fault } from '../support/zookeeper-server/server.ts';
import { keepsContract } from '../support/keeps-contract.ts';

const READS: readonly number[] = [OP.exists, OP.getData];

/**
 * `fault` is what becomes of all that the reader asks, which are the guesses; all else goes through the leader.
 * `strongFault`, of what the other session reads.
 */
async function open(fault?: Fault, fromLeaderMs = 0, strongFault?: Fault): Promise<OpenBinding> {
  const ensemble = await FakeEnsemble.start();
  const place = { servers: ensemble.connectString, sessionTimeoutMs: 1_000 };
  const binding = zookeeper(place);
  await binding.connected();
  const reader = [...ensemble.server.connections].at(-1)?.session;
  if (fault !== undefined) {
    ensemble.server.onRequest = ({ session, type }) => {
      if (!READS.includes(type)) return undefined;
      return session === reader ? fault : strongFault;
    };
  }
  ensemble.server.fromLeader.delayMs = fromLeaderMs;
  return { binding, another: async () => zookeeper(place), release: () => ensemble.stop() };
}

const slow = (): Promise<OpenBinding> => open(undefined, 200);

const strongless = (): Promise<OpenBinding> =>
  open({ until: new Promise((resolve) => setTimeout(resolve, 200)) }, 0, { error: -127 });

const weakless = {
  fail: () => open({ error: -127 }),
  'are cut off': () => open({ cut: 'before' }),
  'stay away': () => open({ until: new Promise(() => {}) }),
};

keepsContract({
  name: 'zookeeper, keys',
  open,
  slow,
  strongless,
  update: put('k', { n: 1 }),
  read: get('k'),
  expected: { n: 1 },
});

keepsContract({
  name: 'zookeeper, queues',
  open,
  slow,
  update: enqueue('q/1', 'first'),
  read: peek('q/1'),
  expected: { item: 'first' },
  weakless,
});
