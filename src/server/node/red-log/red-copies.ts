/** The copies of the red logs that a stopped site has on its disk. */
import type { OnAlarm } from '../alarms/site-alarm.ts';
import { getRedKind } from '../../log/local-log.ts';
import { dropLogEnds, type KeptRed } from '../../log/recovered-state.ts';
import { Origins, type Origin } from '../../service/records/origin.ts';
import type { Partitions } from '../../service/partitions.ts';
import type { NodeDirectory } from '../cluster/node-directory.ts';
import { install } from '../transfer/install-site.ts';
import { findKept, saveDroppedRecords } from './dropped-records.ts';
import { findNamedEntries, type NamedEntries } from './named-entries.ts';
import type { FollowedLog } from './red-follower.ts';

export interface RedCopiesOptions {
  readonly site: string;
  readonly directory: NodeDirectory;
  readonly partitions: Partitions;
  readonly onAlarm: OnAlarm;
}

export class RedCopies {
  readonly #options: RedCopiesOptions;

  constructor(options: RedCopiesOptions) {
    this.#options = options;
  }

  /** Returns the number of entries of each copy. */
  async countEntries(): Promise<readonly number[]> {
    const { directory, partitions } = this.#options;
    const { lengths } = await directory.recover();
    return partitions.names.map((_, partition) => lengths[getRedKind(partition)] ?? 0);
  }

  /** Returns what names entries of the red log of a partition. */
  async findNamed(partition: number): Promise<NamedEntries> {
    const { directory, partitions } = this.#options;
    const { logs } = Origins.create(directory.founders, partitions.names.slice(1));
    const { stored } = await directory.recover();
    return findNamedEntries(stored, partition, logs[partition] as Origin);
  }

  /**
   * Returns what the copies share with the logs that the site follows now. Writes the other records
   * to a file.
   */
  async findKept(to: FollowedLog): Promise<readonly KeptRed[]> {
    const { site, directory, onAlarm } = this.#options;
    const { stored } = await directory.recover();
    saveDroppedRecords(stored, to, { site, files: directory.files, onAlarm });
    return findKept(stored, to);
  }

  /**
   * Drops the ends of the copies that the logs do not have. Returns whether the site can go on like
   * this. Otherwise nothing is changed, and it needs the state of another site.
   */
  async dropEnds(kept: readonly KeptRed[]): Promise<boolean> {
    const { directory } = this.#options;
    const { stored, nextSegment, lastCheckpoint } = await directory.recover();
    const state = dropLogEnds(stored, kept);
    if (state === undefined || lastCheckpoint === undefined) return false;
    // The rows stay as they are.
    await install({ ...directory.location, state, nextSegment, commit: lastCheckpoint.file });
    return true;
  }
}
