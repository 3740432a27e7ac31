/** The commands for a deployment: what they print of its sites, and what they refuse. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { CLUSTER } from '../../../src/cli/cluster.ts';
import { findDeployedSites, type DeployedSites } from '../../../src/cli/deployed-sites.ts';
import { printLines } from '../../../src/cli/print.ts';
import {
  NoReplyError,
  NotReachedError,
} from '../../../src/server/node/commands/operator-request.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

vi.mock(import('../../../src/cli/deployed-sites.ts'));
vi.mock(import('../../../src/cli/print.ts'));
afterEach(() => (process.exitCode = undefined));

const MEMBERS = [
  { site: 'ireland', origin: 1, state: 'open' },
  { site: 'frankfurt', origin: 2, state: 'closing' },
  { site: 'frankfurt', origin: 3, state: 'joining' },
];

function reportOf(
  site: string,
  redGeneration: number,
  redLeader: string,
  streams: readonly number[],
): object {
  const version = { rules: 1, service: 'x', inForce: { rules: 1, service: 'x' } };
  const alarms = [{ atMs: 0, kind: 'link-down', message: `of ${site}` }];
  const progress = { red: 5, backlog: 0, streams };
  const site1 = {
    site,
    state: 'serving',
    members: MEMBERS,
    redLeader,
    redGeneration,
    version,
    redLog: {},
    links: [],
  };
  return { site, error: null, status: { ...site1, progress, alarms } };
}

/**
 * Runs an action in a deployment that ireland leads, as far as frankfurt does not know better.
 * Gives what it prints.
 */
async function run(
  action: string,
  site?: string,
  reply: object = {},
  changes: Partial<DeployedSites> = {},
): Promise<readonly string[]> {
  const folder = temporaryFolder();
  const cluster = join(folder, 'cluster.json');
  const sites = { ireland: { url: 'ws://127.0.0.1:1', cluster: '127.0.0.1:2' } };
  writeFileSync(
    cluster,
    JSON.stringify({ sites, redLog: { engine: 'built-in', leader: 'ireland' }, keyFile: 'key' }),
  );
  const reports = [
    reportOf('frankfurt', 0, 'frankfurt', [0, 1, 4, 2]),
    reportOf('ireland', 1, 'ireland', [0, 3, 3, 1]),
  ];
  const members = ['ireland', 'frankfurt'];
  const deployed = {
    reports,
    members,
    retired: ['virginia'],
    request: async () => reply,
    ...changes,
  };
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
  expect(await run('retire', 'virginia')).toEqual([
    'virginia was retired before. Nothing was changed.',
  ]);
  await expect(run('retire', 'mars')).rejects.toThrow(
    '--site must be one of ireland, frankfurt, got "mars".',
  );
  await expect(run('retire', 'ireland')).rejects.toThrow(
    /leads the red log. First .+ restore-red .+ --without ireland$/,
  );
  await expect(run('retire', 'frankfurt', { problem: 'busy' })).rejects.toThrow(
    /the site was not retired: busy\.$/,
  );
});

test('a change whose outcome the node does not know → the words say so, and no other site is asked', async () => {
  const problem = 'the red log did not answer within 30 s';
  const unknown = /the outcome is not known: .*30 s\. It may still be carried out.*cluster status/;
  await expect(run('retire', 'frankfurt', { problem, isUnknown: true })).rejects.toThrow(unknown);
  await expect(run('activate', undefined, { problem, isUnknown: true })).rejects.toThrow(unknown);
});

test('a site that took the change and does not reply → the outcome is not known; one that did not → the next is asked', async () => {
  const requested: string[] = [];
  const failWith = (error: Error): Partial<DeployedSites> => ({
    request: (to) => {
      requested.push(to);
      return Promise.reject(error);
    },
  });
  const silent = failWith(new NoReplyError('no reply'));
  await expect(run('activate', undefined, {}, silent)).rejects.toThrow(
    'the outcome is not known: ireland: no reply',
  );
  expect(requested.splice(0)).toEqual(['ireland']);
  const away = failWith(new NotReachedError('it is down'));
  await expect(run('activate', undefined, {}, away)).rejects.toThrow(
    /no site took it\. Nothing was changed\. ireland: it/,
  );
  expect(requested).toEqual(['ireland', 'frankfurt']);
});

test('status of several red logs → who leads each one, its generation, and what waits for it', async () => {
  const report = reportOf('ireland', 1, 'ireland', [0, 1, 4, 2]) as { status: object };
  const problem =
    "the site virginia, which orders those of the partition 'us' and is not connected to ireland";
  const redLogs = [
    { name: 'main', leader: 'ireland' },
    { name: 'us', leader: 'virginia', problem },
  ];
  const reports = [
    { ...report, status: { ...report.status, redLogs } },
    reportOf('frankfurt', 0, 'frankfurt', [0, 1, 4, 2]),
  ] as unknown as DeployedSites['reports'];
  expect(await run('status', undefined, {}, { reports })).toEqual(
    expect.arrayContaining([
      'red log of main: led by ireland, generation 1',
      'red log of us: led by virginia, generation 1',
      `ireland: red writes and strong reads wait for ${problem}`,
    ]),
  );
  const members = ['ireland', 'frankfurt', 'virginia'];
  await expect(run('retire', 'virginia', {}, { reports, members, retired: [] })).rejects.toThrow(
    /^--site virginia: this site leads the red log of us\. First stop it, and run: .+ --without virginia$/,
  );
  const sealed = redLogs.map(({ name }) => ({ name, leader: null }));
  const sealedReports = [{ ...report, status: { ...report.status, redLogs: sealed } }];
  expect(
    await run(
      'status',
      undefined,
      {},
      { reports: sealedReports as unknown as DeployedSites['reports'] },
    ),
  ).toContain('red log of us: sealed, generation 1');
});

test('status of several red logs → the records of each one, and the sites that know another leader', async () => {
  const at = (site: string, usLeader: string, us: number): object => {
    const report = reportOf(site, 1, 'ireland', [0, 1, 4, 2]) as { status: { progress: object } };
    const redLogs = [
      { name: 'main', leader: 'ireland' },
      { name: 'us', leader: usLeader },
    ];
    const progress = { ...report.status.progress, reds: [5, us] };
    return { ...report, status: { ...report.status, redLogs, progress, alarms: [] } };
  };
  const reports = [
    at('ireland', 'virginia', 12),
    at('frankfurt', 'ohio', 9),
    at('virginia', 'virginia', 12),
    // It may have been away when the logs were restored.
    reportOf('ohio', 0, 'ohio', [0, 1, 4, 2]),
  ] as unknown as DeployedSites['reports'];
  const lines = await run(
    'status',
    undefined,
    {},
    { reports, members: ['ireland', 'frankfurt', 'virginia', 'ohio'] },
  );
  expect(lines.slice(1, 3)).toEqual([
    expect.stringContaining('  main 5, us 12  '),
    expect.stringContaining('  main 5, us 9   '),
  ]);
  expect(lines.filter((line) => line.includes('differ'))).toEqual([
    'The sites differ in who leads the red log of us: virginia at ireland, virginia; ohio at frankfurt. Start all sites with the same cluster.json.',
  ]);
});

test('status → what red operations wait for', async () => {
  const report = reportOf('ireland', 0, 'frankfurt', [0, 1, 4, 2]) as { status: object };
  const status = { ...report.status, redProblem: 'the site frankfurt, which orders them' };
  const reports = [{ ...report, status }] as unknown as DeployedSites['reports'];
  expect(await run('status', undefined, {}, { reports })).toContain(
    'ireland: red writes and strong reads wait for the site frankfurt, which orders them',
  );
});
