/** All logs of a partition keep to their port: in files, and in memory. */
import type { LocalLogListener } from '../../../src/server/log/local-log.ts';
import { recoverSite } from '../../../src/server/storage/recovery.ts';
import { SegmentLog } from '../../../src/server/storage/segment-log.ts';
import { VolatileLog } from '../../../src/server/storage/volatile-storage.ts';
import { SimulatedDisk } from '../../../src/testing/simulator/disk.ts';
import { Random } from '../../../src/server/collections/random.ts';
import { Timeline } from '../../../src/testing/simulator/timeline.ts';
import { describeLocalLog, type LogPlace } from '../../support/log-conformance/local-log.ts';

const FOLDER = 'site';

function listener(reported: string[]): LocalLogListener {
  return {
    onSynced: (log, length) => void reported.push(`${log} ${length}`),
    onFenced: () => void reported.push('fenced'),
    onFailed: () => void reported.push('failed'),
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
  const after = (run: () => void): void => timeline.schedule(0, run);
  const timing = { soon: after, later: after, afterMs: (ms: number, run: () => void) => timeline.schedule(ms, run) };
  const sizes = { segmentBytes: 4000, largeGroup: 256 };
  return {
    open: () => {
      const reported: string[] = [];
      const files = disk.mount();
      const { lengths, segments, nextSegment: number } = recoverSite(files, FOLDER);
      const place = { files, timing, directory: FOLDER, number, lengths, segments, ...sizes };
      const remaining = { listener: listener(reported), lastCheckpoint: () => undefined };
      return { log: new SegmentLog({ ...place, ...remaining, onFullChanged: () => {} }), reported };
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
      const reported: string[] = [];
      return { log: new VolatileLog(place, listener(reported)), reported };
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
