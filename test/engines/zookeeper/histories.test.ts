/**
 * A short run of `npm run histories -- zookeeper`: every kind of fault, and nothing that cannot be.
 */
import { expect, test } from 'vitest';
import { History } from '../../histories/history.ts';
import { zookeeperHistories } from '../../histories/zookeeper/index.ts';
import { withZooKeeperTools } from '../support/zookeeper.ts';

withZooKeeperTools();

const RUN_MS = 15_000;
const SEED = 24;

test('histories: shops, cuts, moves, deaths, a seed → all reported outcomes are possible', async () => {
  using history = new History();
  const reported: string[] = [];
  const progress = (line: string): void => void reported.push(line);
  const untilMs = performance.now() + RUN_MS;
  const report = await zookeeperHistories.run({ untilMs, seed: SEED, history, progress });
  expect(report.faults, reported.join('\n')).toEqual([]);
  expect(report.serversAlive).toBe(true);
  for (const kind of ['enqueue', 'dequeue', 'get', 'put', 'length', 'delete queue']) {
    expect(report.operations[kind], kind).toBeGreaterThan(0);
  }
  for (const kind of ['moves', 'deaths', 'closings', 'sell-outs'])
    expect(report.injected[kind], kind).toBeGreaterThan(0);
});
