/** A role that may not ask for the position gets that right while the process runs. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { postgres } from '../../../../src/bindings/postgres/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { get } from '../../../../src/operations/index.ts';

// @rule REPL-11
test('a server that refused to report its position is asked again after 30 seconds', async () => {
  let nowMs = 1_000;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => now.mockRestore());
  let isAllowed = false;
  const position = JSON.stringify({ system: '7', timeline: 1, lsn: '0/10' });
  const run = async (statements: readonly { text: string }[]) => {
    const asks = statements.some(({ text }) => text.includes('position'));
    if (asks && !isAllowed) throw Object.assign(new Error('permission denied'), { code: '42501' });
    return statements.map(({ text }) => ({ rows: text.includes('position') ? [{ position }] : [], rowCount: 1 }));
  };
  const client = createClient(postgres({ primary: { run } }));
  const readVersion = async (): Promise<unknown> => (await client.invoke(get('k')).settle()).version;
  expect(await readVersion()).toBeUndefined();
  isAllowed = true;
  expect(await readVersion()).toBeUndefined();
  nowMs += 30_000;
  expect(await readVersion()).toMatchObject({ lsn: '0/10' });
});
