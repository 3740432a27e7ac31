/** From the opening of a connection to its client's coming in: `hello`, in time, and what its token is good for. */
import type { CorrectableError } from '../../../correctable/errors.ts';
import { CloseCode } from '../../../protocol/close-codes.ts';
import { setPeerDeadline } from '../../../protocol/peer-deadline.ts';
import { BODY, KIND } from '../../../protocol/rows/define-row.ts';
import type { Hello } from '../../../protocol/rows/hello.ts';
import type { ClientRow } from '../../../protocol/rows/client-kinds.ts';
import type { GatewayHost, Peer, Principal } from '../host/host.ts';
import { peerClock } from '../limits/interval.ts';
import { refuseHello } from './refuse-hello.ts';
import { checkToken } from './token-check.ts';

/** Whose connection it is. */
export interface Greeter {
  admitted(hello: Hello, principal: Principal): void;
  /** The connection is to be closed with this code, after the client was told why, where there is more to say. */
  refused(code: number, reason: string, why?: CorrectableError): void;
}

/** Whom a connection is opened by, and at which gateway. */
export interface GreetingParts {
  readonly host: GatewayHost;
  readonly peer: Peer;
}

/** One greeting. */
export class Greeting {
  readonly #parts: GreetingParts;
  readonly #greeter: Greeter;
  readonly #cancelTimer: () => void;
  #isGreeted = false;
  #isOver = false;

  constructor(parts: GreetingParts, greeter: Greeter) {
    this.#parts = parts;
    this.#greeter = greeter;
    const { helloTimeoutMs } = parts.host.limits;
    const onExpired = (): void => greeter.refused(CloseCode.helloTimeout, `no hello within ${helloTimeoutMs} ms`);
    this.#cancelTimer = setPeerDeadline(peerClock, onExpired, helloTimeoutMs);
  }

  /** What the client says before it was let in. */
  row(row: ClientRow): void {
    if (row[KIND] === 'hello' && !this.#isGreeted) return this.#greet(row[BODY]);
    const reason = 'the first message must be hello, and the next one wait for welcome';
    return this.#greeter.refused(CloseCode.malformed, reason);
  }

  /** The client is in, or the connection has closed. */
  end(): void {
    this.#isOver = true;
    this.#cancelTimer();
  }

  #greet(hello: Hello): void {
    this.#isGreeted = true;
    // What follows has a time limit of its own.
    this.#cancelTimer();
    const { host, peer } = this.#parts;
    const refusal = refuseHello(hello, host);
    if (refusal !== undefined) {
      return this.#greeter.refused(CloseCode.mismatch, 'version, levels or contract differ', refusal);
    }
    void checkToken(host, hello.token, peer).then((verdict) => {
      if (this.#isOver) return;
      if ('principal' in verdict) this.#greeter.admitted(hello, verdict.principal);
      else this.#greeter.refused(verdict.code, verdict.reason);
    });
    return undefined;
  }
}
