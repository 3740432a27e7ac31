/**
 * What a data directory was made for. A service may gain operations, tables and fields; what the data names must stay as
 * it is, and so must the sites and the leader, since the logs go by their places.
 */
import { createHash } from 'node:crypto';
import { CorrectableError } from '../../../correctable/errors.ts';
import type { Service } from '../../service/service.ts';
import { unusableDirectoryError } from './missing-history.ts';
import { FORMAT_VERSION } from '../format/file-names.ts';

/** The file in which it is written down. */
export const MANIFEST_FILE = 'manifest.json';

/** The tables of a service by name: whether rows can be removed, and the kind of each field by its name. */
type TableSchemas = Readonly<
  Record<string, { readonly removable: boolean; readonly fields: Readonly<Record<string, string>> }>
>;

/** What is written down. */
export interface Manifest {
  readonly format: number;
  readonly service: { readonly name: string; readonly hash: string; readonly tables: TableSchemas };
  readonly sites: readonly string[];
  readonly redLeader: string;
  /** The one site whose data it is, where each site is a process of its own. */
  readonly site?: string;
}

/** The deployment that wants to use a directory. */
export interface Deployment {
  readonly service: Service;
  readonly sites: readonly string[];
  readonly redLeader: string;
  /** The one site whose data it is, where each site is a process of its own. */
  readonly site?: string | undefined;
}

export function createManifest({ service, sites, redLeader, site }: Deployment): Manifest {
  const tables = getTableSchemas(service);
  const hash = createHash('sha256').update(JSON.stringify(tables)).digest('hex').slice(0, 16);
  const described = { name: service.contract.name, hash, tables };
  return { format: FORMAT_VERSION, service: described, sites, redLeader, ...(site !== undefined && { site }) };
}

/**
 * Reads what is written down.
 *
 * @throws CorrectableError `UNAVAILABLE` where it is damaged.
 */
export function parseManifest(bytes: Uint8Array): Manifest {
  let found: unknown;
  try {
    found = JSON.parse(Buffer.from(bytes).toString());
  } catch (error) {
    throw unusableDirectoryError(`${MANIFEST_FILE} is damaged (${(error as Error).message})`);
  }
  const { format, service, sites, redLeader } = (found ?? {}) as Partial<Manifest>;
  const isWhole =
    typeof format === 'number' && typeof redLeader === 'string' && isListOfNames(sites) && hasTables(service);
  if (!isWhole) throw unusableDirectoryError(`${MANIFEST_FILE} is damaged (it does not say what the data is for)`);
  return found as Manifest;
}

function hasTables(service: Manifest['service'] | undefined): boolean {
  if (typeof service?.name !== 'string' || !isObject(service.tables)) return false;
  return Object.values(service.tables).every((item) => isObject(item) && isObject(item.fields));
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** @throws CorrectableError `INVALID_ARGUMENT` where this version cannot read the data */
export function checkFormat({ format }: Manifest, dataDir: string): void {
  if (format === FORMAT_VERSION) return;
  const problem = `has format ${format}, and this version reads format ${FORMAT_VERSION}`;
  throw mismatchError(`The data in ${dataDir} ${problem}: use the version that wrote it, or name another directory.`);
}

/**
 * Checks that data can be used by a deployment.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming what differs, and what to do.
 */
export function checkManifest(found: Manifest, requested: Manifest, dataDir: string): void {
  const refuse = (problem: string): never => {
    throw mismatchError(`The data in ${dataDir} ${problem}`);
  };
  checkFormat(found, dataDir);
  if (found.service.name !== requested.service.name) {
    refuse(`belongs to the service '${found.service.name}', not '${requested.service.name}': name another directory.`);
  }
  if (found.site !== requested.site) {
    if (found.site === undefined) refuse('is of all sites in one process, not of one site: name another directory.');
    const advice = requested.site === undefined ? 'start it with the cluster file' : 'name another directory';
    refuse(`is of the site '${found.site}' of a cluster, not of ${requested.site ?? 'all sites'}: ${advice}.`);
  }
  // The sites of a cluster may come and go. Those that it was created with stay in the manifest.
  if (found.site === undefined && found.sites.join() !== requested.sites.join()) {
    refuse(`is of the sites ${found.sites.join(', ')}, in this order, not of ${requested.sites.join(', ')}.`);
  }
  // The leader of a cluster is in `node.json` once it has changed.
  if (found.site === undefined && found.redLeader !== requested.redLeader) {
    refuse(`has its red log led by ${found.redLeader}, not by ${requested.redLeader}: the leader cannot change yet.`);
  }
  if (found.service.hash === requested.service.hash) return;
  const lost = findLostParts(found.service.tables, requested.service.tables);
  if (lost !== undefined) refuse(`needs ${lost} (data ${found.service.hash}, service ${requested.service.hash}).`);
}

/** What the data has and the service lacks; `undefined` when the service has only gained. */
function findLostParts(found: TableSchemas, requested: TableSchemas): string | undefined {
  for (const [name, { removable, fields }] of Object.entries(found)) {
    const table = requested[name];
    if (table === undefined) return `the table '${name}', which the service no longer has: keep it, if only unused`;
    if (table.removable !== removable) return `the table '${name}' to stay ${removable ? '' : 'not '}removable`;
    for (const [field, kind] of Object.entries(fields)) {
      const now = table.fields[field];
      if (now === undefined)
        return `the field '${name}.${field}', which the service no longer has: keep it, if only unused`;
      if (now !== kind) return `'${name}.${field}' to stay a ${kind}: it is a ${now} now. Add a field of another name`;
    }
  }
  return undefined;
}

/** The tables of a service. */
function getTableSchemas({ tables }: Service): TableSchemas {
  const shape: Record<string, TableSchemas[string]> = {};
  for (const name of Object.keys(tables).toSorted()) {
    const { fields, removable } = tables[name] as Service['tables'][string];
    const kinds = Object.keys(fields)
      .toSorted()
      .map((field) => [field, String(fields[field]?.kind)] as const);
    shape[name] = { removable, fields: Object.fromEntries(kinds) };
  }
  return shape;
}

function mismatchError(message: string): CorrectableError {
  return new CorrectableError('INVALID_ARGUMENT', message, { field: 'dataDir' });
}
