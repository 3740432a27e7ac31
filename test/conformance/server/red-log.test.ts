/**
 * All engines of the red log keep to its port: the one that is built in, that on etcd, and those of
 * the simulator.
 */
// @rule RB-L4
import { SequencedLog } from '../../../src/server/log/sequenced/sequenced-log.ts';
import { EtcdLog } from '../../../src/server/log/etcd/etcd-log.ts';
import { Random } from '../../../src/server/service/collections/random.ts';
import { addLogFaults } from '../../../src/testing/simulator/disk/faulty-log.ts';
import type { LogFaults } from '../../../src/testing/simulator/disk/faulty-log.ts';
import { EtcdWorld } from '../../support/etcd-world.ts';
import { describeRedLog } from '../../support/log-conformance/red-log.ts';

const SEEDS = 5;

describeRedLog({ name: 'sequenced', make: (options) => new SequencedLog(options) });

describeRedLog({
  name: 'etcd',
  make: (options) => new EtcdLog(options, { deployment: 'test', generation: 0 }),
  createServer: () => new EtcdWorld(0),
});

const unsteady = (
  name: string,
  chances: Partial<LogFaults['options']>,
  isUnsteady: boolean,
): void => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = new Random(seed);
    const options = { redRepeatChance: 0, redJumpChance: 0, redRegressChance: 0, ...chances };
    const faults = { random, options, isHealthy: () => false, onRepeated: () => {} };
    describeRedLog({
      name: `${name}, seed ${seed}`,
      make: (node) => addLogFaults(new SequencedLog(node), faults),
      isUnsteady,
    });
  }
};

unsteady('repeats', { redRepeatChance: 0.7 }, false);
unsteady('jumps', { redJumpChance: 0.3, redRepeatChance: 0.3 }, true);
unsteady('regresses', { redRegressChance: 0.3 }, true);
