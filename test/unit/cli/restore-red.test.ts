/** `cluster restore-red`: which sites it takes for lost, and what it says. */
// @rule CLU-G1b, PART-G11, PART-G11a
import { expect, test, vi } from 'vitest';
import { findDeployedSites, type DeployedSites } from '../../../src/cli/deployed-sites.ts';
import { printLines } from '../../../src/cli/print.ts';
import { restoreRed } from '../../../src/cli/restore-red.ts';
import type { ClusterFile } from '../../../src/server/node/cluster/cluster-file.ts';
import { READ_NAMED } from '../../../src/server/node/red-log/named-entries.ts';
import { NotReachedError } from '../../../src/server/node/commands/operator-request.ts';
import {
  OPEN_RED,
  READ_RED,
  type RedGeneration,
} from '../../../src/server/node/red-log/red-generation.ts';

vi.mock(import('../../../src/cli/deployed-sites.ts'));
vi.mock(import('../../../src/cli/print.ts'));

const NAMES = ['ireland', 'frankfurt', 'virginia'];

/**
 * Restores a deployment of which these sites answer, each with the connections that it has. Gives
 * what is printed.
 */
async function run(
  answering: Readonly<Record<string, readonly string[]>>,
  options: Readonly<Record<string, unknown>>,
  onRequest: (site: string, kind: string) => void = () => {},
  partitions: ClusterFile['partitions'] = [],
  closing: readonly string[] = [],
  redLog: object = { engine: 'built-in', leader: 'ireland' },
): Promise<string> {
  const reports = NAMES.map((site) => {
    const links = NAMES.map((peer) => ({
      peer,
      isConnected: answering[site]?.includes(peer) === true,
    }));
    return { site, status: site in answering ? { state: 'serving', links } : null, error: null };
  });
  const request: DeployedSites['request'] = async (site, kind, body) => {
    if (!(site in answering)) throw new NotReachedError('connect ECONNREFUSED');
    onRequest(site, kind);
    if (kind === READ_NAMED) return { stamp: 0, holds: [] };
    return kind === READ_RED
      ? { generation: 0, leader: 'ireland', ...(partitions.length > 0 && { logs: partitions }) }
      : {
          ...(body as RedGeneration),
          length: 7,
          copy: 0,
          ...(partitions.length > 0 && { others: partitions.map(() => ({ copy: 0, length: 3 })) }),
        };
  };
  const members = NAMES.filter((name) => !closing.includes(name));
  const deployed = { reports, members, voters: members, closing, retired: closing, request };
  vi.mocked(findDeployedSites).mockResolvedValue(deployed as unknown as DeployedSites);
  vi.mocked(printLines).mockClear();
  await restoreRed({ redLog, partitions } as unknown as ClusterFile, options);
  return vi.mocked(printLines).mock.calls.flat(2).join();
}

test('a site that is named as lost, and answers or is connected to another one → nothing is asked of any site', async () => {
  const requested = vi.fn();
  const all = { ireland: [], frankfurt: [], virginia: [] };
  await expect(run(all, { without: 'ireland' }, requested)).rejects.toThrow(
    /^--without ireland: the site is not lost: it answers\..*Nothing was changed\. Stop its process first/,
  );
  await expect(
    run({ frankfurt: [], virginia: ['ireland'] }, { without: 'ireland' }, requested),
  ).rejects.toThrow('the site is not lost: virginia is connected to it');
  expect(requested).not.toHaveBeenCalled();
});

test('a majority is lost → refused, and with --accept-loss it prints what that means', async () => {
  const lost = { without: 'ireland,frankfurt' };
  await expect(run({ virginia: [] }, lost)).rejects.toThrow('confirmed red records may be lost');
  const text = await run({ virginia: [] }, { ...lost, acceptLoss: true });
  expect(text).toContain(
    'begins with 7 records. All that ireland, frankfurt confirmed beyond these is lost',
  );
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

test('with one log, what is printed is the same text as without partitions', async () => {
  expect(await run({ frankfurt: [], virginia: [] }, { without: 'ireland' })).toBe(
    'frankfurt leads the red log now, generation 1. Write redLog.leader "frankfurt" into the cluster file of each site. ' +
      'If ireland will not come back, run cluster retire.',
  );
  expect(
    await run({ virginia: [] }, { without: 'ireland,frankfurt', acceptLoss: true, json: true }),
  ).toBe(
    '{"generation":1,"leader":"virginia","length":7,"losing":["ireland","frankfurt"],"late":[]}',
  );
  const lossy = await run({ virginia: [] }, { without: 'ireland,frankfurt', acceptLoss: true });
  expect(lossy).toBe(
    'virginia leads the red log now, generation 1. Write redLog.leader "virginia" into the cluster file of each site. ' +
      'It begins with 7 records. All that ireland, frankfurt confirmed beyond these is lost; how many that are, only they know. ' +
      'If one of them comes back, it writes what it has beyond that to dropped-red-records-1.json in its data directory, with the alarm red-records-dropped. ' +
      'If ireland, frankfurt will not come back, run cluster retire.',
  );
});

const US = [{ name: 'us', leader: 'virginia', voters: ['frankfurt', 'virginia'] }];
const ALL = { ireland: [], frankfurt: [], virginia: [] };

test('several logs → --leader names a site for each one, and the leaders of all are printed', async () => {
  const run2 = (options: Readonly<Record<string, unknown>>): Promise<string> =>
    run(ALL, options, undefined, US);
  expect(await run2({})).toBe(
    'ireland leads the red log of main, virginia leads the red log of us now, generation 1.',
  );
  expect(await run2({ leader: 'us=frankfurt' })).toBe(
    'ireland leads the red log of main, frankfurt leads the red log of us now, generation 1. ' +
      'Write partitions.us.leader "frankfurt" into the cluster file of each site.',
  );
  expect(await run2({ leader: 'virginia,us=frankfurt' })).toContain(
    'Write redLog.leader "virginia", partitions.us.leader "frankfurt" into the cluster file of each site.',
  );
  expect(JSON.parse(await run2({ leader: 'virginia,us=frankfurt', json: true }))).toEqual({
    generation: 1,
    leader: 'virginia',
    length: 7,
    losing: [],
    late: [],
    logs: [{ name: 'us', leader: 'frankfurt', length: 3, losing: [] }],
  });
  await expect(run2({ leader: 'us=ireland' })).rejects.toThrow(
    'ireland cannot lead the red log of us: name one of its voters frankfurt, virginia. Nothing was changed',
  );
  await expect(run2({ leader: 'eu=ireland' })).rejects.toThrow(
    'names the red log of eu. There are those of main, us.',
  );
  await expect(run2({ leader: 'ireland,frankfurt' })).rejects.toThrow(
    '--leader names two leaders of a log.',
  );
  await expect(run2({ acceptLoss: 'eu' })).rejects.toThrow(
    '--accept-loss names the red log of eu.',
  );
});

test('the voters of us are lost → the site that the command picks may be named too, and all sites vote', async () => {
  const options = { without: 'frankfurt,virginia', acceptLoss: true };
  const text = await run({ ireland: [] }, { ...options, leader: 'us=ireland' }, undefined, US);
  expect(text).toBe(await run({ ireland: [] }, options, undefined, US));
  expect(text).toContain(
    'Its voters frankfurt, virginia were all lost, so all open sites are voters of us from now on.',
  );
});

test('a voter of us is retired, and not all sites have confirmed that → it may have confirmed records of us', async () => {
  const us = [{ name: 'us', leader: 'ireland', voters: NAMES }];
  const options = { without: 'ireland', acceptLoss: 'main' };
  const restored = run({ virginia: [] }, options, undefined, us, ['frankfurt']);
  await expect(restored).rejects.toThrow(
    'confirmed records of the red log of us may be lost: a record is confirmed once 2 of the 3 voters of that log ' +
      '(ireland, virginia, frankfurt) have it, so ireland, frankfurt can have confirmed what virginia lacks.',
  );
});

test('several logs on etcd → no leader is to be written into the cluster file, which takes none', async () => {
  const us = [{ name: 'us', leader: 'ireland' }];
  const text = await run(ALL, {}, undefined, us, [], { engine: 'etcd' });
  expect(text).toBe(
    'The red log of main goes on from the copy of ireland, that of us from the copy of ireland, generation 1.',
  );
});
