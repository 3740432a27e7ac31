/**
 * How client and server come to know each other on a new line: token, `hello`,
 * `welcome`.
 */
import {
  CorrectableError,
  isCorrectableError,
} from '../../correctable/errors.ts';
import { PROTOCOL_VERSION } from '../../protocol/codec/version.ts';
import type { Welcome } from '../../protocol/messages/welcome.ts';
import type { Credentials } from '../options/guard-callbacks.ts';
import type { Connection } from './connection.ts';
import type {
  ResolvedConnectionOptions,
  ConnectionTarget,
} from '../options/options.ts';

/** 128 random bits as 32 hexadecimal digits. */
function createClientId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
}

/**
 * A question that is older than this is asked again, and an answer that is
 * older is not used.
 */
const MAX_TOKEN_AGE_MS = 60_000;

/**
 * An early token is not used if it is older than this: some last no longer than
 * connecting takes.
 */
const MAX_EARLY_TOKEN_AGE_MS = 10_000;

/** The identity of the client, and the principal that servers see. */
export class Handshake {
  readonly #credentials: ResolvedConnectionOptions['credentials'];
  readonly #target: ConnectionTarget;
  readonly #setPrincipal: (principal: string | undefined) => boolean;
  client = createClientId();
  /** For whom the last hello was, as the application says. */
  #helloPrincipal: string | undefined;
  /**
   * For whom the last server took the client, and who that was; none before the
   * first welcome.
   */
  #lastServerIdentity:
    | {
        readonly principal: string | undefined;
        readonly tag: string | undefined;
      }
    | undefined;
  /** Whether a token was asked for, ahead of the first line or by one. */
  #hasRequestedToken = false;
  #waitingConnection: Connection | undefined;
  #onNoToken: (reason: CorrectableError) => void = () => {};
  /**
   * When the application was asked last, unless that question was answered or
   * has failed.
   */
  #requestedAt = -Infinity;
  /**
   * An answer that came when no line waited for it, and until when it can be
   * used.
   */
  #earlyToken: (Credentials & { readonly until: number }) | undefined;
  /**
   * How long such an answer can be used: not as long where no line has asked
   * for it yet.
   */
  #maxTokenAgeMs = MAX_EARLY_TOKEN_AGE_MS;
  /**
   * Counts the tokens that were used: answers to questions of before are too
   * late.
   */
  #round = 0;
  readonly #now: () => number;

  /**
   * `identify` receives the principal of a token, and returns whether the
   * client acts for this principal.
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
   * Whether the present line waits for a token: what goes wrong meanwhile is no
   * fault of the site.
   */
  get isWaitingForToken(): boolean {
    return this.#waitingConnection !== undefined;
  }

  /**
   * Asks for a token before there is a line for it, unless one was asked for
   * already.
   */
  requestTokenEarly(): void {
    if (!this.#hasRequestedToken) this.#requestToken();
  }

  /**
   * Says `hello` as soon as there is a token; `onNoToken` receives the reason
   * if there is none.
   */
  begin(line: Connection, onNoToken: (reason: CorrectableError) => void): void {
    this.#waitingConnection = line;
    this.#onNoToken = onNoToken;
    this.#maxTokenAgeMs = MAX_TOKEN_AGE_MS;
    const now = this.#now();
    if (this.#earlyToken !== undefined && now <= this.#earlyToken.until)
      this.#sendHello(this.#earlyToken);
    else if (this.#requestedAt < now - MAX_TOKEN_AGE_MS) this.#requestToken();
  }

  /**
   * Requests a token unless a request is pending, and once more if that takes
   * long. The first answer counts.
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
        if (this.#waitingConnection !== undefined)
          this.#onNoToken(createNoTokenError(cause));
      },
    );
  }

  #sendHello({ principal, token }: Credentials): void {
    const line = this.#waitingConnection;
    if (line === undefined) return;
    const isOurs = this.#setPrincipal(principal);
    // A caller whose operation is abandoned may close the connection, or sign
    // in as another.
    if (line !== this.#waitingConnection) return;
    this.#earlyToken = undefined;
    this.#round++;
    if (!isOurs) return this.#requestToken();
    this.#waitingConnection = undefined;
    this.#helloPrincipal = principal;
    line.push([0, 'hello', { ...this.#createHello(line.attempt), token }]);
    line.flush();
  }

  /** The line is no longer wanted: a token that comes later is not for it. */
  end(): void {
    this.#waitingConnection = undefined;
  }

  renewClientId(): void {
    this.client = createClientId();
    this.#earlyToken = undefined;
  }

  /**
   * Whether the server sees another principal than the last one did, without a
   * change by the application.
   */
  isPrincipalChanged({ principal: tag }: Welcome): boolean {
    const known = this.#lastServerIdentity;
    this.#lastServerIdentity = { principal: this.#helloPrincipal, tag };
    return (
      known !== undefined &&
      known.principal === this.#helloPrincipal &&
      known.tag !== tag
    );
  }

  /**
   * What keeps the client from this server, if anything does. Contracts of one
   * name may differ by their operations.
   */
  findIncompatibility({
    version,
    levels,
    contract,
  }: Welcome): CorrectableError | undefined {
    const { levels: own, contract: ownContract } = this.#target;
    if (version !== PROTOCOL_VERSION || levels.join('\n') !== own.join('\n')) {
      const message = `the server speaks version ${version} with levels ${levels.join()}; this client needs ${PROTOCOL_VERSION} with ${own.join()}`;
      return new CorrectableError('PROTOCOL', message);
    }
    if (ownContract === undefined || ownContract.name === contract?.name)
      return undefined;
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
  return new CorrectableError(
    'UNAUTHENTICATED',
    `token: no token could be had${reason}`,
    {
      cause,
      retryable,
    },
  );
}

/**
 * Whether the application reports that no user is signed in. Other errors may
 * be temporary.
 */
function isSignedOut(cause: unknown): boolean {
  return isCorrectableError(cause, 'UNAUTHENTICATED') && !cause.retryable;
}
