/**
 * Hostile servers: every state of a connection × everything that a server can do to it, on real sockets. Nothing ends the
 * process, every operation comes to an end with a true outcome, and nothing is left once the client is closed.
 */
import { WebSocket } from 'ws';
import { expect, test } from 'vitest';
import { exponentialBackoff, remote } from '../../src/bindings/remote/index.ts';
import { createClient } from '../../src/index.ts';
import { bump, count } from '../support/hostile/counting-store.ts';
import { within } from '../support/hostile/guard.ts';
import { HAPPENINGS, type Happening } from '../support/hostile/happenings.ts';
import { toldOf, untruth, type Told } from '../support/hostile/outcomes.ts';
import { ScriptedServer, SERVER_STAGES, type ServerStage } from '../support/hostile/scripted-server.ts';
import { problemsOf } from '../support/hostile/table.ts';
import { LEVELS } from '../support/wire.ts';

const TIMEOUT_MS = 1_500;
const HUNG_MS = 10_000;

async function runCase(stage: ServerStage, happening: Happening): Promise<string[]> {
  await using server = await ScriptedServer.start(stage, happening);
  const binding = remote({
    url: server.url,
    levels: LEVELS,
    WebSocket,
    codec: 'json',
    connectTimeoutMs: 200,
    heartbeatMs: 100,
    pongTimeoutMs: 100,
    reconnect: exponentialBackoff({ firstMs: 5, maxMs: 20 }),
  });
  const client = createClient(binding, { timeoutMs: TIMEOUT_MS });
  const problems: string[] = [];
  const updates = new Map<string, Promise<Told | undefined>>();
  const end = (operation: PromiseLike<unknown>): Promise<Told | undefined> =>
    within<Told | undefined>(toldOf(operation), HUNG_MS, undefined);
  const update = (mark: string): void => void updates.set(mark, end(client.invokeStrong(bump(mark))));
  update('first');
  const read = end(client.invoke(count('first')));
  await updates.get('first');
  update('second');
  // One stays under way while the client is closed.
  if ((await read) === undefined) problems.push('a read did not come to an end');
  await updates.get('second');
  update('last');
  const closed = await within(
    client.close().then(() => true),
    HUNG_MS,
    false,
  );
  if (!closed) problems.push('close did not come to an end');
  for (const [mark, told] of updates) {
    const problem = untruth(await told, server.timesOf(mark));
    if (problem !== undefined) problems.push(`${mark}: ${problem}`);
  }
  return problems;
}

test.each(Object.entries(SERVER_STAGES))(
  'wire: hostile server, %s → true outcomes, nothing is left',
  async (_, stage) => {
    expect(await problemsOf(HAPPENINGS, (happening) => runCase(stage, happening))).toEqual([]);
  },
  120_000,
);
