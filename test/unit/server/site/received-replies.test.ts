/**
 * While the home of an operation is down, other sites answer for it what they have received; a
 * session waits as before.
 */
// @rule CLU-I11
import { expect, test } from 'vitest';
import { get, put } from '../../../../src/operations/index.ts';
import { siteAt } from '../../../support/origins.ts';
import { SiteWorld } from '../../../support/site-world.ts';

const OPERATION = put('b', 'b');

test('a replicated operation → answered from its record while its home is down', () => {
  const world = new SiteWorld({ redLeader: siteAt(2), keepsReceivedReplies: true });
  world.ask(0, OPERATION, { id: 'c/1' });
  world.settle();
  world.crash(0);
  const again = world.ask(1, OPERATION, { id: 'c/1', hop: 1 });
  expect(again).toStrictEqual({ value: undefined, seen: undefined });
});

test('the site starts again → it has the record still', () => {
  const world = new SiteWorld({ redLeader: siteAt(2), keepsReceivedReplies: true });
  world.ask(0, OPERATION, { id: 'c/1' });
  world.settle();
  for (const site of [0, 1]) world.crash(site);
  world.start(1);
  const again = world.ask(1, OPERATION, { id: 'c/1', hop: 1 });
  world.settle();
  expect(again).toStrictEqual({ value: undefined, seen: undefined });
});

test('another hop than that of the record, or an acknowledged operation → its home is asked', () => {
  const world = new SiteWorld({ redLeader: siteAt(2), keepsReceivedReplies: true });
  world.ask(0, OPERATION, { id: 'c/1' });
  world.settle();
  world.crash(0);
  world.ask(1, put('c', 'c'), { id: 'c/2', home: 1, acknowledged: 1 });
  world.settle();
  const again = world.ask(1, OPERATION, { id: 'c/1', hop: 1 });
  world.pass(200);
  expect(again).toMatchObject({ code: 'UNKNOWN' });
});

test('seen and not replicated → REPLICA_BEHIND for the session, UNKNOWN for the operation', () => {
  const world = new SiteWorld({ redLeader: siteAt(2), keepsReceivedReplies: true });
  const write = world.ask(0, OPERATION, { id: 'c/1' });
  world.sync(0);
  world.drop();
  expect(write).toStrictEqual({ value: undefined, seen: undefined });
  const sessionVector = [...(world.machines[0]?.state.stable ?? [])];
  world.crash(0);
  const read = world.submit(1, get('a'), { sessionVector });
  const update = world.ask(1, put('z', 'z'), { id: 'c/2', home: 1 }, { sessionVector });
  const again = world.ask(1, OPERATION, { id: 'c/1', hop: 1 });
  world.pass(300);
  expect([read.code, update.code, again.code]).toEqual([
    'REPLICA_BEHIND',
    'REPLICA_BEHIND',
    'UNKNOWN',
  ]);
});
