/**
 * What a site runs, as plain data: the rules by which all sites decide alike, and what its service
 * has. The version *in force* is the one that all sites of a deployment have; what a newer one adds
 * is used only once that is in force.
 */

/**
 * Version of what all sites decide alike: certification, the gate, replies. Sites with different
 * rules would diverge.
 */
export const RULES_VERSION = 1;

/** The oldest rules that this program still goes by if they are in force. */
export const OLDEST_RULES_VERSION = 1;

/**
 * The tables of a service by name: whether rows can be removed, and the kind of each field by its
 * name.
 */
export type TableSchemas = Readonly<
  Record<string, { readonly removable: boolean; readonly fields: Readonly<Record<string, string>> }>
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

export function isSameVersion(a: DeploymentVersion, b: DeploymentVersion): boolean {
  return a.rules === b.rules && a.service.hash === b.service.hash;
}

/**
 * What a version needs and `here` does not have, in words; `undefined` if `here` has the same or
 * more.
 */
export function findLostPart(
  needed: DeploymentVersion,
  here: DeploymentVersion,
): string | undefined {
  if (needed.rules > here.rules)
    return `rules ${needed.rules}, and this program knows them up to ${here.rules}`;
  if (needed.service.hash === here.service.hash) return undefined;
  return (
    findLostTable(needed.service.tables, here.service.tables) ??
    findLostOperation(needed.service, here.service)
  );
}

/** The same of tables alone. */
export function findLostTable(needed: TableSchemas, here: TableSchemas): string | undefined {
  for (const [name, { removable, fields }] of Object.entries(needed)) {
    const table = here[name];
    if (table === undefined) return `the table '${name}', which the service does not have`;
    if (table.removable !== removable)
      return `the table '${name}' to stay ${removable ? '' : 'not '}removable`;
    for (const [field, kind] of Object.entries(fields)) {
      const now = table.fields[field];
      if (now === undefined) return `the field '${name}.${field}', which the service does not have`;
      if (now !== kind)
        return `'${name}.${field}' to stay a ${kind}: it is a ${now} now. Add a field of another name`;
    }
  }
  return undefined;
}

function findLostOperation(needed: ServiceVersion, here: ServiceVersion): string | undefined {
  for (const [name, declaration] of Object.entries(needed.operations)) {
    const now = here.operations[name];
    if (now === undefined) return `the operation '${name}', which the service does not have`;
    if (now !== declaration)
      return `the operation '${name}' to stay as it was declared (arguments, result, errors, access, color, alwaysRed): add an operation of another name`;
  }
  const reply = needed.replies.find((name) => !here.replies.includes(name));
  return reply && `the shadow operation '${reply}' with its reply, which the service does not have`;
}
