/**
 * A retry whose home was closed is answered by what others have of it, and never executed again.
 */
// @rule CLU-I12
import { expect, test } from 'vitest';
import { enqueue, get, put } from '../../../../../../src/operations/index.ts';
import { formatHome } from '../../../../../../src/server/service/records/origin.ts';
import { siteAt } from '../../../../../support/origins.ts';
import { MemberWorld } from '../../../../../support/member-world.ts';

test('a home that was closed → answered from a record or the red log, else UNKNOWN; its name is not that of the new one', () => {
  const world = new MemberWorld({ redLeader: 3 as never, keepsReceivedReplies: true });
  world.ask(0, put('k', 'first'), { id: 'c/1' });
  world.ask(0, enqueue('q', 'a'), { id: 'c/2' });
  world.pass(100);
  world.crash(0);
  world.changeMembers(1, 'h', 'new');
  const rebuilt = world.startFrom(1);
  world.pass(200);
  const retried = [put('k', 'first'), enqueue('q', 'a'), put('lost', 1)].map((operation, place) =>
    world.ask(1, operation, { id: `c/${place + 1}`, hop: 1 }),
  );
  const atNew = world.ask(rebuilt, put('lost', 1), { id: 'c/3', hop: 1 });
  world.pass(50);
  expect([...retried, atNew].map(({ code }) => code)).toEqual([
    undefined,
    undefined,
    'UNKNOWN',
    'UNKNOWN',
  ]);
  expect(retried.slice(0, 2).every((outcome) => 'value' in outcome)).toBe(true);
  expect(world.read(rebuilt, get('lost'))).toBe(undefined);
  const { origins } = world.machines[1]!.options;
  const homes = origins.sites.map((origin) => formatHome(origins.get(origin)));
  expect(homes).toEqual(['h', 's', 't', expect.stringMatching(/^h~\d+$/)]);
  expect(homes.map((home) => origins.findHome(home))).toEqual([...origins.sites]);
  expect(origins.findHome('h')).toBe(siteAt(0));
});
