/** A write in a session, on a connection some of whose statements fail. */
import { EventEmitter } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import type { DriverQuery, DriverResult } from '../../../../src/bindings/postgres/driver.ts';
import { postgres } from '../../../../src/bindings/postgres/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { enqueue, get } from '../../../../src/operations/index.ts';

const position = JSON.stringify({ system: '7', timeline: 1, lsn: '0/10', flushed: '0/10' });

/** Opens a session that has seen a position. `fail` may refuse statements after that. */
async function openSession() {
  const world = { inserts: 0, fail: (_text: string): string | undefined => undefined };
  const query = async ({ text }: DriverQuery): Promise<DriverResult> => {
    const code = world.fail(text);
    if (code !== undefined) throw Object.assign(new Error('no'), { code });
    if (text.startsWith('insert')) world.inserts += 1;
    return {
      rows: text.includes('as position') ? [{ position, in_recovery: 'false' }] : [],
      rowCount: 1,
    };
  };
  const connect = async () =>
    Object.assign(new EventEmitter(), { query, getTypeParser: () => String, release: () => {} });
  const pool = Object.assign(new EventEmitter(), {
    options: { pipeline: true, max: 2 },
    totalCount: 1,
    idleCount: 1,
    waitingCount: 0,
    connect,
    query: async () => {},
    end: async () => {},
  });
  const client = createClient(postgres({ primary: pool as never }));
  onTestFinished(() => client.close());
  const session = client.session();
  await client.invoke(get('k'), { session });
  return { world, add: () => client.invoke(enqueue('q', 1), { session }) };
}

// @rule REPL-4
test('a write that was committed is made once, although the position after it was removed', async () => {
  const { world, add } = await openSession();
  world.fail = (text) => (text.includes('as position') ? '26000' : undefined);
  await add();
  expect(world.inserts).toBe(1);
});

// @rule REPL-4
test('a write whose transaction did not begin may have been made by itself', async () => {
  const { world, add } = await openSession();
  world.fail = (text) => (text === 'begin' ? '57014' : undefined);
  await expect(add()).rejects.toMatchObject({ code: 'UNKNOWN', retryable: false });
  expect(world.inserts).toBe(1);
});
