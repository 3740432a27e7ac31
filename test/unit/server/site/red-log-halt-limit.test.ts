/**
 * A red log that stays halted: what its site keeps in the meantime is bounded, and its error
 * explains how to fix it.
 */
// @rule RB-L5
import { beforeEach, expect, test } from 'vitest';
import { Random } from '../../../../src/server/service/collections/random.ts';
import { SEQUENCED_ENGINE } from '../../../../src/server/log/sequenced/engine.ts';
import { enqueue, get, put } from '../../../../src/operations/index.ts';
import { addLogFaults } from '../../../../src/testing/simulator/disk/faulty-log.ts';
import { siteAt } from '../../../support/origins.ts';
import { Sites } from './sites.ts';
import { notesService } from '../node/storage/notes-service.ts';

const [FAULTY, OTHER] = [1, 0];
const HALTED_BYTES_MAX = 20_000;
const TEXT = 'x'.repeat(100);

let sites: Sites;
/** Whether the log is whole from the next delivery on. */
let isHealthy: boolean;
beforeEach(() => {
  isHealthy = false;
  const options = { redRepeatChance: 0, redJumpChance: 0, redRegressChance: 1 };
  const faults = {
    random: new Random(1),
    options,
    isHealthy: () => isHealthy,
    onRepeated: () => {},
  };
  sites = new Sites(notesService(), 3, {
    maxHaltedBytes: HALTED_BYTES_MAX,
    redLog: {
      ...SEQUENCED_ENGINE,
      createNode: (node) => {
        const log = SEQUENCED_ENGINE.createNode(node);
        return node.site === siteAt(FAULTY) ? addLogFaults(log, faults) : log;
      },
    },
  });
  sites.ask(FAULTY, put('known', 1), { id: 'known/1', home: FAULTY });
  sites.settle();
  sites.submit(OTHER, enqueue('q', 'a'));
  sites.settle();
  isHealthy = true;
});

/** Writes at a site until it rejects a write. Returns the number of writes. */
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

test('writes of its own → taken up to a bound, then refused; reads are served; started again, it goes on', () => {
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
  isHealthy = false;
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
  const retained = machine?.syncedLength ?? 0;
  const untaken = machine?.rejections.room ?? 0;
  fill(OTHER, 200);
  expect(machine?.syncedLength).toBe(retained);
  expect(machine?.rejections.room).toBeGreaterThan(untaken);

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
