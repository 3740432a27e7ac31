/** What every log of a site keeps to, whatever it lies on. */
import { describe, expect, test } from 'vitest';
import type { LocalLog, Term } from '../../../src/server/log/local-log.ts';

/** One holder of a log. */
export interface OpenLog {
  readonly log: LocalLog;
  /** Its events in order: `local 3` for so many synced, `fenced`, `failed`. */
  readonly reported: readonly string[];
}

/** A place with a log on it, where holders come one after the other. */
export interface LogPlace {
  /** Another holder, that has not taken the log over yet. */
  open(): OpenLog;
  /** Another holder takes the log over, unnoticed by the present one. */
  depose(): void;
  /** From now on nothing can be written. */
  breakDown(): void;
  /** Lets all that is under way come to its end. */
  run(): Promise<void>;
}

export interface LocalLogAdapter {
  readonly name: string;
  /** Whether it keeps what was appended: what is in memory alone is gone with it. */
  readonly keeps: boolean;
  place(): LogPlace;
}

/** Describes the suite for one adapter. */
export function describeLocalLog({ name, keeps, place }: LocalLogAdapter): void {
  describe(`local log: ${name}`, () => {
    const taken = (at: LogPlace): OpenLog & { readonly term: Term } => {
      const opened = at.open();
      return { ...opened, term: opened.log.takeOver() };
    };

    test('appended entries → reported as synced, in order, each log by its own length', async () => {
      const at = place();
      const { log, reported, term } = taken(at);
      log.append(term, 'local', ['a', 'b']);
      log.append(term, 'red', ['r']);
      await at.run();
      log.append(term, 'local', ['c']);
      await at.run();
      expect(reported).toEqual(['local 2', 'red 1', 'local 3']);
    });

    test('holders one after the other → each has a larger term', async () => {
      const at = place();
      const terms: Term[] = [];
      for (let holder = 0; holder < 3; holder += 1) {
        const { log, term } = taken(at);
        terms.push(term);
        log.append(term, 'local', ['a']);
        await at.run();
        at.depose();
      }
      expect(terms).toEqual([...new Set(terms)].toSorted((a, b) => a - b));
    });

    test('the next holder → reads what was synced, and lengths go on from it', async () => {
      const at = place();
      const first = taken(at);
      first.log.append(first.term, 'local', ['a', 'b']);
      first.log.append(first.term, 'red', ['r']);
      await at.run();
      at.depose();
      const next = at.open();
      const found = next.log.read();
      const entries = keeps ? { start: 0, entries: ['a', 'b'] } : { start: 2, entries: [] };
      expect(found.local).toEqual(entries);
      expect(found.red.start + found.red.entries.length).toBe(1);
      next.log.append(next.log.takeOver(), 'local', ['c']);
      await at.run();
      expect(next.reported).toEqual(['local 3']);
    });

    test('trimmed → what comes from there on is still to be read', async () => {
      const at = place();
      const { log, term } = taken(at);
      for (const entry of ['a', 'b', 'c']) {
        log.append(term, 'local', [entry]);
        await at.run();
      }
      log.trim({ local: 2, red: 0 });
      await at.run();
      at.depose();
      const found = at.open().log.read().local;
      expect(found.start).toBeLessThanOrEqual(keeps ? 2 : 3);
      expect(found.entries.slice(keeps ? 2 - found.start : 0)).toEqual(keeps ? ['c'] : []);
    });

    test('taken over by another holder → its append is fenced, reported once, never acknowledged, and never there', async () => {
      const at = place();
      const { log, reported, term } = taken(at);
      log.append(term, 'local', ['a']);
      await at.run();
      at.depose();
      log.append(term, 'local', ['b']);
      await at.run();
      log.append(term, 'local', ['c']);
      await at.run();
      expect(reported).toEqual(['local 1', 'fenced']);
      const next = at.open().log.read().local;
      expect(next.start + next.entries.length).toBe(1);
    });

    test('an append with a term that is none → fenced', async () => {
      const at = place();
      const { log, reported, term } = taken(at);
      log.append(term - 1, 'local', ['a']);
      await at.run();
      expect(reported).toEqual(['fenced']);
    });

    if (!keeps) return;

    test('an append that cannot be written → of unknown outcome; nothing of it is acknowledged', async () => {
      const at = place();
      const { log, reported, term } = taken(at);
      log.append(term, 'local', ['a']);
      await at.run();
      at.breakDown();
      log.append(term, 'local', ['b']);
      await at.run();
      log.append(term, 'local', ['c']);
      await at.run();
      expect(reported).toEqual(['local 1', 'failed']);
    });

    test('closed → calls back once all that was appended is synced', async () => {
      const at = place();
      const { log, reported, term } = taken(at);
      log.append(term, 'local', ['a']);
      let isClosed = false;
      log.close(() => (isClosed = true));
      expect(isClosed).toBe(false);
      await at.run();
      expect([isClosed, reported]).toEqual([true, ['local 1']]);
    });
  });
}
