/** The store of rows in memory. */
import { Random } from '../../../src/server/service/collections/random.ts';
import { Timeline } from '../../../src/testing/simulator/timeline.ts';
import { SimulatedRowDisk } from '../../support/row-store/simulated-row-store.ts';
import { describeRowStore } from './row-store-suite.ts';

let seed = 0;

describeRowStore('in memory', () => {
  seed += 1;
  const timeline = new Timeline();
  const disk = new SimulatedRowDisk({ timeline, random: new Random(seed), syncMeanMs: 5 });
  return {
    open: () => disk.open(),
    settle: () => Promise.resolve(timeline.run(timeline.nowMs + 10_000)).then(() => undefined),
    crash: () => {
      // Sometimes after the commit has become visible.
      timeline.run(timeline.nowMs + (seed % 2) * 5);
      disk.crash();
    },
    setFull: (isFull) => {
      disk.isFull = isFull;
    },
  };
});
