/**
 * Hostile clients: every state of a connection × everything that a client can do to it, on real sockets. Nothing ends
 * the process, nothing is left once the gateway is closed, others are served, and no update is executed twice.
 */
import { WebSocket } from 'ws';
import { describe, expect, test } from 'vitest';
import { remote } from '../../src/bindings/remote/index.ts';
import { createClient } from '../../src/index.ts';
import { bump } from '../support/hostile/counting-store.ts';
import { GATEWAY_STAGES, MARK, openStand, SERVERS, type Stage, type Stand } from '../support/hostile/gateway-stages.ts';
import { Guard, within } from '../support/hostile/guard.ts';
import { HAPPENINGS, type Happening } from '../support/hostile/happenings.ts';
import { toldOf, untruth } from '../support/hostile/outcomes.ts';
import { problemsOf } from '../support/hostile/table.ts';
import { frame, OPCODE } from '../support/hostile/ws-frames.ts';
import { LEVELS } from '../support/wire.ts';

const CLOSE_MS = 5_000;

/** Somebody else, who is served as if nothing had happened. */
async function honest({ store, listener }: Stand): Promise<string | undefined> {
  await using client = createClient(remote({ url: listener.siteUrl('here'), levels: LEVELS, WebSocket }));
  const told = await toldOf(client.invokeStrong(bump('honest'), { timeoutMs: CLOSE_MS }));
  const untrue = untruth(told, store.timesOf('honest'));
  return told.code === 'success' ? untrue : `an honest client was told ${told.code}: ${told.message}`;
}

async function runCase(reach: Stage, happening: Happening, whose: (typeof SERVERS)[number]): Promise<string[]> {
  const stand = await openStand(whose);
  const problems: (string | undefined)[] = [];
  const { peer, ...rest } = await reach(stand);
  await happening({ peer, ...rest });
  stand.admit();
  stand.store.release();
  if (stand.gateway.status().state === 'serving') problems.push(await honest(stand));
  const closed = await within(
    stand.close().then(() => true),
    CLOSE_MS,
    false,
  );
  if (!closed) problems.push('close did not come to an end');
  const { connections, inFlight } = stand.gateway.status();
  if (connections > 0 || inFlight > 0) problems.push(`${connections} connections, ${inFlight} operations under way`);
  if (stand.store.timesOf(MARK) > 1) problems.push(`executed ${stand.store.timesOf(MARK)} times`);
  peer.destroy();
  return problems.filter((problem) => problem !== undefined);
}

describe.each(SERVERS)('wire: hostile client at a server %s', (whose) => {
  test.each(Object.entries(GATEWAY_STAGES))(
    '%s → others are served, nothing is left',
    async (_, reach) => {
      expect(await problemsOf(HAPPENINGS, (happening) => runCase(reach, happening, whose))).toEqual([]);
    },
    120_000,
  );
});

test.each([
  ['text that is no UTF-8', frame(Buffer.of(0xff, 0xfe), { isMasked: true })],
  ['a close that is no UTF-8', frame(Buffer.of(3, 0xe8, 0xff), { opcode: OPCODE.close, isMasked: true })],
  ['a close with an illegal code', frame(Buffer.of(0, 1), { opcode: OPCODE.close, isMasked: true })],
])(
  'wire: %s and more behind much that is not read yet → that connection is closed, others are served',
  async (_, broken) => {
    using guard = new Guard();
    const stand = await openStand('of its own');
    const { peer } = await GATEWAY_STAGES['upgraded, no hello']!(stand);
    const whole = frame(Buffer.from('[]'), { isMasked: true });
    // What follows the first piece arrives in packets of its own while that is being read, frame by frame.
    for (const piece of [Buffer.concat(Array.from({ length: 500 }, () => whole)), broken, whole, broken, whole]) {
      peer.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await peer.until(() => peer.isEnded || guard.fatal.length > 0);
    expect(guard.fatal).toEqual([]);
    expect(await honest(stand)).toBeUndefined();
    peer.destroy();
    await stand.close();
  },
);
