/** The leader of the red log moves (`restore-red`), and sites take up their logs once more. */
import { expect, test } from 'vitest';
import { MemberWorld, siteAt } from '../../../../../support/member-world.ts';

test('a change that was void since it named the leader → void for ever, also where it is read again under another leader', () => {
  const world = new MemberWorld({ redLeader: siteAt(0) });
  const { problem } = world.changeMembers(1, 'h', null);
  expect(problem).toMatch(/h is the leader of the red log/);
  world.options = { redLeader: siteAt(1) };
  for (const site of [0, 1, 2]) world.crash(site);
  for (const site of [0, 1, 2]) world.start(site, world.copyStored(site));
  world.pass(200);
  for (const site of [0, 1, 2])
    expect(world.statesAt(site)).toEqual(['h 0 open', 's 0 open', 't 0 open']);
});
