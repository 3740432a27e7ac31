/** What is to be executed for one operation, and what its answer means: the same for built-in operations and statements. */
import { CorrectableError } from '../../correctable/errors.ts';
import type { Access, Operation } from '../../correctable/operation.ts';
import type { Page } from './read-path.ts';
import { writeClock } from './sessions/write-clock.ts';
import { changesOnePartition } from './statements/markers.ts';
import type { Statement } from './statements/statements.ts';

/** What an answer means. */
export interface Meaning {
  readonly value: unknown;
  /** When it was written, in microseconds since the epoch, where the answer says so. */
  readonly version: number | undefined;
  /** The objects that it shows, each with its version, where there is one: by these a session is kept. */
  readonly objects: readonly ShownObject[] | undefined;
}

/** One object in an answer. */
export interface ShownObject {
  readonly id: string;
  /** `undefined` where it is not there. */
  readonly version: number | undefined;
  /** Tells its value from another one of the same version; `undefined` where nobody can tell. */
  readonly content?: string | undefined;
}

/** One operation, bound to its arguments. */
export interface Plan {
  readonly name: string;
  readonly effect: Access;
  readonly cql: string;
  readonly params: readonly unknown[];
  readonly isIdempotent: boolean;
  readonly pageSize: number;
  readonly pageState?: string | undefined;
  /** Whether the result may be one page of several; otherwise all of it is fetched. */
  readonly isPaged?: boolean;
  /** The objects that the answer will show, where the plan knows them. */
  readonly ids: readonly string[];
  /** What to do where the cluster does not know the table; nothing to say unless given. */
  readonly hint?: string | undefined;
  /** Of an update: the time of writing, in microseconds since the epoch. */
  readonly timestamp?: number | undefined;
  /** Of an update: whether it is one plain write of one partition, of which nothing is done where it is refused. */
  readonly isOneMutation?: boolean;
  /** @throws CorrectableError where the answer does not fit */
  readonly meaningOf: (page: Page) => Meaning;
}

/** Makes a plan of an operation's arguments. @throws CorrectableError `INVALID_ARGUMENT` or `INVALID_VALUE` */
export type Planner = (operation: Operation) => Plan;

/** How a statement of the application is executed. */
export function statementPlanner(statement: Statement): Planner {
  const { name, effect, cql, isIdempotent, result } = statement;
  const { versionColumn } = result;
  const isUpdate = effect === 'update';
  const isOneMutation = isUpdate && changesOnePartition(cql);
  return ({ args }) => ({
    name,
    effect,
    cql,
    isIdempotent,
    ...statement.bind(args),
    isPaged: result.kind === 'page',
    ids: [],
    timestamp: isUpdate ? writeClock.next() : undefined,
    isOneMutation,
    meaningOf: (page) => ({
      value: result.make(page, name),
      version: versionColumn === undefined ? undefined : versionOf(page, versionColumn, name),
      objects: undefined,
    }),
  });
}

function versionOf({ rows: [row] }: Page, column: string, name: string): number | undefined {
  if (row === undefined) return undefined;
  const version = row[column];
  if (typeof version === 'bigint') return Number(version);
  if (version === null) return undefined;
  const message = `${name}: ${column} is no version: select WRITETIME(…) AS ${column}`;
  throw new CorrectableError('INVALID_VALUE', message, { field: column });
}
