/**
 * One view, or the failure, as one line of JSON. Values that JSON lacks are written as in
 * `json-values.ts`.
 */
import { CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import { isRecord } from '../correctable/validate.ts';
import type { AnyView } from '../correctable/view.ts';
import { fromJsonValue, toJsonField } from '../protocol/codec/json-values.ts';
import { toErrorFacts, type ErrorFacts } from '../protocol/error-facts.ts';

/** How messages are sent: one JSON object per line, or server-sent events. */
export type ViewFormat = 'ndjson' | 'sse';

export const MEDIA_TYPES: Readonly<Record<ViewFormat, string>> = {
  ndjson: 'application/x-ndjson',
  sse: 'text/event-stream',
};

/** A view as it is sent. Without a `value`, it has the value of the message before it. */
export interface ViewMessage {
  readonly level: string;
  readonly value?: unknown;
  readonly final?: true;
  readonly version?: unknown;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** The tokens of the session, if they have changed since the message before. */
  readonly session?: readonly string[];
}

/** The facts of a failure in the last message. */
export interface FailureFacts extends ErrorFacts {
  /**
   * The domain error as in the process of the server, so that the page can test it with
   * `isDomainError`.
   */
  readonly domain?:
    | {
        readonly name: string;
        readonly data?: unknown;
        readonly operation?: string | undefined;
      }
    | undefined;
}

/** The last message of a reply that ends with a failure. */
export interface FailureMessage {
  readonly error: FailureFacts;
  readonly session?: readonly string[];
}

/**
 * Builds the message of a view, in JSON; `previous` is the view that was sent last.
 *
 * @throws CorrectableError `INVALID_VALUE` with the path of a value that cannot be sent
 */
export function toViewMessage(view: AnyView, previous: AnyView | undefined): ViewMessage {
  const { level, value, final, version, meta } = view;
  return {
    level,
    // A view with an equal value has the same object as the view before it, so identity shows
    // whether the value can be left out.
    ...(!(previous && Object.is(value, previous.value)) && {
      value: toJson(value, 'value'),
    }),
    ...(final && { final }),
    ...(version !== undefined && { version: toJson(version, 'version') }),
    ...(meta !== undefined && {
      meta: toJson(meta, 'meta') as ViewMessage['meta'] & object,
    }),
  };
}

/**
 * Builds the message of a failure, in JSON. Never throws: without the message, the client would get
 * no error at all.
 */
export function toFailureMessage(error: unknown): FailureMessage {
  const facts = getPublicFacts(error);
  try {
    return { error: toJson(facts, 'error') as FailureFacts };
  } catch {
    const message = 'the operation failed, with details that cannot be sent';
    return { error: { code: facts.code, message, retryable: facts.retryable } };
  }
}

/**
 * Returns the facts that any client may get. If the error of the application was wrapped, the
 * message of the wrapper refers to its `cause`. The cause is not sent, so the reply gets another
 * message.
 */
function getPublicFacts(error: unknown): FailureFacts {
  const facts = toErrorFacts(error);
  const message = facts.message.endsWith('; see cause') ? FAILED_MESSAGE : facts.message;
  const domain = isCorrectableError(error) ? error.domain : undefined;
  return {
    ...facts,
    message,
    ...(domain?.operation !== undefined && { domain }),
  };
}

const FAILED_MESSAGE = 'the operation failed on the server, which has reported the cause';

/**
 * Converts a value to JSON. In its message the value is nested one level deep, which counts for the
 * limit of nesting.
 */
const toJson = (value: unknown, field: string): unknown => toJsonField(value, field, 1);

/**
 * Returns the message of a line.
 *
 * @throws CorrectableError `PROTOCOL` if the line is no message
 */
export function parseMessage(line: string): ViewMessage | FailureMessage {
  let message: unknown;
  try {
    message = fromJsonValue(JSON.parse(line));
  } catch (cause) {
    throw new CorrectableError(
      'PROTOCOL',
      'the reply has a line that is not JSON of this package',
      { cause },
    );
  }
  if (isFailure(message) || isView(message)) return message;
  throw new CorrectableError(
    'PROTOCOL',
    'the reply has a message that is neither a view nor an error',
  );
}

const isOptional = (value: unknown, type: 'boolean' | 'number' | 'string'): boolean =>
  value === undefined || typeof value === type;

const isTokens = (value: unknown): boolean =>
  value === undefined ||
  (Array.isArray(value) && value.every((token) => typeof token === 'string'));

function isView(message: unknown): message is ViewMessage {
  if (!isRecord(message) || typeof message['level'] !== 'string') return false;
  const { final, meta, session } = message;
  return (
    isOptional(final, 'boolean') && (meta === undefined || isRecord(meta)) && isTokens(session)
  );
}

export function isFailure(message: unknown): message is FailureMessage {
  if (!isRecord(message) || !isRecord(message['error'])) return false;
  const { code, message: text, retryable, retryAfterMs, field, domain } = message['error'];
  if (typeof code !== 'string' || typeof text !== 'string' || !isTokens(message['session']))
    return false;
  if (
    !isOptional(retryable, 'boolean') ||
    !isOptional(retryAfterMs, 'number') ||
    !isOptional(field, 'string')
  )
    return false;
  if (domain === undefined) return true;
  return (
    isRecord(domain) &&
    typeof domain['name'] === 'string' &&
    isOptional(domain['operation'], 'string')
  );
}
