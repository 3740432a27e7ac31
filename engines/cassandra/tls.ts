/** A certificate of our own for a cluster whose clients use TLS. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface TlsFiles {
  /** PKCS12, with the certificate and its key. */
  readonly keyStore: string;
  readonly password: string;
  /** The certificate in PEM form: what a client has to trust. */
  readonly certificate: string;
}

/**
 * Makes a certificate for all the addresses, with the `keytool` of the Java that runs the nodes.
 */
export async function makeCertificate(
  folder: string,
  java: string,
  addresses: readonly string[],
): Promise<TlsFiles> {
  const keytool = java.replace(/java$/, 'keytool');
  const files: TlsFiles = {
    keyStore: join(folder, 'node.p12'),
    password: 'correctables',
    certificate: join(folder, 'certificate.pem'),
  };
  const store = [
    '-keystore',
    files.keyStore,
    '-storetype',
    'PKCS12',
    '-storepass',
    files.password,
    '-alias',
    'node',
  ];
  const names = `san=${addresses.map((address) => `ip:${address}`).join(',')}`;
  const validity = ['-dname', 'CN=cassandra', '-ext', names, '-validity', '3650'];
  await run(keytool, ['-genkeypair', '-keyalg', 'RSA', '-keysize', '2048', ...validity, ...store]);
  await run(keytool, ['-exportcert', '-rfc', '-file', files.certificate, ...store]);
  return files;
}
