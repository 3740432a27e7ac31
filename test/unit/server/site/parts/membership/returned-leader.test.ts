/** The leader of a red log comes back after the log was restored at another site. */
// @rule CLU-G5a
import { expect, test } from 'vitest';
import { enqueue, get, put } from '../../../../../../src/operations/index.ts';
import {
  dropLogEnds,
  getSharedPart,
  mergeSharedIntoSite,
} from '../../../../../../src/server/log/recovered-state.ts';
import type { RecoveredState } from '../../../../../../src/server/log/recovered-state.ts';
import { MemberWorld, siteAt } from '../../../../../support/member-world.ts';

const [OLD, NEW] = [0, 1];

/**
 * Two sites. The second one goes on with the red log, but without what the first one has proposed
 * last. It cannot know what is confirmed before the first one is back.
 */
function restoreAtSecond(): { readonly world: MemberWorld; readonly own: RecoveredState } {
  const world = new MemberWorld({ siteCount: 2, redLeader: siteAt(OLD), redLogName: 'test' });
  world.submit(OLD, enqueue('q', 'confirmed'));
  world.submit(OLD, put('k', 1));
  world.pass(50);
  const { local, red } = world.copyLogs(NEW);
  world.submit(OLD, enqueue('q', 'dropped'));
  world.sync(OLD);
  world.drop();
  const own = world.saveStored(OLD);
  world.crash(OLD);
  world.crash(NEW);
  world.options = { generation: 1, redLeader: siteAt(NEW) };
  const entries = local.entries.filter(({ kind }) => kind !== 'delivered');
  world.start(NEW, { local: { ...local, entries }, red });
  world.pass(50);
  return { world, own };
}

const lengthOf = ({ red }: RecoveredState): number => red.start + red.entries.length;

test('no other site can have delivered as much → the old leader keeps its own state without the end of its log', () => {
  const { world, own } = restoreAtSecond();
  const kept = [{ length: lengthOf(own) - 1, isLossy: false }];
  const shared = getSharedPart(world.saveCheckpoint(NEW));
  expect(() => mergeSharedIntoSite(siteAt(OLD), own, shared, kept)).toThrow('less of the red log');

  world.start(OLD, dropLogEnds(own, kept));
  const later = world.submit(OLD, enqueue('q', 'later'));
  world.pass(100);
  expect(later.code).toBeUndefined();
  for (const site of [OLD, NEW]) expect(world.read(site, get('k'))).toBe(1);
  expect(world.stateAt(OLD)).toEqual(world.stateAt(NEW));
  expect(JSON.stringify(world.copyLogs(OLD).red)).not.toContain('dropped');
});

test('the old leader has delivered what the log lost, or has no checkpoint → it needs another state', () => {
  const { own } = restoreAtSecond();
  expect(dropLogEnds(own, [{ length: 0, isLossy: true }])).toBeUndefined();
  const kept = [{ length: Infinity, isLossy: false }];
  expect(dropLogEnds({ ...own, checkpoint: undefined }, kept)).toBeUndefined();
});
