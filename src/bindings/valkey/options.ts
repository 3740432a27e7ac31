/** The options of a Valkey binding. */
import { check } from '../../correctable/errors.ts';
import {
  checkOptionNames,
  isNonEmptyString,
  isRecord,
  type OptionNamesOf,
} from '../../correctable/validate.ts';
import type { ReplicasOptions } from '../replicas/index.ts';
import { checkDuration } from '../shared/check-number.ts';
import { parseAddress } from '../shared/server-address.ts';
import { ValkeyServer } from './connection.ts';

export interface ValkeyOptions extends ReplicasOptions {
  /** The primary, as `host` or `host:port`. All writes go there. */
  readonly primary: string;
  /** The replicas in the same form, the nearest first. Default: none */
  readonly replicas?: readonly string[] | undefined;
  /** The beginning of all keys. Default: none */
  readonly prefix?: string | undefined;
  /**
   * How many replicas must have a write before its view (`WAIT`). If fewer have it in time, the
   * write fails with `UNKNOWN`. Default: `0`
   */
  readonly waitForReplicas?: number | undefined;
  /** How long to wait for them, in milliseconds. Default: `1000` */
  readonly waitTimeoutMs?: number | undefined;
  /**
   * Options of `ioredis`, such as `password` and `tls`. They are read for each new connection, so a
   * getter can give a new password. Default: none
   */
  readonly redisOptions?: object | undefined;
}

export interface ResolvedOptions {
  /** `primary`, then the replicas by name, the nearest first. */
  readonly servers: ReadonlyMap<string, ValkeyServer>;
  readonly prefix: string;
  readonly waitForReplicas: number;
  readonly waitTimeoutMs: number;
}

const DEFAULT_PORT = 6379;
const CALL = "valkey({ primary: '10.0.0.1:6379', replicas: ['10.0.0.2:6379'] })";

const OPTIONS: OptionNamesOf<ValkeyOptions> = {
  primary: true,
  replicas: true,
  prefix: true,
  waitForReplicas: true,
  waitTimeoutMs: true,
  redisOptions: true,
  tokenKey: true,
  onAlarm: true,
};

/** @throws CorrectableError `INVALID_ARGUMENT` that names the field */
export function resolveOptions(options: ValkeyOptions): ResolvedOptions {
  checkOptionNames(options, { call: CALL }, OPTIONS);
  const { primary, replicas = [], prefix = '', redisOptions = {} } = options;
  const { waitForReplicas = 0, waitTimeoutMs = 1_000 } = options;
  check(Array.isArray(replicas), 'replicas', `must be a list of servers: write ${CALL}`);
  check(typeof prefix === 'string', 'prefix', 'must be a string, or none');
  check(isRecord(redisOptions), 'redisOptions', 'must be options of ioredis, or none');
  const isCount = Number.isInteger(waitForReplicas) && waitForReplicas >= 0;
  check(isCount, 'waitForReplicas', 'must be an integer, 0 or more');
  // Without a limit (0), a write would wait for ever.
  check(checkDuration('waitTimeoutMs', waitTimeoutMs) >= 1, 'waitTimeoutMs', 'must be 1 or more');
  const open = (field: string, value: unknown): ValkeyServer => {
    check(
      value !== '',
      field,
      `must not be empty. Is a variable of the environment missing? Write ${CALL}`,
    );
    const address = isNonEmptyString(value) ? parseAddress(value, DEFAULT_PORT) : undefined;
    if (address === undefined) check(false, field, `must be host or host:port: write ${CALL}`);
    return new ValkeyServer({
      name: field,
      address: address!,
      redisOptions,
      waitTimeoutMs,
    });
  };
  const servers = new Map([['primary', open('primary', primary)]]);
  for (const [at, replica] of replicas.entries())
    servers.set(`replicas[${at}]`, open(`replicas[${at}]`, replica));
  return { servers, prefix, waitForReplicas, waitTimeoutMs };
}
