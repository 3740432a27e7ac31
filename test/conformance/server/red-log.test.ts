/** All engines of the red log keep to its port: the one that is built in, that on etcd, and those of the simulator. */
import { SequencedLog } from '../../../src/server/log/sequenced/sequenced-log.ts';
import { EtcdLog } from '../../../src/server/log/etcd/etcd-log.ts';
import { Random } from '../../../src/server/collections/random.ts';
import { FaultyLog } from '../../../src/testing/simulator/faulty-log.ts';
import type { LogFaults } from '../../../src/testing/simulator/faulty-log.ts';
import { EtcdWorld } from '../../support/etcd-world.ts';
import { describeRedLog } from '../../support/log-conformance/red-log.ts';

const SEEDS = 5;

describeRedLog({ name: 'sequenced', make: (options) => new SequencedLog(options) });

describeRedLog({
  name: 'etcd',
  make: (options) => new EtcdLog(options, { deployment: 'test', generation: 0 }),
  createServer: () => new EtcdWorld(0),
});

const unsteady = (name: string, chances: Partial<LogFaults>, isUnsteady: boolean): void => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = new Random(seed);
    const steady = {
      random,
      repeatChance: 0,
      jumpChance: 0,
      regressChance: 0,
      isHealthy: () => false,
      onRepeated: () => {},
    };
    const how = { ...steady, ...chances };
    describeRedLog({
      name: `${name}, seed ${seed}`,
      make: (options) => new FaultyLog(new SequencedLog(options), how),
      isUnsteady,
    });
  }
};

unsteady('repeats', { repeatChance: 0.7 }, false);
unsteady('jumps', { jumpChance: 0.3, repeatChance: 0.3 }, true);
unsteady('regresses', { regressChance: 0.3 }, true);
