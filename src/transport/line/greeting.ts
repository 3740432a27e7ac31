/** How client and server come to know each other on a new line: token, `hello`, `welcome`. */
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import { PROTOCOL_VERSION } from '../../protocol/codec/version.ts';
import type { Welcome } from '../../protocol/rows/welcome.ts';
import type { Credentials } from '../settings/callbacks.ts';
import type { Line } from './line.ts';
import type { ConnectionSettings, ConnectionTarget } from '../settings/options.ts';

/** 128 random bits as 32 hexadecimal digits. */
function randomClientId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A question that is older than this is asked anew, and an answer that is older is not used. */
const AGE_MS_MAX = 60_000;

/**
 * A token that was asked for before there was a connection is not used when it is older than this: some last no longer
 * than it takes to connect.
 */
const AHEAD_MS_MAX = 10_000;

/** Who the client is, and for whom servers take it. */
export class Greeting {
  readonly #credentials: ConnectionSettings['credentials'];
  readonly #target: ConnectionTarget;
  readonly #identify: (principal: string | undefined) => boolean;
  #client = randomClientId();
  /** For whom the last hello was, as the application says. */
  #greetedAs: string | undefined;
  /** For whom the last server took the client, and who that was; none before the first welcome. */
  #known: { readonly principal: string | undefined; readonly tag: string | undefined } | undefined;
  /** Whether a token was asked for, ahead of the first line or by one. */
  #hasAsked = false;
  /** The line that waits for a token. */
  #asking: Line | undefined;
  #onNoToken: (reason: CorrectableError) => void = () => {};
  /** When the application was asked last, unless that question was answered or has failed. */
  #askedAt = -Infinity;
  /** An answer that came when no line waited for it, and until when it can be used. */
  #answer: (Credentials & { readonly until: number }) | undefined;
  /** How long such an answer can be used: not as long where no line has asked for it yet. */
  #answerMsMax = AHEAD_MS_MAX;
  /** Counts the tokens that were used: answers to questions of before are too late. */
  #round = 0;
  readonly #now: () => number;

  /** `identify` is told whom a token is for, and whether that is whom the client speaks for is what it returns. */
  constructor(
    { credentials, scheduling }: ConnectionSettings,
    target: ConnectionTarget,
    identify: (principal: string | undefined) => boolean,
  ) {
    this.#credentials = credentials;
    this.#target = target;
    this.#identify = identify;
    this.#now = () => scheduling.now();
  }

  /** The id of the client. */
  get client(): string {
    return this.#client;
  }

  /** Whether the present line waits for a token: what goes wrong meanwhile is no fault of the site. */
  get asksToken(): boolean {
    return this.#asking !== undefined;
  }

  /** Asks for a token before there is a line for it, unless one was asked for already. */
  askAhead(): void {
    if (!this.#hasAsked) this.#ask();
  }

  /** Says `hello` as soon as there is a token; `onNoToken` is told why there is none. */
  begin(line: Line, onNoToken: (reason: CorrectableError) => void): void {
    this.#asking = line;
    this.#onNoToken = onNoToken;
    this.#answerMsMax = AGE_MS_MAX;
    const now = this.#now();
    if (this.#answer !== undefined && now <= this.#answer.until) this.#greet(this.#answer);
    else if (this.#askedAt < now - AGE_MS_MAX) this.#ask();
  }

  /**
   * Asks for a token, unless an earlier question is open: the user may be signing in while servers lose patience. Whoever
   * takes longer than that is asked once more, in case the first question was lost; the first answer counts.
   */
  #ask(): void {
    const round = this.#round;
    const askedAt = this.#now();
    this.#askedAt = askedAt;
    this.#hasAsked = true;
    this.#credentials().then(
      (credentials) => {
        if (round !== this.#round) return;
        this.#askedAt = -Infinity;
        this.#answer = { ...credentials, until: this.#now() + this.#answerMsMax };
        this.#greet(credentials);
      },
      (cause: unknown) => {
        if (round !== this.#round || askedAt !== this.#askedAt) return;
        this.#askedAt = -Infinity;
        if (this.#asking !== undefined) this.#onNoToken(noToken(cause));
      },
    );
  }

  #greet({ principal, token }: Credentials): void {
    const line = this.#asking;
    if (line === undefined) return;
    const isOurs = this.#identify(principal);
    // Whoever hears that an operation is not theirs any more may close the connection, or sign in as another.
    if (line !== this.#asking) return;
    this.#answer = undefined;
    this.#round++;
    if (!isOurs) return this.#ask();
    this.#asking = undefined;
    this.#greetedAs = principal;
    line.push([0, 'hello', { ...this.#hello(line.attempt), token }]);
    line.flush();
  }

  /** The line is no longer wanted: a token that comes later is not for it. */
  end(): void {
    this.#asking = undefined;
  }

  /** From now on the client is another. */
  rename(): void {
    this.#client = randomClientId();
    this.#answer = undefined;
  }

  /** Whether the server takes the client for somebody else than the last one did, though the application does not. */
  isEstranged({ principal: tag }: Welcome): boolean {
    const known = this.#known;
    this.#known = { principal: this.#greetedAs, tag };
    return known !== undefined && known.principal === this.#greetedAs && known.tag !== tag;
  }

  /** What keeps the client from this server, if anything does. Contracts of one name may differ by their operations. */
  misfitOf({ version, levels, contract }: Welcome): CorrectableError | undefined {
    const { levels: own, contract: ownContract } = this.#target;
    if (version !== PROTOCOL_VERSION || levels.join('\n') !== own.join('\n')) {
      const message = `the server speaks version ${version} with levels ${levels.join()}; this client needs ${PROTOCOL_VERSION} with ${own.join()}`;
      return new CorrectableError('PROTOCOL', message);
    }
    if (ownContract === undefined || ownContract.name === contract?.name) return undefined;
    const message = `the server has the contract ${contract?.name ?? 'none'}; this client needs ${ownContract.name}`;
    return new CorrectableError('PROTOCOL', message);
  }

  #hello(attempt: number) {
    const { levels, contract } = this.#target;
    return {
      version: PROTOCOL_VERSION,
      client: this.#client,
      attempt,
      levels,
      ...(contract !== undefined && { contract: { name: contract.name, hash: contract.hash } }),
    };
  }
}

/** The reason that there is no token. */
export function noToken(cause: unknown): CorrectableError {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  const retryable = !isSignedOut(cause);
  return new CorrectableError('UNAUTHENTICATED', `token: no token could be had${why}`, { cause, retryable });
}

/** Whether the application says that there is nobody to have a token for, where anything else may pass. */
function isSignedOut(cause: unknown): boolean {
  return isCorrectableError(cause, 'UNAUTHENTICATED') && !cause.retryable;
}
