/**
 * Clients that read slowly, or not at all, over real sockets: slow ones get everything, and none
 * can fill the memory.
 */
import { describe, expect, test } from 'vitest';
import { RawClient, startGateway } from '../../../../support/wire.ts';

const MIB = 1 << 20;
const READ = ['get', 'read', 2, { key: 'x' }];
const UPDATE = ['put', 'write', 2, { key: 'x' }];

describe('slow reader', () => {
  test.each([
    [3, 8 * MIB],
    [6, 6 * MIB],
    [20, MIB],
  ])('%i views of %i bytes at once → all arrive, on one connection', async (count, bytes) => {
    await using server = await startGateway();
    const text = 'x'.repeat(bytes);
    server.store.answer = ({ sink }) => setImmediate(() => sink.view(text, 'strong'));
    await using client = await RawClient.greeted(server.url);
    client.send(...Array.from({ length: count }, (_, n) => [n + 1, 'submit', ...READ]));
    for (let n = 1; n <= count; n++) {
      const [id, kind, , , value] = await client.row();
      expect([id, kind, (value as string).length]).toEqual([n, 'view', bytes]);
    }
  });

  test.each([1, 100, 16 << 10])(
    'a send buffer of %i bytes → all is answered, however much waits at times',
    async (max) => {
      await using server = await startGateway({ bounds: { maxSendBufferBytes: max } });
      server.store.answer = ({ operation, sink }) => {
        sink.view(operation.args === null ? 'x'.repeat(70_000) : 'small', 'strong');
      };
      await using client = await RawClient.greeted(server.url);
      for (let round = 0; round < 3; round++) {
        const first = round * 20 + 1;
        const args = (n: number) => (n % 7 === 0 ? null : 'small');
        client.send(
          ...Array.from({ length: 20 }, (_, n) => [first + n, 'submit', 'get', 'read', 2, args(n)]),
        );
        const answered = new Set<unknown>();
        while (answered.size < 20) answered.add((await client.row())[0]);
      }
    },
  );

  test('reader that pauses again and again, longer than the heartbeat → all arrive', async () => {
    const [heartbeatIntervalMs, pauseMs] = [50, 120];
    await using server = await startGateway({
      bounds: { heartbeatIntervalMs, stallTimeoutMs: 10_000 },
    });
    const text = 'x'.repeat(4 * MIB);
    server.store.answer = ({ sink }) => setImmediate(() => sink.view(text, 'strong'));
    await using client = await RawClient.greeted(server.url);
    client.socket.pause();
    client.send(...Array.from({ length: 6 }, (_, n) => [n + 1, 'submit', ...READ]));
    const got: unknown[] = [];
    const isReading = (): boolean =>
      got.length < 6 && client.socket.readyState === client.socket.OPEN;
    const read = async (): Promise<void> => {
      while (got.length < 6) got.push((await client.row())[0]);
    };
    const pauseAgainAndAgain = async (): Promise<void> => {
      for (let pauses = 0; isReading(); pauses++) {
        await new Promise((resolve) => setTimeout(resolve, pauses < 5 ? pauseMs : 0));
        client.socket.resume();
        await new Promise(setImmediate);
        if (isReading()) client.socket.pause();
      }
    };
    await Promise.all([read(), pauseAgainAndAgain()]);
    expect(got).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('reader that answers the last of several pings alone, as the websocket lets it → not cut when it is idle', async () => {
    await using server = await startGateway({ limits: { heartbeatIntervalMs: 150 } });
    await using client = new RawClient(server.url, { autoPong: false });
    let pings = 0;
    let last: Buffer | undefined;
    const answerLast = (): void => {
      client.socket.pong(last);
      last = undefined;
    };
    client.socket.on('ping', (requested: Buffer) => {
      pings++;
      if (last === undefined) setTimeout(answerLast, 10);
      last = requested;
    });
    await client.greet();
    client.send([1, 'submit', ...READ]);
    (await server.store.next()).sink.view('x'.repeat(MIB), 'strong');
    await client.row();
    const pingsBefore = pings;
    expect(pingsBefore).toBeGreaterThan(5);
    await expect.poll(() => pings, { timeout: 5_000 }).toBeGreaterThan(pingsBefore + 3);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
  });

  test('takes nothing for the time, then reads again → finds the reason for which it was closed', async () => {
    let cut = (): void => {};
    const wasCut = new Promise<void>((resolve) => (cut = resolve));
    const logger = { debug: () => {}, info: () => {}, warn: () => cut(), error: () => {} };
    await using server = await startGateway({ bounds: { stallTimeoutMs: 300 }, logger });
    const text = 'x'.repeat(8 * MIB);
    server.store.answer = ({ sink }) => setImmediate(() => sink.view(text, 'strong'));
    await using client = await RawClient.greeted(server.url);
    client.socket.pause();
    client.send(...Array.from({ length: 3 }, (_, n) => [n + 1, 'submit', ...READ]));
    await wasCut;
    client.socket.resume();
    expect((await client.closed).code).toBe(4429);
  });

  test('asks for the same reply over and over without reading → what waits is bounded, all is answered once it reads', async () => {
    await using server = await startGateway({ bounds: { maxSendBufferBytes: MIB } });
    server.store.answer = ({ sink }) => sink.view('x'.repeat(100_000), 'strong');
    await using client = await RawClient.greeted(server.url);
    client.send([1, 'submit', ...UPDATE]);
    await client.row();
    const before = process.memoryUsage().arrayBuffers;
    client.socket.pause();
    const repetitions = 1_000;
    for (let n = 0; n < 10; n++) {
      client.send(...Array.from({ length: repetitions / 10 }, () => [1, 'submit', ...UPDATE]));
    }
    // Served after all of that has been read, as far as it is read at all.
    for (let n = 0; n < 3; n++) {
      await using _other = await RawClient.greeted(server.url, {
        client: 'b'.repeat(32),
        attempt: n + 1,
      });
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40 * MIB);
    client.socket.resume();
    for (let n = 0; n < repetitions; n++)
      expect((await client.row()).slice(0, 4)).toEqual([1, 'view', 1, 0]);
  });

  test('submits on and on without reading → OVERLOADED, then not read from', async () => {
    await using server = await startGateway({ bounds: { maxSendBufferBytes: 100_000 } });
    server.store.answer = ({ sink }) => sink.view('x'.repeat(50_000), 'strong');
    await using client = await RawClient.greeted(server.url);
    client.send(...Array.from({ length: 200 }, (_, n) => [n + 1, 'submit', ...READ]));
    const codes = new Map<unknown, number>();
    for (let n = 0; n < 200; n++) {
      const row = await client.row();
      const description = row[1] === 'fail' ? row[2] : row[1];
      codes.set(description, (codes.get(description) ?? 0) + 1);
    }
    expect([...codes.keys()]).toEqual(['view', 'OVERLOADED']);
    expect(codes.get('view')).toBeLessThan(10);
  });
});
