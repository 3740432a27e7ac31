/**
 * Files that an editor or a shell has marked with their encoding, and ended its lines as on
 * Windows.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, generateKeyPair } from 'jose';
import { expect, test } from 'vitest';
import { createTokenVerifier } from '../../../../../src/cli/authentication/signed-tokens.ts';
import { readClusterFile } from '../../../../../src/server/node/cluster/cluster-file.ts';
import { readKeyFile } from '../../../../../src/server/node/cluster/key-file.ts';
import { readEtcdServers } from '../../../../../src/server/node/red-log/red-log-settings.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const encodings: Readonly<Record<string, (text: string) => Buffer>> = {
  'UTF-8 without a mark': (text) => Buffer.from(text),
  'UTF-8 with a mark': (text) => Buffer.from(`\uFEFF${text}`),
  'UTF-16, little-endian': (text) => Buffer.from(`\uFEFF${text}`, 'utf16le'),
  'UTF-16, big-endian': (text) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
};

test.each(Object.keys(encodings))(
  '%s → each file that a person writes is read',
  async (encoding) => {
    const folder = temporaryFolder();
    const write = (name: string, content: string | object): string => {
      const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
      const path = join(folder, name);
      writeFileSync(path, encodings[encoding]!(text.replaceAll('\n', '\r\n')), { mode: 0o600 });
      return path;
    };

    const key = Buffer.alloc(32, 1).toString('base64');
    const keys = { deployment: '0123456789abcdef01234567', keys: [key], sessionKey: key };
    expect(readKeyFile(write('cluster.key', keys)).deployment).toBe(keys.deployment);

    const site = { url: 'ws://127.0.0.1:7420', cluster: '127.0.0.1:7421' };
    const redLog = { engine: 'built-in', leader: 'zurich' };
    const cluster = write('cluster.json', {
      sites: { zurich: site },
      redLog,
      keyFile: 'cluster.key',
    });
    expect([...readClusterFile(cluster).sites.keys()]).toEqual(['zurich']);

    const certificate = '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n';
    const ca = write('ca.pem', certificate);
    const passwordFile = write('password', 'geheim ä\n');
    const settings = { engine: 'etcd', endpoints: ['https://a:1'], user: 'shop' } as const;
    const servers = readEtcdServers({ ...settings, passwordFile, tls: { ca } });
    expect(servers.user?.password).toBe('geheim ä');
    expect(servers.tls?.ca?.toString()).toBe(certificate.replaceAll('\n', '\r\n'));

    const { publicKey } = await generateKeyPair('ES256');
    const jwks = write('keys.json', { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] });
    await createTokenVerifier(jwks, { issuer: undefined, audience: undefined });
  },
);
