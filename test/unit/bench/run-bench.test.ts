/** What a benchmark ends with. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { limitTime, reported, type GoalResult } from '../../../bench/harness/goals.ts';
import { provenance } from '../../../bench/harness/provenance.ts';
import { runBench } from '../../../bench/run-bench.ts';

const notified: string[] = [];
beforeEach(() => {
  notified.length = 0;
  vi.spyOn(console, 'error').mockImplementation((text: string) => notified.push(text));
  vi.spyOn(console, 'log').mockImplementation((text: string) => notified.push(text));
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => vi.restoreAllMocks());

const FLAGS = {
  quick: true,
  json: true,
  binding: undefined,
  way: undefined,
  history: undefined,
  connections: undefined,
  beside: undefined,
};

const ended = (bars: readonly GoalResult[]): Promise<number> =>
  runBench(
    {
      name: 'shelf',
      about: 'nothing',
      run: async () => ({ rounds: 1, rows: [{ contender: 'a' }], bars, samples: [] }),
    },
    FLAGS,
  );

test('a missed floor → exit code 1, and its name is printed; the report is printed all the same', async () => {
  expect(await ended([limitTime('weight', 2, { floor: 1 }), reported('height', 3)])).toBe(1);
  expect(notified.join('\n')).toContain('shelf: floor missed: weight = 2 (2 to 2), 1 has to hold');
  expect(notified.join('\n')).toContain('"height"');
});

test('a missed aim, and a floor that holds → 0', async () => {
  expect(
    await ended([limitTime('weight', 2, { aim: 1 }), limitTime('width', 2, { floor: 3 })]),
  ).toBe(0);
});

test('the report has the promised fields; its origin is recorded before the measurement', async () => {
  const before = provenance();
  const [rounds, rows, bars] = [
    6,
    [{ contender: 'a' }],
    [limitTime('weight', 1, { floor: 2, aim: 1 })],
  ];
  await runBench(
    {
      name: 'shelf',
      about: 'nothing',
      run: async () => {
        // From here on the origin can no longer be found out.
        vi.stubEnv('GIT_DIR', '/nowhere');
        return { rounds, rows, bars, versions: { redis: '7' }, flags: ['--flag'], samples: [] };
      },
    },
    FLAGS,
  );
  vi.unstubAllEnvs();
  const { date, machine, command, commit, versions } = before;
  const from = {
    date,
    machine,
    command,
    commit,
    versions: { ...versions, redis: '7' },
    flags: ['--flag'],
  };
  expect(notified.map((text) => JSON.parse(text) as unknown)).toEqual([
    {
      bench: 'shelf',
      ...from,
      rounds,
      rows,
      bars: [
        {
          name: 'weight',
          value: 1,
          low: 1,
          high: 1,
          samples: null,
          unit: 'ratio',
          floor: 2,
          aim: 1,
          verdict: 'met',
        },
      ],
    },
  ]);
});
