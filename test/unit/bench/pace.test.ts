/** What `pace` says of a change, and of a directory that it cannot compare with. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { estimate } from '../../../bench/harness/goals.ts';
import { core } from '../../../bench/core/bench.ts';
import { crowd } from '../../../bench/crowd/bench.ts';
import { pace } from '../../../bench/pace/bench.ts';
import { computeGoalResults, describeChange } from '../../../bench/pace/goals.ts';
import { redblueOverhead } from '../../../bench/redblue-overhead/bench.ts';
import { rows } from '../../../bench/rows/bench.ts';
import { server } from '../../../bench/server/bench.ts';
import { wire } from '../../../bench/wire/bench.ts';

const settings = {
  quick: true,
  binding: undefined,
  way: undefined,
  history: undefined,
  connections: undefined,
  beside: undefined,
  progress: () => {},
};

test.each([
  { ratios: [1.04, 1.05, 1.06, 1.07, 1.05, 1.05, 1.05], change: 'slower', verdict: 'missed' },
  { ratios: [0.9, 0.91, 0.92, 0.9, 0.9, 0.9, 0.9], change: 'faster', verdict: 'met' },
  { ratios: [0.99, 1, 1.01, 1, 1, 1, 1.02], change: 'unchanged', verdict: 'met' },
  { ratios: [0.9, 1.1, 1, 1, 1.1, 0.9, 1.1], change: 'undecided', verdict: 'undecided' },
  { ratios: [1.2], change: 'undecided', verdict: 'undecided' },
])(
  'processor times of $ratios times the other commit are $change',
  ({ ratios, change, verdict }) => {
    const ratio = estimate(ratios, 1);
    expect(describeChange(ratio)).toBe(change);
    expect(computeGoalResults(new Map([['site-blue', ratio]]))).toMatchObject([
      { verdict, floor: 1.03 },
    ]);
  },
);

test('pace needs a checkout to compare with', async () => {
  await expect(pace.run(settings)).rejects.toThrow('--beside DIR');
});

test.each([pace, server, redblueOverhead, wire, core, crowd, rows])(
  '$name refuses a directory that is no built checkout',
  async (bench) => {
    const beside = mkdtempSync(join(tmpdir(), 'no-checkout-'));
    try {
      expect(bench.takes).toContain('beside');
      await expect(bench.run({ ...settings, beside })).rejects.toThrow(
        '--beside must be a built checkout',
      );
    } finally {
      rmSync(beside, { recursive: true });
    }
  },
);
