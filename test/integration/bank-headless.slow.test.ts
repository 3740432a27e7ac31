/** The bank without its page, as a user runs it. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Figures } from '../../demo/bank/summary.ts';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const BANK = await built('demo/bank/cli.ts');
const VERIFY = await built('demo/bank/verify/cli.ts');

test.each(['1', '2'])(
  'demo:bank --headless --json --partitions %s → the total has not changed',
  async (partitions) => {
    const args = ['--headless', '--json', '--transfers', '20', '--partitions', partitions];
    const { code, stdout, stderr } = await runProgram([BANK, ...args]);
    expect(code, stderr).toBe(0);
    const figures = JSON.parse(stdout) as Figures;
    const { committed, refused, conflicts, unknown, takenBack, tentativeMs, strongMs } = figures;
    expect(committed + refused + conflicts + unknown).toBe(40);
    expect(figures).toMatchObject({
      ok: true,
      transfers: 40,
      unknown: 0,
      kills: { count: 0 },
      total: { before: 400, after: 400, changed: 0 },
    });
    expect(figures.total.reads).toBeGreaterThan(0);
    // How many of the five depends on how busy the machine is.
    expect(takenBack).toBeGreaterThan(0);
    expect(tentativeMs.p50).toBeLessThan(strongMs.p50 as number);
  },
);

test(
  'demo:bank --kill 2 → no transfer is lost or made twice, by the history too',
  { timeout: 180_000 },
  async () => {
    const history = join(temporaryFolder(), 'h.jsonl');
    const args = [
      '--headless',
      '--json',
      '--partitions',
      '2',
      '--transfers',
      '8',
      '--kill',
      '2',
      '--history',
      history,
    ];
    const { code, stdout, stderr } = await runProgram([BANK, ...args]);
    expect(code, stderr).toBe(0);
    const { transfers, total, kills, ...figures } = JSON.parse(stdout) as Figures;
    expect(figures).toMatchObject({
      ok: true,
      lost: 0,
      refusedButMade: 0,
      repeated: 0,
      mixedReads: 0,
      staleReads: 0,
    });
    expect(total).toMatchObject({ before: 400, after: 400, changed: 0 });
    expect(kills).toMatchObject({ count: 2, perSite: { virginia: 1, ireland: 1 } });
    expect(stderr).toMatch(
      /strong reads, and none of \d+ transfers was lost or made twice, while sites were killed 2 times/,
    );

    const verified = await runProgram([VERIFY, history]);
    expect(verified.code).toBe(0);
    expect({ transfers, total, ...figures }).toMatchObject(JSON.parse(verified.stdout) as object);

    const lines = (await readFile(history, 'utf8')).trimEnd().split('\n');
    const [confirmed] = lines.filter((line) => line.includes('"confirmed"'));
    const { id } = JSON.parse(confirmed as string) as { readonly id: string };
    const changed = lines.map((line) =>
      line.includes(`"found","id":"${id}"`)
        ? JSON.stringify({ kind: 'found', id, row: null, atMs: 0 })
        : line,
    );
    await writeFile(history, changed.join('\n'));
    const judged = await runProgram([VERIFY, history]);
    expect({ code: judged.code, verdict: JSON.parse(judged.stdout) as Figures }).toMatchObject({
      code: 1,
      verdict: { ok: false, lost: 1 },
    });
  },
);

test('demo:bank --history in a directory that is missing → reported before the run', async () => {
  const { code, stderr } = await runProgram([
    BANK,
    '--headless',
    '--history',
    join(temporaryFolder(), 'no', 'h.jsonl'),
  ]);
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^demo:bank: --history: ENOENT/),
  });
});

test.each([
  [[], 2, 'name the file of a history'],
  [['no.jsonl'], 1, 'Write one first: npm run demo:bank -- --headless --history no.jsonl'],
])('verify:bank %j → the error says what to do', async (args, code, message) => {
  expect(await runProgram([VERIFY, ...args])).toMatchObject({
    code,
    stderr: expect.stringContaining(message),
  });
});

test('demo:bank --figures → the balances of the figures of the RedBlue paper', async () => {
  const { code, stdout } = await runProgram([BANK, '--figures']);
  expect(code).toBe(0);
  expect(stdout).toContain('126.00 in Europe, 125.00 in the United States');
  expect(stdout).toContain('-5.00 in Europe, -5.00 in the United States');
});

test.each([
  [['--transfers', '0'], '--transfers takes an integer from 1'],
  [['--delays', 'long'], '--delays takes one of slow, measured'],
  [['--kill', '3'], '--kill is for --headless: add it'],
  [['--headless', '--kill', '0'], '--kill takes an integer from 1'],
  [
    ['--headless', '--kill', '3', '--delays', 'slow'],
    '--kill runs with the measured delays: leave out --delays',
  ],
  [['--tellers', '3'], 'unknown option --tellers'],
])('demo:bank %j → exit 2, and what is wrong', async (args, message) => {
  const { code, stderr } = await runProgram([BANK, ...args]);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});
