/** How client and server come to know each other on a new line: token, `hello`, `welcome`. */
import { CorrectableError, isCorrectableError } from '../correctable/errors.ts';
import { PROTOCOL_VERSION } from '../protocol/version.ts';
import type { Welcome } from '../protocol/welcome.ts';
import { randomClientId } from './client-id.ts';
import type { Line } from './line.ts';
import type { ConnectionSettings, ConnectionTarget } from './options.ts';

/** A question that is older than this is asked anew, and an answer that is older is not used. */
const AGE_MS_MAX = 60_000;

/** Who the client is, and for whom servers take it. */
export class Greeting {
  readonly #token: ConnectionSettings['token'];
  readonly #target: ConnectionTarget;
  #client = randomClientId();
  /** For whom the last server took the client; none before the first welcome. */
  #principal: { readonly tag: string | undefined } | undefined;
  /** The line that waits for a token. */
  #asking: Line | undefined;
  #onNoToken: (reason: CorrectableError) => void = () => {};
  /** When the application was asked last, unless that question has failed, or an answer was used since. */
  #askedAt = -Infinity;
  /** An answer that came when no line waited for it. */
  #answer: { readonly token: string | undefined; readonly at: number } | undefined;
  /** Counts the tokens that were used: answers to questions of before are too late. */
  #round = 0;
  readonly #now: () => number;

  constructor({ token, scheduling }: ConnectionSettings, target: ConnectionTarget) {
    this.#token = token;
    this.#target = target;
    this.#now = () => scheduling.now();
  }

  /** Whether the present line waits for a token: what goes wrong meanwhile is no fault of the site. */
  get asksToken(): boolean {
    return this.#asking !== undefined;
  }

  /** Says `hello` as soon as there is a token; `onNoToken` is told why there is none. */
  begin(line: Line, onNoToken: (reason: CorrectableError) => void): void {
    this.#asking = line;
    this.#onNoToken = onNoToken;
    const sinceMs = this.#now() - AGE_MS_MAX;
    if (this.#answer !== undefined && this.#answer.at >= sinceMs) this.#greet(this.#answer.token);
    else if (this.#askedAt < sinceMs) this.#ask();
  }

  /**
   * Asks for a token, unless an earlier question is open: the user may be signing in while servers lose patience. Whoever
   * takes longer than that is asked once more, in case the first question was lost; the first answer counts.
   */
  #ask(): void {
    const round = this.#round;
    const askedAt = this.#now();
    this.#askedAt = askedAt;
    this.#token().then(
      (token) => {
        if (round !== this.#round) return;
        this.#answer = { token, at: this.#now() };
        this.#greet(token);
      },
      (cause: unknown) => {
        if (round !== this.#round || askedAt !== this.#askedAt) return;
        this.#askedAt = -Infinity;
        if (this.#asking !== undefined) this.#onNoToken(noToken(cause));
      },
    );
  }

  #greet(token: string | undefined): void {
    const line = this.#asking;
    if (line === undefined) return;
    this.#asking = this.#answer = undefined;
    this.#askedAt = -Infinity;
    this.#round++;
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
  }

  /** Whether the server takes the client for somebody else than the last one did. */
  isEstranged({ principal }: Welcome): boolean {
    const known = this.#principal;
    this.#principal = { tag: principal };
    return known !== undefined && known.tag !== principal;
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
