/**
 * A server that takes so many operations at a time: more wait at the client, and go as soon as
 * there is a place.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  onceEach,
  sharesOf,
  testShares,
  unnoted,
  type Note,
} from '../../support/property-shares.ts';
import { quietContext, readX, writeX } from '../../support/wire.ts';
import type { FakePlatform } from './fake-platform.ts';
import { LIMITS, reconnect, start, submit, welcome, type Fixture } from './set-up.ts';
import { scaleRuns } from '../../support/lane.ts';

async function startWith(maxInFlight: number): Promise<Fixture> {
  const fixture = start();
  await welcome(fixture.platform, { limits: { ...LIMITS, maxInFlight: maxInFlight } });
  return fixture;
}

const sent = ({ socket }: FakePlatform): unknown[] => socket.rows('submit').map(([id]) => id);

test('most of what is in flight takes long → the others take turns on the places that are left', async () => {
  const { platform, connection } = await startWith(10);
  for (let n = 0; n < 15; n++) submit(connection, readX);
  platform.tick();
  // 1 to 6 are not answered.
  for (let id = 7; id <= 15; id++) {
    expect(sent(platform)).toEqual(Array.from({ length: Math.min(15, id + 3) }, (_, n) => n + 1));
    platform.socket.receive([id, 'view', 1, 0, 'v']);
    platform.tick();
  }
});

test('reads in flight are cancelled → those that wait have their places, without a word of the server', async () => {
  const { platform, connection } = await startWith(4);
  const controller = new AbortController();
  for (let n = 0; n < 4; n++)
    submit(connection, readX, quietContext({ signal: controller.signal }));
  platform.tick();
  // The first of them is looked at, then the others.
  platform.advance(45);
  for (let n = 0; n < 5; n++) submit(connection, writeX);
  controller.abort();
  platform.tick();
  expect(platform.socket.rows('cancel')).toHaveLength(4);
  expect(sent(platform)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test('an operation on a server that goes comes back while others wait → it is the first of them', async () => {
  const { platform, connection } = await startWith(1);
  submit(connection, readX);
  platform.tick();
  const old = platform.socket;
  old.receive([0, 'goaway', 30_000]);
  platform.advance(0);
  await welcome(platform, { limits: { ...LIMITS, maxInFlight: 1 } });
  for (let n = 0; n < 3; n++) submit(connection, readX);
  platform.tick();
  old.receive([1, 'fail', 'UNAVAILABLE', 'going']);
  for (const id of [2, 1, 3, 4]) {
    expect(sent(platform).at(-1)).toBe(id);
    platform.socket.receive([id, 'view', 1, 0, 'v']);
    platform.tick();
  }
});

test('more wait than there are places, and the connection is lost → on the next one the oldest go first', async () => {
  const { platform, connection } = await startWith(31);
  for (let n = 0; n < 40; n++) submit(connection, readX);
  platform.tick();
  await reconnect(platform, { limits: { ...LIMITS, maxInFlight: 31 } });
  expect(sent(platform)).toEqual(Array.from({ length: 31 }, (_, n) => n + 1));
});

test('a client that ends while operations wait → none of them is sent any more', async () => {
  const { platform, connection } = await startWith(1);
  const controller = new AbortController();
  const under = { view: () => 0, confirm: () => {}, fail: () => controller.abort() };
  connection.submit(readX, ['strong'], under, quietContext());
  const waiting = submit(connection, writeX);
  platform.tick();
  void connection.close();
  expect(await waiting.failure(0)).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  expect(sent(platform)).toEqual([1]);
});

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('read', 'write'), which: fc.constant(0) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('answer'), which: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel'), which: fc.nat(9) }) },
);

interface Asked {
  readonly id: number;
  readonly isRead: boolean;
  readonly controller: AbortController;
  isAnswered: boolean;
}

const crowded = (note: Note): fc.IRawProperty<unknown> =>
  fc.asyncProperty(
    fc.integer({ min: 1, max: 6 }),
    fc.array(step, { maxLength: 40 }),
    async (places, steps) => {
      const once = onceEach(note);
      const { platform, connection } = await startWith(places);
      const operations: Asked[] = [];
      const isSent = ({ id }: Asked): boolean => sent(platform).includes(id);
      const isCancelled = ({ controller }: Asked): boolean => controller.signal.aborted;
      const awaited = (): Asked[] =>
        operations.filter(
          (item) => isSent(item) && !item.isAnswered && !(item.isRead && isCancelled(item)),
        );
      for (const { do: description, which } of steps) {
        if (description === 'read' || description === 'write') {
          const controller = new AbortController();
          submit(
            connection,
            description === 'read' ? readX : writeX,
            quietContext({ signal: controller.signal }),
          );
          operations.push({
            id: operations.length + 1,
            isRead: description === 'read',
            controller,
            isAnswered: false,
          });
        } else if (description === 'cancel') {
          const element = operations.at(-1 - which);
          if (element !== undefined && !element.isAnswered && !isCancelled(element))
            once(isSent(element) ? 'cancelled in flight' : 'cancelled while it waits');
          element?.controller.abort();
        } else {
          const entry = awaited()[which];
          if (entry !== undefined) platform.socket.receive([entry.id, 'view', 1, 0, 'v']);
          if (entry !== undefined) entry.isAnswered = true;
        }
        // Until every signal has been looked at.
        platform.advance(50);
        platform.tick();
        const waiting = operations.filter((item) => !isSent(item) && !isCancelled(item));
        expect(awaited().length).toBeLessThanOrEqual(places);
        if (waiting.length > 0) expect(awaited()).toHaveLength(places);
        if (waiting.length > 0) once('a caller waits');
      }
    },
  );

test('asked, answered and cancelled in any order → nothing waits while there is a place, and no place is taken twice', async () => {
  await fc.assert(crowded(unnoted), { numRuns: scaleRuns(200) });
});

testShares(
  'what is asked, answered and cancelled → mostly more than there are places, and given up both before and after',
  async () => {
    const shares = await sharesOf(crowded, 100);
    expect(shares['a caller waits']).toBeGreaterThan(0.5);
    for (const description of ['cancelled in flight', 'cancelled while it waits']) {
      expect(shares[description], description).toBeGreaterThan(0.25);
    }
  },
);
