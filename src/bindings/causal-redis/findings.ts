/** The problems of the servers of a site, with the fix for each. */
import type { ServerReport } from './inspect-servers.ts';

export interface Finding<C extends string = FindingCode> {
  readonly code: C;
  /** Whether the store must not be used like this. */
  readonly isError: boolean;
  readonly message: string;
}

/**
 * - `eviction`: the server drops partitions when its memory is full.
 * - `persistence`: a failure of the server loses writes.
 * - `version`: the server is older than 7.0.
 * - `unchecked`: the rights of the user do not allow to see the settings.
 */
export type ServerFindingCode = 'eviction' | 'persistence' | 'version' | 'unchecked';

/**
 * - `unreachable`: the Redis of a site does not answer.
 * - `rights`: the user may not run a command that the store needs.
 * - `deployment`: the record is missing, or does not fit.
 * - `gateway`: no process of a site runs.
 * - `lag`: the writes of another site arrive late.
 */
export type FindingCode =
  | ServerFindingCode
  | 'unreachable'
  | 'rights'
  | 'deployment'
  | 'gateway'
  | 'lag';

type ServerFinding = Finding<ServerFindingCode>;

const MIN_MAJOR_VERSION = 7;

export function findProblems(servers: readonly ServerReport[]): readonly ServerFinding[] {
  return servers.flatMap((server) => [
    ...findEviction(server),
    ...findLossOfWrites(server),
    ...findOldVersion(server),
  ]);
}

function findEviction({ server, evictionPolicy }: ServerReport): readonly ServerFinding[] {
  if (evictionPolicy === undefined) {
    const message = `${server}: the eviction policy cannot be read, since CONFIG is refused. Make sure that maxmemory-policy is noeviction.`;
    return [{ code: 'unchecked', isError: false, message }];
  }
  if (!evictionPolicy.startsWith('allkeys')) return [];
  const message = `${server}: maxmemory-policy is ${evictionPolicy}, so that Redis drops whole partitions when its memory is full. Set it to noeviction.`;
  return [{ code: 'eviction', isError: true, message }];
}

function findLossOfWrites(report: ServerReport): readonly ServerFinding[] {
  const { server, replicas, hasAppendOnlyFile } = report;
  const missing = [
    ...(replicas === 0 ? ['no replica'] : []),
    ...(hasAppendOnlyFile === false ? ['no append-only file'] : []),
  ];
  if (missing.length === 0 || replicas > 0) return [];
  const message = `${server}: it has ${missing.join(' and ')}. If it fails, writes that no other site has are lost. Add a replica, or set appendonly yes.`;
  return [{ code: 'persistence', isError: false, message }];
}

function findOldVersion({ server, version }: ServerReport): readonly ServerFinding[] {
  const major = Number.parseInt(version, 10);
  if (Number.isNaN(major) || major >= MIN_MAJOR_VERSION) return [];
  const message = `${server}: it runs version ${version}. Use Redis 7.0 or Valkey 7.2, or later.`;
  return [{ code: 'version', isError: true, message }];
}
