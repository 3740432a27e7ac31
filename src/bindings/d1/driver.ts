/**
 * The part of a D1 database that is used, so that the types do not need
 * `@cloudflare/workers-types`.
 */
import type { Row } from '../shared/statements/page.ts';

/** The `env.DB` of a Worker. */
export interface D1DatabaseLike {
  /**
   * Begins a session of D1. Its first query goes to the primary (`first-primary`), to any server
   * (`first-unconstrained`), or to one that has reached a bookmark.
   */
  withSession(constraintOrBookmark?: string): D1SessionLike;
}

/** A session of D1, as `withSession` returns it. */
export interface D1SessionLike {
  prepare(sql: string): D1StatementLike;
  /** Executes statements as one transaction. */
  batch(statements: D1StatementLike[]): Promise<D1ResultLike[]>;
  /** Returns the newest state that a query has seen; `null` before the first. */
  getBookmark(): string | null;
}

/** A prepared statement of D1. */
export interface D1StatementLike {
  bind(...values: unknown[]): D1StatementLike;
  all(): Promise<D1ResultLike>;
}

/** The result of one statement of D1. */
export interface D1ResultLike {
  readonly results: readonly Row[];
  readonly meta: { readonly changes?: number };
}
