/**
 * The ad server and the timelines on a real Cassandra: unchanged application code, each of the
 * three ways. What is delivered is what the final references name, and changes are seen.
 */
import { expect, test } from 'vitest';
import { deployAds } from '../../demo/ad-server/deploy.ts';
import { runAbComparison } from '../../demo/shared/speculation/ab-comparison.ts';
import type { Deploy, Deployment } from '../../demo/shared/speculation/headless.ts';
import { compare } from '../../demo/shared/speculation/report.ts';
import { carryOut, type HistoryLine } from '../../demo/shared/speculation/request.ts';
import { WAYS } from '../../demo/shared/options.ts';
import { deployTimelines } from '../../demo/twissandra/deploy.ts';
import { isShort, withCassandra } from './support/cassandra.ts';

const run = withCassandra();

const APPLICATIONS: readonly [string, Deploy][] = [
  ['ads', deployAds],
  ['timelines', deployTimelines],
];
// A short run tries the way with a coordinator that gives preliminary views.
const TRIED = WAYS.filter((way) => !isShort || way === 3);
const CASES = APPLICATIONS.flatMap(([name, deploy]) =>
  TRIED.map((way) => [name, way, deploy] as const),
);

async function deployed(deploy: Deploy, way: (typeof WAYS)[number]): Promise<Deployment> {
  const { cluster } = run;
  const cassandra = { way, coordinator: 'frankfurt', readQuorum: 2 } as const;
  return deploy(
    { scale: 0.001, seed: 1, client: 'ireland', wan: 'paper', cassandra, cluster },
    () => {},
  );
}

/** What a request of a user delivered, and the views before. */
async function served(
  { application }: Deployment,
  user: number,
): Promise<Record<HistoryLine['kind'], readonly string[]>> {
  const lines: Omit<HistoryLine, 'atMs'>[] = [];
  await carryOut({
    application,
    way: 'correctable',
    user,
    request: 'one',
    onLine: (line) => lines.push(line),
  });
  const of = (kind: HistoryLine['kind']): readonly string[] =>
    lines.find((line) => line.kind === kind)?.ads ?? [];
  return { preliminary: of('preliminary'), final: of('final'), delivered: of('delivered') };
}

test.each(CASES)(
  '%s, way %i → nothing wrong delivered, preliminary views seen, changes as well',
  async (_name, way, deploy) => {
    const deployment = await deployed(deploy, way);
    const contest = await runAbComparison({
      ...deployment,
      workload: 'A',
      seconds: 2,
      workers: 4,
      seed: 1,
      warmUpPairs: 0,
    });
    expect(compare(contest).wrongDeliveries).toBe(0);
    const kinds = new Set(contest.history.map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(['preliminary', 'final', 'delivered']));

    const before = await served(deployment, 0);
    expect(before.delivered.length).toBeGreaterThan(0);
    expect(before.delivered).toEqual(before.final);
    await deployment.application.change(0, () => 0.5);
    const after = await served(deployment, 0);
    expect(after.delivered).not.toEqual(before.delivered);
    expect(after.delivered).toEqual(after.final);
    await deployment.close();
  },
);
