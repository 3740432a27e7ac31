/** `cluster.json`: what is read, and how what is wrong is named. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseClusterFile, readClusterFile } from '../../../../src/server/cluster/cluster-file.ts';

const SITES = {
  ireland: { url: 'wss://10.0.1.1:7420', cluster: '10.0.1.1:7421' },
  frankfurt: { url: 'ws://[::1]:7420/', cluster: '[::1]:7421' },
};
const VALID = { sites: SITES, redLog: { engine: 'built-in', leader: 'frankfurt' }, keyFile: 'keys/cluster.key' };

test('a valid file → sites in order, addresses, and the key file beside it', () => {
  const file = parseClusterFile({ ...VALID, keepForMs: 1000 }, '/etc/shop/cluster.json');
  expect([...file.sites]).toEqual([
    ['ireland', { url: 'wss://10.0.1.1:7420', cluster: { host: '10.0.1.1', port: 7421 } }],
    ['frankfurt', { url: 'ws://[::1]:7420', cluster: { host: '::1', port: 7421 } }],
  ]);
  expect(file).toMatchObject({ redLeader: 'frankfurt', keyFile: '/etc/shop/keys/cluster.key', keepForMs: 1000 });
});

const withIreland = (change: object): object => ({
  ...VALID,
  sites: { ...SITES, ireland: { ...SITES.ireland, ...change } },
});

test.each<readonly [object | null, string]>([
  [null, 'the file must be a JSON object'],
  [{ ...VALID, keyfile: 'x' }, 'unknown field "keyfile". Did you mean "keyFile"?'],
  [{ ...VALID, sites: {} }, 'sites must name at least one site'],
  [{ ...VALID, sites: { '1': SITES.ireland } }, 'sites: the name "1" must begin with a letter'],
  [{ ...VALID, sites: { metrics: SITES.ireland } }, 'none of health, ready, sites, metrics'],
  [withIreland({ url: 'https://10.0.1.1' }), 'sites.ireland.url must be the address for clients'],
  [withIreland({ url: 'wss://10.0.1.1/shop' }), 'without a path'],
  [withIreland({ cluster: '10.0.1.1' }), 'sites.ireland.cluster must be the host and port'],
  [withIreland({ cluster: '10.0.1.1:0' }), 'got "10.0.1.1:0"'],
  [withIreland({ port: 1 }), 'sites.ireland: unknown field "port"'],
  [withIreland({ cluster: '[::1]:7421' }), 'sites.frankfurt.cluster is the same as sites.ireland.cluster'],
  [{ ...VALID, redLog: { engine: 'kafka', leader: 'ireland' } }, 'redLog.engine must be "built-in", got "kafka"'],
  [{ ...VALID, redLog: { engine: 'built-in', leader: 'mars' } }, 'redLog.leader must be one of ireland, frankfurt'],
  [{ ...VALID, keyFile: undefined }, 'keyFile must be the path of the key file'],
  [{ ...VALID, keepForMs: 0 }, 'keepForMs must be a positive integer in milliseconds, got 0'],
])('%j → names the field', (value, problem) => {
  expect(() => parseClusterFile(value, '/cluster.json')).toThrow(problem);
});

test('no file, and no JSON → says which file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'correctables-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'cluster.json');
  expect(() => readClusterFile(path)).toThrow('there is no such file');
  writeFileSync(path, '{ "sites"');
  expect(() => readClusterFile(path)).toThrow(`${path} is not JSON`);
});
