/** Nodes of a cluster compare their rows over real links, while clients write. */
// @rule STO-39
import { expect, test, vi } from 'vitest';
import type { ClusterNode } from '../../../../../src/server/node/cluster/cluster-node.ts';
import { siteAt } from '../../../../support/origins.ts';
import { clusterContract } from '../../../../support/cluster-service.ts';
import { alarms, clientOf, createFiles, openAll } from './cluster-nodes.ts';

const { add, take } = clusterContract;
const TIMEOUT_MS = 60_000;

/** Writes at all nodes until something is so. */
async function writeUntil(nodes: readonly ClusterNode[], isSo: () => boolean): Promise<void> {
  const clients = nodes.map(clientOf);
  for (let round = 0; !isSo(); round += 1) {
    const operation = round % 5 === 0 ? take : add;
    for (const client of clients) await client.invoke(operation({ key: `k${round % 20}` }));
  }
}

test(
  'rows of one node are changed behind its back under load → all report them, and nothing before that',
  async () => {
    const nodes = (await openAll(await createFiles())) as [ClusterNode, ClusterNode, ClusterNode];
    const [, , c] = nodes;
    const countPasses = (): number[] => nodes.map(({ site }) => site.divergence.figures.passes);
    await writeUntil(nodes, () => Math.min(...countPasses()) >= 4);
    expect(alarms.filter(({ kind }) => kind === 'sites-diverged')).toEqual([]);
    expect(nodes.map(({ site }) => site.divergence.figures.diverged)).toEqual([0, 0, 0]);

    const stamp = { time: 1, site: siteAt(2), entry: siteAt(2), version: 1, seen: [] };
    const effect = { table: 'marks', key: 'k7', field: 'runs', action: 'add', value: 1 };
    c.site.driver.machine.state.store.apply(effect, stamp);
    const found = (): readonly string[] =>
      alarms
        .filter(({ kind, message }) => kind === 'sites-diverged' && message.includes("'k7'"))
        .map(({ site, peer }) => `${site} ${peer}`);
    await writeUntil(nodes, () => new Set(found()).size === 4);
    await vi.waitFor(() => expect(found().toSorted()).toEqual(['a c', 'b c', 'c a', 'c b']));
    const messages = alarms.filter(({ kind }) => kind === 'sites-diverged');
    for (const { message } of messages)
      expect(message).toContain('rows of table marks are not those of');
  },
  TIMEOUT_MS,
);
