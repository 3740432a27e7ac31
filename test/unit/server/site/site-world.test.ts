/** The world in which tests run nodes step by step: copies of logs, and two nodes of one site. */
import { expect, test } from 'vitest';
import { get, put } from '../../../../src/operations/index.ts';
import { SiteWorld } from '../../../support/site-world.ts';

test('starts a site on a copy of its logs', () => {
  const world = new SiteWorld();
  world.submit(0, put('k', 'v'));
  world.settle();
  const logs = world.copyLogs(0);
  world.crash(0);
  world.start(0, logs);
  world.settle();
  expect([0, 1, 2].map((site) => world.read(site, get('k')))).toEqual(['v', 'v', 'v']);
});

test('puts the node of a site back in the place of another one', () => {
  const world = new SiteWorld();
  const first = world.takeNode(0);
  expect(world.machines[0]).toBeUndefined();
  expect(world.putNode(0, first).machine).toBeUndefined();
  world.submit(0, put('k', 'v'));
  world.settle();
  expect(world.read(1, get('k'))).toBe('v');
});
