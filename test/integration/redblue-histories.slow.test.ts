/** A short history of the backend as people serve it, under faults (`npm run histories -- redblue` runs long ones). */
import { expect, test } from 'vitest';
import { History } from '../histories/history.ts';
import { redblueHistories } from '../histories/redblue/index.ts';

const SEED = Number(process.env['HISTORIES_SEED'] ?? 25);
const LOAD_MS = 7_000;

test(`history: ${LOAD_MS / 1000} s of all kinds of operations under cuts, moves, kills and freezes (seed ${SEED}) → no fault`, async () => {
  using history = new History();
  const untilMs = performance.now() + LOAD_MS;
  const found = await redblueHistories.run({ untilMs, seed: SEED, history, progress: () => {} });
  expect(found.faults).toEqual([]);
  expect(found.serversAlive).toBe(true);
  // How far a busy machine gets in that time is unknown. Calls that were not made cannot be wrong.
  const done = new Set(history.calls.filter(({ outcome }) => outcome === 'success').map(({ kind }) => kind));
  for (const kind of ['note', 'deposit', 'withdraw', 'look', 'enqueue', 'claim']) expect([...done]).toContain(kind);
  expect(Object.values(found.injected).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
});
