/**
 * A red log that breaks its rules: its site takes nothing more of it and reports it, and blue
 * operations go on.
 */
import { beforeEach, expect, test } from 'vitest';
import { SEQUENCED_ENGINE } from '../../../../src/server/log/sequenced/engine.ts';
import { dequeue, enqueue, get, put } from '../../../../src/operations/index.ts';
import { formatKeyedOperationId } from '../../../../src/server/site/core/operation-id.ts';
import { Origins } from '../../../../src/server/service/records/origin.ts';
import { createSiteAlarms } from '../../../../src/server/node/alarms/site-alarm.ts';
import type { SiteAlarm } from '../../../../src/server/node/alarms/site-alarm.ts';
import { Random } from '../../../../src/server/service/collections/random.ts';
import { addLogFaults } from '../../../../src/testing/simulator/disk/faulty-log.ts';
import { Sites } from '../site/sites.ts';
import { notesService } from './storage/notes-service.ts';
import { siteAt } from '../../../support/origins.ts';

const FAULTY = 1;
const READ_STRONGLY = { wantedStages: { tentative: false, causal: false, strong: true } };

let chances: { redRepeatChance: number; redJumpChance: number; redRegressChance: number };
let sites: Sites;
beforeEach(() => {
  chances = { redRepeatChance: 0, redJumpChance: 0, redRegressChance: 0 };
  const random = new Random(1);
  const how = {
    random,
    isHealthy: () => false,
    onRepeated: () => {},
    options: chances,
  };
  sites = new Sites(notesService(), 3, {
    redLog: {
      ...SEQUENCED_ENGINE,
      createNode: (options) => {
        const log = SEQUENCED_ENGINE.createNode(options);
        return options.site === siteAt(FAULTY) ? addLogFaults(log, how) : log;
      },
    },
  });
});

function enqueueAtLeader(item: string): void {
  sites.submit(0, enqueue('q', item));
  sites.settle();
}

/** Halts the red log of the faulty site, which has taken one record. */
function halt(): void {
  enqueueAtLeader('a');
  chances.redJumpChance = 1;
  enqueueAtLeader('left out');
  chances.redJumpChance = 0;
  enqueueAtLeader('behind');
  expect(sites.halted.at(-1)).toEqual([FAULTY, 'gap']);
}

/** What is in the queue as a site shows it, by taking all of it there. */
function lengthAt(site: number): number | undefined {
  return sites.machines[site]?.red.lanes.main.order.deliveredCount;
}

test('a record is left out → nothing behind it is taken; blue goes on; what needs the red order is refused at once', () => {
  halt();
  expect(sites.halted).toHaveLength(1);
  expect(lengthAt(FAULTY)).toBe(1);
  expect(lengthAt(0)).toBe(3);

  const refused = [
    sites.submit(FAULTY, enqueue('q', 'b')),
    sites.submit(FAULTY, get('k'), READ_STRONGLY),
  ];
  const written = sites.submit(FAULTY, put('k', 'blue'));
  sites.settle();
  for (const outcome of refused) expect(outcome.code).toBe('UNAVAILABLE');
  expect(written).toHaveProperty('value');
  expect(sites.read(0, get('k'))).toBe('blue');
  // Its checkpoint would say of the log what was never taken.
  expect(() => sites.machines[FAULTY]?.createCut()).toThrow(/it goes on at 2, and 1 was to come/);

  sites.crash(FAULTY);
  sites.start(FAULTY);
  sites.pass(100);
  const popped = sites.submit(FAULTY, dequeue('q'));
  sites.pass(100);
  expect(popped.value).toEqual({ item: 'a' });
  expect(lengthAt(FAULTY)).toBe(4);
});

test('what it had in flight → waits, and is done once the site is started again', () => {
  chances.redJumpChance = 1;
  const outcome = sites.submit(FAULTY, enqueue('q', 'a'));
  sites.settle();
  chances.redJumpChance = 0;
  enqueueAtLeader('b');
  expect(sites.halted).toEqual([[FAULTY, 'gap']]);
  expect(outcome).toEqual({});
  const popped = sites.submit(0, dequeue('q'));
  sites.pass(100);
  expect(popped.value).toEqual({ item: 'a' });
});

function restart(): void {
  sites.crash(FAULTY);
  sites.start(FAULTY);
  sites.pass(100);
}

test('asked for by a name → refused, and nothing is decided by that: retried once it is repaired, it is done', () => {
  halt();
  const named = { id: 'c/1', home: FAULTY };
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const refused = sites.ask(FAULTY, dequeue('q'), named);
    sites.settle();
    expect(refused.code).toBe('UNAVAILABLE');
  }
  restart();
  const done = sites.ask(FAULTY, dequeue('q'), named);
  sites.pass(100);
  expect(done.value).toEqual({ item: 'a' });
  expect(sites.ask(FAULTY, dequeue('q'), named).value).toEqual({ item: 'a' });
});

test('another copy waits for its session → UNKNOWN: it may still take effect', () => {
  halt();
  const named = { id: 'c/1', home: FAULTY };
  sites.ask(FAULTY, dequeue('q'), named, { sessionVector: [0, Infinity, 0, 0] });
  expect(sites.ask(FAULTY, dequeue('q'), named).code).toBe('UNKNOWN');
});

test('its client has been at another site → UNKNOWN: a request there may still take effect', () => {
  halt();
  const named = { id: 'c/1', home: FAULTY };
  expect(sites.ask(FAULTY, dequeue('q'), { ...named, hop: 2 }).code).toBe('UNKNOWN');
});

test('a write with a key is UNKNOWN only if its client has been at another site', () => {
  halt();
  const keyed = { id: formatKeyedOperationId('key', 1), home: FAULTY, hop: 1 };
  expect(sites.ask(FAULTY, dequeue('q'), { ...keyed, hasMoved: false }).code).toBe('UNAVAILABLE');
  expect(sites.ask(FAULTY, dequeue('q'), { ...keyed, hasMoved: true }).code).toBe('UNKNOWN');
});

test('handed over before the site restarts, and then the log halts → UNKNOWN until the log is repaired', () => {
  const named = { id: 'c/1', home: FAULTY };
  sites.ask(FAULTY, enqueue('q', 'handed over'), named);
  sites.sync(FAULTY);
  sites.sent = [];
  restart();
  halt();
  expect(sites.ask(FAULTY, enqueue('q', 'handed over'), named).code).toBe('UNKNOWN');
  restart();
  const done = sites.ask(FAULTY, enqueue('q', 'handed over'), named);
  sites.pass(100);
  expect(done).toHaveProperty('value');
});

test('it delivers again what it has delivered → taken once', () => {
  chances.redRepeatChance = 1;
  for (const item of ['a', 'b', 'c']) enqueueAtLeader(item);
  expect(sites.halted).toEqual([]);
  expect(lengthAt(FAULTY)).toBe(3);
});

test('the operator gets the cause, and the steps to fix it', () => {
  const alarms: SiteAlarm[] = [];
  const { onRedHalted: raiseAlarm } = createSiteAlarms('frankfurt', Origins.create([]), (alarm) =>
    alarms.push(alarm),
  );
  raiseAlarm({ reason: 'gap', message: 'it goes on at 2, and 1 was to come' });
  raiseAlarm({ reason: 'regressed', message: 'it ends early' });
  raiseAlarm({ reason: 'differs', message: 'at 7' });
  expect(alarms).toEqual([
    expect.objectContaining({
      kind: 'red-log-halted',
      site: 'frankfurt',
      message: expect.stringContaining('records of the red log are missing (it goes on at 2'),
    }),
    expect.objectContaining({
      kind: 'red-log-halted',
      message: expect.stringContaining('is not what it was (it ends early). Red writes'),
    }),
    expect.objectContaining({
      kind: 'red-log-differs',
      message: expect.stringContaining('of another site is not the same (at 7)'),
    }),
  ]);
});
