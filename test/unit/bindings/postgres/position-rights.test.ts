/** A role that may not ask for the position gets that right while the process runs. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { postgres } from '../../../../src/bindings/postgres/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { get, put } from '../../../../src/operations/index.ts';

const refuse = (code: string): never => {
  throw Object.assign(new Error('no'), { code });
};

// @rule REPL-4
test.each(['42883', '42501', '0A000', '57014'])(
  'a write that was made is reported as made, also if the position after it fails with %s',
  async (code) => {
    let written = 0;
    const run = async (statements: readonly { text: string }[]) =>
      statements.map(({ text }) => {
        if (text.includes('position')) refuse(code);
        if (text.startsWith('insert')) written += 1;
        return { rows: [], rowCount: 1 };
      });
    const client = createClient(postgres({ primary: { run } }));
    onTestFinished(() => client.close());
    await client.invoke(put('k', 1));
    await client.invoke(put('k', 2), { session: client.session() });
    expect(written).toBe(2);
  },
);

// @rule REPL-11
test.each(['42883', '42501'])(
  'a statement of the application that fails with %s is no missing position',
  async (code) => {
    let isAllowed = false;
    const position = JSON.stringify({ system: '7', timeline: 1, lsn: '0/10' });
    const run = async (statements: readonly { text: string }[]) =>
      statements.map(({ text }) => {
        const asks = text.includes('position');
        if (!asks && /\bfrom\b/.test(text) && !isAllowed) refuse(code);
        return { rows: asks ? [{ position }] : [], rowCount: 1 };
      });
    const client = createClient(postgres({ primary: { run } }));
    onTestFinished(() => client.close());
    await expect(client.invoke(get('k'))).rejects.toMatchObject({ code: 'FINAL_FAILED' });
    isAllowed = true;
    expect((await client.invoke(get('k')).settle()).version).toMatchObject({ lsn: '0/10' });
  },
);

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
    return statements.map(({ text }) => ({
      rows: text.includes('position') ? [{ position }] : [],
      rowCount: 1,
    }));
  };
  const client = createClient(postgres({ primary: { run } }));
  const readVersion = async (): Promise<unknown> =>
    (await client.invoke(get('k')).settle()).version;
  expect(await readVersion()).toBeUndefined();
  isAllowed = true;
  expect(await readVersion()).toBeUndefined();
  nowMs += 30_000;
  expect(await readVersion()).toMatchObject({ lsn: '0/10' });
});
