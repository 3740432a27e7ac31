/** Sends the views of a Correctable as the reply of an HTTP server. */
import type { Session } from '../correctable/client/client.ts';
import type { Correctable } from '../correctable/correctable.ts';
import {
  check,
  CorrectableError,
  isCorrectableError,
  type ErrorCode,
} from '../correctable/errors.ts';
import { getEffectState, WRITE } from '../correctable/side-effects.ts';
import { getForeignSource } from '../correctable/copies/foreign-source.ts';
import type { Levels } from '../correctable/level-types.ts';
import { checkRecord, hasMethods } from '../correctable/validate.ts';
import type { AnyView } from '../correctable/view.ts';
import type { ErrorFacts } from '../protocol/error-facts.ts';
import { isOutage, isRefusal, reportFailure, wasReported } from '../protocol/report-failure.ts';
import { formatTokens, getHeader, type RequestLike } from './session-tokens.ts';
import {
  MEDIA_TYPES,
  toFailureMessage,
  toViewMessage,
  type ViewFormat,
  type ViewMessage,
} from './view-message.ts';

/** Options of `respondWithViews` and `sendViews`. */
export interface RespondOptions {
  /**
   * The request: its `Accept` header chooses the format. If its client disconnects,
   * `respondWithViews` cancels the operation.
   */
  readonly request?: RequestLike | undefined;
  /**
   * The format of the reply: `ndjson` or `sse`. Default: `sse` if the request accepts
   * `text/event-stream`, otherwise `ndjson`
   */
  readonly format?: ViewFormat | undefined;
  /**
   * The session of the operation. Its tokens go with the views. It is closed when the reply ends.
   */
  readonly session?: Session | undefined;
  /** More headers of the reply. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Called with each failure of the operation, also of a single level, and with its `cause`. The
   * client gets no cause. Not called if the client disconnects. Default: `console.error`, except
   * for what `tiered` has reported and for refusals: `INVALID_ARGUMENT`, `UNAUTHENTICATED`,
   * `FORBIDDEN`, `CONFLICT` and `DOMAIN`.
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

export type AnyCorrectable = Correctable<unknown, Levels, string>;

/** The status and the headers of a reply. */
export interface ReplyHead {
  readonly status: number;
  readonly headers: Record<string, string>;
}

/** A reply that has not been sent yet. */
export interface Reply extends ReplyHead {
  readonly chunks: AsyncGenerator<string, void>;
  /** Ends the operation and its session. Needed only if `chunks` has not been read to its end. */
  readonly release: (reason?: unknown) => void;
  /** Reports a failure of the reply itself. */
  readonly report: (error: unknown) => void;
}

/** Calls `leave` when the client disconnects. Returns a function that ends the watch. */
export type ClientWatch = (leave: (reason?: unknown) => void) => () => void;

/**
 * Statuses of failures before the first view, by code. All others are 500, because the server
 * failed.
 */
const STATUSES: { readonly [C in ErrorCode]?: number } = {
  INVALID_ARGUMENT: 400,
  INVALID_VALUE: 400,
  UNKNOWN_LEVEL: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  CONFLICT: 409,
  DOMAIN: 422,
  UNSUPPORTED: 501,
  UNAVAILABLE: 503,
  OVERLOADED: 503,
  REPLICA_BEHIND: 503,
  ABORTED: 503,
  TIMEOUT: 504,
};

/**
 * Returns a `Response` that sends each view when it arrives, for servers of Web standards: Hono,
 * Fastify, Next.js, Deno, Bun, workers. Resolves with the first view. If the operation fails before
 * that, the reply has the status of its code, and the error as JSON. Each failure goes to
 * `onError`. If the client disconnects, the Correctable is canceled: give one that has no other
 * consumer.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `correctable` is no Correctable; the error of
 * `Response` if a header cannot be sent
 * @example
 * app.get('/stock/:book', (c) =>
 *   respondWithViews(store.invoke(get(c.req.param('book'))), {
 *     request: c.req.raw,
 *   }),
 * );
 */
export async function respondWithViews(
  correctable: AnyCorrectable,
  options: RespondOptions = {},
): Promise<Response> {
  const reply = await startReply(
    correctable,
    options,
    watchRequest((Object(options) as RespondOptions).request),
  );
  const { status, headers, chunks, release } = reply;
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel(reason) {
      release(reason);
      await chunks.return();
    },
  });
  try {
    return new Response(body, { status, headers });
  } catch (error) {
    // A header of the application cannot be sent.
    release(error);
    throw error;
  }
}

/**
 * Waits for the first view or the failure, because the status of the reply depends on it.
 * `hasEnded` returns whether the reply has no receiver any more. A failure after that is not
 * reported.
 */
export async function startReply(
  correctable: AnyCorrectable,
  options: RespondOptions,
  watch: ClientWatch,
  hasEnded: () => boolean = () => false,
): Promise<Reply> {
  check(
    hasMethods(correctable, 'subscribe', 'speculate'),
    'correctable',
    'give one, as store.invoke(get(key))',
  );
  checkRecord(options, {
    call: 'respondWithViews(store.invoke(get(key)), { request })',
  });
  const { request, session, headers, onError } = options;
  const format = options.format ?? chooseFormat(request);
  check(Object.hasOwn(MEDIA_TYPES, format), 'format', "must be 'ndjson' or 'sse'");
  check(onError === undefined || typeof onError === 'function', 'onError', 'give a function');

  let hasLeft = false;
  const stopWatching = watch((reason) => {
    hasLeft = true;
    correctable.cancel(reason);
  });
  const report = (error: unknown, failed = 'a reply with views failed'): void =>
    reportFailure(error, `correctables: ${failed}`, onError && (() => onError(error)));
  const reportOperation: ReportOperation = (error, level) => {
    if (hasLeft || hasEnded()) return;
    const isKnown =
      isRefusal(error) ||
      wasReported(error) ||
      // The store did not answer. The line about the operation reports it.
      (level?.isFollowed === false && isOutage(error));
    if (onError !== undefined || !isKnown) report(error, describeLevel(level));
  };

  const lines = followViews(correctable, session, reportOperation);
  const first = await lines.next();
  const { error, isServerFault } = first.done ? NO_LINE : first.value;
  const release = (reason?: unknown): void => {
    correctable.cancel(reason);
    stopWatching();
    session?.close();
  };
  async function* formatChunks(): AsyncGenerator<string, void> {
    try {
      // The reply has no body. Hono drops its stream without canceling it.
      if (request?.method === 'HEAD') return;
      for (let step = first; !step.done; step = await lines.next())
        yield format === 'sse' && !error ? `data: ${step.value.text}\n\n` : `${step.value.text}\n`;
    } finally {
      release();
    }
  }
  const head = error
    ? createFailureHead(error, isServerFault)
    : { status: 200, headers: createHeaders(MEDIA_TYPES[format]) };
  return {
    ...head,
    headers: { ...head.headers, ...headers },
    chunks: formatChunks(),
    release,
    report,
  };
}

/** A message as text. If it is a failure, the object also has the error. */
interface Line {
  readonly text: string;
  readonly error?: ErrorFacts;
  /** Whether the server caused the error, whatever its code. */
  readonly isServerFault?: boolean;
}

const NO_LINE: Partial<Line> = {};

/** A level that failed. */
interface FailedLevel {
  readonly name: string;
  /** Whether a later level has given the final view. */
  readonly isFollowed: boolean;
}

/** Reports a failure of the operation, or of one level. */
type ReportOperation = (error: unknown, level?: FailedLevel) => void;

function describeLevel(level: FailedLevel | undefined): string | undefined {
  if (level === undefined) return undefined;
  const outcome = level.isFollowed ? 'and reads go on at the next level' : 'as did the operation';
  return `the level "${level.name}" failed, ${outcome}`;
}

async function* followViews(
  correctable: AnyCorrectable,
  session: Session | undefined,
  report: ReportOperation,
): AsyncGenerator<Line, void> {
  const addTokens = createTokenWriter(session);
  let previous: AnyView | undefined;
  let unsendable: unknown;
  const toMessage = (view: AnyView): ViewMessage => {
    try {
      return toViewMessage(view, previous);
    } catch (error) {
      throw (unsendable = addOutcome(error, correctable));
    }
  };
  try {
    for await (const view of correctable) {
      if (view.final) reportFailedLevels(correctable, report);
      yield { text: JSON.stringify(addTokens(toMessage(view))) };
      previous = view;
    }
  } catch (failure) {
    // If a view cannot be sent, the reply ends, so no client reads the operation any more.
    correctable.cancel();
    reportFailedLevels(correctable, report, failure);
    report(failure);
    const message = toFailureMessage(failure);
    yield {
      text: JSON.stringify(addTokens(message)),
      error: message.error,
      isServerFault: failure === unsendable,
    };
  }
}

/**
 * Changes the error of a result that cannot be sent, if it is the result of an update: the update
 * was executed all the same.
 */
function addOutcome(error: unknown, correctable: AnyCorrectable): unknown {
  const source = getForeignSource(correctable);
  if (!isCorrectableError(error) || !source || getEffectState(source) !== WRITE) return error;
  const message = `${error.message}. The update may have been applied.`;
  return new CorrectableError(error.code, message, {
    field: error.field,
    cause: error.cause,
  });
}

/**
 * Reports the failures of weak levels. They do not end the operation, so the error of the operation
 * does not contain them.
 */
function reportFailedLevels(
  correctable: AnyCorrectable,
  report: ReportOperation,
  failure?: unknown,
): void {
  const { cause } = Object(failure) as { readonly cause?: unknown };
  const isFollowed = failure === undefined;
  for (const [name, error] of Object.entries(
    getForeignSource(correctable)?.extras?.levelErrors ?? {},
  ))
    if (error !== failure && error !== cause) report(error, { name, isFollowed });
}

/**
 * Returns a function that adds the tokens of the session to a message, unless the last message had
 * the same.
 */
function createTokenWriter(session: Session | undefined): <M extends object>(message: M) => M {
  let sent = '';
  return (message) => {
    const tokens = session?.tokens ?? [];
    const text = formatTokens(tokens);
    if (text === sent) return message;
    sent = text;
    return { ...message, session: tokens };
  };
}

function chooseFormat(request: RequestLike | undefined): ViewFormat {
  return request && getHeader(request, 'accept').toLowerCase().includes(MEDIA_TYPES.sse)
    ? 'sse'
    : 'ndjson';
}

/**
 * Calls the listener when the client disconnects. Prefers the socket to the signal: the signal of
 * Fastify also aborts when the body of the request has been read.
 */
function watchRequest({ socket, signal }: Partial<RequestLike> = {}): ClientWatch {
  return socket ? watchClose(socket, () => socket.destroyed) : watchAbort(signal);
}

function watchAbort(signal: AbortSignal | undefined): ClientWatch {
  return (leave) => {
    const onAbort = (): void => leave(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort);
    return () => signal?.removeEventListener('abort', onAbort);
  };
}

/** Watches for the end of a connection, or of a response. It may have ended already. */
export function watchClose(
  connection: {
    on(event: string, listener: () => void): unknown;
    off(event: string, listener: () => void): unknown;
  },
  hasEnded: () => boolean,
): ClientWatch {
  return (leave) => {
    const onClose = (): void => leave();
    if (hasEnded()) onClose();
    connection.on('close', onClose);
    return () => connection.off('close', onClose);
  };
}

/**
 * Creates the headers of a reply. They keep proxies and compressors from holding back a view until
 * more data follows.
 */
function createHeaders(type: string): Record<string, string> {
  return {
    'content-type': type,
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    vary: 'accept',
  };
}

/** Returns the head and the body that replace those of a reply whose headers cannot be sent. */
export function createServerErrorHead(): ReplyHead & {
  readonly body: string;
} {
  const { error } = toFailureMessage(new Error('the head of the reply cannot be sent'));
  const body = `${JSON.stringify({ error: { ...error, retryable: false } })}\n`;
  return { ...createFailureHead(error), body };
}

function createFailureHead(
  { code, field, retryAfterMs }: ErrorFacts,
  isServerFault = false,
): ReplyHead {
  const retryAfter = retryAfterMs !== undefined && {
    'retry-after': String(Math.ceil(retryAfterMs / 1_000)),
  };
  // A handler has returned a result that its contract does not allow, so this is a failure of the
  // server.
  const isBrokenResult = code === 'INVALID_VALUE' && field?.startsWith('result') === true;
  const isKnown = Object.hasOwn(STATUSES, code) && !isBrokenResult && !isServerFault;
  const status = isKnown ? STATUSES[code as ErrorCode] : undefined;
  return {
    status: status ?? 500,
    headers: { ...createHeaders('application/json'), ...retryAfter },
  };
}
