/** The views of a Correctable as the reply of an HTTP server. */
import type { Session } from '../correctable/client/client.ts';
import type { Correctable } from '../correctable/correctable.ts';
import { check, type ErrorCode } from '../correctable/errors.ts';
import type { Levels } from '../correctable/level-types.ts';
import { hasMethods } from '../correctable/validate.ts';
import type { AnyView } from '../correctable/view.ts';
import type { ErrorFacts } from '../protocol/error-facts.ts';
import {
  formatTokens,
  getHeader,
  type ConnectionLike,
  type RequestLike,
} from './session-tokens.ts';
import { MEDIA_TYPES, toFailureMessage, toViewMessage, type ViewFormat } from './view-message.ts';

/** Options of `respondWithViews` and `sendViews`. */
export interface RespondOptions {
  /**
   * The request: its `Accept` header chooses the format. If its client has gone, `respondWithViews`
   * cancels the operation.
   */
  readonly request?: RequestLike | undefined;
  /** Default: `sse` if the request accepts `text/event-stream`, otherwise `ndjson` */
  readonly format?: ViewFormat | undefined;
  /**
   * The session of the operation. Its tokens go with the views. It is closed when the reply ends.
   */
  readonly session?: Session | undefined;
  /** More headers of the reply. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * What `sendViews` needs of Node's `ServerResponse`. Express has one, and Fastify as `reply.raw`.
 */
export interface ServerResponseLike extends ConnectionLike {
  writeHead(status: number, headers: Record<string, string>): unknown;
  write(chunk: string): boolean;
  end(chunk?: string): unknown;
}

type AnyCorrectable = Correctable<unknown, Levels, string>;

/** A reply that has not been sent. */
interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly chunks: AsyncGenerator<string, void>;
  /** Ends the operation and its session. Needed only if `chunks` has not been read to its end. */
  readonly release: (reason?: unknown) => void;
}

/** Statuses of failures before the first view, by code. Others are 500: the server is to blame. */
const STATUSES: { readonly [C in ErrorCode]?: number } = {
  INVALID_ARGUMENT: 400,
  INVALID_VALUE: 400,
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
 * that, the reply has the status of its code, and the error as JSON. If the client disconnects, the
 * Correctable is canceled: give one that has no other consumer.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `correctable` is no Correctable
 * @example app.get('/stock/:book', (c) => respondWithViews(store.invoke(get(c.req.param('book'))),
 * { request: c.req.raw }));
 */
export async function respondWithViews(
  correctable: AnyCorrectable,
  options: RespondOptions = {},
): Promise<Response> {
  const reply = await startReply(correctable, options, watchRequest(options.request));
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
    // A header of the application that cannot be sent.
    release(error);
    throw error;
  }
}

/**
 * Sends each view over a response of Node when it arrives, for Express and `node:http`. Resolves
 * when all is sent, or the client has gone. Otherwise as `respondWithViews`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if an argument is of another kind
 * @example app.get('/stock/:book', (req, res) => sendViews(res, store.invoke(get(req.params.book)),
 * { request: req }));
 */
export async function sendViews(
  response: ServerResponseLike,
  correctable: AnyCorrectable,
  options: RespondOptions = {},
): Promise<void> {
  check(
    hasMethods(response, 'writeHead', 'write', 'end', 'on', 'off'),
    'response',
    "give Node's ServerResponse",
  );
  const { status, headers, chunks, release } = await startReply(
    correctable,
    options,
    watchClose(response),
  );
  try {
    if (!response.destroyed) response.writeHead(status, headers);
    for await (const chunk of chunks)
      if (!response.destroyed && !response.write(chunk)) await waitForDrain(response);
    if (!response.destroyed) response.end();
  } finally {
    release();
  }
}

function waitForDrain(response: ServerResponseLike): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go);
      response.off('close', go);
      resolve();
    };
    response.on('drain', go);
    response.on('close', go);
  });
}

/** Waits for the first view, or the failure: the status depends on it. */
async function startReply(
  correctable: AnyCorrectable,
  options: RespondOptions,
  watch: ClientWatch,
): Promise<Reply> {
  check(
    hasMethods(correctable, 'subscribe', 'speculate'),
    'correctable',
    'give one, as store.invoke(get(key))',
  );
  const { request, session, headers } = options;
  const format = options.format ?? chooseFormat(request);
  check(Object.hasOwn(MEDIA_TYPES, format), 'format', "must be 'ndjson' or 'sse'");
  const stopWatching = watch((reason) => correctable.cancel(reason));
  const lines = followViews(correctable, session);
  const first = await lines.next();
  const error = first.done ? undefined : first.value.error;
  const release = (reason?: unknown): void => {
    correctable.cancel(reason);
    stopWatching();
    session?.close();
  };
  async function* formatChunks(): AsyncGenerator<string, void> {
    try {
      // The reply has no body. Hono drops the stream of it without canceling it.
      if (request?.method === 'HEAD') return;
      for (let step = first; !step.done; step = await lines.next())
        yield format === 'sse' && !error ? `data: ${step.value.text}\n\n` : `${step.value.text}\n`;
    } finally {
      release();
    }
  }
  const head = error
    ? createFailureHead(error)
    : { status: 200, headers: createHeaders(MEDIA_TYPES[format]) };
  return { ...head, headers: { ...head.headers, ...headers }, chunks: formatChunks(), release };
}

/** A message as text, and the error if it is one. */
interface Line {
  readonly text: string;
  readonly error?: ErrorFacts;
}

async function* followViews(
  correctable: AnyCorrectable,
  session: Session | undefined,
): AsyncGenerator<Line, void> {
  const addTokens = createTokenWriter(session);
  let previous: AnyView | undefined;
  try {
    for await (const view of correctable) {
      yield { text: JSON.stringify(addTokens(toViewMessage(view, previous))) };
      previous = view;
    }
  } catch (failure) {
    // If a view cannot be sent, the reply ends here, so the operation has no reader left.
    correctable.cancel();
    const message = toFailureMessage(failure);
    yield { text: JSON.stringify(addTokens(message)), error: message.error };
  }
}

/** Adds the tokens of the session to a message, unless the last one had the same. */
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
  return request && getHeader(request, 'accept').includes(MEDIA_TYPES.sse) ? 'sse' : 'ndjson';
}

/** Calls `leave` when the client has gone. The returned function stops that. */
type ClientWatch = (leave: (reason?: unknown) => void) => () => void;

/**
 * Prefers the socket: the signal of Fastify also aborts when the body of the request has been read.
 */
function watchRequest({ socket, signal }: Partial<RequestLike> = {}): ClientWatch {
  return socket ? watchClose(socket) : watchAbort(signal);
}

function watchClose(connection: ConnectionLike): ClientWatch {
  return (leave) => {
    const onClose = (): void => leave();
    if (connection.destroyed) onClose();
    connection.on('close', onClose);
    return () => connection.off('close', onClose);
  };
}

function watchAbort(signal: AbortSignal | undefined): ClientWatch {
  return (leave) => {
    const onAbort = (): void => leave(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort);
    return () => signal?.removeEventListener('abort', onAbort);
  };
}

/** The headers keep proxies and compressors from holding back a view until more data follows. */
function createHeaders(type: string): Record<string, string> {
  return {
    'content-type': type,
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    vary: 'accept',
  };
}

function createFailureHead({ code, retryAfterMs }: ErrorFacts): Pick<Reply, 'status' | 'headers'> {
  const retryAfter = retryAfterMs !== undefined && {
    'retry-after': String(Math.ceil(retryAfterMs / 1_000)),
  };
  const status = Object.hasOwn(STATUSES, code) ? STATUSES[code as ErrorCode] : undefined;
  return {
    status: status ?? 500,
    headers: { ...createHeaders('application/json'), ...retryAfter },
  };
}
