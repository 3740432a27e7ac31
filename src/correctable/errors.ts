/** The one error type of the package, with its codes (COR-14 in docs/spec/correctable.md). */
import { getToStringTag } from './built-in-class.ts';
import type { Levels } from './level-types.ts';
import type { View } from './view.ts';
import { describeUnknownOption } from './unknown-option.ts';

/** Stable code of a failure. */
export type ErrorCode =
  | 'UNKNOWN_LEVEL'
  | 'UNSUPPORTED'
  | 'INVALID_ARGUMENT'
  | 'INVALID_VALUE'
  | 'TIMEOUT'
  | 'ABORTED'
  | 'LEVEL_NOT_REACHED'
  | 'CLOSED_WITHOUT_FINAL'
  | 'FINAL_FAILED'
  | 'SPECULATION_FAILED'
  | 'ABORT_HANDLER_FAILED'
  | 'CONFLICT'
  | 'UNKNOWN'
  | 'UNAVAILABLE'
  | 'OVERLOADED'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'PROTOCOL'
  | 'REPLICA_BEHIND'
  | 'REPLY_EXPIRED'
  | 'DOMAIN';

/** An error of the application itself, with the name and the data that its contract declares. */
export interface DomainErrorInfo {
  readonly name: string;
  readonly data: unknown;
  /**
   * The operation that was refused, if the binding reports it. Other operations may have errors of
   * this name.
   */
  readonly operation?: string | undefined;
}

/** Details of a `CorrectableError`. */
export interface ErrorDetails {
  /** Whether a retry of the unchanged operation can succeed. Default: decided by the code */
  readonly retryable?: boolean | undefined;
  /** How long to wait before a retry, if the store specifies it. */
  readonly retryAfterMs?: number | undefined;
  /** The name of the operation that failed. */
  readonly operation?: string | undefined;
  readonly key?: string | undefined;
  /** The level that failed, if only one did. */
  readonly level?: string | undefined;
  /** The best view that was delivered before the failure. */
  readonly lastView?: View<unknown, Levels, string> | undefined;
  /** The failures of single levels, by level. */
  readonly levelErrors?: Readonly<Record<string, unknown>> | undefined;
  /** The path of the invalid field, if there is one. */
  readonly field?: string | undefined;
  /**
   * The domain error that the service refused the operation with, as its contract declares it.
   * Code: `DOMAIN`.
   */
  readonly domain?: DomainErrorInfo | undefined;
  readonly cause?: unknown;
}

const RETRYABLE_CODES = /^(TIMEOUT|CONFLICT|UNAVAILABLE|OVERLOADED|REPLICA_BEHIND)$/;
/**
 * The page about error codes. It comes with the package, so it fits the version that runs. Errors
 * have its address, because a terminal prints them far from any documentation.
 */
const ERROR_CODES_PAGE = 'node_modules/correctables/docs/reference/error-codes.md';
/** Values of users must not reach logs, so these fields are not enumerable. */
const HIDDEN = /^(lastView|levelErrors|domain|cause)$/;

/**
 * Reports every failure of this package. Test for it with `isCorrectableError`, not with
 * `instanceof`: only the former holds across duplicate copies of the package and minification.
 *
 * @example
 * try {
 *   await store.invoke(get('user:1'));
 * } catch (error) {
 *   if (isCorrectableError(error, 'TIMEOUT')) show(error.lastView?.value);
 *   else throw error;
 * }
 */
export class CorrectableError extends Error {
  override readonly name = 'CorrectableError';
  // The constructor sets these fields. A declaration alone costs no bytes in a bundle.
  declare readonly code: ErrorCode;
  declare readonly retryable: boolean;
  declare readonly retryAfterMs: number | undefined;
  declare readonly operation: string | undefined;
  declare readonly key: string | undefined;
  declare readonly level: string | undefined;
  declare readonly lastView: View<unknown, Levels, string> | undefined;
  declare readonly levelErrors: Readonly<Record<string, unknown>>;
  declare readonly field: string | undefined;
  declare readonly domain: DomainErrorInfo | undefined;
  /**
   * The address of the documentation of `code`, as a path: when it occurs, whether data may have
   * changed, and what to do. Node prints it with the error. Empty in pages in production, as most
   * messages.
   */
  declare readonly docs: string;

  constructor(
    code: ErrorCode,
    message: string,
    { retryable = RETRYABLE_CODES.test(code), levelErrors = {}, ...details }: ErrorDetails = {},
  ) {
    // In a build for production, the texts of this package are empty.
    super(message || code);
    for (const [name, value] of Object.entries({
      ...details,
      code,
      retryable,
      levelErrors,
      docs: `${ERROR_CODES_PAGE}#${code.toLowerCase()}`,
    })) {
      if (value === undefined) continue;
      // The properties are configurable, so that proxies may wrap them.
      Object.defineProperty(this, name, {
        value,
        enumerable: !HIDDEN.test(name),
        configurable: true,
      });
    }
  }

  /** Returns what a log may show: no values of views, domain errors or causes. */
  toJSON(): object {
    return { ...this, message: this.message };
  }
}

/** Returns the details of `error`, including those that are not enumerable. */
export function getErrorDetails({
  lastView,
  levelErrors,
  domain,
  ...facts
}: CorrectableError): ErrorDetails {
  return { ...facts, lastView, levelErrors, domain };
}

/**
 * Returns whether `error` is a `CorrectableError`, with this `code` if you pass one. Narrows the
 * type of `code`.
 */
export function isCorrectableError<C extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: C,
): error is CorrectableError & { readonly code: C } {
  return (
    getToStringTag(error) === 'Error' &&
    (error as Error).name === 'CorrectableError' &&
    (code === undefined ? 'code' in (error as Error) : (error as CorrectableError).code === code)
  );
}

/** Creates the error for an invalid argument `field`. `advice` says what is expected. */
export function createInvalidArgumentError(field: string, advice: string): CorrectableError {
  return new CorrectableError('INVALID_ARGUMENT', `${field}: ${advice}`, {
    field,
  });
}

/** Throws `INVALID_ARGUMENT` unless the argument `isRight`. */
export function check(isRight: unknown, field: string, advice: string): asserts isRight {
  if (!isRight) throw createInvalidArgumentError(field, advice);
}

/**
 * Checks a callback. Without this check, a wrong one would leave the caller without value and
 * without error.
 */
export function checkFunction(value: unknown, field: string): void {
  check(typeof value === 'function', field, 'give a function');
}

/** The names in a list of options such as `'afterEarly:string,withinMs:number'`. */
type OptionNamesIn<S extends string> = S extends `${infer First},${infer Others}`
  ? OptionNamesIn<First> | OptionNamesIn<Others>
  : S extends `${infer Name}:${string}`
    ? Name
    : never;

/**
 * Checks the options of a call, or the argument that `field` names. Without types, a program may
 * pass a string, number or array instead, or misspell a name. Either would be ignored in silence.
 * `kinds` lists the name of each option with what `typeof` may return for it. The compiler checks
 * that the list is complete.
 */
export function checkOptions<O extends object, const S extends string>(
  options: O,
  kinds: S & ([keyof O] extends [OptionNamesIn<S>] ? unknown : never),
  field = 'options',
): O {
  const isRecord = options && typeof options === 'object' && !Array.isArray(options);
  // Messages are built only if something is wrong, because every `invoke` runs this.
  if (!isRecord) throw createInvalidArgumentError(field, `must be an object {${kinds}}`);
  for (const name in options) {
    const value = options[name];
    if (value === undefined) continue;
    const types = `,${kinds}`.split(`,${name}:`)[1]?.split(',')[0];
    if (types?.includes(typeof value)) continue;
    throw createInvalidArgumentError(
      name,
      types
        ? `must be a ${types.replace('|', ' or ')}, got ${typeof value}`
        : describeUnknownOption(name, kinds.split(/:[^,]*,?/).slice(0, -1)),
    );
  }
  return options;
}
