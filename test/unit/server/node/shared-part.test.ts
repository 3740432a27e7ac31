/**
 * A checkpoint is in two parts: of what all sites share another site can begin, with nothing of its
 * own.
 */
// @rule STO-30
import { beforeEach, expect, test } from 'vitest';
import { getSharedPart, createSiteFromShared } from '../../../../src/server/log/recovered-state.ts';
import { getPart, getSections } from '../../../../src/server/service/records/checkpoint.ts';
import type { Checkpoint } from '../../../../src/server/service/records/checkpoint.ts';
import type { Site } from '../../../../src/server/site/site.ts';
import { decodeValue, encodeValue } from '../../../../src/server/node/storage/format/value-text.ts';
import { dequeue, enqueue, get, put } from '../../../../src/operations/index.ts';
import { bank, bankService } from '../check/bank.ts';
import { Sites } from '../site/sites.ts';
import { notesService } from './storage/notes-service.ts';
import { saveAll } from '../../../support/saved-rows.ts';

let sites: Sites;
beforeEach(() => {
  // The third one is there by its name only.
  sites = new Sites(notesService(), 3);
  sites.crash(2);
});

const machineAt = (site: number): Site => sites.machines[site] as Site;
const stateOf = (site: number): unknown => machineAt(site).state.store.snapshot();

/** All that a site would save, as it comes from a file. */
function checkpointOf(site: number): Checkpoint {
  const machine = machineAt(site);
  const saved = Object.entries(machine.sections).map(([name, section]) => {
    const rows = saveAll(section).filter(([, value]) => value !== undefined);
    return [name, new Map(decodeValue(encodeValue(rows)) as [string, unknown][])] as const;
  });
  return {
    sections: Object.fromEntries(saved),
    smallParts: decodeValue(encodeValue(machine.createCut().smallParts)),
  };
}

/** Both colors at the first two sites, one of them with a name. */
function work(text: string): void {
  sites.submit(0, put('k', `${text} of 0`));
  sites.settle();
  sites.submit(1, put('l', `${text} of 1`));
  for (const site of [0, 1])
    sites.ask(site, enqueue('q', `${text} of ${site}`), { id: `${text}-${site}/1`, home: site });
  sites.settle();
  sites.pass(100);
}

test('sections → in one part each; what is of the site alone is in its own', () => {
  work('first');
  sites.ask(0, put('m', 1), { id: 'named/1' });
  sites.settle();
  const checkpoint = checkpointOf(0);
  expect(Object.keys(checkpoint.sections).filter((name) => getPart(name) === 'own')).toEqual([
    'own.slots.clients',
    'own.slots',
  ]);
  expect(getSections('own', checkpoint)['own.slots']?.size).toBeGreaterThan(0);
  expect(Object.keys(getSharedPart(checkpoint).sections)).toEqual(
    expect.arrayContaining([
      'rows',
      'commits',
      'endings',
      'endings.clients',
      'redAnswers',
      'redAnswers.clients',
    ]),
  );
});

test('the shared part of the first site and an empty own part → another site shows the same, and goes on with them', () => {
  work('first');
  sites.submit(0, dequeue('q'));
  sites.settle();
  sites.pass(100);
  const shared = getSharedPart(checkpointOf(0));
  const before = stateOf(0);
  // What comes after it was made, the new site is sent.
  work('second');
  sites.start(2, createSiteFromShared(shared));
  expect(stateOf(2)).toEqual(before);
  expect(machineAt(2).state.stable).toEqual(
    (shared.smallParts as { replica: { stable: unknown } }).replica.stable,
  );
  sites.pass(2000);
  for (const site of [1, 2]) expect(stateOf(site)).toEqual(stateOf(0));
  const [value, popped] = [sites.submit(2, put('own', 1)), sites.submit(2, dequeue('q'))];
  sites.pass(2000);
  expect(value).toEqual(expect.not.objectContaining({ code: expect.anything() }));
  expect(popped.value).toEqual({ item: expect.stringContaining('of') });
  for (const site of [1, 2]) expect(stateOf(site)).toEqual(stateOf(0));
  expect(sites.read(1, get('own'))).toBe(1);
});

test('blue operations that add, of before and after the shared part → counted once at the new site', () => {
  sites = new Sites(bankService(), 3);
  sites.crash(2);
  const deposit = (cents: number): void => {
    for (const site of [0, 1]) sites.submit(site, bank.deposit({ account: 'a', cents }));
    sites.settle();
    sites.pass(100);
  };
  const balances = (): unknown[] =>
    [0, 1, 2].map((site) => sites.read(site, bank.balance({ account: 'a' })));
  deposit(1);
  const shared = getSharedPart(checkpointOf(0));
  deposit(10);
  sites.start(2, createSiteFromShared(shared));
  sites.pass(2000);
  expect(balances()).toEqual([22, 22, 22]);
});

test('a repetition of what was answered before, at the new site → the same answer, done once', () => {
  work('first');
  const shared = getSharedPart(checkpointOf(1));
  sites.start(2, createSiteFromShared(shared));
  sites.pass(500);
  const size = JSON.stringify(stateOf(0));
  const again = sites.ask(2, enqueue('q', 'first of 0'), { id: 'first-0/1', home: 0, hop: 1 });
  sites.pass(2000);
  expect(again.code).toBeUndefined();
  expect(JSON.stringify(stateOf(0))).toBe(size);
});
