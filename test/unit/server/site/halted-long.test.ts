/** A red log that stays halted: what its site keeps meanwhile is bounded, and it says what to do. */
import { beforeEach, expect, test } from 'vitest';
import { Random } from '../../../../src/server/collections/random.ts';
import { SEQUENCED } from '../../../../src/server/log/sequenced/engine.ts';
import { enqueue, get, put } from '../../../../src/operations/index.ts';
import { UnsteadyLog } from '../../../../src/testing/simulator/unsteady-log.ts';
import { siteAt } from '../../../support/origins.ts';
import { Sites } from '../replica/sites.ts';
import { notesService } from '../storage/notes-service.ts';

const [FAULTY, OTHER] = [1, 0];
const HALTED_BYTES_MAX = 20_000;
const TEXT = 'x'.repeat(100);

let sites: Sites;
/** Whether the log is whole from the next delivery on. */
let isSteady: boolean;
beforeEach(() => {
  isSteady = false;
  const how = { random: new Random(1), isSteady: () => isSteady, repeated: () => {} };
  const chances = { repeatChance: 0, jumpChance: 0, regressChance: 1 };
  sites = new Sites(notesService(), 3, {
    haltedBytesMax: HALTED_BYTES_MAX,
    redLog: {
      ...SEQUENCED,
      make: (options) => {
        const log = SEQUENCED.make(options);
        return options.site === siteAt(FAULTY) ? new UnsteadyLog(log, { ...how, ...chances }) : log;
      },
    },
  });
  sites.ask(FAULTY, put('known', 1), { id: 'known/1', home: FAULTY });
  sites.settle();
  sites.submit(OTHER, enqueue('q', 'a'));
  sites.settle();
  isSteady = true;
});

/** Writes at a site until that refuses it; how often. */
function fill(site: number, most: number): number {
  for (let written = 0; written < most; written += 1) {
    const outcome = sites.submit(site, put(`k${written}`, TEXT));
    sites.settle();
    if (outcome.code !== undefined) {
      expect(outcome.code).toBe('OVERLOADED');
      return written;
    }
  }
  return most;
}

test('updates of its own → taken up to a bound, then refused; reads are served; started again, it goes on', () => {
  expect(sites.halted).toEqual([[FAULTY, 'regressed']]);
  const written = fill(FAULTY, 1000);
  expect(written).toBeGreaterThan(5);
  expect(written).toBeLessThan(100);
  expect(sites.read(FAULTY, get('k0'))).toBe(TEXT);

  sites.crash(FAULTY);
  sites.start(FAULTY);
  sites.pass(100);
  const again = sites.submit(FAULTY, put('k', 'again'));
  sites.settle();
  expect(again).toHaveProperty('value');
  expect(sites.read(OTHER, get('k'))).toBe('again');
});

test('started again on a log that is as it was → what was kept before counts: no restart lets more in', () => {
  const written = fill(FAULTY, 1000);
  isSteady = false;
  sites.crash(FAULTY);
  sites.start(FAULTY);
  sites.pass(100);
  expect(sites.halted).toEqual([
    [FAULTY, 'regressed'],
    [FAULTY, 'regressed'],
  ]);
  expect([written > 0, fill(FAULTY, 1000)]).toEqual([true, 0]);
});

test('what others send → taken up to the bound, and sent again once it is repaired', () => {
  const machine = sites.machines[FAULTY];
  for (let index = 0; index < 200; index += 1) sites.submit(OTHER, put(`of ${index}`, TEXT));
  sites.settle();
  fill(OTHER, 200);
  const kept = machine?.replica.synced ?? 0;
  const untaken = machine?.refusals.room ?? 0;
  fill(OTHER, 200);
  expect(machine?.replica.synced).toBe(kept);
  expect(machine?.refusals.room).toBeGreaterThan(untaken);

  sites.crash(FAULTY);
  sites.start(FAULTY);
  sites.pass(2000);
  expect(sites.read(FAULTY, get('k199'))).toBe(TEXT);
});

test('under a name → its answer if it has one; refused if it is new; UNKNOWN if it may have begun elsewhere', () => {
  fill(FAULTY, 1000);
  const [known, fresh, moved] = [
    sites.ask(FAULTY, put('known', 1), { id: 'known/1', home: FAULTY }),
    sites.ask(FAULTY, put('new', 1), { id: 'new/1', home: FAULTY }),
    sites.ask(FAULTY, put('moved', 1), { id: 'moved/1', home: OTHER, hop: 1 }),
  ];
  sites.settle();
  expect([known.code, fresh.code, moved.code]).toEqual([undefined, 'OVERLOADED', 'UNKNOWN']);
});
