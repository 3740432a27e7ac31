/** etcd with TLS, users and a small quota, as the adapter meets it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { EtcdServers } from '../../../src/server/node/etcd/etcd-channel.ts';
import { ClusterProcesses, SITES } from '../../support/cluster-processes.ts';
import { clusterContract } from '../../support/cluster-service.ts';
import { TestAdapter } from '../support/etcd-adapter.ts';
import { withEtcd } from '../support/etcd.ts';

const USER = { name: 'shop', password: 'a password' };
const READ = { kind: 'etcd.range', key: '/a', end: '/b', limit: 1, revision: 0 } as const;

function open(servers: EtcdServers): TestAdapter {
  const adapter = new TestAdapter(servers);
  onTestFinished(() => adapter.close());
  return adapter;
}

describe('TLS and a user', () => {
  const it = withEtcd({ nodes: 1, tls: true, user: USER });
  const servers = (): EtcdServers => {
    const { ca, certificate, key } = it.cluster.state.tls as NonNullable<
      typeof it.cluster.state.tls
    >;
    const tls = {
      ca: readFileSync(ca),
      certificate: readFileSync(certificate),
      key: readFileSync(key),
    };
    return { endpoints: it.cluster.endpoints(), tls, user: USER };
  };

  test('with all of it → connected', async () => {
    const adapter = open(servers());
    await adapter.connected();
    expect(await adapter.ask(READ)).toMatchObject({ kind: 'etcd.range' });
  });

  test('a cluster whose clients log in → each server reports its role', async () => {
    expect(await it.cluster.roles()).toEqual({ ireland: 'leader' });
  });

  test.each([
    ['no certificate', { certificate: undefined, key: undefined }],
    ['no authority', { ca: undefined }],
  ])('%s → reports that there is no connection', async (_, change) => {
    const { tls, ...others } = servers();
    const set = Object.fromEntries(
      Object.entries({ ...tls, ...change }).filter(([, value]) => value !== undefined),
    );
    const adapter = open({ ...others, tls: set });
    await expect
      .poll(() => adapter.adapter.status.problem)
      .toMatch(/^https:.*(no connection|cannot log in)/);
  });

  test('a wrong password → reported, with the user', async () => {
    const adapter = open({ ...servers(), user: { ...USER, password: 'another' } });
    await expect.poll(() => adapter.adapter.status.problem).toContain('cannot log in as shop');
    expect(adapter.adapter.status.problem).not.toContain('another');
  });

  test('the server is started again, and has forgotten the login → logs in again', async () => {
    const adapter = open(servers());
    await adapter.connected();
    await it.cluster.kill('ireland');
    await it.cluster.restart('ireland');
    await adapter.connected(2);
    expect(await adapter.ask(READ)).toMatchObject({ kind: 'etcd.range' });
  });

  test('the login does not count any more → logs in again', async () => {
    const adapter = open(servers());
    await adapter.connected();
    await it.cluster.request('ireland', 'auth/user/changepw', USER);
    adapter.send(READ);
    await adapter.connected(2);
    expect(await adapter.ask(READ)).toMatchObject({ kind: 'etcd.range' });
  });
});

describe('a user who may only read and write the keys of a deployment', () => {
  const it = withEtcd({ nodes: 1, user: USER });

  test('all requests of a log are permitted but compaction, which etcd leaves to its own', async () => {
    const { cluster } = it;
    const user = { name: 'clerk', password: 'another password' };
    const [key, end] = ['/shop/', '/shop0'];
    await cluster.request('ireland', 'auth/role/add', { name: 'clerk' });
    const perm = { permType: 'READWRITE', key: btoa(key), range_end: btoa(end) };
    await cluster.request('ireland', 'auth/role/grant', { name: 'clerk', perm });
    await cluster.request('ireland', 'auth/user/add', user);
    await cluster.request('ireland', 'auth/user/grant', { user: user.name, role: 'clerk' });
    const adapter = open({ endpoints: cluster.endpoints(), user });
    await adapter.connected();
    const stored = await adapter.ask({
      kind: 'etcd.create',
      key: '/shop/0/red/1',
      value: Buffer.from('a'),
    });
    expect(stored.kind).toBe('etcd.created');
    adapter.send({ kind: 'etcd.watch', key, end, fromRevision: 1 });
    expect(await adapter.wait(({ kind }) => kind === 'etcd.events')).toMatchObject({
      entries: [{ key: '/shop/0/red/1' }],
    });
    for (const kind of ['etcd.progress', 'etcd.status'] as const)
      expect((await adapter.ask({ kind })).kind).toBe(kind);
    const read = await adapter.ask({ kind: 'etcd.range', key, end, limit: 1, revision: 0 });
    expect(read.kind).toBe('etcd.range');
    const deleted = (await adapter.ask({ kind: 'etcd.delete', key, end })) as {
      readonly revision: number;
    };
    const compacted = await adapter.ask({ kind: 'etcd.compact', revision: deleted.revision });
    expect(compacted).toMatchObject({
      kind: 'etcd.failed',
      message: expect.stringContaining('permission denied'),
    });
    expect(await adapter.ask(READ)).toMatchObject({
      message: expect.stringContaining('permission denied'),
    });
  });
});

describe('sites whose red log is on an etcd with TLS and a user', () => {
  const it = withEtcd({ nodes: 1, tls: true, user: USER });

  test('red operations at all sites; the server is started again → they go on', async () => {
    const { folder, tls } = it.cluster.state;
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, USER.password);
    const redLog = {
      engine: 'etcd',
      endpoints: it.cluster.endpoints(),
      tls,
      user: USER.name,
      passwordFile,
    };
    const cluster = await ClusterProcesses.create(SITES, undefined, redLog);
    onTestFinished(() => cluster[Symbol.asyncDispose]());
    await cluster.startAll();
    const { take } = clusterContract;
    for (const [index, site] of SITES.entries())
      expect(await cluster.client(site).invokeStrong(take({ key: site }))).toBe(index + 1);
    await it.cluster.kill('ireland');
    await it.cluster.restart('ireland');
    for (const [index, site] of SITES.entries())
      expect(await cluster.client(site).invokeStrong(take({ key: `${site} again` }))).toBe(
        SITES.length + index + 1,
      );
  });
});

describe('a quota of 24 MiB', () => {
  const it = withEtcd({ nodes: 1, quotaBytes: 24 * 1024 * 1024 });

  test('full → writes fail with no-space; deleted, compacted, defragmented and disarmed → written again', async () => {
    const adapter = open({ endpoints: it.cluster.endpoints() });
    await adapter.connected();
    const write = (n: number) =>
      adapter.ask({
        kind: 'etcd.create',
        key: `/a/${String(n).padStart(3, '0')}`,
        value: Buffer.alloc(500_000),
      });
    let n = 0;
    let last = await write(n);
    while (last.kind === 'etcd.created' && n < 100) last = await write((n += 1));
    expect(last).toMatchObject({ kind: 'etcd.failed', reason: 'no-space' });
    const full = await adapter.ask({ kind: 'etcd.status' });
    expect(full).toMatchObject({ quotaBytes: 24 * 1024 * 1024 });
    const deleted = await adapter.ask({ kind: 'etcd.delete', key: '/a/000', end: '/a/030' });
    expect(deleted.kind).toBe('etcd.deleted');
    const { revision } = deleted as { readonly revision: number };
    expect((await adapter.ask({ kind: 'etcd.compact', revision })).kind).toBe('etcd.compacted');
    await it.cluster.freeSpace();
    expect(await write(n)).toMatchObject({ kind: 'etcd.created' });
    const { usedBytes } = (await adapter.ask({ kind: 'etcd.status' })) as {
      readonly usedBytes: number;
    };
    expect(usedBytes).toBeLessThan((full as { readonly usedBytes: number }).usedBytes);
  });
});
