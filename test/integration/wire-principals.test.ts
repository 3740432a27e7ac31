/**
 * Several users, one after the other, on one client of a real gateway: each operation is served as
 * its submitter.
 */
import { WebSocket } from 'ws';
import { expect, onTestFinished, test } from 'vitest';
import { memory } from '../../src/bindings/memory/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import { createClient, isCorrectableError } from '../../src/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import type { Authenticate, Authorize } from '../../src/server/gateway/context/gateway-context.ts';
import { listenGateways, type GatewayListener } from '../../src/server/gateway/listen/listen.ts';
import { LEVELS } from '../support/wire.ts';

const authenticate: Authenticate = (token = '') => ({ id: token });
/** Ann and the boss have a record each. */
const authorize: Authorize = ({ id }, { key }) => key === id;

/** What comes of an operation: its value, or the code of its error. */
async function outcomeOf(operation: PromiseLike<unknown>): Promise<unknown> {
  try {
    return await operation;
  } catch (error) {
    return isCorrectableError(error) ? error.code : error;
  }
}

/** A store with a record of each user, and a page that reaches it once it listens. */
async function setUp() {
  const store = memory({ delaysMs: { weak: 0, strong: 1 }, lagMs: 0 });
  const owner = createClient(store);
  for (const user of ['ann', 'boss']) await owner.invoke(put(user, `${user}'s`));
  const listen = (port = 0): Promise<GatewayListener> =>
    listenGateways({
      sites: { s: createGateway({ binding: store, authenticate, authorize }) },
      port,
    });
  let listener = await listen();
  const url = listener.siteUrl('s');
  onTestFinished(() => listener.close({ drainMs: 0 }));
  const page = { user: 'ann' };
  return {
    url,
    page,
    owner,
    stop: () => listener.close({ drainMs: 0 }),
    start: async () => {
      listener = await listen(Number(new URL(url).port));
    },
    token: () => page.user,
    principal: () => page.user,
  };
}

test('operations of one user that waited while there was no gateway → not done for the user who signs in meanwhile', async () => {
  const { url, page, owner, stop, start, token, principal } = await setUp();
  await stop();
  const client = createClient(remote({ url, levels: LEVELS, WebSocket, token, principal }));
  const queued = [
    outcomeOf(client.invoke(get('boss'))),
    outcomeOf(client.invoke(put('boss', 'ann was here'))),
  ];
  page.user = 'boss';
  await start();
  expect(await Promise.all(queued)).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
  expect(await client.invoke(get('boss'))).toBe("boss's");
  expect(await owner.invoke(get('boss'))).toBe("boss's");
  await client.close();
});

test('signing in and out on one open client → each reads what is theirs, nothing of the other', async () => {
  const { url, page, token, principal } = await setUp();
  const states: string[] = [];
  const onStateChange = (state: string): number => states.push(state);
  const client = createClient(
    remote({ url, levels: LEVELS, WebSocket, token, principal, onStateChange }),
  );
  for (const user of ['ann', 'boss', 'ann', 'boss']) {
    page.user = user;
    const [own, other] = [
      client.invoke(get(user)),
      outcomeOf(client.invoke(get(user === 'ann' ? 'boss' : 'ann'))),
    ];
    expect([await own, await other]).toEqual([`${user}'s`, 'FORBIDDEN']);
  }
  expect(states.filter((state) => state === 'open')).toHaveLength(4);
  await client.close();
});
