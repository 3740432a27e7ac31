/**
 * What a site runs, as plain data: the rules by which all sites decide alike,
 * and what its service has. The version *in force* is the one that all sites of
 * a deployment have; what a newer one adds is used only once that is in force.
 */

/**
 * Version of what all sites decide alike: certification, the gate, replies.
 * Sites with different rules would diverge.
 */
export const RULES_VERSION = 1;

/** The oldest rules that this program still goes by if they are in force. */
export const OLDEST_RULES_VERSION = 1;

/**
 * The tables of a service by name: whether rows can be removed, and the kind of
 * each field by its name.
 */
export type TableSchemas = Readonly<
  Record<
    string,
    {
      readonly removable: boolean;
      readonly fields: Readonly<Record<string, string>>;
    }
  >
>;

/** What a service has that all sites have to know. */
export interface ServiceVersion {
  /** Of all that follows. */
  readonly hash: string;
  readonly tables: TableSchemas;
  /** By name: the fingerprint of the operation's declaration. */
  readonly operations: Readonly<Record<string, string>>;
  /** Shadow operations that make the reply: each site makes it itself. */
  readonly replies: readonly string[];
}

/** What a site runs, or what is in force. */
export interface DeploymentVersion {
  readonly rules: number;
  readonly service: ServiceVersion;
}

export function isSameVersion(
  a: DeploymentVersion,
  b: DeploymentVersion,
): boolean {
  return a.rules === b.rules && a.service.hash === b.service.hash;
}

/** Something that a version needs and another one does not have. */
export interface LostPart {
  /**
   * Whether data on disk needs it too, or only other sites and pages of the
   * earlier version.
   */
  readonly isInData: boolean;
  /** What is needed, in words. */
  readonly needs: string;
}

/**
 * What a version needs and `here` does not have, in words; `undefined` if
 * `here` has the same or more.
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

/** The same of tables alone. */
export function findLostTable(
  needed: TableSchemas,
  here: TableSchemas,
): string | undefined {
  const [first] = listLostTables(needed, here);
  return first?.needs;
}

/** All that one version of a service needs and another one does not have. */
export function* listLostParts(
  needed: ServiceVersion,
  here: ServiceVersion,
): Generator<LostPart, void, undefined> {
  if (needed.hash === here.hash) return;
  yield* listLostTables(needed.tables, here.tables);
  yield* listLostOperations(needed, here);
}

function* listLostTables(
  needed: TableSchemas,
  here: TableSchemas,
): Generator<LostPart, void, undefined> {
  const lose = (needs: string): LostPart => ({ isInData: true, needs });
  for (const [name, { removable, fields }] of Object.entries(needed)) {
    const table = here[name];
    if (table === undefined) {
      yield lose(`the table '${name}', which the service does not have`);
      continue;
    }
    if (table.removable !== removable)
      yield lose(
        `the table '${name}' to stay ${removable ? '' : 'not '}removable`,
      );
    for (const [field, kind] of Object.entries(fields)) {
      const now = table.fields[field];
      if (now === undefined)
        yield lose(
          `the field '${name}.${field}', which the service does not have`,
        );
      else if (now !== kind)
        yield lose(
          `'${name}.${field}' to stay a ${kind}: it is a ${now} now. Add a field of another name`,
        );
    }
  }
}

function* listLostOperations(
  needed: ServiceVersion,
  here: ServiceVersion,
): Generator<LostPart, void, undefined> {
  const lose = (needs: string): LostPart => ({ isInData: false, needs });
  for (const [name, declaration] of Object.entries(needed.operations)) {
    const now = here.operations[name];
    if (now === undefined)
      yield lose(`the operation '${name}', which the service does not have`);
    else if (now !== declaration)
      yield lose(
        `the operation '${name}' to stay as it was declared (arguments, result, errors, access, color, alwaysRed): add an operation of another name`,
      );
  }
  for (const name of needed.replies) {
    if (!here.replies.includes(name))
      yield lose(
        `the shadow operation '${name}' with its reply, which the service does not have`,
      );
  }
}

/**
 * Tables, fields and operations that a version adds: those that an earlier one
 * lacks.
 */
export function listAddedParts(
  before: ServiceVersion,
  after: ServiceVersion,
): string[] {
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
