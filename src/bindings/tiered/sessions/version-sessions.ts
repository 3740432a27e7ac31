/** Sessions of a tiered binding, by the versions that its tiers return. */
import type { BindingSession } from '../../../correctable/binding.ts';
import { getToStringTag } from '../../../correctable/built-in-class.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import type { Operation } from '../../../correctable/operation.ts';
import {
  callback,
  oneOf,
  optional,
  readOptions,
  type OptionsOf,
  type ResolvedOptions,
} from '../../../correctable/options.ts';
import type { SessionTokens } from '../../shared/session-tokens.ts';
import type { Tier } from '../tier.ts';
import { guardTiers, type MutableSessionStats, type SessionStats } from './guard-tiers.ts';
import { KeySession, type KeySessionState } from './key-session.ts';
import type { EncodedState } from './session-state.ts';
import { StoreSession } from './store-session.ts';
import type { Reached, TierSession } from './tier-session.ts';

/** Creates the tokens of a binding's sessions. Made by `signedTokens`. */
export type CreateTokens = <T>(scope: readonly string[]) => SessionTokens<T>;

/** Options of `versionSessions`. */
export interface VersionSessionsOptions {
  /**
   * Selects which versions are compared. `'key'`: those of one key, as the version of a row or the
   * time of its last change. `'store'`: those of all keys, as positions in the log of a database.
   * Default: `key`
   */
  readonly per?: 'key' | 'store' | undefined;
  /**
   * Returns whether a state at version `have` has every write up to version `need`. False if that
   * is unknown. Default: compares numbers, bigints and dates by size. Other versions need this
   * function.
   */
  readonly reached?: ((have: unknown, need: unknown) => boolean) | undefined;
  /**
   * Lets a session go on in another process: `signedTokens({ tokenKey })` of
   * `correctables/bindings/tiered/node`. Default: a session stays in its process
   */
  readonly tokens?: CreateTokens | undefined;
}

/** Sessions of a tiered binding, for its option `sessions`. */
export interface VersionSessions {
  /** Counts over all sessions. */
  readonly stats: SessionStats;
  /** Returns whether a version is older than another. */
  isOlder(version: unknown, than: unknown): boolean;
  /** Opens a session of the binding `name`, or continues one. */
  open(name: string, tokens: readonly string[]): BindingSession;
  /** Returns the tiers of one operation in a session. */
  guard(
    operation: Operation,
    session: BindingSession,
    levels: readonly string[],
    tiers: Readonly<Record<string, Tier>>,
  ): Readonly<Record<string, Tier>>;
}

/**
 * Creates sessions for `tiered`: no view of a session is older than what the session has written or
 * seen. Let the tiers return `withDetails(value, { version })`, also those of writes.
 *
 * A view of a weaker level that is too old is skipped. If the answer of the strongest level is too
 * old, that level is called once more. Then the read fails with `REPLICA_BEHIND`. A view without a
 * version counts as too old, but not at the strongest level.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option
 * @example
 * const pages = createClient(
 *   tiered(['replica', 'primary'], tiers, { sessions: versionSessions() }),
 * );
 * const session = pages.session();
 * await pages.invoke(put('page:1', 'new'), { session });
 * await pages.invoke(get('page:1'), { session }); // no view is older than 'new'
 */
export function versionSessions(options: VersionSessionsOptions = {}): VersionSessions {
  return new Sessions(readOptions(options, { call: CALL }, VERSION_SESSIONS_OPTIONS));
}

const CALL = "versionSessions({ per: 'key' })";

export const VERSION_SESSIONS_OPTIONS = {
  per: optional<'key' | 'store'>(oneOf('key', 'store'), 'key'),
  reached: optional(callback),
  tokens: optional(callback),
} satisfies OptionsOf<VersionSessionsOptions>;

type Resolved = ResolvedOptions<VersionSessionsOptions, typeof VERSION_SESSIONS_OPTIONS>;

class Sessions implements VersionSessions {
  readonly #options: Resolved;
  readonly #reached: Reached;
  readonly #stats: MutableSessionStats = {
    behindSession: 0,
    repeatedFinals: 0,
  };

  constructor(options: Resolved) {
    this.#options = options;
    this.#reached = options.reached ?? hasReached;
  }

  get stats(): SessionStats {
    return { ...this.#stats };
  }

  isOlder(version: unknown, than: unknown): boolean {
    return this.#reached(than, version) && !this.#reached(version, than);
  }

  open(name: string, continued: readonly string[]): BindingSession {
    const { per, tokens: createTokens } = this.#options;
    if (createTokens === undefined && continued.length > 0) throw createTokensError(name);
    const tokens = createTokens?.<unknown>(['tiered', name, per]);
    const session = per === 'key' ? new KeySession(this.#reached) : new StoreSession(this.#reached);
    for (const token of continued)
      session.continueFrom(tokens!.open(token) as KeySessionState & EncodedState);
    return new OpenedSession(session, tokens);
  }

  guard(
    operation: Operation,
    session: BindingSession,
    levels: readonly string[],
    tiers: Readonly<Record<string, Tier>>,
  ): Readonly<Record<string, Tier>> {
    // A session of another binding.
    if (!(session instanceof OpenedSession)) return tiers;
    return guardTiers(operation, {
      levels,
      tiers,
      session: session.seen,
      stats: this.#stats,
      isOrdered: (version) => this.#options.reached !== undefined || hasOrder(version),
    });
  }
}

/** What a client opens. Without tokens, it cannot leave the process. */
class OpenedSession implements BindingSession {
  readonly seen: TierSession;
  readonly #tokens: SessionTokens<unknown> | undefined;

  constructor(seen: TierSession, tokens: SessionTokens<unknown> | undefined) {
    this.seen = seen;
    this.#tokens = tokens;
  }

  get tokens(): readonly string[] | undefined {
    return this.#tokens && [this.#tokens.seal(this.seen.state)];
  }
}

/**
 * Returns whether version `have` is `need` or a newer one. Versions are compared as numbers, as
 * `isOlder` compares those of a binding that has no order of its own.
 */
function hasReached(have: unknown, need: unknown): boolean {
  const isComparable = hasOrder(have) && getToStringTag(have) === getToStringTag(need);
  return isComparable && (have as number) >= (need as number);
}

function hasOrder(version: unknown): boolean {
  return /^(Number|BigInt|Date)$/.test(getToStringTag(version));
}

function createTokensError(name: string): CorrectableError {
  const message = `session: the binding '${name}' keeps no sessions that can travel. Pass tokens: signedTokens({ tokenKey }) to versionSessions, or open a new session.`;
  return new CorrectableError('UNSUPPORTED', message, { field: 'session' });
}
