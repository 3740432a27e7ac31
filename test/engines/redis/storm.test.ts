/**
 * The causal store on real clusters that fail in the ways of the field, judged by the exact
 * checker; and the control, which shows that the load tears plain reads.
 */
import { expect, test, type TestContext } from 'vitest';
import { listDefaultFaults } from '../../chaos/redis/faults.ts';
import { hasTornReads } from '../../chaos/redis/cli.ts';
import { parseStormOptions, type StormOptions } from '../../chaos/redis/options.ts';
import { runStorm, type StormReport } from '../../chaos/redis/storm.ts';
import { lane } from '../../support/lane.ts';
import { reasonToSkip } from '../support/missing-tools.ts';

const READS = lane === 'nightly' ? '100000' : '10000';
const STORM_MS = lane === 'nightly' ? 3_600_000 : 600_000;

async function play(context: TestContext, ...flags: readonly string[]): Promise<StormReport> {
  const options = parseStormOptions(flags) as StormOptions;
  try {
    return await runStorm(options, (line) => void process.stderr.write(`${line}\n`));
  } catch (error) {
    return context.skip(reasonToSkip(error));
  }
}

test.for(['redis', 'valkey'] as const)(
  'keeps causality on %s through each fault',
  { timeout: STORM_MS },
  async (server, context) => {
    const report = await play(context, '--reads', READS, '--server', server);
    expect(report.faults).toEqual([]);
    expect(Object.keys(report.injected).toSorted()).toEqual(listDefaultFaults(server).toSorted());
    expect(report.reads).toBeGreaterThanOrEqual(Number(READS));
    // What cannot be judged must stay rare, or a green run shows nothing.
    expect(report.unplacedReads).toBeLessThan(report.reads / 100);
  },
);

test(
  'tears the reads of plain Redis under the same load',
  { timeout: STORM_MS },
  async (context) => {
    const report = await play(context, '--control', '--reads', READS);
    expect(hasTornReads(report)).toBe(true);
  },
);
