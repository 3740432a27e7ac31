/** The errors of requests whose reply is lost, cannot be read, or has another status than 200. */
import { CorrectableError, isCorrectableError, type ErrorCode } from '../correctable/errors.ts';
import { fromJsonValue } from '../protocol/codec/json-values.ts';
import { fromErrorFacts } from '../protocol/error-facts.ts';
import { isFailure } from './view-message.ts';

/** Codes of replies that a proxy or a framework has sent, without an error of this package. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  408: 'TIMEOUT',
  429: 'OVERLOADED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'TIMEOUT',
  524: 'TIMEOUT', // Cloudflare: the server did not answer in time
  529: 'OVERLOADED',
};

/**
 * Returns the code of a status without an error of this package. Proxies have statuses of their own
 * from 520 to 530 for a server that they cannot reach.
 */
function getCode(status: number): ErrorCode {
  const isUnreachable = status >= 520 && status <= 530;
  return CODES[status] ?? (isUnreachable ? 'UNAVAILABLE' : 'FINAL_FAILED');
}

/**
 * Returns whether the server may have executed the request, if it replied with this status and
 * without views.
 */
const isUncertain = (status: number): boolean =>
  status < 400 || CUT_OFF.includes(status) || status >= 500;
/** A proxy gave the request up while it was in flight. */
const CUT_OFF: readonly number[] = [408, 460, 499];

/** The facts of the request that errors need. */
export interface RequestLabel {
  readonly name: string;
  readonly isUpdate: boolean;
}

/** Creates the error of a request whose reply is lost. An update may have been applied. */
export function createLostError(
  { name, isUpdate }: RequestLabel,
  what: string,
  cause?: unknown,
): CorrectableError {
  return isUpdate
    ? new CorrectableError('UNKNOWN', `${name}: ${what}. The update may have been applied.`, {
        cause,
      })
    : new CorrectableError('UNAVAILABLE', `${name}: ${what}.`, { cause });
}

/**
 * Returns the error of a reply that broke off, or that this package did not send. An update may
 * have been applied.
 */
export function createBrokenError(request: RequestLabel, error: unknown): CorrectableError {
  if (!isCorrectableError(error)) return createLostError(request, 'the connection was lost', error);
  return request.isUpdate
    ? createLostError(request, 'the reply cannot be read, see cause', error)
    : error;
}

/** The error of a reply, with the session tokens of the reply. */
export interface FailedReply {
  readonly error: CorrectableError;
  readonly session?: readonly string[];
}

/** Returns the error that the server sent. If there is none, returns the error of the status. */
export async function readFailedReply(
  response: Response,
  request: RequestLabel,
): Promise<FailedReply> {
  const body = await response
    .json()
    .then(fromJsonValue)
    .catch(() => undefined);
  // Proxies and frameworks may send JSON errors of another form. Errors of this package always
  // specify `retryable`.
  if (!isFailure(body) || body.error.retryable === undefined)
    return { error: createStatusError(response, request) };
  return {
    ...body,
    error: fromErrorFacts(body.error, undefined, body.error.domain?.operation),
  };
}

function createStatusError({ status, headers }: Response, request: RequestLabel): CorrectableError {
  const description = `the server replied with status ${status}`;
  if (request.isUpdate && isUncertain(status)) return createLostError(request, description);
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const retryAfterMs = seconds >= 0 ? seconds * 1_000 : undefined;
  return new CorrectableError(getCode(status), `${request.name}: ${description}`, {
    retryAfterMs,
  });
}
