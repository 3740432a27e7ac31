/** Disks that each break one rule. */
import { isFenced } from '../../src/server/storage/disk/files.ts';
import { SimulatedDisk } from '../../src/testing/simulator/disk.ts';

/** Says at once that all is synced. */
export class LyingDisk extends SimulatedDisk {
  protected override onWritten(done: (error: undefined) => void): void {
    this.options.timeline.schedule(0, () => done(undefined));
  }
  protected override synced(): void {}
}

/** Says of what it does not take any more that it has it. */
export class BoastfulDisk extends SimulatedDisk {
  protected override synced(error: Error | undefined, done: (error: Error | undefined) => void): void {
    done(error !== undefined && isFenced(error) ? undefined : error);
  }
}
