/** `cluster restore-red`: which sites it takes for lost, and what it says. */
// @rule CLU-G1b
import { expect, test, vi } from 'vitest';
import { findDeployedSites, type DeployedSites } from '../../../src/cli/deployed-sites.ts';
import { printLines } from '../../../src/cli/print.ts';
import { restoreRed } from '../../../src/cli/restore-red.ts';
import type { ClusterFile } from '../../../src/server/cluster/cluster-file.ts';
import { NotReachedError } from '../../../src/server/cluster/operator-request.ts';
import { OPEN_RED, READ_RED, type RedGeneration } from '../../../src/server/cluster/red-log/red-generation.ts';

vi.mock(import('../../../src/cli/deployed-sites.ts'));
vi.mock(import('../../../src/cli/print.ts'));

const NAMES = ['ireland', 'frankfurt', 'virginia'];

/** Restores a deployment of which these sites answer, each with the connections that it has. Gives what is printed. */
async function run(
  answering: Readonly<Record<string, readonly string[]>>,
  options: Readonly<Record<string, unknown>>,
  onRequest: (site: string, kind: string) => void = () => {},
): Promise<string> {
  const reports = NAMES.map((site) => {
    const links = NAMES.map((peer) => ({ peer, isConnected: answering[site]?.includes(peer) === true }));
    return { site, status: site in answering ? { state: 'serving', links } : null, error: null };
  });
  const request: DeployedSites['request'] = async (site, kind, body) => {
    if (!(site in answering)) throw new NotReachedError('connect ECONNREFUSED');
    onRequest(site, kind);
    return kind === READ_RED
      ? { generation: 0, leader: 'ireland' }
      : { ...(body as RedGeneration), length: 7, copy: 0 };
  };
  const deployed = { reports, members: NAMES, voters: NAMES, retired: [], request };
  vi.mocked(findDeployedSites).mockResolvedValue(deployed as unknown as DeployedSites);
  vi.mocked(printLines).mockClear();
  await restoreRed({ redLog: { engine: 'built-in' } } as unknown as ClusterFile, options);
  return vi.mocked(printLines).mock.calls.flat(2).join();
}

test('a site that is named as lost, and answers or is connected to another one → nothing is asked of any site', async () => {
  const requested = vi.fn();
  const all = { ireland: [], frankfurt: [], virginia: [] };
  await expect(run(all, { without: 'ireland' }, requested)).rejects.toThrow(
    /^--without ireland: the site is not lost: it answers\..*Nothing was changed\. Stop its process first/,
  );
  await expect(run({ frankfurt: [], virginia: ['ireland'] }, { without: 'ireland' }, requested)).rejects.toThrow(
    'the site is not lost: virginia is connected to it',
  );
  expect(requested).not.toHaveBeenCalled();
});

test('a majority is lost → refused, and with --accept-loss it prints what that means', async () => {
  const lost = { without: 'ireland,frankfurt' };
  await expect(run({ virginia: [] }, lost)).rejects.toThrow('confirmed red records may be lost');
  const text = await run({ virginia: [] }, { ...lost, acceptLoss: true });
  expect(text).toContain('begins with 7 records. All that ireland, frankfurt confirmed beyond these is lost');
  expect(text).toContain('dropped-red-records-1.json');
});

test('a site that cannot be reached, and one that fails → what to do is another thing', async () => {
  await expect(run({ frankfurt: [] }, { without: 'ireland' })).rejects.toThrow(
    'virginia cannot be reached (connect ECONNREFUSED). Start it, or give --without virginia',
  );
  const fail = (site: string, kind: string): void => {
    if (site === 'virginia' && kind !== READ_RED) throw new Error('the port is taken');
  };
  await expect(run({ frankfurt: [], virginia: [] }, { without: 'ireland' }, fail)).rejects.toThrow(
    'virginia did not do its part (the port is taken). Repeat this command',
  );
});

test('a site that does not confirm what its new leader has opened → it is restored, and the site is named', async () => {
  const fail = (site: string, kind: string): void => {
    if (site === 'virginia' && kind === OPEN_RED) throw new Error('it is slow');
  };
  const text = await run({ frankfurt: [], virginia: [] }, { without: 'ireland' }, fail);
  expect(text).toContain('frankfurt leads the red log now, generation 1');
  expect(text).toContain('virginia has not confirmed it, and follows by itself once it can');
});
