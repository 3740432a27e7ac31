/**
 * Bytes that a principal, and all together, may have under way or kept; and what small things must
 * not keep.
 */
import { describe, expect, test } from 'vitest';
import { msgpackCodec } from '../../../../../src/protocol/codec/msgpack-codec.ts';
import { createGatewayWith, type Gateway } from '../../../../../src/server/gateway/gateway.ts';
import {
  ConfirmableViews,
  isConfirmable,
} from '../../../../../src/server/gateway/operations/confirmable-views.ts';
import type {
  ByteBudget,
  InternalLimits,
  GatewayLimits,
} from '../../../../../src/server/gateway/limits/limits.ts';
import { Sender } from '../../../../../src/server/gateway/connection/sender.ts';
import { BOUNDLESS, RawClient, StoreDouble } from '../../../../support/wire.ts';
import { SocketByHand, turn } from '../listen/raw-socket.ts';

const KB = 1_000;

interface Shop {
  readonly gateway: Gateway;
  readonly store: StoreDouble;
  /** A connection of a client of a principal. */
  join(principal: string, client?: string): Promise<Visitor>;
}

/** A client on its connection. */
class Visitor {
  readonly socket = new SocketByHand();
  #id = 0;

  /**
   * Submits what travels in about so many bytes; the code that it is refused with, and why, or the
   * kind of the answer.
   */
  async submit(bytes: number, access: 'read' | 'write' = 'write'): Promise<string | undefined> {
    const id = ++this.#id;
    this.socket.say([
      id,
      'submit',
      access === 'read' ? 'get' : 'put',
      access,
      2,
      'x'.repeat(bytes),
    ]);
    await turn();
    const row = this.socket.rows.find(([item]) => item === id);
    return row?.[1] === 'fail'
      ? `${String(row[2])} ${String(row[3])}`
      : (row?.[1] as string | undefined);
  }

  leave(): void {
    this.socket.terminate();
  }
}

function open(bounds: Partial<InternalLimits>, { authenticated = true } = {}): Shop {
  const store = new StoreDouble();
  const authenticate = (token: string | undefined): { id: string } => ({ id: String(token) });
  const gateway = createGatewayWith(bounds, {
    binding: store,
    ...(authenticated && { authenticate }),
  });
  const join = async (token: string, client = token): Promise<Visitor> => {
    const visitor = new Visitor();
    gateway.accept(visitor.socket, { remoteAddress: '::1', origin: undefined });
    visitor.socket.say([
      0,
      'hello',
      { ...RawClient.hello(), token, client: client.padEnd(32, '0') },
    ]);
    await turn();
    return visitor;
  };
  return { gateway, store, join };
}

const budget = (of: Partial<ByteBudget>): Partial<InternalLimits> => ({
  budget: { ...BOUNDLESS, ...of },
});

const named = (limit: keyof GatewayLimits, description = ''): unknown =>
  expect.stringMatching(
    new RegExp(
      `^OVERLOADED limits\\.${limit}: at most \\d+ .*${description}; nothing was done: .{10}`,
    ),
  );
const OF_PRINCIPAL = named('maxMemoryBytes', 'of all clients of this principal');
const OF_ALL = named('maxMemoryBytes', 'of all clients');

describe('bytes of requests in flight', () => {
  test('of one principal over several connections → refused by name; another one is served', async () => {
    const { gateway, store, join } = open(budget({ principal: 10 * KB }));
    const [first, second, other] = [
      await join('ada', 'a1'),
      await join('ada', 'a2'),
      await join('bob'),
    ];
    expect(await first.submit(6 * KB)).toBeUndefined();
    expect(await second.submit(6 * KB)).toEqual(OF_PRINCIPAL);
    expect(await other.submit(6 * KB)).toBeUndefined();
    expect(gateway.status().inFlightBytes).toBeGreaterThan(12 * KB);
    store.submitted[0]?.sink.view('v', 'strong');
    expect(await second.submit(6 * KB)).toBeUndefined();
    for (const { sink } of store.submitted.slice(1)) sink.view('v', 'strong');
    expect(gateway.status()).toMatchObject({ inFlight: 0, inFlightBytes: 0, overloaded: 1 });
  });

  test('of connections that are gone → count for their principal until the store has ended them', async () => {
    const { store, join } = open(budget({ principal: 10 * KB }));
    const first = await join('ada', 'a1');
    expect(await first.submit(6 * KB)).toBeUndefined();
    first.leave();
    const second = await join('ada', 'a2');
    expect(await second.submit(6 * KB)).toEqual(OF_PRINCIPAL);
    store.submitted[0]?.sink.view('v', 'strong');
    expect(await second.submit(6 * KB)).toBeUndefined();
  });

  test('of all → who takes much is refused, and there is room for who has little in flight', async () => {
    const { gateway, join } = open(budget({ total: 44 * KB, share: 2 * KB }));
    const greedy = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => join(name)));
    const answers: (string | undefined)[] = [];
    for (const item of greedy) answers.push(await item.submit(7 * KB));
    expect(answers.slice(0, 4)).toEqual([undefined, undefined, undefined, undefined]);
    expect(answers.slice(4)).toEqual([OF_ALL, OF_ALL]);
    expect(await (await join('small')).submit(500)).toBeUndefined();
    expect(gateway.status().inFlightBytes).toBeLessThanOrEqual(44 * KB);
  });

  test('a frame that is larger than may be in flight → served while there is nothing else', async () => {
    const { join } = open(budget({ principal: 100, total: 100 }));
    const [ada, bob] = [await join('ada'), await join('bob')];
    expect(await ada.submit(6 * KB, 'read')).toBeUndefined();
    expect(await bob.submit(6 * KB, 'read')).toEqual(OF_ALL);
  });
});

describe('bytes of replies', () => {
  const answered = (bounds: Partial<InternalLimits>, value = {}): Shop => {
    const shop = open(bounds, value);
    shop.store.answer = ({ sink }) => sink.view('r'.repeat(4 * KB), 'strong');
    return shop;
  };

  test('of one principal, whatever its clients are called → refused by name; another one is served', async () => {
    const { gateway, join } = answered(budget({ principal: 12 * KB }));
    const clients = await Promise.all(
      ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'].map((client) => join('ada', client)),
    );
    const answers: (string | undefined)[] = [];
    for (const client of clients) answers.push(await client.submit(10));
    expect(answers.slice(0, 2)).toEqual(['view', 'view']);
    expect(answers.at(-1)).toEqual(OF_PRINCIPAL);
    expect(gateway.status().replyBytes).toBeLessThan(14 * KB);
    expect(await (await join('bob')).submit(10)).toBe('view');
    clients[0]?.socket.say([1, 'ack']);
    expect(await clients.at(-1)?.submit(10)).toBe('view');
  });

  test('a principal exceeds its bytes → only its own disconnected clients are forgotten', async () => {
    const { gateway, join } = answered(budget({ principal: 20 * KB }));
    const bob = await join('bob');
    expect(await bob.submit(10)).toBe('view');
    bob.leave();
    for (let n = 0; n < 50; n += 1) {
      const visitor = await join('ada', `a${n}`);
      expect(await visitor.submit(10)).toBe('view');
      visitor.leave();
    }
    expect(gateway.status().replyBytes).toBeLessThan(30 * KB);
    const back = await join('bob');
    back.socket.say([1, 'submit', 'put', 'write', 2, 'again']);
    await turn();
    expect(back.socket.rows.at(-1)?.[4]).toBe('r'.repeat(4 * KB));
  });
});

test.each([
  ['maxInFlight', { maxInFlight: 1 }, 'operations in flight on this connection'],
  ['maxMemoryBytes', budget({ client: 1_000 }), 'bytes of requests in flight of this client'],
  [
    'maxOperationsPerSecond',
    { maxOperationsPerSecond: 1 },
    'operations a second of this principal',
  ],
] as const)(
  '%s reached → OVERLOADED names the limit and how to continue',
  async (limit, bounds, description) => {
    const { join } = open(bounds);
    const ada = await join('ada');
    await ada.submit(10);
    await ada.submit(10);
    expect(await ada.submit(10)).toEqual(named(limit, description));
  },
);

test('operations a second without authenticate → each connection has its own', async () => {
  const { join } = open({ maxOperationsPerSecond: 1 }, { authenticated: false });
  const [first, second] = [await join('', 'a1'), await join('', 'a2')];
  expect([await first.submit(10), await second.submit(10)]).toEqual([undefined, undefined]);
  expect(await first.submit(10)).toEqual(
    named('maxOperationsPerSecond', 'operations a second on this connection'),
  );
});

describe('what is small and kept', () => {
  const hold = (views: ConfirmableViews, text: string): void => {
    const value = msgpackCodec.encodeValue(text);
    views.set({
      seq: 0,
      level: 0,
      value,
      details: undefined,
      sentSeq: 0,
      sentDetails: undefined,
      bytes: 0,
    });
  };

  test('views that may be confirmed, of very many operations → apart from the rest of their blocks', () => {
    const all = Array.from({ length: 20 }, (_, n) => {
      const views = new ConfirmableViews();
      hold(views, `seat ${n}`);
      return views;
    });
    const retained = all.map((views) => {
      const view = views.get(0);
      return isConfirmable(view) && typeof view.value !== 'string'
        ? view.value.buffer.byteLength
        : 0;
    });
    expect(Math.max(...retained)).toBeLessThan(20);
  });

  test('frames for a client that reads slowly → each in memory of its own', () => {
    const value: Uint8Array[] = [];
    const socket = {
      bufferedBytes: 0,
      ping: () => {},
      send: (data: string | Uint8Array) => {
        value.push(data as Uint8Array);
        socket.bufferedBytes += data.length;
      },
    };
    const sender = new Sender({
      codec: msgpackCodec,
      socket,
      maxFrameBytes: 1 << 20,
      stallTimeoutMs: Infinity,
      windowBytes: 8 * KB,
      isAwaited: () => false,
      onMoved: () => {},
      onStalled: () => {},
      onFailed: () => {},
    });
    for (let n = 0; n < 400; n += 1) {
      sender.push(msgpackCodec.encodeMessage([n, 'view', 0, 0, 'x'.repeat(30)]));
      sender.flush();
    }
    const shared = value.filter((frame) => frame.buffer.byteLength > frame.length);
    expect(shared.reduce((bytes, frame) => bytes + frame.length, 0)).toBeLessThan(5 * KB);
    expect(value.length - shared.length).toBeGreaterThan(50);
  });
});
