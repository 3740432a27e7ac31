/**
 * The deployment record: the settings on which all processes of a deployment have to agree. The
 * Redis of each site stores it, so that a process notices if an address leads to another
 * deployment.
 */
import { CorrectableError } from '../../correctable/errors.ts';

/**
 * The version of the stored format. It changes if another version of the package would misread the
 * data.
 */
export const RECORD_FORMAT = 1;

export interface DeploymentRecord {
  readonly format: number;
  readonly name: string;
  /** The site whose Redis has this record. */
  readonly site: string;
  /** The sites in the order of each vector. */
  readonly sites: readonly string[];
  /** Into how many parts the keys of each site are divided. */
  readonly partitions: number;
}

/** Returns the fields of the hash. */
export function formatRecord(record: DeploymentRecord): Readonly<Record<string, string>> {
  const { format, name, site, sites, partitions } = record;
  return {
    format: String(format),
    name,
    site,
    sites: JSON.stringify(sites),
    partitions: String(partitions),
  };
}

/** Returns `undefined` if there is no record. */
export function parseRecord(
  fields: Readonly<Record<string, string>>,
): DeploymentRecord | undefined {
  const { format, name, site, sites, partitions } = fields;
  if (name === undefined || site === undefined || sites === undefined) return undefined;
  return {
    format: Number(format),
    name,
    site,
    sites: JSON.parse(sites) as string[],
    partitions: Number(partitions),
  };
}

export interface ExpectedRecord {
  readonly name: string;
  /** The site whose Redis is meant to have the record. */
  readonly site: string;
  readonly sites: readonly string[];
}

/**
 * @throws CorrectableError `INVALID_ARGUMENT` that names the field which does
 *   not fit the record
 */
export function checkRecord(record: DeploymentRecord, { name, site, sites }: ExpectedRecord): void {
  if (record.format !== RECORD_FORMAT)
    refuse(
      'name',
      `the data at ${site} has format ${record.format}, and this version of correctables has ${RECORD_FORMAT}. Use the version that wrote it.`,
    );
  if (record.site !== site)
    refuse(`sites.${site}`, `this Redis belongs to the site ${record.site}. Correct the address.`);
  const [wanted, found] = [sites, record.sites].map((names) => names.toSorted().join(', '));
  if (wanted !== found)
    refuse('sites', `the deployment ${name} has the sites ${found}, got ${wanted}.`);
}

/**
 * Compares the records of two sites of one deployment.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if they differ
 */
export function checkSameDeployment(own: DeploymentRecord, other: DeploymentRecord): void {
  const isSame = own.partitions === other.partitions && own.sites.join() === other.sites.join();
  if (isSame) return;
  refuse(
    `sites.${other.site}`,
    `its record has ${other.partitions} partitions and the sites ${other.sites.join(', ')}, and that of ${own.site} has ${own.partitions} and ${own.sites.join(', ')}. These are two deployments: give one of them another name.`,
  );
}

export function createMissingRecordError({ name, site }: ExpectedRecord): CorrectableError {
  const message = `sites.${site}: its Redis has no deployment "${name}". Run correctables causal prepare, or call createCausalDeployment, once for each site.`;
  return new CorrectableError('INVALID_ARGUMENT', message, {
    field: `sites.${site}`,
  });
}

function refuse(field: string, advice: string): never {
  throw new CorrectableError('INVALID_ARGUMENT', `${field}: ${advice}`, {
    field,
  });
}
