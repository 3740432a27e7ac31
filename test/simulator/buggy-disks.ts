/** Disks that each break one rule. */
import { isFenced } from '../../src/server/node/storage/disk/files.ts';
import { SimulatedDisk } from '../../src/testing/simulator/disk/disk.ts';
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
