/**
 * The headless sale as a user runs it: figures that hold together, and a history that matches them.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifySales, type Verdict } from '../../demo/tickets/verify/verify-sales.ts';
import type { Figures } from '../../demo/tickets/headless.ts';
import type { SaleEvent } from '../../demo/tickets/serve-customer.ts';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';
import { CLEAN_SALE } from '../support/clean-sale.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SHOP = await built('demo/tickets/cli.ts');

interface Ran {
  readonly figures: Figures;
  /** The lines of the history. */
  readonly history: readonly SaleEvent[];
  readonly stderr: string;
}

async function sell(...flags: readonly string[]): Promise<Ran> {
  const folder = temporaryFolder();
  const path = join(folder, 'history.jsonl');
  const { code, stdout, stderr } = await runProgram([
    SHOP,
    '--headless',
    '--json',
    ...flags,
    '--history',
    path,
  ]);
  expect(code, stderr).toBe(0);
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  return { figures: JSON.parse(stdout), history: lines.map((line) => JSON.parse(line)), stderr };
}

test('demo:tickets --headless --json → retailers at three sites: no ticket revoked, sold twice or lost', async () => {
  const { figures, history, stderr } = await sell('--tickets', '200');
  expect(figures).toMatchObject({
    ...CLEAN_SALE,
    tickets: 200,
    confirmed: 200,
    client: ['ireland', 'frankfurt', 'virginia', 'frankfurt'],
  });
  // How many get an early answer depends on how busy the machine is; on any machine, some do most
  // of the time.
  expect(figures.confirmedEarly).toBeGreaterThan(0);
  expect(figures.confirmedEarly + figures.heldBack).toBeGreaterThanOrEqual(150);
  expect(verifySales(history, { threshold: 20 })).toEqual(
    expect.objectContaining(judgedOf(figures)),
  );
  const kinds = new Set(history.map(({ kind }) => kind));
  expect(kinds).toEqual(new Set(['stocked', 'begun', 'preliminary', 'final', 'answered']));
  expect(stderr).toContain('sold out');
});

test('demo:tickets --stock rights --threshold 0 → all sold, no ticket revoked or sold twice, and most at once', async () => {
  const { figures, history } = await sell(
    '--stock',
    'rights',
    '--threshold',
    '0',
    '--tickets',
    '200',
  );
  expect(figures).toMatchObject({ ...CLEAN_SALE, stock: 'rights', tickets: 200, confirmed: 200 });
  expect(verifySales(history, { threshold: 0 })).toEqual(
    expect.objectContaining(judgedOf(figures)),
  );
  // By rights of its own a site answers without any other; how soon depends on how busy the machine
  // is.
  const finals = history.filter((line) => line.kind === 'final' && line.item !== null);
  const local = finals.filter((line) => 'level' in line && line.level === 'causal');
  expect(local.length).toBeGreaterThan(150);
});

/** The part of the figures that the judge has found. */
function judgedOf({
  tickets,
  confirmed,
  confirmedEarly,
  heldBack,
  revoked,
  lost,
  latencyMs,
}: Figures): Partial<Verdict> {
  return { tickets, confirmed, confirmedEarly, heldBack, revoked, lost, latencyMs };
}

test.each([
  ['more early yes than tickets', ['a', 'b'], [{ kind: 'failed', code: 'UNKNOWN' }]],
  ['a customer with an early yes, and nothing afterwards', ['a'], []],
])('verify:tickets: %s → exit code 1', async (_, customers, end) => {
  const folder = temporaryFolder();
  const path = join(folder, 'history.jsonl');
  const sale = customers.flatMap((operation) =>
    [{ kind: 'answered', answer: 'yes', early: true }, ...end].map((line) => ({
      operation,
      atMs: 1,
      ...line,
    })),
  );
  const lines = [{ kind: 'stocked', item: '#1', atMs: 0 }, ...sale].map((line) =>
    JSON.stringify(line),
  );
  await writeFile(path, lines.join('\n'));
  const { code, stdout } = await runProgram([await built('demo/tickets/verify/cli.ts'), path]);
  expect(code, stdout).toBe(1);
});
