/**
 * Operations that are cancelled right after they were submitted, before their signals are read, and
 * whose connection is lost at that moment: a caller that got the outcome must not have its
 * operation submitted again.
 */
import { expect, test } from 'vitest';
import { quietContext, readX, writeX } from '../../support/wire.ts';
import { type FakeSocket } from './fake-platform.ts';
import { startOpen, submit, welcome, type Fixture } from './set-up.ts';

const TWO = ['ws://one.test/', 'ws://two.test/'];

interface OneUpdate extends Fixture {
  readonly first: FakeSocket;
  readonly controller: AbortController;
}

/** An update was submitted a millisecond ago. */
async function oneUpdate(options = {}): Promise<OneUpdate> {
  const fixture = await startOpen({ url: TWO, ...options });
  const { platform, connection } = fixture;
  const controller = new AbortController();
  submit(connection, writeX, quietContext({ signal: controller.signal }));
  platform.advance(1);
  return { ...fixture, first: platform.socket, controller };
}

/** The server goes away, and the next one is there. */
async function moved(options = {}): Promise<OneUpdate> {
  const item = await oneUpdate(options);
  item.first.receive([0, 'goaway', 30_000]);
  item.platform.advance(0);
  await welcome(item.platform, { memoryId: 'n' });
  return item;
}

test.each([
  [
    'its old server refuses it',
    (first: FakeSocket) => first.receive([1, 'fail', 'UNAVAILABLE', 'going']),
  ],
  ['its old connection is lost', (first: FakeSocket) => first.lose()],
])('given up, then %s → not submitted to the next one', async (_, end) => {
  const { platform, first, controller, connection } = await moved();
  controller.abort();
  end(first);
  platform.advance(100);
  expect(platform.socket.url).toBe(TWO[1]);
  expect(platform.socket.rows('submit')).toEqual([]);
  submit(connection, readX);
  platform.tick();
  expect(platform.socket.rows('submit')).toHaveLength(1);
});

test('given up for what came in the frame of its refusal → not submitted to the next one', async () => {
  const { platform, connection } = await startOpen({ url: TWO });
  const controller = new AbortController();
  submit(connection, writeX, quietContext({ signal: controller.signal }));
  const answered = { view: () => (controller.abort(), 0), confirm: () => {}, fail: () => {} };
  connection.submit(readX, ['strong'], answered, quietContext());
  platform.tick();
  const first = platform.socket;
  first.receive([0, 'goaway', 30_000]);
  platform.advance(0);
  await welcome(platform);
  first.receive([1, 'fail', 'UNAVAILABLE', 'going'], [2, 'view', 1, 0, 'v']);
  platform.advance(100);
  expect(controller.signal.aborted).toBe(true);
  expect(platform.socket.rows('submit')).toEqual([]);
});

test.each(['before', 'after'])(
  'given up just %s the connection is lost, and there is another at once → not submitted there',
  async (when) => {
    const { platform, first, controller } = await oneUpdate({ reconnect: { delayMs: () => 0 } });
    if (when === 'before') controller.abort();
    first.lose();
    platform.advance(1);
    controller.abort();
    await welcome(platform);
    platform.advance(100);
    expect(platform.sockets).toHaveLength(2);
    expect(platform.socket.rows('submit')).toEqual([]);
  },
);
