/**
 * The case studies as a user runs them: figures that hold together, and an exit code for each
 * problem.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Report } from '../../research/case-studies/run.ts';
import { built } from '../support/programs.ts';
import { Program, root, runProgram } from '../support/run-program.ts';

const CASE = await built('research/case-studies/cli.ts');
const PAGE = await readFile(join(root, 'docs/research/case-studies.md'), 'utf8');
/** So little that it loads at once. */
const SMALL = ['--scale', '0.002'];

test('tpcw --headless --json → every interaction counted, blue and red, invariants looked at at every site', async () => {
  const args = [
    CASE,
    'tpcw',
    '--mix',
    'ordering',
    '--sites',
    '2',
    '--users',
    '4',
    '--think',
    '0',
    '--seconds',
    '2',
  ];
  const { code, stdout, stderr } = await runProgram([...args, ...SMALL, '--headless', '--json']);
  expect(code, stderr).toBe(0);
  expect(stdout.trim()).not.toContain('\n');
  const report = JSON.parse(stdout) as Report;
  expect(report).toMatchObject({
    study: 'tpcw',
    mix: 'ordering',
    sound: true,
    agree: true,
    failures: {},
    alarms: [],
  });
  const counts = Object.values(report.requests).map(
    ({ blue, red }) => (blue?.count ?? 0) + (red?.count ?? 0),
  );
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(report.interactions);
  const { shares, requests, audits, sites } = report;
  expect(shares.blue + shares.red).toBeCloseTo(1, 3);
  expect(shares.readOnly + shares.update).toBeCloseTo(1, 3);
  expect(requests['home']?.red).toBeNull();
  expect(requests['shoppingCart']?.red).toBeNull();
  // A red purchase crosses the 85 ms between the sites, from either of them; a blue one waits for
  // no other site.
  const { blue, red } = { blue: requests['home']?.blue, red: requests['buyConfirm']?.red };
  expect(red?.p50).toBeGreaterThanOrEqual(85);
  expect(blue?.p50).toBeLessThan(red?.p50 as number);
  expect(Object.keys(audits)).toEqual(['ue', 'uw']);
  expect(audits.ue).toEqual(audits.uw);
  expect(audits.ue?.rows).toBeGreaterThan(500);
  expect(Object.keys(sites).sort()).toEqual(['ue', 'uw']);
  expect(stderr).toContain('loaded 0.002');
});

test('interrupted → what was done until then, and a clean end', async () => {
  const args = ['tpcw', '--headless', '--json', '--sites', '1', '--seconds', '600', ...SMALL];
  using program = new Program([CASE, ...args]);
  // Sites started, data loaded: the users are at work.
  await program.waitForStderr(2);
  program.signal('SIGINT');
  const { code, stdout } = await program.ended();
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ sound: true });
});

test.each([
  [['tpch'], 'name a case study: tpcw'],
  [
    ['tpcw', '--headless', '--mix', 'bidding'],
    '--mix takes one of shopping, browsing, ordering, not "bidding"',
  ],
  [['tpcw', '--sites', '9'], '--sites takes an integer from 1 to 5'],
])('case-study %j → exit 2, and what is wrong', async (args, message) => {
  const { code, stdout, stderr } = await runProgram([CASE, ...args]);
  expect(stderr).toContain(message);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});

test('--help → the options, exit 0', async () => {
  const { code, stdout } = await runProgram([CASE, '--help']);
  expect(code).toBe(0);
  expect(stdout).toContain('--mix <name>');
});

describe('the commands of docs/research/case-studies.md', () => {
  const commands = [...PAGE.matchAll(/^npm run (case-study|label) -- (.+)$/gm)].map(
    ([, script, args]) => {
      return { script, args: (args as string).split(' ') };
    },
  );

  test('there are some of both', () => {
    expect(new Set(commands.map(({ script }) => script))).toEqual(new Set(['case-study', 'label']));
  });

  test.each(commands.filter(({ script }) => script === 'label'))(
    'label $args → exit 0',
    async ({ args }) => {
      const { code, stderr } = await runProgram([
        'dist/cli/main.js',
        'label',
        ...args,
        '--runs',
        '300',
      ]);
      expect(code, stderr).toBe(0);
    },
  );

  test.each(
    commands.filter(({ script, args }) => script === 'case-study' && args.includes('--headless')),
  )('case-study $args, for a second → exit 0', async ({ args }) => {
    const shorter = args
      .join(' ')
      .replace(/ --seconds \d+/, '')
      .split(' ');
    const { code, stderr } = await runProgram([CASE, ...shorter, '--seconds', '1', ...SMALL]);
    expect(code, stderr).toBe(0);
  });

  test.each(
    commands.filter(({ script, args }) => script === 'case-study' && !args.includes('--headless')),
  )('case-study $args → opens, and ends cleanly when interrupted', async ({ args }) => {
    using program = new Program([CASE, ...args, '--port', '0', ...SMALL]);
    const url = /http:\S+/.exec(await program.line())?.[0] as string;
    expect((await fetch(url)).status).toBe(200);
    program.signal('SIGINT');
    expect((await program.ended()).code).toBe(0);
  });
});
