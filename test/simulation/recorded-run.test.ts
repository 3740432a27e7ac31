/** Recorded runs: what the page `simulator` of the documentation replays. */
import { describe, expect, test } from 'vitest';
import { FAULT_CHOICES, FIRST_RUN } from '../../site/simulator/examples.ts';
import { INJECTED_BUGS } from '../simulator/injected-bugs.ts';
import { recordRun } from '../simulator/recorder/record-run.ts';
import type { RecordedRun } from '../simulator/recorder/recorded-run.ts';
import { simulate } from '../simulator/simulate.ts';

const SEED = 197;
const run = recordRun(SEED, 'partitions');

/** Counts the recorded messages of a kind as the network counts them: copies, and losses. */
function countMessages({ messages }: RecordedRun, kind: string, isLost: boolean): number {
  return messages.filter(
    (message) => message.kind === kind && (!isLost || /lost|cut/.test(message.fate)),
  ).length;
}

describe('a recorded run', () => {
  test('is the run that is not recorded', () => {
    const { history, coverage } = simulate(SEED, 'partitions');
    expect(run.operations.map(({ id }) => id)).toEqual(history.map(({ id }) => id));
    for (const kind of ['blue.operations', 'log.propose', 'log.append', 'log.appended']) {
      expect(countMessages(run, kind, false)).toBe(
        (coverage[kind] ?? 0) + (coverage[`${kind} repeated`] ?? 0),
      );
      expect(countMessages(run, kind, true)).toBe(coverage[`${kind} lost`] ?? 0);
    }
  });

  test('has the cuts, the views and the rejections of its seed', () => {
    const { cuts, marks, operations, messages, leaders } = run;
    expect(cuts.length).toBeGreaterThan(0);
    expect(messages.some(({ fate }) => fate === 'cut')).toBe(true);
    expect(marks.some(({ kind }) => kind === 'rejected')).toBe(true);
    expect(operations.some(({ views }) => views.length > 1)).toBe(true);
    expect(leaders).toEqual([1]);
    for (const { fromMs, toMs } of cuts) expect(toMs).toBeGreaterThanOrEqual(fromMs);
  });

  test('describes its messages in words', () => {
    const texts = ['blue.operations', 'log.propose', 'log.append', 'blue.received'].map(
      (kind) =>
        run.messages.find((message) => message.kind === kind && message.group !== 'heartbeat')
          ?.text,
    );
    expect(texts).toEqual([
      "Site 1 sends 1 blue operation: number 1, deposit (c5/1: accounts 'account 1' balance.add(25)).",
      'Site 3 asks site 1, the leader, to order withdraw (c7/1), which changes nothing.',
      'Site 1 sends 1 entry of the red log from number 1 on: withdraw (c0/1), which changes nothing. A majority has none yet.',
      'Site 2 has the blue operations of site 1 up to number 1 on its disk.',
    ]);
  });

  test('has a crash between the last message of a site and its next start', () => {
    const { outages, marks, messages } = recordRun(7, 'crashes');
    const crash = outages.find(({ kind }) => kind === 'down');
    expect(crash).toBeDefined();
    expect(
      marks.some(
        ({ kind, atMs, site }) => kind === 'started' && atMs === crash?.toMs && site === crash.site,
      ),
    ).toBe(true);
    const isDuring = (atMs: number): boolean =>
      atMs > (crash?.fromMs ?? 0) && atMs < (crash?.toMs ?? 0);
    expect(
      messages.filter(({ from, sentAtMs }) => from === crash?.site && isDuring(sentAtMs)),
    ).toEqual([]);
  });
});

describe('the choices of the page', () => {
  test('the first run has no fault', () => {
    expect(recordRun(FIRST_RUN.seed, FIRST_RUN.profile).violation).toBeUndefined();
  });

  test.each(FAULT_CHOICES)('$fault: its seed shows it', ({ fault, profile, seed }) => {
    const planted = INJECTED_BUGS[fault];
    expect(planted?.profile).toBe(profile);
    expect(planted?.caughtBy).toContain(recordRun(seed, profile, { planted }).violation?.checker);
  });
});
