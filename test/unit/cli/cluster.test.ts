/** The commands for a deployment: what they print of its sites, and what they refuse. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { CLUSTER } from '../../../src/cli/cluster.ts';
import { findDeployedSites, type DeployedSites } from '../../../src/cli/deployed-sites.ts';
import { printLines } from '../../../src/cli/print.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

vi.mock(import('../../../src/cli/deployed-sites.ts'));
vi.mock(import('../../../src/cli/print.ts'));
afterEach(() => (process.exitCode = undefined));

const MEMBERS = [
  { site: 'ireland', origin: 1, state: 'open' },
  { site: 'frankfurt', origin: 2, state: 'closing' },
  { site: 'frankfurt', origin: 3, state: 'joining' },
];

function reportOf(site: string, redGeneration: number, redLeader: string, streams: readonly number[]): object {
  const version = { rules: 1, service: 'x', inForce: { rules: 1, service: 'x' } };
  const alarms = [{ atMs: 0, kind: 'link-down', message: `of ${site}` }];
  const progress = { red: 5, backlog: 0, streams };
  const site1 = { site, state: 'serving', members: MEMBERS, redLeader, redGeneration, version, redLog: {}, links: [] };
  return { site, error: null, status: { ...site1, progress, alarms } };
}

/** Runs an action in a deployment that ireland leads, as far as frankfurt does not know better. Gives what it prints. */
async function run(action: string, site?: string, reply: object = {}): Promise<readonly string[]> {
  const folder = temporaryFolder();
  const cluster = join(folder, 'cluster.json');
  const sites = { ireland: { url: 'ws://127.0.0.1:1', cluster: '127.0.0.1:2' } };
  writeFileSync(cluster, JSON.stringify({ sites, redLog: { engine: 'built-in', leader: 'ireland' }, keyFile: 'key' }));
  const reports = [
    reportOf('frankfurt', 0, 'frankfurt', [0, 1, 4, 2]),
    reportOf('ireland', 1, 'ireland', [0, 3, 3, 1]),
  ];
  const members = ['ireland', 'frankfurt'];
  const deployed = { reports, members, retired: ['virginia'], request: async () => reply };
  vi.mocked(findDeployedSites).mockResolvedValue(deployed as unknown as DeployedSites);
  vi.mocked(printLines).mockClear();
  await CLUSTER.run({ cluster, ...(site !== undefined && { site }) }, action);
  return vi.mocked(printLines).mock.calls.flatMap(([lines]) => lines);
}

test('status → the newest leader, each lag once for a site with two origins, and alarms with their kind', async () => {
  expect(await run('status')).toEqual([
    'site                  state    red  lag          kept  links down',
    'frankfurt             serving  5    ireland 2    0     none',
    'ireland (red leader)  serving  5    frankfurt 2  0     none',
    '1970-01-01T00:00:00.000Z  frankfurt  link-down: of frankfurt',
    '1970-01-01T00:00:00.000Z  ireland  link-down: of ireland',
  ]);
});

test('retire → one clear line for a site that was retired before, has no such name, leads or is refused', async () => {
  expect(await run('retire', 'frankfurt')).toEqual([expect.stringContaining('Retired frankfurt.')]);
  expect(await run('retire', 'virginia')).toEqual(['virginia was retired before. Nothing was changed.']);
  await expect(run('retire', 'mars')).rejects.toThrow('--site must be one of ireland, frankfurt, got "mars".');
  await expect(run('retire', 'ireland')).rejects.toThrow(
    /leads the red log. First .+ restore-red .+ --without ireland$/,
  );
  await expect(run('retire', 'frankfurt', { problem: 'busy' })).rejects.toThrow(/the site was not retired: busy\.$/);
});
