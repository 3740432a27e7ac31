/**
 * Which start of another site a site has heard of outlives its own restart: what an earlier one has
 * sent stays refused.
 */
import { beforeEach, expect, test } from 'vitest';
import { getSavedSite } from '../../../../src/server/log/recovered-state.ts';
import { put } from '../../../../src/operations/index.ts';
import { siteAt } from '../../../support/origins.ts';
import { Sites } from './sites.ts';
import { notesService } from '../node/storage/notes-service.ts';

const [SENDER, RECEIVER] = [1, 0];

let sites: Sites;
/** Sent by the sender's first start, and on its way for long. */
let late: Sites['sent'];
let term: number | undefined;
beforeEach(() => {
  sites = new Sites(notesService(), 3);
  sites.submit(SENDER, put('k', 1));
  sites.sync(SENDER);
  late = sites.sent.filter(({ from, to }) => from === SENDER && to === RECEIVER);
  sites.sent = [];
  sites.crash(SENDER);
  sites.start(SENDER);
  sites.pass(100);
  term = sites.machines[SENDER]?.door.filter.epoch;
});

test('started again → nothing of an earlier start of the sender is taken', () => {
  expect(late.length).toBeGreaterThan(0);
  sites.crash(RECEIVER);
  sites.start(RECEIVER);
  sites.sent.push(...late);
  sites.settle();
  expect(sites.machines[RECEIVER]?.door.filter.rejections.term).toBe(late.length);
});

test('saved → in the part that is the site’s own', () => {
  const saved = getSavedSite({
    sections: {},
    smallParts: sites.machines[RECEIVER]?.createCut().smallParts,
  });
  expect(saved.own.terms).toContainEqual([siteAt(SENDER), term]);
});
