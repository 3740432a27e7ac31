/** D1 as a store with replicas: operations become statements. */
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { describeTimeToLive, hasTimeToLive } from '../../values/time-to-live.ts';
import type { ReplicaCall, ReplicaRead, ReplicaStore, ReplicaWrite } from '../replicas/index.ts';
import type { Page } from '../shared/statements/page.ts';
import {
  addStatements,
  createPlan,
  interpretWritten,
} from '../shared/statements/statement-operations.ts';
import { isWellFormed } from '../shared/well-formed-text.ts';
import { writeUntilKnown } from '../shared/write-until-known.ts';
import { createStatementOperation, type D1Operation, type D1Plan } from './plan.ts';
import type { D1DatabaseLike, D1ResultLike, D1SessionLike, D1StatementLike } from './driver.ts';
import { keyValueOperations } from './key-value.ts';
import type { ResolvedOptions } from './options.ts';
import { toCorrectableError } from './errors.ts';

/**
 * A bookmark of D1. Bookmarks sort from the oldest to the newest
 * (developers.cloudflare.com/d1/reference/time-travel).
 */
type Bookmark = string;

const PRIMARY = 'first-primary';
const ANY_SERVER = 'first-unconstrained';

export class D1Store implements ReplicaStore<Bookmark> {
  readonly name = 'd1';
  /** D1 chooses the replica. */
  readonly replicas = ['nearest'];
  readonly #database: D1DatabaseLike;
  readonly #operations: ReadonlyMap<string, D1Operation>;

  constructor(options: ResolvedOptions) {
    this.#database = options.database;
    this.#operations = addStatements(
      keyValueOperations,
      options.statements,
      createStatementOperation,
    );
  }

  supports(operation: Operation): boolean {
    return this.#operations.has(operation.name) && !hasTimeToLive(operation);
  }

  describeUnsupported(operation: Operation): string {
    if (operation.name === 'readVersions' || operation.name === 'commit')
      return 'D1 has no transactions that read and then write: define a write of several statements with failIfUnchanged';
    return describeTimeToLive(operation) ?? `it has ${[...this.#operations.keys()].join(', ')}`;
  }

  reached(have: Bookmark, need: Bookmark): boolean {
    return have >= need;
  }

  /** A replica waits until it has reached the bookmark of the session. */
  async read(
    operation: Operation,
    server: string,
    { after }: ReplicaCall,
  ): Promise<ReplicaRead<Bookmark>> {
    const plan = createPlan(this.#operations, operation, 'read');
    const nearest = (after as Bookmark | undefined) ?? ANY_SERVER;
    const session = this.#database.withSession(server === 'primary' ? PRIMARY : nearest);
    const statements = prepare(session, plan);
    const page = await execute(session, statements, plan);
    return {
      ...plan.interpret(page),
      position: session.getBookmark() ?? undefined,
    };
  }

  async write(operation: Operation, { markSent }: ReplicaCall): Promise<ReplicaWrite<Bookmark>> {
    const plan = createPlan(this.#operations, operation, 'write');
    const session = this.#database.withSession(PRIMARY);
    const statements = prepare(session, plan);
    markSent();
    const page = await writeUntilKnown(plan.isIdempotent, () => execute(session, statements, plan));
    return {
      ...interpretWritten(plan, page),
      position: session.getBookmark() ?? undefined,
    };
  }

  async readPosition(): Promise<Bookmark> {
    const session = this.#database.withSession(PRIMARY);
    await session.prepare('select 1').all();
    const bookmark = session.getBookmark();
    if (bookmark !== null) return bookmark;
    throw new CorrectableError('UNSUPPORTED', 'd1: no bookmark');
  }

  /** The database is the Worker's. */
  async close(): Promise<void> {}
}

/** @throws CorrectableError `INVALID_ARGUMENT` for values that D1 lacks */
function prepare(session: D1SessionLike, { name, statements }: D1Plan): D1StatementLike[] {
  try {
    return statements.map(({ text, values }) => {
      values.forEach(checkParameter);
      return session.prepare(text).bind(...values);
    });
  } catch (cause) {
    const message = `${name}: ${String(cause)}. Nothing was sent. Give texts, numbers, booleans, null or bytes.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { cause });
  }
}

/**
 * D1 sends parameters as JSON. It would store `null` for such a number, and another text for such a
 * text.
 *
 * @throws TypeError for a value that would be stored as another one
 */
function checkParameter(value: unknown): void {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`D1 has no number ${value}`);
  if (typeof value === 'string' && !isWellFormed(value))
    throw new TypeError('a text has half of a surrogate pair');
}

async function execute(
  session: D1SessionLike,
  statements: D1StatementLike[],
  plan: D1Plan,
): Promise<Page> {
  try {
    const [only] = statements;
    const results = statements.length === 1 ? [await only!.all()] : await session.batch(statements);
    return toPage(results[plan.resultAt] as D1ResultLike);
  } catch (error) {
    throw toCorrectableError(error, plan);
  }
}

function toPage({ results, meta }: D1ResultLike): Page {
  return { rows: results, pageState: undefined, changedRows: meta.changes };
}
