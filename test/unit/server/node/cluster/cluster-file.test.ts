/** `cluster.json`: what is read, and how what is wrong is named. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  parseClusterFile,
  readClusterFile,
} from '../../../../../src/server/node/cluster/cluster-file.ts';
import { readEtcdServers } from '../../../../../src/server/node/red-log/red-log-settings.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const SITES = {
  ireland: { url: 'wss://10.0.1.1:7420', cluster: '10.0.1.1:7421' },
  frankfurt: { url: 'ws://[::1]:7420/', cluster: '[::1]:7421' },
};
const VALID = {
  sites: SITES,
  redLog: { engine: 'built-in', leader: 'frankfurt' },
  keyFile: 'keys/cluster.key',
};

test('a valid file → sites in order, addresses, and the key file beside it', () => {
  const file = parseClusterFile({ ...VALID, keepForMs: 1000 }, '/etc/shop/cluster.json');
  expect([...file.sites]).toEqual([
    ['ireland', { url: 'wss://10.0.1.1:7420', cluster: { host: '10.0.1.1', port: 7421 } }],
    ['frankfurt', { url: 'ws://[::1]:7420', cluster: { host: '::1', port: 7421 } }],
  ]);
  expect(file).toMatchObject({
    redLog: VALID.redLog,
    keyFile: '/etc/shop/keys/cluster.key',
    keepForMs: 1000,
  });
});

const ETCD = {
  engine: 'etcd',
  endpoints: ['https://10.0.1.9:2379', 'https://[::1]/', 'https://proxy:443'],
};
const withEtcd = (change: object): object => ({ ...VALID, redLog: { ...ETCD, ...change } });

test('a red log on etcd → addresses, and files beside the cluster file', () => {
  const tls = { ca: 'ca.pem', certificate: '/etc/shop/c.pem', key: 'keys/c.key' };
  const { redLog } = parseClusterFile(
    withEtcd({ tls, user: 'shop', passwordFile: 'password' }),
    '/etc/shop/cluster.json',
  );
  expect(redLog).toEqual({
    engine: 'etcd',
    endpoints: ['https://10.0.1.9:2379', 'https://[::1]:2379', 'https://proxy:443'],
    tls: { ca: '/etc/shop/ca.pem', certificate: '/etc/shop/c.pem', key: '/etc/shop/keys/c.key' },
    user: 'shop',
    passwordFile: '/etc/shop/password',
  });
  expect(parseClusterFile(withEtcd({}), '/cluster.json').redLog).toMatchObject({ engine: 'etcd' });
});

test('partitions → in the order of their names, with their leaders, voters and servers', () => {
  const partitions = {
    us: { leader: 'frankfurt' },
    eu: { leader: 'ireland', voters: ['frankfurt', 'ireland'] },
  };
  // All sites as voters are the same as none named, since sites may join.
  expect(parseClusterFile({ ...VALID, partitions }, '/cluster.json').partitions).toEqual([
    { name: 'eu', leader: 'ireland' },
    { name: 'us', leader: 'frankfurt' },
  ]);
  const own = { us: { redLog: { engine: 'etcd', endpoints: ['http://a:1'] } }, eu: {} };
  expect(
    parseClusterFile({ ...withEtcd({}), partitions: own }, '/cluster.json').partitions,
  ).toEqual([
    { name: 'eu', leader: 'ireland' },
    { name: 'us', leader: 'ireland', redLog: { engine: 'etcd', endpoints: ['http://a:1'] } },
  ]);
});

test('the files of a red log on etcd → their contents; one that is missing is named', () => {
  const folder = temporaryFolder();
  for (const name of ['ca.pem', 'password']) writeFileSync(join(folder, name), `${name}\n`);
  const settings = { engine: 'etcd', endpoints: ['https://a:1'], user: 'shop' } as const;
  const passwordFile = join(folder, 'password');
  const servers = readEtcdServers({
    ...settings,
    passwordFile,
    tls: { ca: join(folder, 'ca.pem') },
  });
  expect(servers).toMatchObject({
    endpoints: ['https://a:1'],
    tls: { ca: Buffer.from('ca.pem\n') },
    user: { name: 'shop', password: 'password' },
  });
  expect(() => readEtcdServers({ ...settings, passwordFile: join(folder, 'none') })).toThrow(
    'redLog.passwordFile cannot be read',
  );
});

const withIreland = (change: object): object => ({
  ...VALID,
  sites: { ...SITES, ireland: { ...SITES.ireland, ...change } },
});

test.each<readonly [object | null, string]>([
  [null, 'the file must be a JSON object'],
  [{ ...VALID, keyfile: 'x' }, 'unknown field "keyfile". Did you mean "keyFile"?'],
  [
    { ...VALID, partitions: [] },
    'partitions must be an object, as { "us": { "leader": "ireland" } }, got []',
  ],
  [
    { ...VALID, partitions: { us: 'ireland' } },
    'partitions.us must be an object, as { "leader": "ireland" }',
  ],
  [
    { ...VALID, partitions: { us: {} } },
    'partitions.us.leader: must be one of ireland, frankfurt, got nothing',
  ],
  [
    { ...VALID, partitions: { us: { leader: 'ireland', voter: [] } } },
    'unknown field "voter". Did you mean "voters"?',
  ],
  [
    { ...VALID, partitions: { us: { leader: 'ireland', voters: ['frankfurt'] } } },
    'partitions.us.voters: must have',
  ],
  [
    { ...VALID, partitions: { us: { leader: 'ireland', voters: [] } } },
    'partitions.us.voters: must be a list',
  ],
  [
    { ...VALID, partitions: { main: { leader: 'ireland' } } },
    "partitions.main: every deployment has 'main'",
  ],
  [{ ...withEtcd({}), partitions: { 'a/b': {} } }, "partitions.a/b: 'a/b' must be a letter, then"],
  [
    { ...VALID, partitions: { us: { leader: 'ohio' } } },
    'partitions.us.leader: must be one of ireland, frankfurt, got "ohio"',
  ],
  [
    { ...withEtcd({}), partitions: { us: { leader: 'ireland' } } },
    'partitions.us: unknown field "leader"',
  ],
  [{ ...withEtcd({}), partitions: { us: 1 } }, 'partitions.us must be an object'],
  [
    { ...withEtcd({}), partitions: { us: { redLog: VALID.redLog } } },
    'partitions.us.redLog.engine must be "etcd"',
  ],
  [
    { ...withEtcd({}), partitions: { us: { redLog: { ...ETCD, endpoints: [] } } } },
    'partitions.us.redLog.endpoints must be addresses',
  ],
  [{ ...VALID, sites: {} }, 'sites must name at least one site'],
  [{ ...VALID, sites: { '1': SITES.ireland } }, 'sites: the name "1" must begin with a letter'],
  [{ ...VALID, sites: { metrics: SITES.ireland } }, 'none of health, ready, sites, metrics'],
  [withIreland({ url: 'https://10.0.1.1' }), 'sites.ireland.url must be the address for clients'],
  [withIreland({ url: 'wss://10.0.1.1/shop' }), 'without a path'],
  [withIreland({ cluster: '10.0.1.1' }), 'sites.ireland.cluster must be the host and port'],
  [withIreland({ cluster: '10.0.1.1:0' }), 'got "10.0.1.1:0"'],
  [withIreland({ port: 1 }), 'sites.ireland: unknown field "port"'],
  [
    withIreland({ cluster: '[::1]:7421' }),
    'sites.frankfurt.cluster is the same as sites.ireland.cluster',
  ],
  [
    { ...VALID, redLog: { engine: 'kafka', leader: 'ireland' } },
    'redLog.engine must be one of "built-in", "etcd", got "kafka"',
  ],
  [
    { ...VALID, redLog: { engine: 'built-in', leader: 'mars' } },
    'redLog.leader must be one of ireland, frankfurt',
  ],
  [withEtcd({ leader: 'ireland' }), 'redLog.leader must be left out with etcd'],
  [withEtcd({ endpoint: [] }), 'redLog: unknown field "endpoint". Did you mean "endpoints"?'],
  [
    withEtcd({ endpoints: [] }),
    'redLog.endpoints must be addresses, as ["https://10.0.1.9:2379"], got []',
  ],
  [
    withEtcd({ endpoints: ['http://a:1', 'a:2'] }),
    'redLog.endpoints[1] must be the address of an etcd server',
  ],
  [withEtcd({ endpoints: ['http://a:1/v3'] }), 'redLog.endpoints[0] must be the address'],
  [
    withEtcd({ endpoints: ['http://a:1'], tls: { ca: 'ca.pem' } }),
    'redLog.endpoints must begin with https:',
  ],
  [
    withEtcd({ tls: { cert: 'c.pem' } }),
    'redLog.tls: unknown field "cert". Did you mean "certificate"?',
  ],
  [withEtcd({ tls: { certificate: 'c.pem' } }), 'redLog.tls.key must be set too'],
  [withEtcd({ tls: { ca: 1 } }), 'redLog.tls.ca must be the path of a file, got 1'],
  [withEtcd({ user: 'shop' }), 'redLog.passwordFile must be set too'],
  [withEtcd({ passwordFile: 'password' }), 'redLog.user must be set too'],
  [{ ...VALID, keyFile: undefined }, 'keyFile must be the path of the key file'],
  [{ ...VALID, keepForMs: 0 }, 'keepForMs must be a positive integer in milliseconds, got 0'],
])('%j → names the field', (value, problem) => {
  expect(() => parseClusterFile(value, '/cluster.json')).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(problem),
    }),
  );
  expect(() => parseClusterFile(value, '/cluster.json')).toThrow(/^cluster\.json: /);
});

test('a missing or malformed file → the error names the file', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'cluster.json');
  expect(() => readClusterFile(path)).toThrow('there is no such file');
  writeFileSync(path, '{ "sites"');
  expect(() => readClusterFile(path)).toThrow(`${path} is not JSON`);
});
