/** The starts of other sites whose messages were taken, at this start or an earlier one. */
import type { OwnState } from '../../service/records/checkpoint.ts';
import type { Origin } from '../../service/records/origin.ts';

export class KnownStarts {
  /** By site: the highest epoch of its messages. */
  readonly epochs: Map<Origin, number> = new Map();
  /** By site: the directory on which its starts run, if they name one. */
  readonly directories: Map<Origin, string> = new Map();

  set(site: Origin, epoch: number, directory: string | undefined): void {
    this.epochs.set(site, epoch);
    if (directory !== undefined) this.directories.set(site, directory);
  }

  save(): NonNullable<OwnState['terms']> {
    return [...this.epochs].map(([site, epoch]) => {
      const directory = this.directories.get(site);
      return directory === undefined ? [site, epoch] : [site, epoch, directory];
    });
  }
}
