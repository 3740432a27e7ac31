/** What the log of a site keeps to, while holders come one after the other. */
// @rule STO-27
import { expect, test } from 'vitest';
import { Random } from '../../../src/server/service/collections/random.ts';
import type { LocalLogListener, Term } from '../../../src/server/log/local-log.ts';
import { recoverSite, type RecoveredSite } from '../../../src/server/node/storage/recovery.ts';
import { SegmentLog } from '../../../src/server/node/storage/segment-log.ts';
import type { RowReader } from '../../../src/server/node/storage/rows/row-store.ts';
import { recoverDisk, SITE_DIRECTORY } from '../../../src/testing/simulator/disk/site-directory.ts';
import { SimulatedDisk } from '../../../src/testing/simulator/disk/disk.ts';
import { Timeline } from '../../../src/testing/simulator/timeline.ts';
import { replaceMethods } from '../../support/replace-methods.ts';

const FOLDER = SITE_DIRECTORY;
const EMPTY: RowReader = { get: () => undefined };

/** One holder of a log. */
interface OpenLog {
  readonly log: SegmentLog;
  readonly term: Term;
  /** Its events in order: `local 3` for so many synced, `fenced`, `failed`. */
  readonly reported: readonly string[];
}

class LogPlace {
  isBroken = false;
  readonly #timeline = new Timeline();
  readonly #BreakingDisk = replaceMethods(SimulatedDisk, () => ({
    synced: (error, done) => done(this.isBroken ? new Error('EIO') : error),
  }));
  readonly disk = new this.#BreakingDisk({
    timeline: this.#timeline,
    random: new Random(1),
    syncMeanMs: 5,
  });

  read(): RecoveredSite['stored'] {
    return recoverDisk(this.disk).stored;
  }

  /** Another holder takes the log over. */
  open(): OpenLog {
    const reported: string[] = [];
    const listener: LocalLogListener = {
      onSynced: (log, length) => void reported.push(`${log} ${length}`),
      onFenced: () => void reported.push('fenced'),
      onFailed: () => void reported.push('failed'),
    };
    const after = (run: () => void): void => this.#timeline.schedule(0, run);
    const afterMs = (ms: number, run: () => void): void => this.#timeline.schedule(ms, run);
    const files = this.disk.mount();
    const { lengths, segments, nextSegment: number } = recoverSite(files, EMPTY, FOLDER);
    const log = new SegmentLog({
      files,
      timing: { soon: after, later: after, afterMs },
      directory: FOLDER,
      number,
      lengths,
      segments,
      segmentBytes: 4000,
      largeGroup: 256,
      listener,
      lastCheckpoint: () => undefined,
      onFullChanged: () => {},
    });
    return { log, term: log.takeOver(), reported };
  }

  /** Lets all that is under way come to its end. */
  run(): void {
    this.#timeline.run(this.#timeline.nowMs + 1000);
  }
}

test('appended entries → reported as synced, in order, each log by its own length', () => {
  const place = new LogPlace();
  const { log, reported } = place.open();
  log.append('local', ['a', 'b']);
  log.append('red', ['r']);
  place.run();
  log.append('local', ['c']);
  place.run();
  expect(reported).toEqual(['local 2', 'red 1', 'local 3']);
});

test('holders one after the other → each has a larger term', () => {
  const place = new LogPlace();
  const terms: Term[] = [];
  for (let holder = 0; holder < 3; holder += 1) {
    const { log, term } = place.open();
    terms.push(term);
    log.append('local', ['a']);
    place.run();
    place.disk.depose();
  }
  expect(terms).toEqual([...new Set(terms)].toSorted((a, b) => a - b));
});

test('the next holder → reads what was synced, and lengths go on from it', () => {
  const place = new LogPlace();
  const first = place.open();
  first.log.append('local', ['a', 'b']);
  first.log.append('red', ['r']);
  place.run();
  place.disk.depose();
  expect(place.read()).toMatchObject({
    local: { start: 0, entries: ['a', 'b'] },
    red: { start: 0, entries: ['r'] },
  });
  const next = place.open();
  next.log.append('local', ['c']);
  place.run();
  expect(next.reported).toEqual(['local 3']);
});

test('trimmed → what comes from there on is still to be read', () => {
  const place = new LogPlace();
  const { log } = place.open();
  for (const entry of ['a', 'b', 'c']) {
    log.append('local', [entry]);
    place.run();
  }
  log.trim({ local: 2, red: 0 });
  place.run();
  place.disk.depose();
  const { start, entries } = place.read().local;
  expect(start).toBeLessThanOrEqual(2);
  expect(entries.slice(2 - start)).toEqual(['c']);
});

test('taken over by another holder → its append is fenced, reported once, never acknowledged, and never there', () => {
  const place = new LogPlace();
  const { log, reported } = place.open();
  log.append('local', ['a']);
  place.run();
  place.disk.depose();
  log.append('local', ['b']);
  place.run();
  log.append('local', ['c']);
  place.run();
  expect(reported).toEqual(['local 1', 'fenced']);
  expect(place.read().local).toEqual({ start: 0, entries: ['a'] });
});

test('an append that cannot be written → of unknown outcome; nothing of it is acknowledged', () => {
  const place = new LogPlace();
  const { log, reported } = place.open();
  log.append('local', ['a']);
  place.run();
  place.isBroken = true;
  log.append('local', ['b']);
  place.run();
  log.append('local', ['c']);
  place.run();
  expect(reported).toEqual(['local 1', 'failed']);
});

test('closed → calls back once all that was appended is synced', () => {
  const place = new LogPlace();
  const { log, reported } = place.open();
  log.append('local', ['a']);
  let isClosed = false;
  log.close(() => (isClosed = true));
  expect(isClosed).toBe(false);
  place.run();
  expect([isClosed, reported]).toEqual([true, ['local 1']]);
});
