/**
 * The page of metrics names each metric of a site, a link and a red log, and no other. Those of
 * gateways are compared in test/integration/wire-http.test.ts.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  createLinkMetrics,
  createRedLogMetrics,
  createRedOrderMetric,
  createRefusedMetric,
  createSiteMetrics,
} from '../../src/server/site-metrics.ts';
import type { SiteFigures } from '../../src/server/node/site-figures.ts';

const page = readFileSync(
  new URL('../../docs/operate/metrics-and-alarms.md', import.meta.url),
  'utf8',
);

/** Only names are compared, so no figure is read. */
const unread = (): never => {
  throw new Error('no figure is read here');
};

function createAll(partitions: SiteFigures['partitions']) {
  return [
    ...createSiteMetrics({
      sites: ['here'],
      getFigures: () => ({ partitions }) as SiteFigures,
    }),
    ...createLinkMetrics('here', unread),
    createRefusedMetric('here', unread),
    createRedOrderMetric('here', unread),
    ...createRedLogMetrics('here', () => ({ engine: 'etcd' })),
  ];
}

test('metrics: the lists of the page have the names of all metrics, and no other', () => {
  const metrics = [
    ...createAll(undefined),
    ...createAll({ names: [], logs: [], standingHolds: [] }),
  ];
  const names = metrics.map(({ kind, name }) => (kind === 'summary' ? `${name}_sum` : name));
  const section = page.slice(page.indexOf('## Metrics'), page.indexOf('## What to watch'));
  // The table has the metrics of gateways.
  const lists = section.replaceAll(/^\|.*$/gm, '');
  const documented = [...lists.matchAll(/correctables_\w+/g)].map(([name]) => name);
  expect([...new Set(documented)].toSorted()).toEqual([...new Set(names)].toSorted());
});
