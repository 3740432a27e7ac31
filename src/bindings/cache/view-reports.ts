import { CorrectableError } from '../../correctable/errors.ts';
import { NotPlainDataError } from '../../values/deep-copy.ts';
import { getViewOperationName } from './cache-key.ts';

/** Operations with more names than this are not reported one by one. */
const MAX_REPORTED_NAMES = 1_000;

/**
 * Reports views that cannot be cached or stored, once for each operation name: an operation whose
 * values do not fit would otherwise fill a log.
 */
export class ViewReports {
  readonly #onError: (error: unknown) => void;
  readonly #copyErrors = new Set<string>();
  /**
   * Rejections are counted apart from the other reports: a report of a value that cannot be stored
   * must not suppress the report of a full store.
   */
  readonly #rejections = new Set<string>();

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Reports that the store rejected the view. */
  reportRejection(id: string, cause: unknown): void {
    this.#reportOnce(
      this.#rejections,
      id,
      'a view is kept in memory alone: its store has not taken it',
      undefined,
      cause,
    );
  }

  /** Reports a view of which a store would change the field at `path`. */
  reportLossyPath(id: string, path: string): void {
    this.#reportOnce(
      this.#copyErrors,
      id,
      `${path} is kept in memory alone: stores give back plain data`,
      path,
    );
  }

  /** Reports a view that cannot be copied, so it is not cached. */
  reportCopyError(id: string, cause: unknown): void {
    const isNotPlain = cause instanceof NotPlainDataError;
    const description = isNotPlain ? cause.message : 'the value cannot be copied';
    this.#reportOnce(
      this.#copyErrors,
      id,
      `${description}, thus not kept: give plain data, or exclude the operation by 'isCacheable'`,
      isNotPlain ? cause.path : undefined,
      cause,
    );
  }

  #reportOnce(
    reported: Set<string>,
    id: string,
    description: string,
    field: string | undefined,
    cause?: unknown,
  ): void {
    const name = getViewOperationName(id);
    if (reported.has(name) || reported.size > MAX_REPORTED_NAMES) return;
    reported.add(name);

    const message = `cache: of '${name}', ${description}`;
    this.#onError(new CorrectableError('INVALID_VALUE', message, { field, cause }));
  }
}
