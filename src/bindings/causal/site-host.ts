/** What a binding needs of the store that its site belongs to. */
import type { CausalSite } from '../../causal/causal-site.ts';
import type { RefusalCode } from '../../causal/partition-calls.ts';
import type { SiteIndex, Vector } from '../../causal/stamps.ts';
import type { Clock } from '../../correctable/clock.ts';
import type { CorrectableError } from '../../correctable/errors.ts';
import type { ParsedWrite } from './parse-operation.ts';

export const CAUSAL_LEVELS = ['causal', 'latest'] as const;

/** The levels of a causal store, weakest first. */
export type CausalLevels = typeof CAUSAL_LEVELS;

/** The operations of a site. */
export type SiteOperations = Pick<
  CausalSite,
  'put' | 'read' | 'readLatest' | 'canContinue' | 'getHealedAt'
>;

/** Converts what a session has seen to a text, and back. */
export interface VectorTokens {
  seal(vector: Vector): string;
  /** @throws CorrectableError `UNAUTHENTICATED` for a token that is not of this store */
  open(token: string): Vector;
}

/** Why a site does not serve clients. The text goes on after "since". */
export interface SiteProblem {
  readonly text: string;
  readonly code?: RefusalCode | undefined;
}

export interface SiteHost {
  /** The name of the binding. */
  readonly name: string;
  readonly site: SiteIndex;
  readonly siteCount: number;
  readonly operations: SiteOperations;
  readonly clock: Clock;
  /** How long an operation waits for writes that its site lacks. */
  readonly siteTimeoutMs: number;
  /** How long a write that got no reply is repeated. */
  readonly retryWritesForMs: number;
  readonly tokens: VectorTokens;
  /** Whether each client has a handle, and the binding belongs to the code that made the store. */
  readonly isShared: boolean;
  /** Why the site has failed for good. */
  readonly failure: CorrectableError | undefined;
  /** Why the site does not serve clients yet. */
  readonly problem: SiteProblem;
  /** Checks limits of keys. @throws CorrectableError `INVALID_ARGUMENT` */
  checkKeys(keys: readonly string[]): void;
  /**
   * Returns the write with its value in the form of the store. @throws CorrectableError
   * `INVALID_VALUE`
   */
  encode(write: ParsedWrite): ParsedWrite;
  decode(stored: unknown): unknown;
  /** Returns an id that no other write has (CAUSAL-17). */
  createWriteId(): string;
  onWritten(): void;
  /**
   * Calls `run` whenever the site may have received something. Returns a function that ends this.
   */
  waitForNews(run: () => void): () => void;
  close(): Promise<void>;
}
