/**
 * The headless contests as a user runs them: figures that hold together, and a history that matches
 * them.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Figures } from '../../demo/shared/speculation/headless.ts';
import { count } from '../../demo/shared/speculation/report.ts';
import type { HistoryLine } from '../../demo/shared/speculation/request.ts';
import { built } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ADS = await built('demo/ad-server/cli.ts');
const TIMELINES = await built('demo/twissandra/cli.ts');
const SMALL = ['--headless', '--json', '--scale', '0.005', '--seconds', '3', '--workload', 'A'];

const PERFORMANCE = ['avgMs', 'p50Ms', 'p95Ms', 'p99Ms', 'opsPerSec', 'opsPerSecByBusyTime'];

test.each([
  ['demo:ads', ADS, { profiles: 500, ads: 1150 }],
  ['demo:twissandra', TIMELINES, { timelines: 110, tweets: 325 }],
])(
  '%s --headless --json → faster with speculation, no wrong delivery, and the history matches',
  async (...row) => {
    const [, program, sizes] = row;
    const folder = temporaryFolder();
    const path = join(folder, 'history.jsonl');
    const { code, stdout, stderr } = await runProgram([program, ...SMALL, '--history', path]);
    expect(code, stderr).toBe(0);
    const figures = JSON.parse(stdout) as Figures;
    expect(figures).toMatchObject({
      binding: 'redblue',
      ...sizes,
      workload: 'A',
      wrongDeliveries: 0,
    });
    expect(Object.keys(figures.baseline)).toEqual(PERFORMANCE);
    expect(Object.keys(figures.correctable)).toEqual(PERFORMANCE);

    const { P, F, t, possibleReduction, latencyReduction, baseline, correctable } = figures;
    expect(P).toBeLessThan(F);
    expect(possibleReduction).toBeCloseTo(1 - Math.max(F, P + t) / (F + t), 3);
    expect(baseline.avgMs).toBeCloseTo(F + t, 1);
    expect(latencyReduction).toBeCloseTo(1 - correctable.avgMs / baseline.avgMs, 3);
    expect(figures.throughputChange).toBeCloseTo(correctable.opsPerSec / baseline.opsPerSec - 1, 3);
    expect(latencyReduction).toBeGreaterThan(0);

    const history = (await readFile(path, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as HistoryLine);
    const { divergence, wrongDeliveries } = figures;
    expect(count(history)).toEqual({ divergence, wrongDeliveries });
    expect(new Set(history.map(({ kind }) => kind))).toEqual(
      new Set(['preliminary', 'final', 'delivered']),
    );
    expect(Object.keys(history[0] ?? {})).toEqual(['request', 'user', 'kind', 'ads', 'atMs']);
    expect(stderr).toContain('loading');
  },
);
