/**
 * The version of a site as plain data: the rules by which all sites decide alike, and the parts of
 * its service. The version *in force* is the one that all sites of a deployment have. Additions of
 * a newer version are used only once that is in force.
 */

/**
 * The version of the rules by which all sites decide alike: certification, the gate, replies. Sites
 * with different rules would diverge.
 */
export const RULES_VERSION = 1;

/** The oldest rules that this program can still follow if they are in force. */
export const OLDEST_RULES_VERSION = 1;

/**
 * The tables of a service by name: whether rows can be removed, the kind of each field by its name,
 * and the partition if it is not `main`.
 */
export type TableSchemas = Readonly<
  Record<
    string,
    {
      readonly removable: boolean;
      readonly fields: Readonly<Record<string, string>>;
      readonly partition?: string;
    }
  >
>;

/** The parts of a service that all sites have to know. */
export interface ServiceVersion {
  /** The fingerprint of all other fields. */
  readonly hash: string;
  readonly tables: TableSchemas;
  /** By name: the fingerprint of the operation's declaration. */
  readonly operations: Readonly<Record<string, string>>;
  /** The home log of each operation that declares one, in words. It is `undefined` if none does. */
  readonly homes?: Readonly<Record<string, string>>;
  /**
   * Shadow operations that create the reply. Each site runs that code, so all sites must have it
   * before it is used.
   */
  readonly replies: readonly string[];
}

/** The version of a site, or the one in force. */
export interface DeploymentVersion {
  readonly rules: number;
  readonly service: ServiceVersion;
}

export function isSameVersion(a: DeploymentVersion, b: DeploymentVersion): boolean {
  return a.rules === b.rules && a.service.hash === b.service.hash;
}

/** Something that a version needs and another one does not have. */
export interface LostPart {
  /** Whether data on disk needs it too, or only other sites and pages of the earlier version. */
  readonly isInData: boolean;
  /** The missing part, in words. */
  readonly needs: string;
}

/**
 * Describes a part that a version needs and `here` lacks. Returns `undefined` if `here` has the
 * same or more.
 */
export function findLostPart(
  needed: DeploymentVersion,
  here: DeploymentVersion,
): string | undefined {
  if (needed.rules > here.rules)
    return `rules ${needed.rules}, and this program knows them up to ${here.rules}`;
  const [first] = listLostParts(needed.service, here.service);
  return first?.needs;
}

/** Describes a part that data of a version needs and `here` lacks. */
export function findLostData(needed: ServiceVersion, here: ServiceVersion): string | undefined {
  for (const part of listLostParts(needed, here)) if (part.isInData) return part.needs;
  return undefined;
}

/** Returns all parts that one version of a service needs and another one lacks. */
export function* listLostParts(
  needed: ServiceVersion,
  here: ServiceVersion,
): Generator<LostPart, void, undefined> {
  if (needed.hash === here.hash) return;
  yield* listLostTables(needed.tables, here.tables);
  yield* listMovedOperations(needed, here);
  yield* listLostOperations(needed, here);
}

function* listLostTables(
  needed: TableSchemas,
  here: TableSchemas,
): Generator<LostPart, void, undefined> {
  const lose = (needs: string): LostPart => ({ isInData: true, needs });
  for (const [name, { removable, fields, partition }] of Object.entries(needed)) {
    const table = here[name];
    if (table === undefined) {
      yield lose(`the table '${name}', which the service does not have`);
      continue;
    }
    if (table.removable !== removable)
      yield lose(`the table '${name}' to stay ${removable ? '' : 'not '}removable`);
    if (table.partition !== partition)
      yield lose(`the table '${name}' to stay ${describePlace(partition)}: ${FIXED_PLACES}`);
    for (const [field, kind] of Object.entries(fields)) {
      const now = table.fields[field];
      if (now === undefined)
        yield lose(`the field '${name}.${field}', which the service does not have`);
      else if (now !== kind)
        yield lose(
          `'${name}.${field}' to stay a ${kind}: it is a ${now} now. Add a field of another name`,
        );
    }
  }
}

/**
 * A retry at a site with another home would look for the operation in another log, and execute it
 * again.
 */
function* listMovedOperations(
  needed: ServiceVersion,
  here: ServiceVersion,
): Generator<LostPart, void, undefined> {
  for (const name of Object.keys(needed.operations)) {
    const home = needed.homes?.[name];
    if (here.operations[name] === undefined || here.homes?.[name] === home) continue;
    const needs = `the operation '${name}' to stay ${home === undefined ? 'without a partition' : `with ${home}`}: ${FIXED_PLACES}`;
    yield { isInData: true, needs };
  }
}

const FIXED_PLACES = 'partitions are fixed when a deployment is created';

function describePlace(partition: string | undefined): string {
  return partition === undefined ? 'without a partition' : `with partition: '${partition}'`;
}

function* listLostOperations(
  needed: ServiceVersion,
  here: ServiceVersion,
): Generator<LostPart, void, undefined> {
  const lose = (needs: string): LostPart => ({ isInData: false, needs });
  for (const [name, declaration] of Object.entries(needed.operations)) {
    const now = here.operations[name];
    if (now === undefined) yield lose(`the operation '${name}', which the service does not have`);
    else if (now !== declaration)
      yield lose(
        `the operation '${name}' to stay as it was declared (arguments, result, errors, access, color, alwaysRed): add an operation of another name`,
      );
  }
  for (const name of needed.replies) {
    if (!here.replies.includes(name))
      yield lose(`the shadow operation '${name}' with its reply, which the service does not have`);
  }
}

/** Returns tables, fields and operations that a version adds to an earlier one. */
export function listAddedParts(before: ServiceVersion, after: ServiceVersion): string[] {
  const tables = Object.entries(after.tables).flatMap(([name, { fields }]) => {
    const known = before.tables[name];
    if (known === undefined) return [`the table '${name}'`];
    return Object.keys(fields)
      .filter((field) => !Object.hasOwn(known.fields, field))
      .map((field) => `the field '${name}.${field}'`);
  });
  const operations = Object.keys(after.operations)
    .filter((name) => !Object.hasOwn(before.operations, name))
    .map((name) => `the operation '${name}'`);
  return [...tables, ...operations];
}
