/**
 * A binding, a hook or a codec makes a mistake where the gateway does not expect one, at each place
 * where the gateway guards itself: that connection is closed with a reason, the mistake is
 * reported, and nothing else comes of it.
 */
import { WebSocket } from 'ws';
import { afterEach, expect, test, vi } from 'vitest';
import { remote } from '../../src/bindings/remote/index.ts';
import { createClient } from '../../src/index.ts';
import { createGatewayWith, type Gateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../src/server/gateway/listen/listen.ts';
import { silentLogger } from '../../src/server/gateway/context/logger.ts';
import { bump, CountingStore } from '../support/hostile/counting-store.ts';
import {
  failEncoding,
  failFrame,
  Guard,
  INJECTED_FAILURE,
  principalFailing,
} from '../support/hostile/injected-failures.ts';
import { getCallOutcome, untruth } from '../support/hostile/outcomes.ts';
import { LEVELS, RawClient, type BoundedOptions } from '../support/wire.ts';

afterEach(() => vi.restoreAllMocks());

const UPDATE = [1, 'submit', 'bump', 'write', 2, { mark: 'm' }];
/** More than a frame can have. */
const ROWS_MAX = 330;
const ANN = { id: 'ann' };

/** Where the gateway stands when the mistake is made, who makes it, and how it comes to it. */
interface Case {
  readonly options?: () => BoundedOptions;
  readonly provoke: (client: RawClient, gateway: Gateway, store: CountingStore) => unknown;
}

/** The client connects, and then sends these rows. */
const sends =
  (...rows: unknown[]): Case['provoke'] =>
  async (client) => {
    await client.greet();
    client.send(...rows);
  };

const greets: Case['provoke'] = (client) =>
  client.opened().then(() => client.send([0, 'hello', RawClient.hello()]));

const CASES: Readonly<Record<string, Case>> = {
  'a row is received, its answer cannot be written': {
    provoke: async (client) => {
      await client.greet();
      failEncoding('pong', 'fail');
      client.send([1, 'ping']);
    },
  },
  'a hello is refused, the reason cannot be written': {
    provoke: async (client) => {
      await client.opened();
      failEncoding('fail');
      client.send([0, 'hello', { ...RawClient.hello(), levels: ['other'] }]);
    },
  },
  'a client is let in, its principal cannot be read any more': {
    options: () => ({ authenticate: () => principalFailing('id', 2) }),
    provoke: greets,
  },
  'a client is let in, the end of its token cannot be read any more': {
    options: () => ({ authenticate: () => principalFailing('expiresAt', 3) }),
    provoke: greets,
  },
  'a client is let in, the welcome cannot be written': {
    provoke: async (client) => {
      await client.opened();
      failEncoding('welcome', 'fail');
      client.send([0, 'hello', RawClient.hello()]);
    },
  },
  'an operation is submitted, the end of the token cannot be read any more': {
    options: () => ({ authenticate: () => principalFailing('expiresAt', 4) }),
    provoke: sends(UPDATE),
  },
  'a token is renewed, its principal cannot be read any more': {
    options: () => ({
      authenticate: (token) => (token === 'fresh' ? principalFailing('id', 2) : ANN),
    }),
    provoke: sends([0, 'renew', 'fresh']),
  },
  'an operation is refused late, the reason cannot be written': {
    options: () => ({ authorize: () => Promise.resolve(false) }),
    provoke: async (client) => {
      await client.greet();
      failEncoding('fail');
      client.send(UPDATE);
    },
  },
  'a view comes late, and neither it nor a failure can be written': {
    options: () => ({ binding: Object.assign(new CountingStore(), { delayMs: 1 }) }),
    provoke: async (client) => {
      await client.greet();
      failEncoding('view', 'fail');
      client.send(UPDATE);
    },
  },
  'what was collected is sent, the frame cannot be made': {
    provoke: async (client) => {
      await client.greet();
      failFrame();
      client.send([1, 'ping']);
    },
  },
  'many answers come late and fill a frame, that cannot be made': {
    provoke: async (client, _, store) => {
      await client.greet();
      store.manner = 'held';
      const marks = Array.from({ length: ROWS_MAX }, (_mark, i) => i + 1);
      client.send(...marks.map((id) => [id, 'submit', 'bump', 'write', 2, { mark: `m${id}` }]));
      await store.until(() => store.executed.size === ROWS_MAX);
      failFrame();
      store.release();
    },
  },
  'a connection is closed for another reason, its last message cannot be sent': {
    provoke: async (client) => {
      await client.greet();
      failFrame();
      client.send([1, 'ping'], [0, 'hello', RawClient.hello()]);
    },
  },
  'the server goes away, that cannot be written': {
    provoke: async (client, gateway) => {
      await client.greet();
      failEncoding('goaway', 'fail');
      return gateway.close({ drainMs: 60_000 });
    },
  },
};

/** Another client, whose codec makes no mistakes. */
async function honest(url: string, store: CountingStore): Promise<string | undefined> {
  await using client = createClient(remote({ url, levels: LEVELS, WebSocket, token: 'honest' }));
  const reported = await getCallOutcome(client.invokeStrong(bump('honest')));
  return (
    untruth(reported, store.timesOf('honest')) ??
    (reported.code === 'success' ? undefined : reported.message)
  );
}

test.each(Object.entries(CASES))(
  'wire: %s → that connection is closed, with a reason',
  async (_, value) => {
    using guard = new Guard();
    const reported: unknown[] = [];
    const logger = {
      ...silentLogger,
      error: (fields: object) => void reported.push((fields as { err?: unknown }).err),
    };
    const { bounds = {}, ...options } = value.options?.() ?? {};
    const binding = (options.binding ?? new CountingStore()) as CountingStore;
    const { authenticate, authorize } = options;
    const gateway = createGatewayWith(bounds, {
      logger,
      ...options,
      binding,
      // The mistakes of one client do not affect others.
      authenticate:
        authenticate && ((token, peer) => (token === 'honest' ? ANN : authenticate(token, peer))),
      authorize:
        authorize &&
        ((caller, description) =>
          JSON.stringify(description.args).includes('honest') || authorize(caller, description)),
    });
    const listener = await listenGateways({ sites: { here: gateway } });
    const url = listener.siteUrl('here');
    const client = new RawClient(url);
    let closed: object | undefined;
    void client.closed.then((how) => (closed = how));
    const provoked = Promise.resolve(value.provoke(client, gateway, binding));
    await expect.poll(() => closed ?? guard.fatal[0], { interval: 5 }).toBeDefined();
    expect(guard.fatal).toEqual([]);
    expect(closed).toEqual({ code: 1011, reason: 'the server made a mistake' });
    await provoked;
    vi.restoreAllMocks();
    expect(reported).toContain(INJECTED_FAILURE);
    if (gateway.status().state === 'serving') expect(await honest(url, binding)).toBeUndefined();
    await listener.close({ drainMs: 0 });
    expect(gateway.status()).toMatchObject({ connections: 0, inFlight: 0 });
    // An unhandled rejection may come after all is done.
    await new Promise(setImmediate);
    expect(guard.fatal).toEqual([]);
  },
);
