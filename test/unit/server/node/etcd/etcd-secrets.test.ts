/** What an adapter presents to the servers of etcd, and checks of them. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
import * as grpc from '@grpc/grpc-js';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { readEtcdServers } from '../../../../../src/server/node/red-log/red-log-settings.ts';
import { EtcdAdapter } from '../../../../../src/server/node/etcd/etcd-adapter.ts';

const folder = mkdtempSync(join(tmpdir(), 'etcd-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'ignore' });
}

const NEW_KEY = 'req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'.split(' ');
openssl(
  ...NEW_KEY,
  '-x509',
  '-keyout',
  at('ca.key'),
  '-out',
  at('ca.pem'),
  '-days',
  '2',
  '-subj',
  '/CN=ca',
);

function issue(name: string, alternative: string): void {
  openssl(
    ...NEW_KEY,
    '-keyout',
    at(`${name}.key`),
    '-out',
    at(`${name}.csr`),
    '-subj',
    `/CN=${name}`,
  );
  writeFileSync(at('names'), `subjectAltName=${alternative}`);
  const signing = [
    'x509',
    '-req',
    '-in',
    at(`${name}.csr`),
    '-CA',
    at('ca.pem'),
    '-CAkey',
    at('ca.key'),
  ];
  openssl(
    ...signing,
    '-CAcreateserial',
    '-days',
    '2',
    '-extfile',
    at('names'),
    '-out',
    at(`${name}.pem`),
  );
}

issue('server', 'IP:127.0.0.1');
issue('stranger', 'IP:127.0.0.2,DNS:address.invalid');
issue('first', 'DNS:client');
issue('second', 'DNS:client');

const SECRETS = { ca: at('ca.pem'), certificate: at('client.pem'), key: at('client.key') };

function install(name: string, kinds: readonly string[] = ['pem', 'key']): void {
  for (const kind of kinds) copyFileSync(at(`${name}.${kind}`), at(`client.${kind}`));
}

/** In place of etcd: collects whose certificate each connection has, and breaks it. */
async function openServer(
  certificate = 'server',
): Promise<{ readonly url: string; readonly clients: string[] }> {
  const clients: string[] = [];
  const [cert, key] = ['pem', 'key'].map((kind) => readFileSync(at(`${certificate}.${kind}`)));
  const options = {
    cert,
    key,
    ca: readFileSync(at('ca.pem')),
    requestCert: true,
    ALPNProtocols: ['h2'],
  };
  const server = tls.createServer(options, (socket) => {
    clients.push(String(socket.getPeerCertificate().subject.CN));
    socket.on('error', () => {});
    socket.destroy();
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, clients };
}

function connect(url: string): EtcdAdapter {
  const servers = readEtcdServers({ engine: 'etcd', endpoints: [url], tls: SECRETS });
  const adapter = new EtcdAdapter(grpc, servers, () => {});
  onTestFinished(() => adapter.close());
  return adapter;
}

test('presents a replaced certificate at its next connection, and reports while its files do not fit', async () => {
  // Node warns if the name of a server in a handshake is an address. Other files in this process
  // may cause warnings of their own.
  const warnings: (string | undefined)[] = [];
  const onWarning = ({ code }: Error & { readonly code?: string }): void => {
    warnings.push(code);
  };
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  install('first');
  const { url, clients } = await openServer();
  const adapter = connect(url);
  await vi.waitFor(() => expect(clients).toContain('first'), 5000);
  install('second', ['pem']);
  await vi.waitFor(() => expect(adapter.status.problem).toMatch(/key values mismatch/i), 5000);
  rmSync(at('client.key'));
  await vi.waitFor(
    () =>
      expect(adapter.status.problem).toMatch(
        /redLog\.tls\.key cannot be read: ENOENT.*client\.key/,
      ),
    5000,
  );
  install('second');
  await vi.waitFor(() => expect(clients).toContain('second'), 5000);
  expect(warnings).not.toContain('DEP0123');
});

test('accepts no server whose certificate is for another address', async () => {
  install('first');
  const { url, clients } = await openServer('stranger');
  const adapter = connect(url);
  await vi.waitFor(() => expect(adapter.status.problem).toMatch(/no connection/), 5000);
  expect(clients).not.toContain('second');
  expect(adapter.status.isConnected).toBe(false);
});
