/** Certificates of our own for an etcd cluster whose clients use TLS. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EngineUnavailable } from '../engine.ts';
import { LOOPBACK } from '../ports.ts';

const run = promisify(execFile);

/** Files in PEM form. */
export interface TlsFiles {
  /** What servers and clients trust. */
  readonly ca: string;
  /** What both show to each other. */
  readonly certificate: string;
  readonly key: string;
}

const DAYS = ['-days', '3650'];
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** Without a common name: of clients that log in, etcd takes that for another user. */
const SUBJECT = '/O=etcd on this machine';

/**
 * Makes an authority, and a certificate of it for servers and clients on the loopback interface.
 *
 * @throws EngineUnavailable where OpenSSL is missing
 */
export async function makeCertificates(folder: string): Promise<TlsFiles> {
  const [caKey, ca] = [join(folder, 'ca.key'), join(folder, 'ca.pem')];
  const [key, certificate] = [join(folder, 'etcd.key'), join(folder, 'etcd.pem')];
  const names = ['-addext', `subjectAltName=IP:${LOOPBACK},DNS:localhost`];
  const usage = ['-addext', 'extendedKeyUsage=serverAuth,clientAuth'];
  await openssl(
    'req',
    '-x509',
    ...KEY,
    ...DAYS,
    '-keyout',
    caKey,
    '-out',
    ca,
    '-subj',
    '/CN=etcd authority',
  );
  const signer = ['-CA', ca, '-CAkey', caKey, '-subj', SUBJECT];
  await openssl(
    'req',
    '-x509',
    ...KEY,
    ...DAYS,
    '-keyout',
    key,
    '-out',
    certificate,
    ...signer,
    ...names,
    ...usage,
  );
  return { ca, certificate, key };
}

async function openssl(...args: string[]): Promise<void> {
  try {
    await run('openssl', args);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new EngineUnavailable('openssl is missing: etcd with TLS needs OpenSSL 3 or later', {
      cause: error,
    });
  }
}
