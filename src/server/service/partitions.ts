/**
 * Partitions: named sets of rows, each with a red log of its own. Where a row lives is data, and no
 * function of the service: two versions of a function could order one row in two logs.
 */
import { createInvalidArgumentError } from '../../correctable/errors.ts';
import type { OperationSpecs } from '../../contract/contract.ts';
import type { OperationPlan } from './operation-plan.ts';
import type { Service } from './service.ts';
import { BY_KEY, NO_PARTITION, type Tables } from './tables.ts';
import { describeArgumentProblem } from './text-argument.ts';

/** The partition that every deployment has. Its log has ordinal 0. */
export const MAIN = 'main';

const MAIN_LOG = 0;
const MAX_LOGS = 16;

/** The parts of a plan that decide where an operation is ordered. */
type Home = Pick<OperationPlan, 'partition' | 'partitionBy'>;

/** The parts of a service that declare where rows and operations belong. */
interface Declarations {
  readonly tables: Tables;
  readonly contract: { readonly operations: OperationSpecs };
}

/** Finds the red log of rows and of operations. */
export interface Partitions {
  /** The names of the partitions by ordinal. The first one is `main`. */
  readonly names: readonly string[];
  readonly count: number;
  /**
   * Returns the ordinal of the log that orders red operations on this row. It is `undefined` if the
   * table has `partition: 'none'`, in a deployment with one log too.
   */
  ofRow(table: string, key: string): number | undefined;
  /**
   * Returns the ordinal of the home log of an operation with these parsed arguments. It depends on
   * nothing else, so a retry at another site has the same home.
   */
  homeOf(operation: Home, args: unknown): number;
}

/** Who orders and who confirms the red operations of a partition. */
export interface PartitionLayout {
  readonly name: string;
  /** The site that leads its red log. */
  readonly leader: string;
  /**
   * The sites of which a majority confirms, in the deployment's order. Absent in a cluster if they
   * are all members, also those that join later.
   */
  readonly voters?: readonly string[];
}

/** The partitions of a deployment, by name. */
export type PartitionsByName = Readonly<Record<string, unknown>>;

/**
 * Creates the partitions of a deployment for a service. Ordinals follow from the names alone, in
 * any order of the options.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for a name that no partition can have, for more than
 * 16 logs, and if a table or an operation of the service names what does not exist
 */
export function createPartitions(
  service: Declarations,
  options: PartitionsByName = {},
): Partitions {
  const added = Object.keys(options).toSorted();
  checkPartitionNames(added);
  const names = [MAIN, ...added];
  checkTables(service.tables, names);
  checkOperations(service.contract.operations, names);
  return new NamedPartitions(service.tables, names);
}

class NamedPartitions implements Partitions {
  readonly names: readonly string[];
  readonly count: number;
  readonly #ordinals: ReadonlyMap<string, number>;
  /** The log of all rows of a table, or `byKey`. Tables of `main` are not in it. */
  readonly #tables: ReadonlyMap<string, number | undefined | typeof BY_KEY>;

  constructor(tables: Tables, names: readonly string[]) {
    this.names = names;
    this.count = names.length;
    this.#ordinals = new Map(names.map((name, ordinal) => [name, ordinal]));
    this.#tables = this.#findTables(tables);
  }

  ofRow(table: string, key: string): number | undefined {
    // Most deployments have one log, and no table without one.
    if (this.#tables.size === 0) return MAIN_LOG;
    const log = this.#tables.get(table);
    if (log === BY_KEY) return this.#ofText(key);
    return log === undefined && !this.#tables.has(table) ? MAIN_LOG : log;
  }

  homeOf({ partition, partitionBy }: Home, args: unknown): number {
    if (this.count === 1) return MAIN_LOG;
    if (partition !== undefined) return this.#ordinals.get(partition) ?? MAIN_LOG;
    if (partitionBy === undefined) return MAIN_LOG;
    const text = getAtPath(args, partitionBy);
    return typeof text === 'string' ? this.#ofText(text) : MAIN_LOG;
  }

  #findTables(tables: Tables): ReadonlyMap<string, number | undefined | typeof BY_KEY> {
    const found = new Map<string, number | undefined | typeof BY_KEY>();
    for (const [table, { partition = MAIN }] of Object.entries(tables)) {
      if (partition === NO_PARTITION) found.set(table, undefined);
      else if (this.count === 1 || partition === MAIN) continue;
      else if (partition === BY_KEY) found.set(table, BY_KEY);
      else found.set(table, this.#ordinals.get(partition));
    }
    return found;
  }

  /** A text without `/` names no partition: most such keys are names. */
  #ofText(text: string): number {
    const end = text.indexOf('/');
    if (end === -1) return MAIN_LOG;
    return this.#ordinals.get(text.slice(0, end)) ?? MAIN_LOG;
  }
}

/** Returns `keys.0` or `writes.0.key` of arguments, if it is there. */
function getAtPath(args: unknown, path: string): unknown {
  // Most operations name one argument, and this runs several times for each.
  if (!path.includes('.')) return (args as Readonly<Record<string, unknown>>)[path];
  let value = args;
  for (const name of path.split('.'))
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[name];
  return value;
}

/** A name is a word, since it stands before the `/` of keys, and in metrics. */
const NAME = /^[A-Za-z][\w-]{0,63}$/;

/**
 * @throws CorrectableError `INVALID_ARGUMENT` for a name that no partition can have, and for more
 * than 16 logs
 */
export function checkPartitionNames(names: readonly string[]): void {
  for (const name of names) checkName(name);
  if (names.length < MAX_LOGS) return;
  const problem = `must be at most ${MAX_LOGS - 1} beside ${MAIN}, got ${names.length}. Each one is an entry of every vector`;
  throw createInvalidArgumentError('partitions', problem);
}

function checkName(name: string): void {
  const field = `partitions.${name}`;
  if (name === MAIN) {
    const problem = `every deployment has '${MAIN}' for all other rows. Leave it out`;
    throw createInvalidArgumentError(field, problem);
  }
  if (name === BY_KEY || name === NO_PARTITION) {
    const problem = `'${name}' has another meaning as the partition of a table. Choose another name`;
    throw createInvalidArgumentError(field, problem);
  }
  if (!NAME.test(name)) {
    const problem = `'${name}' must be a letter, then at most 63 letters, digits, - or _, without a /`;
    throw createInvalidArgumentError(field, problem);
  }
}

function checkTables(tables: Tables, names: readonly string[]): void {
  for (const [table, { partition = MAIN }] of Object.entries(tables)) {
    if (partition === BY_KEY || partition === NO_PARTITION) continue;
    checkIsPartition(partition, names, `tables.${table}.partition`);
  }
}

function checkOperations(operations: OperationSpecs, names: readonly string[]): void {
  for (const [name, spec] of Object.entries(operations)) {
    const { args, partition, partitionBy } = spec;
    if (partition !== undefined) checkIsPartition(partition, names, `operations.${name}.partition`);
    if (partitionBy === undefined) continue;
    const problem = describeArgumentProblem(args, partitionBy);
    if (problem !== undefined)
      throw createInvalidArgumentError(`operations.${name}.partitionBy`, problem);
  }
}

function checkIsPartition(name: string, names: readonly string[], field: string): void {
  if (names.includes(name)) return;
  const problem = `this deployment has no partition '${name}', only ${names.join(', ')}. Name one of these, or create the deployment with it`;
  throw createInvalidArgumentError(field, problem);
}

/**
 * Returns the writes that may be red and do not declare where they belong. Their home is `main`,
 * whatever their rows are.
 */
export function listWritesWithoutPartition({
  contract,
  maybeRed,
}: Pick<Declarations, 'contract'> & Pick<Service, 'maybeRed'>): readonly string[] {
  return Object.entries(contract.operations)
    .filter(
      ([name, { access, partition, partitionBy }]) =>
        access === 'write' &&
        maybeRed.has(name) &&
        partition === undefined &&
        partitionBy === undefined,
    )
    .map(([name]) => name);
}
