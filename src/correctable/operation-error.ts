/**
 * The errors of one operation. Each one names the operation and its latest view, and accounts for
 * what the operation may have done: a caller that retries must not execute a write twice.
 */
import type { ErrorCode, ErrorDetails } from './errors.ts';
import { CorrectableError, getErrorDetails, isCorrectableError } from './errors.ts';
import type { PartExtras, SourcePart } from './side-effects.ts';
import { getEffectState, NO_EFFECT, WRITE } from './side-effects.ts';
import type { AnyView } from './view.ts';

/** The name of an operation in messages. */
export interface OperationLabel {
  readonly name: string;
  readonly key?: string | undefined;
}

export const UNNAMED_OPERATION: OperationLabel = { name: 'operation' };

/** The fields of a `Source` that its errors are created from. */
export interface ErrorSource extends SourcePart {
  readonly label: OperationLabel;
  readonly latest: AnyView | undefined;
  readonly extras?: ErrorSourceExtras | undefined;
}

interface ErrorSourceExtras extends PartExtras {
  /** The errors of weaker levels, by level. */
  readonly levelErrors?: Readonly<Record<string, unknown>>;
}

/** Returns the name of the operation, with its key if it has one. */
export function formatLabel({ name, key }: OperationLabel): string {
  return key ? `${name} "${key}"` : name;
}

/**
 * Returns an error with the name and the key of the operation, its latest view and its failed
 * levels.
 */
export function createOperationError(
  source: ErrorSource,
  code: ErrorCode,
  message: string,
  details: ErrorDetails,
): CorrectableError {
  const { name: operation, key } = source.label;
  return new CorrectableError(code, message, {
    operation,
    key,
    ...details,
    lastView: source.latest ?? details.lastView,
    levelErrors: { ...details.levelErrors, ...source.extras?.levelErrors },
  });
}

/**
 * Returns an error that accounts for what may have been done. For a write, its code is `UNKNOWN`.
 * It never suggests a retry of something that may have taken effect.
 */
export function createInterruptionError(
  source: ErrorSource,
  code: ErrorCode,
  message: string,
  details: ErrorDetails,
): CorrectableError {
  const done = getEffectState(source);
  if (done === NO_EFFECT) return createOperationError(source, code, message, details);
  return createOperationError(
    source,
    done === WRITE ? 'UNKNOWN' : code,
    `${message}; ${done === WRITE ? 'the write' : 'a step of it'} may take effect all the same`,
    { ...details, retryable: false },
  );
}

/**
 * Converts the failure of one part to a failure of the whole: a retry must not execute another part
 * twice.
 */
export function toCompositeError<E>(source: ErrorSource, error: E): E | CorrectableError {
  if (!isCorrectableError(error) || !(error.retryable || error.code === 'ABORTED')) return error;
  if (getEffectState(source) === NO_EFFECT) return error;
  return createInterruptionError(source, error.code, error.message, {
    level: error.level,
    cause: error,
  });
}

/**
 * Returns the error to close with (COR-6). It is the binding's own error if that names the
 * operation, the latest view and the failed levels; otherwise a copy with these facts.
 */
export function toFinalError(
  source: ErrorSource,
  error: unknown,
  level: string | undefined,
): CorrectableError {
  if (!isCorrectableError(error)) {
    const message = `${formatLabel(source.label)}: ${describeFailure(source, level)}; see cause`;
    return createOperationError(source, 'FINAL_FAILED', message, {
      level,
      cause: error,
    });
  }
  const isNamed = error.operation || source.label === UNNAMED_OPERATION;
  const hasLastView = !source.latest || error.lastView === source.latest;
  if (isNamed && hasLastView && !source.extras?.levelErrors) return error;
  // Do not change the error itself: a binding may fail several operations with the same error
  // object.
  return createOperationError(source, error.code, error.message, {
    level,
    ...getErrorDetails(error),
    cause: error,
  });
}

function describeFailure(source: ErrorSource, level: string | undefined): string {
  return level !== undefined && getEffectState(source) === WRITE
    ? `the write at ${level} failed and may have been made`
    : `the ${level ?? 'final'} view failed`;
}
