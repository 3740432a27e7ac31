/** Many reads over one connection: what leaves together, what waits, and whose answer is whose. */
import { describe, expect, test } from 'vitest';
import { ScriptedNode } from './scripted-node.ts';
import { answer, type Heard, open, VIEWS } from './reads.ts';

describe('pipelining', () => {
  test('reads of one tick → one chunk; answered in any order', async () => {
    const streams: number[] = [];
    await using node = await ScriptedNode.start({ onExecute: answer });
    await using opened = await open(node.address);
    await opened.read().over;
    const [peer] = node.peers;
    const before = peer!.chunks;
    node.onExecute = ({ stream }, item) => {
      streams.push(stream);
      if (streams.length < 100) return;
      for (const at of streams.toReversed()) item.rows(at, [String(at)]);
    };
    const reads = await Promise.all(Array.from({ length: 100 }, () => opened.read().over));
    expect(peer!.chunks - before).toBe(1);
    expect(new Set(streams).size).toBe(100);
    expect(reads).toEqual(streams.map((at) => [`final ${at}`]));
  });

  test('a preliminary view → its number is not given to others before the final one', async () => {
    const streams: number[] = [];
    await using node = await ScriptedNode.start({ onExecute: answer });
    await using opened = await open(node.address);
    await opened.read().over;
    node.onExecute = ({ stream }, peer) => {
      streams.push(stream);
      peer.rows(stream, ['a'], { icg: 1 });
    };
    const [first, second] = [opened.read(), opened.read()];
    await Promise.all([first.until(1), second.until(1)]);
    const third = opened.read();
    await third.until(1);
    const [item, two, three] = streams as [number, number, number];
    expect(new Set(streams).size).toBe(3);
    for (const stream of [two, three, item]) node.peers[0]!.confirm(stream);
    await Promise.all([first.over, second.over, third.over]);
    const fourth = opened.read();
    await fourth.until(1);
    expect(streams[3]).toBe(item);
  });

  test('more than may be in flight → the rest waits, then more is refused', async () => {
    const retained: number[] = [];
    await using node = await ScriptedNode.start({ onExecute: answer });
    await using opened = await open(node.address, { maxInFlight: 2, maxReads: 5 });
    await opened.read().over;
    node.onExecute = ({ stream }) => retained.push(stream);
    const reads = Array.from({ length: 5 }, () => opened.read().over);
    expect(await opened.read().over).toEqual(['fail OVERLOADED']);
    await node.until(() => retained.length === 2);
    node.onExecute = ({ stream }, peer) => peer.rows(stream, ['b']);
    for (const stream of retained) node.peers[0]!.rows(stream, ['b']);
    expect(await Promise.all(reads)).toEqual(reads.map(() => ['final b']));
    expect(opened.plain.requests).toEqual([]);
  });

  test('a node that does not read → requests wait here, and all are answered once it does', async () => {
    const parameters = [{ name: 'v', type: { code: 0x0d, type: null } }];
    await using node = await ScriptedNode.start({ onExecute: answer, parameters });
    await using opened = await open(node.address);
    await opened.read({ params: [''] }).over;
    node.peers[0]!.socket.pause();
    const large = 'x'.repeat(1024 * 1024);
    const reads: Heard[] = [];
    for (let n = 0; n < 30; n += 1) {
      reads.push(opened.read({ params: [large] }));
      // One tick each: what the socket has not taken is known before the next.
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { sent } = opened.path.bytes;
    expect(sent).toBeLessThan(20 * large.length);
    node.peers[0]!.socket.resume();
    expect(await Promise.all(reads.map(({ over }) => over))).toEqual(reads.map(() => VIEWS));
    expect(opened.path.bytes.sent).toBeGreaterThan(30 * large.length);
  });
});
