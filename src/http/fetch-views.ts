/** Delivers the views that an HTTP server sends as a Correctable. */
import { correctable } from '../correctable/client/create.ts';
import type { Sink } from '../correctable/binding.ts';
import type { Correctable } from '../correctable/correctable.ts';
import { getElapsedMs } from '../correctable/clock.ts';
import { check, CorrectableError } from '../correctable/errors.ts';
import type { Levels } from '../correctable/level-types.ts';
import { checkRecord } from '../correctable/validate.ts';
import { WRITE } from '../correctable/side-effects.ts';
import { getSource } from '../correctable/source.ts';
import { fromErrorFacts } from '../protocol/error-facts.ts';
import { readLines } from './read-lines.ts';
import {
  createBrokenError,
  createLostError,
  readFailedReply,
  type RequestLabel,
} from './reply-error.ts';
import { createUnsendableError, formatRequestName, isUnsendable } from './unsendable.ts';
import {
  formatTokens,
  SESSION_HEADER,
  type HttpSession,
  type PageSession,
} from './session-tokens.ts';
import { isFailure, MEDIA_TYPES, parseMessage } from './view-message.ts';

/** Options of a request: those of `fetch`, and the following. */
export interface FetchViewsOptions extends Omit<RequestInit, 'signal'> {
  /** Cancels the request when it aborts. Default: that of the `Request`, if you pass one */
  readonly signal?: AbortSignal | undefined;
  /** Timeout for the final view, in milliseconds; `Infinity` for no limit. Default: 30 000 */
  readonly timeoutMs?: number | undefined;
  /**
   * The session whose tokens are sent and updated, made by `createHttpSession`. Default: no session
   */
  readonly session?: HttpSession | undefined;
  /** Sends the request. Default: the `fetch` of the platform */
  readonly fetch?: typeof fetch | undefined;
}

/** Requests the views of `T` from a server whose levels are `L`. */
export type ViewFetcher<L extends Levels> = <T = unknown>(
  input: string | URL | Request,
  options?: FetchViewsOptions,
) => Correctable<T, L>;

const DEFAULT_TIMEOUT_MS = 30_000;
/** Methods that change nothing on the server. */
const READS = /^(GET|HEAD|OPTIONS|QUERY)$/;

/**
 * Returns a function that requests views as `fetch` requests a response. `levels` are those of the
 * server, weakest first. Canceling the Correctable ends the request.
 *
 * A request with another method than `GET`, `HEAD`, `OPTIONS` or `QUERY` is an update: if its reply
 * is lost or cannot be read, it fails with `UNKNOWN`. A request that cannot be sent fails with
 * `INVALID_ARGUMENT`, for example with a relative address where there is no page.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the levels or an option are invalid
 * @example
 * const fetchStock = fetchViews(['cached', 'current']);
 * const stock = fetchStock<number>('/stock/book');
 * stock.onUpdate((n) => show(n, 'probably')).onFinal((n) => show(n, 'certainly'));
 */
export function fetchViews<const L extends Levels>(levels: L): ViewFetcher<L> {
  const create = correctable(levels);
  return <T>(input: string | URL | Request, options: FetchViewsOptions = {}): Correctable<T, L> => {
    check(input !== undefined && input !== null, 'input', "give an address, as '/stock/book'");
    checkRecord(options, {
      call: "fetchStock('/stock/book', { method: 'PUT' })",
    });
    const isFetch = options.fetch === undefined || typeof options.fetch === 'function';
    check(isFetch, 'fetch', 'give a function, or none');
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    const session = options.session as PageSession | undefined;
    check(
      session === undefined || Object(session).advance,
      'session',
      'give one of createHttpSession',
    );
    const exchange = createExchange(input, options);
    const { signal = (input as Partial<Request>).signal } = options;
    const views = create.withSink<T>({
      isRefining: true,
      timeoutMs,
      ...(signal && { signal }),
    });
    const source = getSource<T>(views.correctable)!;
    source.label = { name: exchange.name };
    if (exchange.isUpdate) source.effectState = WRITE;
    if (source.state === 'pending') {
      deliverViews(exchange, views.signal, {
        levels,
        sink: views.sink as Sink<unknown>,
        session,
      }).catch((error: unknown) => views.sink.fail(error));
    }
    return views.correctable;
  };
}

/** A request that has not been sent. */
export interface Exchange extends RequestLabel {
  readonly send: (
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => Promise<Response>;
}

function createExchange(input: string | URL | Request, options: FetchViewsOptions): Exchange {
  const {
    signal: _signal,
    timeoutMs: _timeoutMs,
    session: _session,
    fetch = globalThis.fetch,
    ...init
  } = options;
  const request = typeof input === 'object' && 'method' in input ? input : undefined;
  const method = (init.method ?? request?.method ?? 'GET').toUpperCase();
  const url = request?.url ?? String(input);
  const label = {
    name: formatRequestName(method, url),
    isUpdate: !READS.test(method),
  };
  return {
    ...label,
    async send(added, signal) {
      const headers = createHeaders(init.headers ?? request?.headers, added, label);
      const sent = { input, url, init: { ...init, headers } };
      return sendRequest(sent, { label, fetch, signal });
    },
  };
}

/** A request that `fetch` takes, and its address. */
interface SentRequest {
  readonly input: string | URL | Request;
  readonly url: string;
  readonly init: RequestInit;
}

/**
 * For how long a read is sent again whose connection is closed without a reply, in milliseconds. A
 * proxy or a server may close an idle connection at the moment in which the next request is sent on
 * it.
 */
const MAX_REPEAT_MS = 1_000;
/** The pool of the platform may have several connections that are closed now. */
const MAX_REPEATS = 3;

/** Sends a request. Rejects with an error that shows whether anything was sent. */
export async function sendRequest(
  request: SentRequest,
  {
    label,
    fetch,
    signal,
  }: {
    readonly label: RequestLabel;
    readonly fetch: typeof globalThis.fetch;
    readonly signal: AbortSignal;
  },
): Promise<Response> {
  const sentAtMs = getElapsedMs();
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await fetch(request.input, { ...request.init, signal });
    } catch (error) {
      if (isUnsendable(error, request)) throw createUnsendableError(label, error);
      const canRepeat =
        !label.isUpdate &&
        !signal.aborted &&
        !hasUsedBody(request) &&
        repeats < MAX_REPEATS &&
        getElapsedMs() - sentAtMs <= MAX_REPEAT_MS;
      if (!canRepeat) throw createLostError(label, 'the request failed', error);
    }
  }
}

/** A stream, or the body of a `Request`, can be sent only once. */
function hasUsedBody({ input, init }: SentRequest): boolean {
  return (
    (input as Partial<Request>).bodyUsed === true ||
    // Some platforms, such as the DOM of Jest, have no streams.
    (typeof ReadableStream !== 'undefined' && init.body instanceof ReadableStream)
  );
}

function createHeaders(
  own: RequestInit['headers'],
  added: Readonly<Record<string, string>>,
  label: RequestLabel,
): Headers {
  let headers: Headers;
  try {
    headers = new Headers(own);
  } catch (error) {
    throw createUnsendableError(label, error);
  }
  for (const [name, value] of Object.entries(added))
    if (!headers.has(name)) headers.set(name, value);
  return headers;
}

/** Receives the views of a reply. */
export interface Receiver {
  readonly levels: Levels;
  readonly sink: Sink<unknown>;
  readonly session: PageSession | undefined;
}

/** Sends the request and delivers its views. Rejects with the error that ends the operation. */
export async function deliverViews(
  exchange: Exchange,
  signal: AbortSignal,
  receiver: Receiver,
): Promise<void> {
  const sent = receiver.session?.tokens ?? [];
  const tokens = sent.length > 0 && { [SESSION_HEADER]: formatTokens(sent) };
  const response = await exchange.send({ accept: MEDIA_TYPES.ndjson, ...tokens }, signal);
  // React Native has no streams, so the body is `undefined` there.
  if (!response.ok || response.body === null) {
    const { error, session } = await readFailedReply(response, exchange);
    if (session) receiver.session?.advance(sent, session);
    throw error;
  }
  try {
    checkType(response, exchange);
    const deliver = createDelivery(exchange, receiver, sent);
    for await (const line of readLines(response)) if (deliver(line)) return;
  } catch (error) {
    throw createBrokenError(exchange, error);
  }
  throw createLostError(exchange, 'the reply ended before the final view');
}

/** Returns a function that delivers a message, and returns whether it was the last. */
function createDelivery(
  { name }: Exchange,
  { levels, sink, session }: Receiver,
  sent: readonly string[],
): (line: string) => boolean {
  let seq: number | undefined;
  let covered = sent;
  return (line) => {
    const message = parseMessage(line);
    if (message.session) {
      session?.advance(covered, message.session);
      covered = message.session;
    }
    if (isFailure(message)) {
      sink.fail(fromErrorFacts(message.error, undefined, message.error.domain?.operation));
      return true;
    }
    const { level, version, meta, final } = message;
    checkLevel(level, final, levels, name);
    if ('value' in message) seq = sink.view(message.value, level, { version, meta, final });
    else if (seq !== undefined) sink.confirm(level, seq, { version, meta, final });
    else
      throw new CorrectableError(
        'PROTOCOL',
        `${name}: the server confirmed a value that it had not sent.`,
      );
    return final === true;
  };
}

/**
 * If the server has a stronger level than the page knows, a preliminary view would count as final.
 */
function checkLevel(
  level: string,
  isFinal: boolean | undefined,
  levels: Levels,
  name: string,
): void {
  if (levels.includes(level) && (isFinal || level !== levels.at(-1))) return;
  const kind = isFinal ? 'final' : 'preliminary';
  const advice = `${name}: the server sent a ${kind} view at level "${level}". Levels of fetchViews: ${levels.join(', ')}.`;
  throw new CorrectableError('PROTOCOL', advice, { field: 'levels' });
}

function checkType({ headers }: Response, { name }: Exchange): void {
  const type = headers.get('content-type') ?? 'none';
  // Media types ignore case, and may have parameters.
  const [essence = ''] = type.toLowerCase().split(';');
  if (Object.values(MEDIA_TYPES).includes(essence.trim())) return;
  const message = `${name}: the reply has the content type "${type}". Send it with respondWithViews() or sendViews().`;
  throw new CorrectableError('PROTOCOL', message);
}
