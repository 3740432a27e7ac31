/** The part of `cluster.json` that names the engine of the red log, and its servers. */
import { dirname, resolve } from 'node:path';
import { isNonEmptyString, isRecord } from '../../../correctable/validate.ts';
import type { EtcdSecrets, EtcdServers } from '../etcd/etcd-channel.ts';
import {
  checkField,
  checkFields,
  invalidFieldError,
  show,
} from '../cluster/cluster-file-errors.ts';
import { readTextFile } from '../cluster/text-file.ts';

/** Settings for etcd. Paths are absolute. */
export interface EtcdRedLog {
  readonly engine: 'etcd';
  readonly endpoints: readonly string[];
  readonly tls?: {
    readonly ca?: string;
    readonly certificate?: string;
    readonly key?: string;
  };
  readonly user?: string;
  readonly passwordFile?: string;
}

export type RedLogSettings = { readonly engine: 'built-in'; readonly leader: string } | EtcdRedLog;

const FIELDS = {
  'built-in': ['engine', 'leader'],
  etcd: ['engine', 'endpoints', 'tls', 'user', 'passwordFile'],
} as const;
const TLS_FIELDS = ['ca', 'certificate', 'key'] as const;
const DEFAULT_PORT = 2379;
const ENGINES = Object.keys(FIELDS) as (keyof typeof FIELDS)[];

/**
 * Throws `INVALID_ARGUMENT` that names the field. Relative files are beside the cluster file, whose
 * path is `path`.
 */
export function parseRedLog(
  value: unknown,
  names: readonly string[],
  path: string,
  field = 'redLog',
): RedLogSettings {
  const example = `{ "engine": "built-in", "leader": "${names[0]}" }`;
  checkField(isRecord(value), field, `must be an object, as ${example}, got ${show(value)}`);
  const engine = ENGINES.find((name) => name === value['engine']);
  const engines = ENGINES.map(show).join(', ');
  checkField(
    engine !== undefined,
    `${field}.engine`,
    `must be one of ${engines}, got ${show(value['engine'])}`,
  );
  const isLed = engine !== 'etcd' || !('leader' in value);
  checkField(
    isLed,
    `${field}.leader`,
    'must be left out with etcd, whose servers elect their leader',
  );
  checkFields(field, value, FIELDS[engine]);
  if (engine === 'etcd') return parseEtcd(value, path, field);
  const { leader } = value;
  const isSite = typeof leader === 'string' && names.includes(leader);
  checkField(isSite, `${field}.leader`, `must be one of ${names.join(', ')}, got ${show(leader)}`);
  return { engine, leader };
}

function parseEtcd(
  value: Readonly<Record<string, unknown>>,
  path: string,
  field: string,
): EtcdRedLog {
  const { endpoints, tls, user, passwordFile } = value;
  const rule = 'must be addresses, as ["https://10.0.1.9:2379"]';
  checkField(
    Array.isArray(endpoints) && endpoints.length > 0,
    `${field}.endpoints`,
    `${rule}, got ${show(endpoints)}`,
  );
  const urls = endpoints.map((endpoint, index) =>
    parseEndpoint(`${field}.endpoints[${index}]`, endpoint),
  );
  const readPath = (pathField: string, name: unknown): string => {
    checkField(isNonEmptyString(name), pathField, `must be the path of a file, got ${show(name)}`);
    return resolve(dirname(path), name);
  };
  const isUser = user === undefined || isNonEmptyString(user);
  checkField(isUser, `${field}.user`, `must be the name of a user of etcd, got ${show(user)}`);
  const missing = user === undefined ? `${field}.user` : `${field}.passwordFile`;
  const areBoth = (user === undefined) === (passwordFile === undefined);
  checkField(
    areBoth,
    missing,
    'must be set too: a user and the file with the password belong together',
  );
  return {
    engine: 'etcd',
    endpoints: urls,
    ...(tls !== undefined && { tls: parseTls(tls, urls, readPath, field) }),
    ...(user !== undefined && {
      user,
      passwordFile: readPath(`${field}.passwordFile`, passwordFile),
    }),
  };
}

function parseEndpoint(field: string, value: unknown): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  const isPlain =
    url !== undefined && url.pathname === '/' && url.search === '' && url.username === '';
  // A URL leaves out the default port of its protocol, which is not the one of etcd.
  const port = /:(?<port>\d+)\/?$/.exec(String(value))?.groups?.['port'] ?? DEFAULT_PORT;
  if (isPlain && (url.protocol === 'http:' || url.protocol === 'https:'))
    return `${url.protocol}//${url.hostname}:${port}`;
  const rule = 'must be the address of an etcd server, as "https://10.0.1.9:2379"';
  throw invalidFieldError(field, `${rule}, got ${show(value)}`);
}

function parseTls(
  value: unknown,
  endpoints: readonly string[],
  readPath: (field: string, name: unknown) => string,
  field: string,
): NonNullable<EtcdRedLog['tls']> {
  checkField(
    isRecord(value),
    `${field}.tls`,
    `must be an object with ca, certificate and key, got ${show(value)}`,
  );
  checkFields(`${field}.tls`, value, TLS_FIELDS);
  const plain = endpoints.find((endpoint) => endpoint.startsWith('http:'));
  checkField(
    plain === undefined,
    `${field}.endpoints`,
    `must begin with https: with redLog.tls, got "${plain}"`,
  );
  const missing = (['certificate', 'key'] as const).find((name) => value[name] === undefined);
  if (missing !== undefined && (value['certificate'] ?? value['key']) !== undefined)
    throw invalidFieldError(
      `${field}.tls.${missing}`,
      'must be set too: a certificate and its key belong together',
    );
  const set = TLS_FIELDS.filter((name) => value[name] !== undefined);
  return Object.fromEntries(
    set.map((name) => [name, readPath(`${field}.tls.${name}`, value[name])]),
  );
}

/**
 * Returns how to reach etcd. It reads the files that the settings name now, and again before each
 * connection.
 *
 * @param field the field of `cluster.json` that has the settings
 * @throws CorrectableError `INVALID_ARGUMENT` that names the field
 */
export function readEtcdServers(settings: EtcdRedLog, field = 'redLog'): EtcdServers {
  const { endpoints } = settings;
  return {
    endpoints,
    ...readSecrets(settings, field),
    readSecrets: () => readSecrets(settings, field),
  };
}

function readSecrets({ tls, user, passwordFile }: EtcdRedLog, settingsField: string): EtcdSecrets {
  const read = (field: string, path: string): Buffer => {
    try {
      return Buffer.from(readTextFile(path));
    } catch (error) {
      throw invalidFieldError(
        `${settingsField}.${field}`,
        `cannot be read: ${(error as Error).message}`,
      );
    }
  };
  const files = Object.entries(tls ?? {}).map(([name, path]) => [name, read(`tls.${name}`, path)]);
  return {
    ...(tls !== undefined && {
      tls: Object.fromEntries(files) as NonNullable<EtcdSecrets['tls']>,
    }),
    ...(user !== undefined &&
      passwordFile !== undefined && {
        user: {
          name: user,
          password: read('passwordFile', passwordFile).toString().trim(),
        },
      }),
  };
}
