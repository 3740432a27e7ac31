/** A server of Redis with TLS, whose certificate changes while it runs. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { freePorts, LOOPBACK } from '../../../../engines/ports.ts';
import { FaultyRedis } from './faulty-redis.ts';

const run = promisify(execFile);
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** `good`: of the authority that clients trust. `foreign`: of another one. `expired`: for a day. */
export type CertificateKind = 'good' | 'foreign' | 'expired';

/** With the words of the error. */
export const BAD_CERTIFICATES: readonly (readonly [CertificateKind, RegExp])[] = [
  ['foreign', /certificate/],
  ['expired', /certificate has expired/],
];

export class TlsRedis {
  readonly server: FaultyRedis;
  /** `host:port`, for connections with TLS. */
  readonly address: string;
  /** The authority that clients trust, in PEM form. */
  readonly ca: string;
  readonly #folder: string;

  private constructor(server: FaultyRedis, address: string, ca: string, folder: string) {
    this.server = server;
    this.address = address;
    this.ca = ca;
    this.#folder = folder;
  }

  /** Starts a server with a good certificate, until the test ends. */
  static async open(): Promise<TlsRedis> {
    const folder = await mkdtemp(join(tmpdir(), 'correctables-tls-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    for (const authority of ['ca', 'other']) await makeAuthority(folder, authority);
    await makeCertificate(folder, 'good', { authority: 'ca', days: 10 });
    await makeCertificate(folder, 'foreign', { authority: 'other', days: 10 });
    await makeCertificate(folder, 'expired', { authority: 'ca', days: -1 });
    const [port] = (await freePorts(1)) as [number];
    const files = toFiles(folder, 'good').flatMap(([name, file]) => [`--${name}`, file]);
    const trust = ['--tls-ca-cert-file', join(folder, 'ca.pem'), '--tls-auth-clients', 'no'];
    const server = await FaultyRedis.open(['--tls-port', String(port), ...trust, ...files]);
    const ca = await readFile(join(folder, 'ca.pem'), 'utf8');
    return new TlsRedis(server, `${LOOPBACK}:${port}`, ca, folder);
  }

  /** Shows another certificate to all connections from now on. */
  async show(kind: CertificateKind): Promise<void> {
    await this.server.ask('CONFIG', 'SET', ...toFiles(this.#folder, kind).flat());
  }

  /** Closes the connections of clients. */
  async closeAll(): Promise<void> {
    await this.server.ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  }
}

function toFiles(folder: string, kind: CertificateKind): [string, string][] {
  return [
    ['tls-cert-file', join(folder, `${kind}.pem`)],
    ['tls-key-file', join(folder, `${kind}.key`)],
  ];
}

async function makeAuthority(folder: string, name: string): Promise<void> {
  const files = ['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.pem`)];
  await run('openssl', ['req', '-x509', ...KEY, '-days', '10', ...files, '-subj', `/CN=${name}`]);
}

async function makeCertificate(
  folder: string,
  kind: CertificateKind,
  { authority, days }: { readonly authority: string; readonly days: number },
): Promise<void> {
  const [request, key] = [join(folder, `${kind}.csr`), join(folder, `${kind}.key`)];
  const names = ['-addext', `subjectAltName=IP:${LOOPBACK}`];
  await run('openssl', ['req', ...KEY, '-keyout', key, '-out', request, '-subj', '/O=x', ...names]);
  const signer = ['-CA', `${authority}.pem`, '-CAkey', `${authority}.key`, '-days', String(days)];
  const files = ['-in', request, '-out', `${kind}.pem`];
  await run('openssl', ['x509', '-req', '-copy_extensions', 'copy', ...signer, ...files], {
    cwd: folder,
  });
}
