/**
 * The manifest of a data directory. It names what must not change: operations, fields, the order of
 * the sites.
 */
import { CorrectableError } from '../../../../correctable/errors.ts';
import { isRecord } from '../../../../correctable/validate.ts';
import {
  RULES_VERSION,
  findLostPart,
  findLostData,
  type DeploymentVersion,
  type ServiceVersion,
} from '../../../service/records/deployment-version.ts';
import { describeService } from '../../../service/describe-service.ts';
import { MAIN, type PartitionLayout } from '../../../service/partitions.ts';
import type { Service } from '../../../service/service.ts';
import { unusableDirectoryError } from './missing-history.ts';
import { parseCheckedJson } from '../format/checked-json.ts';
import { FORMAT_VERSION, describeFormat } from '../format/file-names.ts';

export const MANIFEST_FILE = 'manifest.json';

export interface Manifest {
  readonly format: number;
  /**
   * The service with which the data was created. A cluster's later versions are in its checkpoints.
   */
  readonly service: { readonly name: string } & ServiceVersion;
  /** The rules that were in force then. */
  readonly rules: number;
  readonly sites: readonly string[];
  readonly redLeader: string;
  /** The partitions beside `main`, if there are any. */
  readonly partitions?: readonly PartitionLayout[];
  /** The only site of the data, if each site is a process of its own. */
  readonly site?: string;
  /** Identifies the key of session tokens without revealing it. */
  readonly key?: string;
}

export interface Deployment {
  readonly service: Service;
  readonly sites: readonly string[];
  readonly redLeader: string;
  /** The partitions beside `main`. Default: none */
  readonly partitions?: readonly PartitionLayout[] | undefined;
  /** The only site of the data, if each site is a process of its own. */
  readonly site?: string | undefined;
}

export function createManifest({
  service,
  sites,
  redLeader,
  partitions = [],
  site,
}: Deployment): Manifest {
  const isPartitioned = partitions.length > 0;
  const described = {
    name: service.contract.name,
    ...describeService(service, isPartitioned),
  };
  const layout = {
    sites,
    redLeader,
    ...(isPartitioned && { partitions }),
    ...(site !== undefined && { site }),
  };
  return {
    format: FORMAT_VERSION,
    service: described,
    rules: RULES_VERSION,
    ...layout,
  };
}

/** Returns the version in force when the data was created. */
export function getFoundingVersion({ rules, service }: Manifest): DeploymentVersion {
  const { name: _, ...version } = service;
  return { rules, service: version };
}

/** @throws CorrectableError `UNAVAILABLE` if it is damaged */
export function parseManifest(bytes: Uint8Array): Manifest {
  let found: unknown;
  try {
    found = parseCheckedJson(bytes, isOfOtherFormat);
  } catch (error) {
    throw unusableDirectoryError(`${MANIFEST_FILE} is damaged (${(error as Error).message})`);
  }
  const { format, service, sites, redLeader, partitions } = found as Partial<Manifest>;
  const isWhole =
    typeof format === 'number' &&
    typeof redLeader === 'string' &&
    isListOfNames(sites) &&
    isListOfPartitions(partitions ?? []) &&
    isServiceVersion(service);
  if (!isWhole)
    throw unusableDirectoryError(
      `${MANIFEST_FILE} is damaged (it does not say what the data is for)`,
    );
  return found as Manifest;
}

function isOfOtherFormat({ format }: Readonly<Record<string, unknown>>): boolean {
  return Number.isSafeInteger(format) && format !== FORMAT_VERSION;
}

function isServiceVersion(service: Manifest['service'] | undefined): boolean {
  const { name, tables, operations, homes = {}, replies } = service ?? {};
  if (
    typeof name !== 'string' ||
    !isRecord(tables) ||
    !isRecord(operations) ||
    !isRecord(homes) ||
    !isListOfNames(replies)
  )
    return false;
  return Object.values(tables).every((item) => isRecord(item) && isRecord(item['fields']));
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isListOfPartitions(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (item) =>
        isRecord(item) &&
        typeof item['name'] === 'string' &&
        typeof item['leader'] === 'string' &&
        isListOfNames(item['voters'] ?? []),
    )
  );
}

/** @throws CorrectableError `INVALID_ARGUMENT` if this version cannot read the data */
export function checkFormat({ format }: Manifest, dataDir: string): void {
  if (format === FORMAT_VERSION) return;
  throw mismatchError(
    `The data in ${dataDir} ${describeFormat(format)}: use the version that wrote it, or name another directory.`,
  );
}

/** @throws CorrectableError `INVALID_ARGUMENT` naming the difference, and what to do */
export function checkManifest(found: Manifest, requested: Manifest, dataDir: string): void {
  const refuse = (problem: string): never => {
    throw mismatchError(`The data in ${dataDir} ${problem}`);
  };
  checkFormat(found, dataDir);
  if (found.service.name !== requested.service.name) {
    refuse(
      `belongs to the service '${found.service.name}', not '${requested.service.name}': name another directory.`,
    );
  }
  if (found.site !== requested.site) {
    if (found.site === undefined)
      refuse('is of all sites in one process, not of one site: name another directory.');
    const advice =
      requested.site === undefined ? 'start it with the cluster file' : 'name another directory';
    refuse(
      `is of the site '${found.site}' of a cluster, not of ${requested.site ?? 'all sites'}: ${advice}.`,
    );
  }
  // The sites of a cluster may change. The manifest keeps the founding ones.
  if (found.site === undefined && found.sites.join() !== requested.sites.join()) {
    refuse(
      `is of the sites ${found.sites.join(', ')}, in this order, not of ${requested.sites.join(', ')}.`,
    );
  }
  // The leaders of a cluster may have changed since. Then they are in `node.json`, so
  // `rejectOtherLeaders` compares them.
  if (found.site === undefined && found.redLeader !== requested.redLeader) {
    refuse(
      `has its red log led by ${found.redLeader}, not by ${requested.redLeader}: the leader cannot change yet.`,
    );
  }
  checkPartitions(found, requested, refuse);
  if (found.service.hash === requested.service.hash) return;
  // In one process, no other site can run an operation that is gone or has changed. Only its home
  // must stay, since an identifier is decided there.
  const lost =
    found.site === undefined
      ? findLostData(found.service, requested.service)
      : findLostPart(getFoundingVersion(found), getFoundingVersion(requested));
  const hashes = `data ${found.service.hash}, service ${requested.service.hash}`;
  if (lost !== undefined)
    refuse(`needs ${lost} (${hashes}). Keep all that the service has had, if only unused.`);
}

/**
 * Rows would be in another log than before, and records would count as confirmed that other sites
 * have.
 */
function checkPartitions(
  found: Manifest,
  requested: Manifest,
  refuse: (problem: string) => never,
): void {
  const [before, now] = [found.partitions ?? [], requested.partitions ?? []];
  const namesOf = (partitions: readonly PartitionLayout[]): string =>
    [MAIN, ...partitions.map(({ name }) => name)].join(', ');
  if (namesOf(before) !== namesOf(now))
    refuse(
      `has the partitions ${namesOf(before)}, not ${namesOf(now)}: partitions are fixed when a deployment is created. Start it with those that it has, or name another directory.`,
    );
  for (const [index, { name, leader, voters }] of before.entries()) {
    const asked = now[index] as PartitionLayout;
    if (found.site === undefined && leader !== asked.leader)
      refuse(
        `has the red log of the partition ${name} led by ${leader}, not by ${asked.leader}: the leader cannot change yet.`,
      );
    if (formatVoters(voters) !== formatVoters(asked.voters))
      refuse(
        `has ${formatVoters(voters)} as voters of the partition ${name}, not ${formatVoters(asked.voters)}: voters cannot change yet.`,
      );
  }
}

function formatVoters(voters: PartitionLayout['voters']): string {
  return voters?.join(', ') ?? 'all sites';
}

function mismatchError(message: string): CorrectableError {
  return new CorrectableError('INVALID_ARGUMENT', message, {
    field: 'dataDir',
  });
}
