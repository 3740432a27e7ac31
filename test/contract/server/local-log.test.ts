/** All logs of a partition keep to their port: in files, and in memory. */
import type { LocalLogListener } from '../../../src/server/log/local-log.ts';
import { recover } from '../../../src/server/storage/recovery.ts';
import { SegmentLog } from '../../../src/server/storage/segment-log.ts';
import { VolatileLog } from '../../../src/server/storage/volatile-storage.ts';
import { SimulatedDisk } from '../../../src/testing/simulator/disk.ts';
import { Random } from '../../../src/server/collections/random.ts';
import { Timeline } from '../../../src/testing/simulator/timeline.ts';
import { describeLocalLog, type LogPlace } from '../../support/log-contracts/local-log.ts';

const FOLDER = 'site';

function listener(told: string[]): LocalLogListener {
  return {
    synced: (log, length) => void told.push(`${log} ${length}`),
    fenced: () => void told.push('fenced'),
    failed: () => void told.push('failed'),
  };
}

class BreakingDisk extends SimulatedDisk {
  isBroken = false;
  protected override synced(error: Error | undefined, done: (error: Error | undefined) => void): void {
    done(this.isBroken ? new Error('EIO') : error);
  }
}

function onDisk(): LogPlace {
  const timeline = new Timeline();
  const disk = new BreakingDisk({ timeline, random: new Random(1), syncMeanMs: 5 });
  const after = (run: () => void): void => timeline.after(0, run);
  const timing = { soon: after, later: after, afterMs: (ms: number, run: () => void) => timeline.after(ms, run) };
  const sizes = { segmentBytes: 4000, largeGroup: 256 };
  return {
    open: () => {
      const told: string[] = [];
      const files = disk.mount();
      const { lengths, segments, nextSegment: number } = recover(files, FOLDER);
      const place = { files, timing, folder: FOLDER, number, lengths, segments, ...sizes };
      const rest = { listener: listener(told), lastCheckpoint: () => undefined };
      return { log: new SegmentLog({ ...place, ...rest, fullChanged: () => {} }), told };
    },
    depose: () => disk.depose(),
    breakDown: () => (disk.isBroken = true),
    run: async () => timeline.run(timeline.nowMs + 1000),
  };
}

function inMemory(): LogPlace {
  const place = { term: 7, lengths: new Map() };
  return {
    open: () => {
      const told: string[] = [];
      return { log: new VolatileLog(place, listener(told)), told };
    },
    depose: () => void new VolatileLog(place, listener([])).takeOver(),
    breakDown: () => {},
    run: async () => {
      await Promise.resolve();
      await Promise.resolve();
    },
  };
}

describeLocalLog({ name: 'segments of a disk', keeps: true, place: onDisk });
describeLocalLog({ name: 'in memory', keeps: false, place: inMemory });
