/** What becomes of reads when a node, or the way to it, fails: every fault once, by script. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OPCODE } from '../../../../src/research/cassandra-icg/protocol.ts';
import { responseFrame } from './bodies.ts';
import { ScriptedNode, type Peer, type Script } from './scripted-node.ts';
import { answer, open, type Opened, PLAIN_VIEWS, VIEWS } from './reads.ts';

/** Reads until the node answers again: the connection is opened again by itself. */
async function readsWayThree(opened: Opened): Promise<void> {
  let reported: readonly string[];
  do {
    reported = await opened.read().over;
    await new Promise((resolve) => setTimeout(resolve, 1));
  } while (reported.join() !== VIEWS.join());
}

describe('a connection that is lost', () => {
  test('after the preliminary view → the final view the plain way', async () => {
    await using node = await ScriptedNode.start({
      onExecute({ stream }, peer) {
        peer.rows(stream, ['a'], { icg: 1 });
        peer.socket.end();
      },
    });
    await using opened = await open(node.address);
    expect(await opened.read().over).toEqual(['preliminary a', 'final plain']);
    expect(opened.plain.requests).toEqual([
      { consistency: 'QUORUM', preliminaryConsistency: undefined },
    ]);
  });

  test('before any view → both views the plain way; later ones incrementally again', async () => {
    await using node = await ScriptedNode.start({ onExecute: (_request, peer) => peer.cut() });
    await using opened = await open(node.address);
    expect(await opened.read().over).toEqual(PLAIN_VIEWS);
    expect(await opened.read().over).toEqual(PLAIN_VIEWS);
    node.onExecute = answer;
    await readsWayThree(opened);
  });

  test('a restart of the node → statements are prepared again, reads go on', async () => {
    const first = await ScriptedNode.start({ onExecute: answer });
    const { port } = first;
    await using opened = await open(first.address);
    await opened.read().over;
    await first.stop();
    expect(await opened.read().over).toEqual(PLAIN_VIEWS);
    let isPrepared = false;
    await using second = await ScriptedNode.start({
      port,
      onRequest({ opcode }) {
        isPrepared ||= opcode === OPCODE.prepare;
        return false;
      },
      onExecute(request, peer) {
        if (isPrepared) answer(request, peer);
        else peer.error(request.stream, 0x2500, Buffer.of(0, 1, 7));
      },
    });
    await readsWayThree(opened);
    expect(second.count(OPCODE.prepare)).toBe(1);
  });

  test('a node that comes back without preliminary replies → the plain way', async () => {
    const first = await ScriptedNode.start({ onExecute: answer });
    const { port } = first;
    await using opened = await open(first.address);
    await first.stop();
    await using second = await ScriptedNode.start({ port, isCorrectable: false });
    await second.until(() => second.count(OPCODE.options) > 0);
    expect(await opened.read().over).toEqual(PLAIN_VIEWS);
    expect(second.count(OPCODE.execute)).toBe(0);
  });

  test('an answer to nothing, a frame too long, nonsense → the connection is replaced, no read is lost', async () => {
    const rubbish: Script[] = [
      (_request, peer) => peer.rows(77, ['a']),
      ({ stream }, peer) => peer.rows(stream, ['x'.repeat(3_000)]),
      (_request, peer) => peer.send(Buffer.from('This is no frame at all')),
      ({ stream }, peer) => peer.reply(stream, OPCODE.startup),
    ];
    await using node = await ScriptedNode.start();
    await using opened = await open(node.address, { maxFrameBytes: 2_000 });
    for (const script of rubbish) {
      const peers = node.peers.length;
      node.onExecute = script;
      const reads = [opened.read(), opened.read()];
      const heard = await Promise.all(reads.map(({ over }) => over));
      // A read that got nonsense fails; a read that only shared the connection does not.
      for (const reported of heard)
        expect([['fail PROTOCOL'], PLAIN_VIEWS]).toContainEqual(reported);
      expect(heard).toContainEqual(PLAIN_VIEWS);
      node.onExecute = answer;
      await readsWayThree(opened);
      expect(node.peers.length).toBeGreaterThan(peers);
    }
  });

  test('any bytes of a node → every read ends, nothing is uncaught', async () => {
    // Most runs wait for a time to be over, which several nodes do side by side.
    await Promise.all(Array.from({ length: 4 }, () => anyBytes(10)));
  });

  async function anyBytes(numRuns: number): Promise<void> {
    let nonsense: Uint8Array = new Uint8Array();
    await using node = await ScriptedNode.start();
    // What looks like the start of a frame swallows the answers that follow, until there are enough
    // of them.
    const settings = { requestTimeoutMs: 100 };
    await using opened = await open(node.address, {
      maxFrameBytes: 500,
      maxSilenceMs: 60,
      maxReconnectDelayMs: 5,
      settings,
    });
    const likely = fc
      .tuple(
        fc.constantFrom(0, 2, 8),
        fc.constantFrom(0, 4, 8, 12),
        fc.uint8Array({ maxLength: 80 }),
      )
      .map(([opcode, flags, body]) => responseFrame({ stream: 0, opcode, flags, body }));
    const bytes = fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 80 }), likely);
    await fc.assert(
      fc.asyncProperty(bytes, async (sent) => {
        nonsense = sent;
        node.onExecute = (_request, peer) => peer.send(Buffer.from(nonsense));
        const heard = opened.read();
        await heard.over;
        expect(heard.events.at(-1)).toMatch(/^(final|confirm|fail)/);
        node.onExecute = answer;
        await readsWayThree(opened);
      }),
      { numRuns, endOnFailure: true },
    );
  }
});

describe('a node that sends nothing', () => {
  test('frozen → noticed by its silence, reads go the plain way', async () => {
    await using node = await ScriptedNode.start({ onExecute: answer });
    await using opened = await open(node.address, { maxSilenceMs: 120 });
    await opened.read().over;
    node.onRequest = () => true;
    expect(await opened.read().over).toEqual(PLAIN_VIEWS);
  });

  test('idle → asked for a word, and kept', async () => {
    await using node = await ScriptedNode.start({ onExecute: answer });
    await using opened = await open(node.address, { maxSilenceMs: 60 });
    await node.until(() => node.count(OPCODE.options) >= 5);
    expect(await opened.read().over).toEqual(VIEWS);
    expect(node.peers.length).toBe(1);
  });

  test('one answer to PREPARE is lost → the statement is asked for again, within the read and after it', async () => {
    let lost: { stream: number; peer: Peer } | undefined;
    await using node = await ScriptedNode.start({
      onExecute: answer,
      onRequest({ opcode, stream }, peer) {
        if (opcode !== OPCODE.prepare || lost !== undefined) return false;
        lost = { stream, peer };
        return true;
      },
    });
    await using opened = await open(node.address, { settings: { requestTimeoutMs: 400 } });
    expect(await opened.read().over).toEqual(VIEWS);
    expect(await opened.read().over).toEqual(VIEWS);
    expect(node.count(OPCODE.prepare)).toBe(2);
    // Late, but an answer: the number of the request is free for others again.
    lost?.peer.reply(lost.stream, OPCODE.error, Buffer.from([0, 0, 0, 0, 0, 0]));
    expect(await opened.read().over).toEqual(VIEWS);
    expect(node.peers.length).toBe(1);
  });

  test('slow with one read only → TIMEOUT; its late reply has no effect, its number is used again', async () => {
    const late: number[] = [];
    await using node = await ScriptedNode.start({ onExecute: answer });
    await using opened = await open(node.address, { settings: { requestTimeoutMs: 200 } });
    await opened.read().over;
    node.onExecute = ({ stream }, peer) => {
      late.push(stream);
      peer.rows(stream, ['a'], { icg: 1 });
    };
    const slow = opened.read();
    expect(await slow.over).toEqual(['preliminary a', 'fail TIMEOUT']);
    node.onExecute = answer;
    expect(await opened.read().over).toEqual(VIEWS);
    node.peers[0]!.confirm(late[0]!);
    // Answers come in order: after the next read the late one has been taken.
    expect(await opened.read().over).toEqual(VIEWS);
    expect(slow.events.length).toBe(2);
    node.onExecute = ({ stream }) => late.push(stream);
    opened.read();
    opened.read();
    await node.until(() => late.length === 3);
    expect(late.slice(1)).toContain(late[0]);
    expect(node.peers.length).toBe(1);
  });

  test('slow with all reads → the connection is replaced before its numbers run out', async () => {
    await using node = await ScriptedNode.start({ onExecute: answer });
    await using opened = await open(node.address, { settings: { requestTimeoutMs: 150 } });
    await opened.read().over;
    node.onExecute = () => {};
    const reads = Array.from({ length: 300 }, () => opened.read().over);
    const ends = new Set((await Promise.all(reads)).map((reported) => reported.at(-1)));
    // Those that were still waiting when the connection was given up went the plain way, in time or
    // not.
    expect([...ends].every((end) => end === 'fail TIMEOUT' || end === 'final plain')).toBe(true);
    node.onExecute = answer;
    await readsWayThree(opened);
    expect(node.peers.length).toBe(2);
  });
});

describe('closing', () => {
  test('reads in flight, waiting and later → CLOSED; the node sees the end; the plain way stays open', async () => {
    await using node = await ScriptedNode.start({ onExecute: answer });
    const opened = await open(node.address, { maxInFlight: 2 });
    await opened.read().over;
    node.onExecute = ({ stream }, peer) => peer.rows(stream, ['a'], { icg: 1 });
    const reads = [opened.read(), opened.read(), opened.read()];
    await reads[0]!.until(1);
    await Promise.all([opened.path.close(), opened.path.close()]);
    await Promise.all(reads.map(({ over }) => over));
    expect(reads.map(({ events: reported }) => reported.at(-1))).toEqual([
      'fail CLOSED',
      'fail CLOSED',
      'fail CLOSED',
    ]);
    expect(await opened.read().over).toEqual(['fail CLOSED']);
    await node.until(({ peers }) => peers.every(({ socket }) => socket.destroyed));
    expect(opened.plain.isClosed).toBe(false);
    expect(node.peers.length).toBe(1);
  });

  test('a node that does not let go → closed all the same', async () => {
    await using node = await ScriptedNode.start();
    const opened = await open(node.address);
    node.peers[0]!.socket.pause();
    await opened.path.close();
  });

  test('between two connections → no more are made', async () => {
    await using node = await ScriptedNode.start();
    const opened = await open(node.address, { initialReconnectDelayMs: 20 });
    node.peers[0]!.cut();
    expect(await opened.read().over).toBeDefined();
    await opened.path.close();
    const { length } = node.peers;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(node.peers.length).toBe(length);
  });
});
