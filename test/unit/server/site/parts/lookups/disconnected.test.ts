/**
 * A site to which the connection is lost: how long operations wait for what its log alone may say.
 */
import { expect, test } from 'vitest';
import { put } from '../../../../../../src/operations/index.ts';
import { siteAt } from '../../../../../support/origins.ts';
import { SiteWorld } from '../../../../../support/site-world.ts';

const LONG_MS = 60_000;

test('an operation whose home is not connected ends with UNKNOWN soon, and one whose home is connected waits', () => {
  const world = new SiteWorld({ reachTimeoutMs: LONG_MS });
  world.takeNode(0);
  const moved = (id: string) => ({ id, home: 0, hop: 1 });
  const waiting = world.ask(1, put('a', 1), moved('c/1'));
  world.tick();
  world.nowMs += LONG_MS / 2;
  world.tick();
  expect(waiting).toEqual({});
  world.machines[1]?.setConnected(siteAt(0), false, world.nowMs);
  world.tick();
  expect(waiting.code).toBe('UNKNOWN');
  world.machines[1]?.setConnected(siteAt(0), true, world.nowMs);
  const later = world.ask(1, put('a', 2), moved('c/2'));
  world.nowMs += LONG_MS / 2;
  world.tick();
  expect(later).toEqual({});
});
