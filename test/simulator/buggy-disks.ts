/** Disks that each break one rule. */
import { isFenced } from '../../src/server/node/storage/disk/files.ts';
import { SimulatedDisk } from '../../src/testing/simulator/disk/disk.ts';
import { SimulatedRowDisk } from '../../src/testing/simulator/disk/simulated-row-disk.ts';
import { replaceMethods } from '../support/replace-methods.ts';

/** Reports at once that all is synced. */
export const LyingDisk = replaceMethods(SimulatedDisk, (_, { timeline }) => ({
  onWritten: (done) => timeline.schedule(0, () => done(undefined)),
  synced: () => {},
}));

/** Reports that it has stored what it does not accept any more. */
export const BoastfulDisk = replaceMethods(SimulatedDisk, () => ({
  synced: (error, done) => done(error !== undefined && isFenced(error) ? undefined : error),
}));

/** Replaces methods of the stores of rows. */
const withRowDisks = (
  replace: Parameters<typeof replaceMethods<typeof SimulatedRowDisk, Partial<SimulatedRowDisk>>>[1],
): typeof SimulatedDisk => {
  const RowDisk = replaceMethods(SimulatedRowDisk, replace);
  return replaceMethods(SimulatedDisk, () => ({
    createRowDisk: (...args) => new RowDisk(...args),
  }));
};

/** Reports that a commit is synced as soon as it is visible. */
export const HastyRowDisk = withRowDisks((_, { timeline }) => ({
  onVisible: (done) => timeline.schedule(0, () => done(undefined)),
  onSynced: () => {},
}));

/** A crash leaves a half of a commit that is not synced. */
export const HalvingRowDisk = withRowDisks((_, { random }) => ({
  chooseEntries: (before, after) => {
    const entries = new Map(before);
    for (const [name, value] of after) if (random.chance(0.5)) entries.set(name, value);
    return entries;
  },
}));
