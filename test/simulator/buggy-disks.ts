/** Disks that each break one rule. */
import { isFenced } from '../../src/server/storage/disk/files.ts';
import { SimulatedDisk } from '../../src/testing/simulator/disk.ts';

/** Reports at once that all is synced. */
export class LyingDisk extends SimulatedDisk {
  protected override onWritten(done: (error: undefined) => void): void {
    this.options.timeline.schedule(0, () => done(undefined));
  }
  protected override synced(): void {}
}

/** Reports that it has stored what it does not accept any more. */
export class BoastfulDisk extends SimulatedDisk {
  protected override synced(
    error: Error | undefined,
    done: (error: Error | undefined) => void,
  ): void {
    done(error !== undefined && isFenced(error) ? undefined : error);
  }
}
