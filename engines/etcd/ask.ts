/** Asks a server over HTTP with JSON, which etcd offers beside gRPC: the engine needs no client. */
import { readFileSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { LOOPBACK } from '../ports.ts';
import type { TlsFiles } from './certificates.ts';

/** A server to ask. */
export interface AskedServer {
  readonly port: number;
  readonly tls: TlsFiles | undefined;
  /** Of a user; none unless given. */
  readonly token?: string | undefined;
}

/** What a server reports about itself. Numbers of 64 bits are text. */
export interface ServerStatus {
  readonly header: { readonly member_id: string; readonly revision?: string };
  readonly leader?: string;
  readonly dbSize?: string;
  readonly version?: string;
}

const ANSWER_MS = 2_000;

/**
 * The answer to a request, as `post(server, 'maintenance/status', {})`. Rejects if there is none in
 * time, or an error.
 */
export function post<T = unknown>(server: AskedServer, path: string, body: object): Promise<T> {
  return send<T>(server, 'POST', `/v3/${path}`, JSON.stringify(body));
}

/** Whether the server serves reads that a majority confirms. */
export async function isHealthy(server: AskedServer): Promise<boolean> {
  try {
    return (await send<{ readonly health: string }>(server, 'GET', '/health')).health === 'true';
  } catch {
    return false;
  }
}

function send<T>(
  { port, tls, token }: AskedServer,
  method: string,
  path: string,
  body = '',
): Promise<T> {
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: token }),
  };
  const options = { host: LOOPBACK, port, method, path, headers, agent: false, timeout: ANSWER_MS };
  return new Promise((resolve, reject) => {
    const request =
      tls === undefined ? requestPlain(options) : requestTls({ ...options, ...readFiles(tls) });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${ANSWER_MS} ms`)));
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text) as T);
        else reject(new Error(`etcd: ${path}: ${response.statusCode}: ${text}`));
      });
    });
    request.end(body);
  });
}

function readFiles({ ca, certificate, key }: TlsFiles): { ca: Buffer; cert: Buffer; key: Buffer } {
  return { ca: readFileSync(ca), cert: readFileSync(certificate), key: readFileSync(key) };
}
