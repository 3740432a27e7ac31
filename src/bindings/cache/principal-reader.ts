import type { Principal } from '../../correctable/binding.ts';
import { check, createInvalidArgumentError } from '../../correctable/errors.ts';
import { createCallerError } from './cache-errors.ts';
import { toCaller } from '../shared/caller.ts';
import type { ViewOwner } from './cache-key.ts';

const PRINCIPAL_MISMATCH =
  'the binding behind has another principal: leave it out, and the cache takes it from there';

export interface PrincipalReaderOptions {
  readonly innerName: string;
  /** Returns the principal of the cache. Absent if the cache has only one principal. */
  readonly getPrincipal: (() => string) | undefined;
  /** Returns the principal of the inner binding. Present if it must equal that of the cache. */
  readonly getInnerPrincipal: (() => string) | undefined;
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Reads the principal whose views are cached. The application does not report a change of the
 * principal, so each operation reads it again. When it has changed, the views of the former
 * principal must not be shown any more.
 */
export class PrincipalReader {
  readonly #options: PrincipalReaderOptions;
  #current: string | undefined;
  #hasRead = false;
  #hasReportedCaller = false;

  constructor(options: PrincipalReaderOptions) {
    this.#options = options;
  }

  /** The principal as last read. `undefined` if the functions failed or returned two principals. */
  get current(): string | undefined {
    return this.#current;
  }

  /**
   * Reads the principal, and calls `onChange` if it is another one than before or unknown. Throws
   * what the functions of the application throw.
   */
  read(): string {
    const { getPrincipal, getInnerPrincipal, onChange } = this.#options;
    let present: string | undefined;
    try {
      const principal = getPrincipal?.() ?? '';
      // Refuse a promise: each call would return another one, and so count as a change of the
      // principal.
      if (typeof principal !== 'string') {
        const advice = `must return a string, got ${typeof principal}: return '' if no user is signed in`;
        throw createInvalidArgumentError('principal', advice);
      }
      check((getInnerPrincipal?.() ?? principal) === principal, 'principal', PRINCIPAL_MISMATCH);
      present = principal;
      return principal;
    } finally {
      const hasChanged = this.#hasRead && this.#current !== present;
      this.#current = present;
      this.#hasRead = true;
      if (hasChanged) onChange();
    }
  }

  /**
   * Returns the owner of the views of an operation. A store may reply to each caller differently,
   * so no caller gets the views of another caller. If the caller is no plain data, returns
   * `undefined`, and its views are not cached.
   */
  getOwner(principal: string, submitter: Principal | undefined): ViewOwner | undefined {
    if (submitter === undefined) return { principal, caller: undefined };
    try {
      return { principal, caller: toCaller(submitter) };
    } catch {
      const { innerName, onError } = this.#options;
      if (!this.#hasReportedCaller) onError(createCallerError(innerName));
      this.#hasReportedCaller = true;
      return undefined;
    }
  }
}
