/**
 * Operations that cross the `goaway` of their server, which does not start them: which home site
 * their next submission has.
 */
import { expect, test } from 'vitest';
import { writeX } from '../../support/wire.ts';
import type { FakePlatform } from './fake-platform.ts';
import { start, submit, welcome } from './set-up.ts';

/** The server goes away, would not take operation 1 any more, and that of `site` is next. */
async function refusedThenAt(platform: FakePlatform, site: string): Promise<unknown[]> {
  const old = platform.socket;
  old.receive([0, 'goaway', 30_000]);
  platform.advance(1_000);
  await welcome(platform, { site, memoryId: site });
  old.receive([1, 'fail', 'UNAVAILABLE', 'going']);
  platform.tick();
  return platform.socket.rows('submit').map((row) => row.slice(6));
}

test('never submitted elsewhere → submitted to the next site, and to one after it, as if it began there', async () => {
  const { platform, connection } = start();
  await welcome(platform, { site: 'ireland' });
  submit(connection, writeX);
  platform.tick();
  expect(await refusedThenAt(platform, 'frankfurt')).toEqual([[]]);
  expect(await refusedThenAt(platform, 'lhr')).toEqual([[]]);
  platform.socket.lose();
  platform.advance(10_000);
  await welcome(platform, { site: 'ireland', memoryId: 'ireland' });
  expect(platform.socket.rows('submit').map((row) => row[10])).toEqual([['lhr', 1]]);
});

test('submitted elsewhere before → still at home there', async () => {
  const { platform, connection } = start();
  await welcome(platform, { site: 'ireland' });
  submit(connection, writeX);
  platform.tick();
  platform.socket.lose();
  platform.advance(10_000);
  await welcome(platform, { site: 'frankfurt' });
  expect(await refusedThenAt(platform, 'lhr')).toEqual([
    [null, null, null, null, ['ireland', 2], true],
  ]);
});
