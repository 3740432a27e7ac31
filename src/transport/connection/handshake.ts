/** The handshake of client and server on a new connection: token, `hello`, `welcome`. */
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import { PROTOCOL_VERSION } from '../../protocol/codec/version.ts';
import type { Welcome } from '../../protocol/messages/welcome.ts';
import type { Credentials } from '../options/guard-callbacks.ts';
import type { Connection } from './connection.ts';
import type { ResolvedConnectionOptions, ConnectionTarget } from '../options/options.ts';

/** Returns 128 random bits as 32 hexadecimal digits. */
function createClientId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * The maximum age of a token request and of a token. An older request is repeated, and an older
 * token is not used.
 */
const MAX_TOKEN_AGE_MS = 60_000;

/**
 * The maximum age of a token that was requested before a connection needed it. It is short, because
 * some tokens expire within the time that it takes to connect.
 */
const MAX_EARLY_TOKEN_AGE_MS = 10_000;

/** The identity of the client, and the principal that servers see. */
export class Handshake {
  readonly #credentials: ResolvedConnectionOptions['credentials'];
  readonly #target: ConnectionTarget;
  readonly #setPrincipal: (principal: string | undefined) => boolean;
  client = createClientId();
  /** The principal of the last hello, if the application names one. */
  #helloPrincipal: string | undefined;
  /**
   * The tag that the last server sent for the client's principal, and that principal. `undefined`
   * before the first welcome.
   */
  #lastServerIdentity:
    | {
        readonly principal: string | undefined;
        readonly tag: string | undefined;
      }
    | undefined;
  /** Whether a token was requested, early or by a connection. */
  #hasRequestedToken = false;
  #waitingConnection: Connection | undefined;
  #onNoToken: (reason: CorrectableError) => void = () => {};
  /** When the last token was requested. `-Infinity` if the request was answered or failed. */
  #requestedAt = -Infinity;
  /** A token that arrived when no connection waited for it, and until when it can be used. */
  #earlyToken: (Credentials & { readonly until: number }) | undefined;
  /**
   * How long an early token can be used. The time is shorter until the first connection needs a
   * token.
   */
  #maxTokenAgeMs = MAX_EARLY_TOKEN_AGE_MS;
  /** Counts the tokens that were used. A reply to a request of an earlier round is ignored. */
  #round = 0;
  readonly #now: () => number;

  /**
   * `identify` receives the principal of a token, and returns whether the client acts for that
   * principal.
   */
  constructor(
    { credentials, scheduling }: ResolvedConnectionOptions,
    target: ConnectionTarget,
    identify: (principal: string | undefined) => boolean,
  ) {
    this.#credentials = credentials;
    this.#target = target;
    this.#setPrincipal = identify;
    this.#now = () => scheduling.now();
  }

  /**
   * Whether the present connection waits for a token. If the connection fails during that time, the
   * failure does not count against the site.
   */
  get isWaitingForToken(): boolean {
    return this.#waitingConnection !== undefined;
  }

  /** Requests a token before a connection needs it, unless one was requested already. */
  requestTokenEarly(): void {
    if (!this.#hasRequestedToken) this.#requestToken();
  }

  /**
   * Sends `hello` as soon as there is a token. Calls `onNoToken` with the reason if there is none.
   */
  begin(connection: Connection, onNoToken: (reason: CorrectableError) => void): void {
    this.#waitingConnection = connection;
    this.#onNoToken = onNoToken;
    this.#maxTokenAgeMs = MAX_TOKEN_AGE_MS;
    const now = this.#now();
    if (this.#earlyToken !== undefined && now <= this.#earlyToken.until)
      this.#sendHello(this.#earlyToken);
    else if (this.#requestedAt < now - MAX_TOKEN_AGE_MS) this.#requestToken();
  }

  /**
   * Requests a token unless a request is pending, and once more if that takes long. The first reply
   * counts.
   */
  #requestToken(): void {
    const round = this.#round;
    const askedAt = this.#now();
    this.#requestedAt = askedAt;
    this.#hasRequestedToken = true;
    this.#credentials().then(
      (credentials) => {
        if (round !== this.#round) return;
        this.#requestedAt = -Infinity;
        this.#earlyToken = {
          ...credentials,
          until: this.#now() + this.#maxTokenAgeMs,
        };
        this.#sendHello(credentials);
      },
      (cause: unknown) => {
        if (round !== this.#round || askedAt !== this.#requestedAt) return;
        this.#requestedAt = -Infinity;
        if (this.#waitingConnection !== undefined) this.#onNoToken(createNoTokenError(cause));
      },
    );
  }

  #sendHello({ principal, token }: Credentials): void {
    const connection = this.#waitingConnection;
    if (connection === undefined) return;
    const isOurs = this.#setPrincipal(principal);
    // Check again: a callback of an abandoned operation may have closed the connection, or signed
    // in as another user.
    if (connection !== this.#waitingConnection) return;
    this.#earlyToken = undefined;
    this.#round++;
    if (!isOurs) return this.#requestToken();
    this.#waitingConnection = undefined;
    this.#helloPrincipal = principal;
    connection.push([0, 'hello', { ...this.#createHello(connection.attempt), token }]);
    connection.flush();
  }

  /** Ends the handshake. A token that arrives later does not belong to this connection. */
  end(): void {
    this.#waitingConnection = undefined;
  }

  renewClientId(): void {
    this.client = createClientId();
    this.#earlyToken = undefined;
  }

  /**
   * Returns whether this server recognizes another principal than the last server did, although the
   * application has not changed the principal.
   */
  isPrincipalChanged({ principal: tag }: Welcome): boolean {
    const known = this.#lastServerIdentity;
    this.#lastServerIdentity = { principal: this.#helloPrincipal, tag };
    return known !== undefined && known.principal === this.#helloPrincipal && known.tag !== tag;
  }

  /**
   * Returns why the client cannot use this server, if there is a reason. Contracts of one name may
   * differ in their operations.
   */
  findIncompatibility({ version, levels, contract }: Welcome): CorrectableError | undefined {
    const { levels: own, contract: ownContract } = this.#target;
    if (version !== PROTOCOL_VERSION || levels.join('\n') !== own.join('\n')) {
      const message = `the server speaks version ${version} with levels ${levels.join()}; this client needs ${PROTOCOL_VERSION} with ${own.join()}`;
      return new CorrectableError('PROTOCOL', message);
    }
    if (ownContract === undefined || ownContract.name === contract?.name) return undefined;
    const message = `the server has the contract ${contract?.name ?? 'none'}; this client needs ${ownContract.name}`;
    return new CorrectableError('PROTOCOL', message);
  }

  #createHello(attempt: number) {
    const { levels, contract } = this.#target;
    return {
      version: PROTOCOL_VERSION,
      client: this.client,
      attempt,
      levels,
      ...(contract !== undefined && {
        contract: { name: contract.name, hash: contract.hash },
      }),
    };
  }
}

export function createNoTokenError(cause: unknown): CorrectableError {
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  const retryable = !isSignedOut(cause);
  return new CorrectableError('UNAUTHENTICATED', `token: no token could be had${reason}`, {
    cause,
    retryable,
  });
}

/**
 * Returns whether the application reports that no user is signed in. Other errors may be temporary.
 */
function isSignedOut(cause: unknown): boolean {
  return isCorrectableError(cause, 'UNAUTHENTICATED') && !cause.retryable;
}
