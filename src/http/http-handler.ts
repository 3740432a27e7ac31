/** Serves each operation of a contract over HTTP, by any binding. */
import { correctable } from '../correctable/client/create.ts';
import type {
  Binding,
  BindingSession,
  InvocationContext,
  Principal,
} from '../correctable/binding.ts';
import type { Session } from '../correctable/client/client.ts';
import { toOwnedKey } from '../correctable/idempotency-key.ts';
import { check, CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import { requestLevels } from '../correctable/level-order.ts';
import type { Operation } from '../correctable/operation.ts';
import { WRITE } from '../correctable/side-effects.ts';
import { closeAfter, getSource, type Source } from '../correctable/source.ts';
import {
  amount,
  callback,
  integer,
  optional,
  readOptions,
  type OptionsOf,
  type ResolvedOptions,
} from '../correctable/options.ts';
import { isBinding } from '../correctable/validate.ts';
import { CheckedOperation } from '../protocol/hosting.ts';
import type { ContractInfo } from '../contract/contract.ts';
import { checkRegistry } from '../contract/operation-registry.ts';
import {
  decodeArgs,
  IDEMPOTENCY_HEADER,
  LEVELS_HEADER,
  parseArgsText,
  parseOperationUrl,
  type OperationAddress,
} from './operation-request.ts';
import {
  respondWithViews,
  type AnyCorrectable,
  type RespondOptions,
} from './respond-with-views.ts';
import { sendViews, type ServerResponseLike } from './send-views.ts';
import {
  getHeader,
  readSessionTokens,
  SESSION_HEADER,
  type RequestLike,
} from './session-tokens.ts';

/** A request of Node, Express, Koa (`ctx.req`) or Fastify (`request.raw`). */
export interface NodeRequestLike extends RequestLike {
  readonly url?: string | undefined;
  /** The body, if a middleware has parsed it. Default: it is read here */
  readonly body?: unknown;
  [Symbol.asyncIterator](): AsyncIterator<unknown>;
}

/** Options of `httpHandler`. */
export interface HttpHandlerOptions {
  /**
   * Returns the user of a request, or `undefined` if it has none. Throw to refuse the request with
   * status 401. Default: no request has a user
   */
  readonly authenticate?:
    | ((request: RequestLike) => Principal | undefined | Promise<Principal | undefined>)
    | undefined;
  /**
   * Decides whether a user may execute an operation, whose arguments were parsed by the contract.
   * Only `true` allows it: otherwise the status is 403. Default: always
   */
  readonly authorize?:
    | ((principal: Principal | undefined, operation: Operation) => boolean | Promise<boolean>)
    | undefined;
  /** Timeout of an operation, in milliseconds. Default: 30 000 */
  readonly timeoutMs?: number | undefined;
  /** Largest body of a request, in bytes. Default: 1 MiB */
  readonly maxBodyBytes?: number | undefined;
  /**
   * Called with each failure and its cause. The client does not get the cause. Default: that of
   * `respondWithViews`
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

/** Serves requests of Node, and with `fetch` those of Web standards. */
export interface HttpHandler {
  /**
   * Handles a request of Node or Express. If the contract has no such operation and there is a
   * `next`, calls it. Resolves when the reply is sent.
   */
  (
    request: NodeRequestLike,
    response: ServerResponseLike,
    next?: (error?: unknown) => void,
  ): Promise<void>;
  /** Handles a request of Web standards, for Hono, Next.js, Deno, Bun and workers. */
  fetch(this: void, request: Request): Promise<Response>;
}

const CALL = 'httpHandler(contract, binding, { authenticate })';

export const HANDLER_OPTIONS = {
  authenticate: optional(callback),
  authorize: optional(callback),
  timeoutMs: optional(amount({ above: 0, max: Infinity }), 30_000),
  maxBodyBytes: optional(integer(), 1 << 20),
  onError: optional(callback),
} satisfies OptionsOf<HttpHandlerOptions>;

/**
 * Serves the operations of a contract: `POST /bike` executes the operation `bike`, and `GET
 * /bike?args=…` does for a read. The reply has all views, as those of `respondWithViews`. Mount it
 * in Express, Fastify, Hono, Koa or `node:http`. In a page, the binding `http` of
 * `correctables/bindings/http` calls it.
 *
 * Arguments are parsed by the contract. Results are checked if the binding checks them, as
 * `createHandler` and RedBlue services do.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the argument or option that does not fit
 * @example
 * app.use('/api', httpHandler(bikes, binding)); // Express
 * app.all('/api/*', (c) => handler.fetch(c.req.raw)); // Hono
 */
export function httpHandler(
  contract: ContractInfo,
  binding: Binding,
  options: HttpHandlerOptions = {},
): HttpHandler {
  checkRegistry(contract, CALL);
  check(isBinding(binding), 'binding', `must be a binding: write ${CALL}`);
  const resolved = readOptions(options, { call: CALL }, HANDLER_OPTIONS);
  checkLevelNames(binding.consistencyLevels());
  const server = new OperationServer(contract, binding, resolved);
  const handle = async (
    request: NodeRequestLike,
    response: ServerResponseLike,
    next?: (error?: unknown) => void,
  ): Promise<void> => {
    const address = parseOperationUrl(request.url ?? '');
    if (next !== undefined && !server.has(address.name)) return next();
    const started = server.start(request, address, () =>
      readNodeBody(request, server.maxBodyBytes),
    );
    await sendViews(response, started.correctable, started.reply);
  };
  const fetch = async (request: Request): Promise<Response> => {
    const started = server.start(request, parseOperationUrl(request.url), () =>
      readWebBody(request, server.maxBodyBytes),
    );
    return respondWithViews(started.correctable, started.reply);
  };
  return Object.assign(handle, { fetch });
}

/** Checks that the names of levels can be sent in a header. */
function checkLevelNames(levels: readonly string[]): void {
  const wrong = levels.find((level) => !/^[\x21-\x2b\x2d-\x7e]+$/.test(level));
  check(
    wrong === undefined,
    'binding',
    `must have levels of ASCII letters, digits and signs without comma and space, and has "${wrong}".`,
  );
}

interface StartedOperation {
  readonly correctable: AnyCorrectable;
  readonly reply: RespondOptions;
}

/** The arguments of a request, parsed from JSON. */
type ReadBody = () => Promise<unknown>;

type OperationServerOptions = ResolvedOptions<HttpHandlerOptions, typeof HANDLER_OPTIONS>;

class OperationServer {
  readonly maxBodyBytes: number;
  readonly #contract: ContractInfo;
  readonly #binding: Binding;
  readonly #options: OperationServerOptions;

  constructor(contract: ContractInfo, binding: Binding, options: OperationServerOptions) {
    this.#contract = contract;
    this.#binding = binding;
    this.#options = options;
    this.maxBodyBytes = options.maxBodyBytes;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#contract.operations, name);
  }

  /** Starts the operation of a request. If this fails, the client gets the error as the reply. */
  start(request: RequestLike, address: OperationAddress, readBody: ReadBody): StartedOperation {
    const levels = this.#binding.consistencyLevels();
    const { timeoutMs, onError } = this.#options;
    const views = correctable(levels).withSink<unknown>({
      timeoutMs,
      ...(this.#binding.isOlder && { isOlder: this.#binding.isOlder }),
    });
    const source = getSource<unknown>(views.correctable) as Source<unknown>;
    const session = new ReplySession();
    const run = this.#run({
      request,
      address,
      readBody,
      source,
      session,
    });
    run.catch((error: unknown) => source.fail(error));
    return {
      correctable: views.correctable,
      reply: {
        request,
        session,
        onError,
        headers: { [LEVELS_HEADER]: levels.join(',') },
      },
    };
  }

  async #run(call: OperationCall): Promise<void> {
    const { request, source, session } = call;
    const principal = await this.#authenticate(request);
    const operation = await this.#readOperation(call);
    source.label = { name: operation.name };
    await this.#authorize(principal, operation);

    const requested = getHeader(request, LEVELS_HEADER);
    if (requested !== '')
      source.levelOrder = requestLevels(
        source.levelOrder,
        requested.split(',').map((level) => level.trim()),
      );
    session.open(this.#openSession(request));
    // The client may have disconnected while the request was read.
    if (source.state !== 'pending') return;
    const context = createContext(source, {
      principal,
      session: session.session,
      idempotencyKey: this.#readIdempotencyKey(request, operation, principal),
    });
    // A failure before this line has changed nothing in the store. From here on, a write may take
    // effect.
    if (operation.access === 'write') source.effectState = WRITE;
    closeAfter(
      source,
      this.#binding.submitOperation(operation, source.levelOrder.requested, source, context),
    );
  }

  async #authenticate(request: RequestLike): Promise<Principal | undefined> {
    try {
      return await this.#options.authenticate?.(request);
    } catch (cause) {
      if (isCorrectableError(cause)) throw cause;
      throw new CorrectableError(
        'UNAUTHENTICATED',
        'authenticate refused the request. Nothing was executed.',
        { cause },
      );
    }
  }

  async #authorize(principal: Principal | undefined, operation: Operation): Promise<void> {
    const { authorize } = this.#options;
    if (authorize === undefined) return;
    // A function without types may return anything that counts as true.
    const answer: unknown = await authorize(principal, operation);
    if (answer === true) return;
    throw new CorrectableError(
      'FORBIDDEN',
      `${operation.name} is not allowed for this user. Nothing was executed.`,
    );
  }

  async #readOperation({
    request,
    address: { name, args },
    readBody,
  }: OperationCall): Promise<Operation> {
    const { operations, name: contract } = this.#contract;
    const spec = this.has(name) ? operations[name] : undefined;
    if (spec === undefined || !this.#binding.supports({ ...spec, name } as never))
      throw new CorrectableError(
        'UNSUPPORTED',
        `${contract} has no operation "${name}". Operations: ${Object.keys(operations).join(', ')}.`,
      );
    const method = (request.method ?? 'GET').toUpperCase();
    const isQuery = method === 'GET' || method === 'HEAD';
    if (!isQuery && method !== 'POST') throw createMethodError(name, `has no ${method}. Use POST`);
    // A write with `GET` is refused: otherwise a link on another page could change data.
    if (isQuery && spec.access === 'write') throw createMethodError(name, 'is a write. Use POST');

    const input = isQuery ? parseArgsText(args ?? '{}') : await readBody();
    const submitted = { name, access: spec.access, args: input };
    try {
      return new CheckedOperation(submitted, spec, this.#contract);
    } catch (error) {
      throw isQuery && args === undefined ? adviseArgs(error) : error;
    }
  }

  #openSession(request: RequestLike): BindingSession | undefined {
    const tokens = readSessionTokens(request);
    const isWanted = tokens.length > 0 || hasHeader(request, SESSION_HEADER);
    if (!isWanted) return undefined;

    const session = this.#binding.openSession?.(tokens);
    if (session?.tokens !== undefined) return session;
    session?.close?.();
    throw new CorrectableError(
      'UNSUPPORTED',
      `The ${this.#binding.name} binding keeps no sessions that can travel. Nothing was executed. Send the request without a session.`,
      { field: 'session' },
    );
  }

  /** Adds the user to the key, so that equal keys of two users do not collide. */
  #readIdempotencyKey(
    request: RequestLike,
    { name, access }: Operation,
    principal: Principal | undefined,
  ): string | undefined {
    const key = getHeader(request, IDEMPOTENCY_HEADER);
    if (key === '' || access === 'read') return undefined;
    if (this.#binding.hasIdempotencyKeys === true)
      return toOwnedKey(encodeURIComponent(principal?.id ?? ''), key);
    throw new CorrectableError(
      'UNSUPPORTED',
      `${name}: the ${this.#binding.name} binding keeps no idempotency keys. Nothing was executed. Send the request without ${IDEMPOTENCY_HEADER}.`,
      { field: 'idempotencyKey' },
    );
  }
}

interface OperationCall {
  readonly request: RequestLike;
  readonly address: OperationAddress;
  readonly readBody: ReadBody;
  readonly source: Source<unknown>;
  readonly session: ReplySession;
}

/** The session of a reply. It is opened once the request was read. */
class ReplySession implements Session {
  session: BindingSession | undefined;
  #isClosed = false;

  get tokens(): readonly string[] {
    return this.session?.tokens ?? [];
  }

  open(session: BindingSession | undefined): void {
    this.session = session;
    // The client has disconnected meanwhile.
    if (this.#isClosed) session?.close?.();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.session?.close?.();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** The facts about the operation that a request contains. */
interface RequestFacts {
  readonly principal: Principal | undefined;
  readonly session: BindingSession | undefined;
  readonly idempotencyKey: string | undefined;
}

function createContext(source: Source<unknown>, facts: RequestFacts): InvocationContext {
  return {
    ...facts,
    get signal() {
      return source.signal;
    },
    get deadlineAt() {
      return source.deadlineAt;
    },
    trace: undefined,
    operationId: globalThis.crypto.randomUUID(),
  };
}

/** Adds to the error of missing arguments how a read gives them. */
function adviseArgs(error: unknown): unknown {
  if (!isCorrectableError(error, 'INVALID_ARGUMENT')) return error;
  const { message, field, cause } = error;
  const advice = `${message}. The request has no args: add them to its address, as ?args={"id":1}.`;
  return new CorrectableError('INVALID_ARGUMENT', advice, { field, cause });
}

function createMethodError(name: string, problem: string): CorrectableError {
  return new CorrectableError('INVALID_ARGUMENT', `${name} ${problem}.`, {
    field: 'method',
  });
}

function hasHeader({ headers }: RequestLike, name: string): boolean {
  return typeof headers.get === 'function'
    ? headers.get(name) !== null
    : (headers as Record<string, unknown>)[name] !== undefined;
}

async function readNodeBody(request: NodeRequestLike, maxBytes: number): Promise<unknown> {
  checkContentType(request);
  checkDeclaredSize(request, maxBytes);
  const { body } = request;
  if (typeof body === 'string') return parseArgsText(body);
  if (body !== undefined) return decodeArgs(body);

  return parseArgsText(await readText(request, maxBytes));
}

async function readWebBody(request: Request, maxBytes: number): Promise<unknown> {
  checkContentType(request);
  checkDeclaredSize(request, maxBytes);
  if (request.body === null) return parseArgsText('');
  return parseArgsText(await readText(readChunks(request.body), maxBytes));
}

async function* readChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

/** How many bytes above the limit are read and dropped. After that the handler stops reading. */
const MAX_DRAINED_BYTES = 1 << 22;

/**
 * Reads a body up to its limit. Bytes above the limit are read and dropped. If the server closed
 * the connection while the client is still sending, the client would not receive the reply.
 */
async function readText(chunks: AsyncIterable<unknown>, maxBytes: number): Promise<string> {
  // Create both here: a platform without them can still import this module.
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  for await (const chunk of chunks) {
    const part = typeof chunk === 'string' ? encoder.encode(chunk) : (chunk as Uint8Array);
    bytes += part.length;
    if (bytes > MAX_DRAINED_BYTES + maxBytes) throw createBodySizeError(maxBytes);
    if (bytes <= maxBytes) text += decoder.decode(part, { stream: true });
  }
  if (bytes > maxBytes) throw createBodySizeError(maxBytes);
  return text + decoder.decode();
}

function checkDeclaredSize(request: RequestLike, maxBytes: number): void {
  const declared = Number(getHeader(request, 'content-length'));
  if (declared > maxBytes + MAX_DRAINED_BYTES) throw createBodySizeError(maxBytes);
}

/**
 * Refuses every body that is not JSON. A form on another page can send other types with the cookies
 * of the user, and without a preflight request.
 */
function checkContentType(request: RequestLike): void {
  const type = getHeader(request, 'content-type').toLowerCase();
  if (type.startsWith('application/json')) return;
  throw new CorrectableError(
    'INVALID_ARGUMENT',
    `the request has the content type "${type}". Send JSON as application/json.`,
    { field: 'content-type' },
  );
}

function createBodySizeError(maxBytes: number): CorrectableError {
  return new CorrectableError(
    'INVALID_ARGUMENT',
    `the body of the request has more than ${maxBytes} bytes. Nothing was executed.`,
    { field: 'body' },
  );
}
