/**
 * Visitors who come, read much, write little and leave without a word: what the gateway keeps for their return are
 * replies of a few bytes, so that is what it may hold.
 */
import { expect, test } from 'vitest';
import { Target } from '../fuzz/target.ts';
import { RawPeer } from '../support/hostile/raw-peer.ts';
import { encode, helloRow, submitRow, SUBPROTOCOLS, type CodecName } from '../support/hostile/rows.ts';
import { frame, OPCODE, upgradeRequest } from '../support/hostile/ws-frames.ts';
import { LEVELS } from '../support/wire.ts';

const VISITORS = 400;
const AT_ONCE = 8;
const READ_CHARACTERS = 300_000;
/** What one visitor that is gone may cost, everything about it taken together. */
const VISITOR_KB = 16;
/** What has nothing to do with how many there were. */
const SLACK_MB = 24;

async function visit(port: number, codec: CodecName, name: string): Promise<void> {
  const peer = await RawPeer.connect(port);
  const say = (...rows: (readonly unknown[])[]): void =>
    peer.write(frame(encode(rows, codec), { opcode: codec === 'json' ? OPCODE.text : OPCODE.binary, isMasked: true }));
  const answers = async (count: number): Promise<void> => {
    await peer.until(() => peer.rows.length >= count);
    expect(peer.rows.length).toBeGreaterThanOrEqual(count);
  };
  peer.write(upgradeRequest({ path: '/here', port, subprotocol: SUBPROTOCOLS[codec] }));
  await peer.until(() => peer.head.includes('\r\n\r\n'));
  say(helloRow({ client: name.padEnd(32, '-'), levels: LEVELS }));
  await answers(1);
  const args = { mark: name, size: READ_CHARACTERS };
  say(
    submitRow({ id: 1, name: 'count', effect: 'read', levels: 2, args }),
    submitRow({ id: 2, name: 'bump', effect: 'update', levels: 2, args: { mark: name } }),
  );
  await answers(3);
  peer.reset();
}

test.each(['msgpack', 'json'] as const)(
  'wire: visitors who leave, %s → the gateway holds no more than their replies',
  async (codec) => {
    await using target = await Target.start(new URL('../support/soak-target.ts', import.meta.url).href);
    const port = Number(new URL(target.urls['here'] as string).port);
    let visited = 0;
    const receive = async (until: number): Promise<void> => {
      const one = async (): Promise<void> => {
        while (visited < until) await visit(port, codec, `${codec}${visited++}`);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, one));
    };
    await receive(AT_ONCE * 4);
    const before = await target.measure();
    await receive(visited + VISITORS);
    let after = await target.measure();
    // Who has left may still be noticed.
    for (let i = 0; i < 500 && after?.measure.connections !== 0; i++) after = await target.measure();
    const grownMb = (after?.measure.memoryMb ?? Infinity) - (before?.measure.memoryMb ?? 0);
    expect(grownMb).toBeLessThan(SLACK_MB + (VISITORS * VISITOR_KB) / 1024);
    expect(after?.measure.connections).toBe(0);
  },
  120_000,
);
