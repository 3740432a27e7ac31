/** Sends each operation of a contract as an HTTP request to `httpHandler`. */
import {
  bindMethods,
  type Binding,
  type BindingSession,
  type InvocationContext,
  type Sink,
} from '../../correctable/binding.ts';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { Levels } from '../../correctable/level-types.ts';
import type { Operation } from '../../correctable/operation.ts';
import { deliverViews, sendRequest, type Exchange } from '../../http/fetch-views.ts';
import {
  encodeArgs,
  formatIdempotencyKey,
  formatOperationUrl,
  IDEMPOTENCY_HEADER,
  LEVELS_HEADER,
} from '../../http/operation-request.ts';
import { createBrokenError, type RequestLabel } from '../../http/reply-error.ts';
import { createHttpSession, SESSION_HEADER, type PageSession } from '../../http/session-tokens.ts';
import type { ContractInfo } from '../../contract/contract.ts';
import {
  checkOperation,
  checkRegistry,
  findOperationHash,
  isRegistered,
} from '../../contract/operation-registry.ts';
import {
  CALL,
  HTTP_OPTIONS,
  type HttpBindingOptions,
  type ResolvedHttpOptions,
} from './options.ts';
import { readOptions } from '../../correctable/options.ts';

/** Servers and proxies may refuse a longer address, so such a read is sent with `POST`. */
const MAX_URL_LENGTH = 2_000;

/**
 * Binds a client of a page to an `httpHandler` of a server: each operation of the contract is one
 * request, whose reply has all views. Sessions, caches, hooks and queries work on it as on any
 * binding.
 *
 * Arguments are checked before anything is sent. If the reply of an update is lost, it fails with
 * `UNKNOWN`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit
 * @example
 * const client = createClient(http(bikes, { url: '/api', levels: ['replica', 'primary'] }));
 * const bike = await client.invoke(bikes.bike({ id: 7 }));
 */
export function http<const L extends Levels>(
  contract: ContractInfo,
  options: HttpBindingOptions<L>,
): Binding<L> {
  checkRegistry(contract, CALL);
  const resolved = readOptions(options, { call: CALL }, HTTP_OPTIONS);
  return new HttpBinding(contract, resolved);
}

class HttpBinding<L extends Levels> implements Binding<L> {
  readonly name = 'http';
  /**
   * The binding accepts idempotency keys. If the store behind the server has none, the server
   * refuses the operation.
   */
  readonly hasIdempotencyKeys = true;
  /** A request names its user by its cookie or token. */
  readonly identifiesByConnection = true;
  readonly principal?: () => string;
  readonly openSession?: (tokens?: readonly string[]) => BindingSession;
  readonly #contract: ContractInfo;
  readonly #options: ResolvedHttpOptions<L>;
  readonly #requests = new Set<AbortController>();
  #isClosed = false;

  constructor(contract: ContractInfo, options: ResolvedHttpOptions<L>) {
    this.#contract = contract;
    this.#options = options;
    if (options.principal !== undefined) this.principal = options.principal;
    if (options.hasSessions) this.openSession = createHttpSession;
    bindMethods(this);
  }

  consistencyLevels(): L {
    return this.#options.levels;
  }

  supports(operation: Operation): boolean {
    return isRegistered(this.#contract, operation);
  }

  operationHash(name: string): string | undefined {
    return findOperationHash(this.#contract, name);
  }

  async submitOperation<T>(
    operation: Operation<T>,
    levels: readonly L[number][],
    sink: Sink<T, L[number]>,
    context: InvocationContext,
  ): Promise<void> {
    if (this.#isClosed) throw createClosedError();
    const request = new AbortController();
    const stop = (): void => request.abort(context.signal.reason);
    const isRead = operation.access === 'read';
    // Only a read is canceled when no caller waits any more. An update runs to its end.
    if (isRead) context.signal.addEventListener('abort', stop);
    this.#requests.add(request);
    try {
      const exchange = this.#createExchange(operation, levels, context);
      await deliverViews(exchange, request.signal, {
        levels: this.#options.levels,
        sink: sink as Sink<unknown>,
        session: context.session as PageSession | undefined,
      });
    } finally {
      this.#requests.delete(request);
      if (isRead) context.signal.removeEventListener('abort', stop);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const request of this.#requests) request.abort();
  }

  #createExchange(
    operation: Operation,
    levels: readonly string[],
    context: InvocationContext,
  ): Exchange {
    const { access, args } = checkOperation(this.#contract, operation);
    const text = encodeArgs(args);
    const isUpdate = access === 'write';
    const { url, init } = this.#createRequest(operation.name, text, isUpdate);
    const label = { name: operation.name, isUpdate };
    const added = {
      ...(levels.length < this.#options.levels.length && {
        [LEVELS_HEADER]: levels.join(','),
      }),
      // Send the header also for a session without tokens: it makes the server open a session.
      ...(context.session !== undefined && { [SESSION_HEADER]: '' }),
      ...(context.idempotencyKey !== undefined && {
        [IDEMPOTENCY_HEADER]: formatIdempotencyKey(context.idempotencyKey),
      }),
    };
    return {
      ...label,
      send: async (headers, signal) => {
        const { fetch = globalThis.fetch } = this.#options;
        const own = await this.#readHeaders();
        if (signal.aborted) throw createClosedError();
        const sent = {
          ...init,
          headers: { ...init.headers, ...added, ...headers, ...own },
        };
        const response = await sendRequest(
          { input: url, url, init: sent },
          { label, fetch, signal },
        );
        await this.#checkLevels(response, label);
        return response;
      },
    };
  }

  #createRequest(
    name: string,
    args: string,
    isUpdate: boolean,
  ): { readonly url: string; readonly init: RequestParts } {
    const { url: baseUrl, readMethod, credentials } = this.#options;
    const parts = credentials === undefined ? {} : { credentials };
    if (!isUpdate && readMethod === 'GET') {
      const url = formatOperationUrl(baseUrl, name, args);
      if (url.length <= MAX_URL_LENGTH)
        return { url, init: { ...parts, method: 'GET', headers: {} } };
    }
    return {
      url: formatOperationUrl(baseUrl, name),
      init: {
        ...parts,
        method: 'POST',
        body: args,
        headers: { 'content-type': 'application/json' },
      },
    };
  }

  async #readHeaders(): Promise<Readonly<Record<string, string>> | undefined> {
    try {
      return await this.#options.headers?.();
    } catch (cause) {
      if (isCorrectableError(cause)) throw cause;
      const message = 'http(): the option headers failed. Nothing was sent.';
      throw new CorrectableError('UNAVAILABLE', message, { cause });
    }
  }

  /** If the server had other levels than this binding, a preliminary view could count as final. */
  async #checkLevels({ headers, body, ok }: Response, label: RequestLabel): Promise<void> {
    const atServer = headers.get(LEVELS_HEADER);
    const here = this.#options.levels.join(',');
    if (atServer === null || atServer === here) return;
    await body?.cancel();
    const problem = new CorrectableError(
      'PROTOCOL',
      `http(): the server has the levels ${atServer}, and the option levels has ${here}. Use the same.`,
      { field: 'levels', retryable: false },
    );
    // After a successful status, the server has executed the operation, so the error accounts for
    // an update that may have been applied.
    throw ok ? createBrokenError(label, problem) : problem;
  }
}

interface RequestParts {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly credentials?: RequestCredentials;
}

function createClosedError(): CorrectableError {
  return new CorrectableError(
    'UNAVAILABLE',
    'the http binding is closed. Nothing was sent. Create a new client.',
    { retryable: false },
  );
}
