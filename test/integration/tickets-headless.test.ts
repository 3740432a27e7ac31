/** The headless sale as a user runs it: figures that hold together, and a history that says the same. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { count } from '../../demo/tickets/report.ts';
import type { Figures } from '../../demo/tickets/headless.ts';
import type { SaleEvent } from '../../demo/tickets/serve-customer.ts';
import { runProgram } from '../support/run-program.ts';

const SHOP = ['--import', 'tsx', 'demo/tickets/cli.ts'];

test('demo:tickets --headless --json → nothing oversold, most told early, the history says the same', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tickets-'));
  const path = join(folder, 'history.jsonl');
  const { code, stdout, stderr } = await runProgram([
    ...SHOP,
    '--headless',
    '--json',
    '--tickets',
    '120',
    '--history',
    path,
  ]);
  expect(code, stderr).toBe(0);
  const figures = JSON.parse(stdout) as Figures;
  const { confirmed, confirmedEarly, revoked, oversold, duplicates } = figures;
  expect({ sold: confirmed - revoked, revoked, oversold, duplicates }).toEqual({
    sold: 120,
    revoked: 0,
    oversold: 0,
    duplicates: 0,
  });
  expect(confirmedEarly).toBeGreaterThanOrEqual(90);
  expect(figures.latencyMs.purchaseAbove.p50).toBeLessThan((figures.baseline.purchase.p50 as number) / 4);

  const history = (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as SaleEvent);
  expect(count(history, 120)).toEqual({ confirmed, confirmedEarly, revoked, oversold, duplicates });
  expect(new Set(history.map(({ kind }) => kind))).toEqual(new Set(['preliminary', 'final', 'told']));
  expect(stderr).toContain('sold out');
  await rm(folder, { recursive: true });
});

test('demo:tickets: a flag that makes no sense → exit code 2 and the flag named', async () => {
  const { code, stderr } = await runProgram([...SHOP, '--headless', '--client', 'mars']);
  expect(code).toBe(2);
  expect(stderr).toContain('--client takes one of irl, frk, vrg');
});
