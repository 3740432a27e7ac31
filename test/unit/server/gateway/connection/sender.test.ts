/** Rows on their way out, to a socket that takes them when the test triggers it. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { jsonCodec } from '../../../../../src/protocol/codec/json-codec.ts';
import { Sender } from '../../../../../src/server/gateway/connection/sender.ts';
import type { FramePart } from '../../../../../src/server/gateway/connection/socket.ts';

const KIB = 1 << 10;
const STALL_MS = 1_000;

/** A socket that holds what it is given until it is drained, in parts. */
class SlowSocket {
  bufferedBytes = 0;
  readonly messages: string[] = [];
  /** Sizes of the frames that were announced. */
  readonly announced: number[] = [];
  /** Sizes of what it was given. */
  readonly parts: number[] = [];
  /** After how many bytes it was asked for a sign of life. */
  readonly pings: number[] = [];
  /** The last question. */
  asked = '';
  onPing = (): void => {};
  #given = 0;
  #unfinished = '';
  #held: { bytes: number; sent: (() => void) | undefined }[] = [];

  send(data: string | Uint8Array, part?: FramePart): void {
    const text = typeof data === 'string' ? data : Buffer.from(data).toString();
    const announced = /^\[\[(\d+),"incoming"\]\]$/.exec(text)?.[1];
    if (announced !== undefined) {
      this.announced.push(Number(announced));
      part?.onSent?.();
      return;
    }
    this.parts.push(text.length);
    this.#given += text.length;
    this.#unfinished += text;
    this.bufferedBytes += text.length;
    this.#held.push({ bytes: text.length, sent: part?.onSent.bind(part) });
    if (part?.isLast === false) return;
    this.messages.push(this.#unfinished);
    this.#unfinished = '';
  }

  ping(text: string): void {
    this.asked = text;
    this.pings.push(this.#given);
    this.onPing();
  }

  /** The peer takes one part. */
  drainOne(): boolean {
    const first = this.#held.shift();
    if (first === undefined) return false;
    this.bufferedBytes -= first.bytes;
    first.sent?.();
    return true;
  }
}

function start(stallTimeoutMs = STALL_MS, { windowBytes = Infinity, isAwaited = false } = {}) {
  const socket = new SlowSocket();
  const events: string[] = [];
  const sender = new Sender({
    codec: jsonCodec,
    socket,
    maxFrameBytes: 1 << 20,
    stallTimeoutMs,
    windowBytes,
    isAwaited: () => isAwaited,
    onMoved: () => events.push('moved'),
    onStalled: () => events.push('stalled'),
    onFailed: () => events.push('failed'),
  });
  const push = (kib: number, id = 1): void => {
    sender.push(jsonCodec.encodeMessage([id, 'view', 0, 0, 'x'.repeat(kib * KIB)]));
    sender.flush();
  };
  return { socket, events, sender, push };
}

/** Bytes between questions. */
const gapsOf = ({ pings }: SlowSocket): number[] => pings.map((at, n) => at - (pings[n - 1] ?? 0));

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('sender', () => {
  test('socket with room → every frame goes at once, whole', () => {
    const { socket, sender, push } = start();
    push(1);
    push(2);
    expect(socket.messages).toHaveLength(2);
    expect(sender.isBlocked).toBe(false);
  });

  test('large frame → announced with its size before it goes; a small one is not', () => {
    const { socket, push } = start();
    push(1);
    expect(socket.announced).toEqual([]);
    push(100);
    expect(socket.announced).toEqual([socket.messages[1]?.length]);
  });

  test('socket that is full → the rest waits, is counted, and follows in order as it drains', () => {
    const { socket, sender, push } = start();
    for (let id = 1; id <= 20; id++) push(100, id);
    expect(sender.isBlocked).toBe(true);
    expect(socket.bufferedBytes).toBeLessThan(400 * KIB);
    expect(sender.waitingBytes).toBeGreaterThan(20 * 100 * KIB);
    while (socket.drainOne());
    expect(socket.messages.map((text) => (JSON.parse(text) as number[][])[0]?.[0])).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
    expect([sender.isBlocked, sender.waitingBytes]).toEqual([false, 0]);
  });

  test('one frame of many times the window → in parts, whole at the other end', () => {
    const { socket, sender, push } = start();
    push(5_000);
    push(1, 2);
    expect(Math.max(...socket.parts)).toBeLessThanOrEqual(128 * KIB);
    while (socket.drainOne());
    expect(socket.messages.map((text) => (JSON.parse(text) as unknown[][])[0]?.[0])).toEqual([
      1, 2,
    ]);
    expect((JSON.parse(socket.messages[0] ?? '') as string[][])[0]?.[4]).toHaveLength(5_000 * KIB);
    expect(sender.waitingBytes).toBe(0);
  });

  test('rows that are no frame yet → counted too', () => {
    const { sender } = start();
    sender.push(jsonCodec.encodeMessage([1, 'view', 0, 0, 'x'.repeat(KIB)]));
    expect(sender.waitingBytes).toBeGreaterThan(KIB);
    sender.clear();
    expect(sender.waitingBytes).toBe(0);
  });

  test('peer that takes a part every now and then → gets everything, however long it takes', () => {
    const { socket, events, push } = start();
    push(3_000);
    do vi.advanceTimersByTime(STALL_MS - 1);
    while (socket.drainOne());
    expect(events).not.toContain('stalled');
    expect(socket.messages).toHaveLength(1);
  });

  test('system that takes nothing more, peer that shows that it still reads → goes on', () => {
    const { events, push, sender } = start();
    push(3_000);
    for (let n = 0; n < 5; n++) {
      vi.advanceTimersByTime(STALL_MS - 1);
      sender.onAlive();
    }
    expect(events).not.toContain('stalled');
    vi.advanceTimersByTime(STALL_MS + 1);
    expect(events).toContain('stalled');
  });

  test.each([
    ['one frame of many parts', 1, 1_000],
    ['many small frames', 1_000, 1],
  ])(
    '%s → a peer that answers is asked for a sign of life at least every 80 KiB',
    (_, frames, kib) => {
      const { socket, push, sender } = start();
      socket.onPing = () => sender.onAlive(socket.asked);
      for (let id = 1; id <= frames; id++) push(kib, id);
      while (socket.drainOne());
      expect(gapsOf(socket).length).toBeGreaterThan(10);
      expect(gapsOf(socket).length).toBeLessThan(20);
      expect(Math.max(...gapsOf(socket))).toBeLessThanOrEqual(80 * KIB);
    },
  );

  test('peer that answers late → asked so often at most that no client gives up, over some MiB', () => {
    const { socket, push, sender } = start();
    const drain = (kib: number): void => {
      push(kib);
      while (socket.drainOne());
    };
    drain(6_000);
    expect(socket.pings.length).toBeGreaterThan(40);
    expect(Math.max(...gapsOf(socket))).toBeLessThanOrEqual(320 * KIB);
    drain(20_000);
    expect(socket.pings).toHaveLength(48);
    expect(sender.isAwaitingPing).toBe(true);
    for (let n = 1; n <= 48; n++) {
      expect(sender.isAwaitingPing).toBe(true);
      sender.onAlive(String(n));
    }
    expect(sender.isAwaitingPing).toBe(false);
    drain(100);
    expect(socket.pings.length).toBeGreaterThan(48);
  });

  test.each([
    ['the last question', (socket: SlowSocket) => socket.asked],
    ['no ping, as a client that reports by itself that it is alive', () => ''],
    ['what was not asked', () => '1000'],
    ['nonsense', () => 'NaN'],
  ])('peer that answers %s → need not answer the ones before', (_, answerOf) => {
    const { socket, push, sender } = start();
    push(500);
    while (socket.drainOne());
    expect(socket.pings.length).toBeGreaterThan(5);
    sender.onAlive(answerOf(socket));
    expect(sender.isAwaitingPing).toBe(false);
  });

  test('peer that answers an earlier question → those after it are open, also if one before comes again', () => {
    const { socket, push, sender } = start();
    push(200);
    while (socket.drainOne());
    expect(socket.asked).toBe('3');
    sender.onAlive('2');
    sender.onAlive('1');
    expect(sender.isAwaitingPing).toBe(true);
    sender.onAlive('3');
    expect(sender.isAwaitingPing).toBe(false);
  });

  test.each([
    ['more than a small window', 16 * KIB, 20, false],
    ['any bytes while a caller waits for the end', Infinity, 1, true],
  ])('%s → reports when it has been sent', (_, windowBytes, kib, isAwaited) => {
    const { socket, events, push, sender } = start(STALL_MS, { windowBytes, isAwaited });
    push(kib);
    while (socket.drainOne());
    expect(events).toEqual(['moved']);
    expect(sender.waitingBytes).toBe(0);
  });

  test('sends rows that came in the meantime before it reports progress', () => {
    const { socket, events, push, sender } = start();
    push(200);
    sender.push(jsonCodec.encodeMessage([2, 'view', 0, 0, 'x']));
    while (events.length === 0) socket.drainOne();
    while (socket.drainOne());
    expect([socket.messages.length, sender.waitingBytes]).toEqual([2, 0]);
  });

  test('reports once that a peer took nothing for the stall time', () => {
    const { socket, events, push } = start();
    push(3_000);
    vi.advanceTimersByTime(STALL_MS / 2);
    socket.drainOne();
    vi.advanceTimersByTime(STALL_MS - 1);
    expect(events).toEqual(['moved']);
    vi.advanceTimersByTime(STALL_MS);
    expect(events).toEqual(['moved', 'stalled']);
  });

  test('nothing waits, or no limit → no timer', () => {
    const { push, socket } = start();
    push(3_000);
    while (socket.drainOne());
    expect(vi.getTimerCount()).toBe(0);
    start(Infinity).push(3_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
