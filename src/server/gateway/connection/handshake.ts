/**
 * From the opening of a connection to its client's coming in: `hello`, in time,
 * and what its token is good for.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import { CloseCode } from '../../../protocol/close-codes.ts';
import { setPeerDeadline } from '../../../protocol/peer-deadline.ts';
import { BODY_AT, KIND_AT } from '../../../protocol/messages/define-message.ts';
import type { Hello } from '../../../protocol/messages/hello.ts';
import type { ClientMessage } from '../../../protocol/messages/client-messages.ts';
import type {
  GatewayContext,
  Peer,
  Principal,
} from '../context/gateway-context.ts';
import { peerClock } from '../limits/repeat.ts';
import { checkToken } from './token-check.ts';
import { PROTOCOL_VERSION } from '../../../protocol/codec/version.ts';
import type {
  ServedContract,
  Welcome,
} from '../../../protocol/messages/welcome.ts';
import type { ClientRecord } from '../clients/client-table.ts';
import { hashPrincipal } from '../context/principal.ts';

export function createWelcome(
  host: GatewayContext,
  { memory }: ClientRecord,
  hello: Hello,
  principal: Principal,
  expiresInMs: number | undefined,
): Welcome {
  const { maxFrameBytes, maxInFlight } = host.bounds;
  return {
    version: PROTOCOL_VERSION,
    levels: host.levels,
    site: host.site,
    expiresInMs,
    principal: host.requiresAuthentication
      ? hashPrincipal(principal)
      : undefined,
    // A store that remembers updates itself: the gateway keeps nothing from one
    // connection to the next. So each connection has another name, and the
    // client never takes a refusal for proof that its update was not executed.
    memoryId:
      host.binding.isExactlyOnce === true
        ? `${memory}.${hello.attempt}`
        : memory,
    contract: describeContract(hello, host),
    limits: {
      maxFrameBytes,
      maxInFlight: Math.min(maxInFlight, Number.MAX_SAFE_INTEGER),
    },
  };
}

/** Where the two ends differ, they compare operation by operation. */
function describeContract(
  { contract }: Hello,
  { registry }: GatewayContext,
): ServedContract | undefined {
  if (registry === undefined) return undefined;
  const { name, hash } = registry;
  if (contract === undefined || contract.hash === hash) return { name, hash };
  return { name, hash, operations: registry.operationHashes };
}

/** Why this client cannot be served, if so. */
function validateHello(
  hello: Hello,
  { levels, registry }: GatewayContext,
): CorrectableError | undefined {
  const differs = (field: keyof Hello, message: string): CorrectableError =>
    new CorrectableError('PROTOCOL', message, { field: `hello.${field}` });
  const { version, contract } = hello;
  if (version !== PROTOCOL_VERSION) {
    const message = `the server speaks version ${PROTOCOL_VERSION} of the protocol, the client ${version}: update the older`;
    return differs('version', message);
  }
  if (hello.levels.join('\n') !== levels.join('\n')) {
    const message = `the store has the levels ${levels.join(' < ')}, the client expects ${hello.levels.join(' < ')}`;
    return differs('levels', message);
  }
  if (contract === undefined || contract.name === registry?.name)
    return undefined;
  const found =
    registry === undefined ? 'no contract' : `the contract ${registry.name}`;
  const advice = 'connect to a server of that contract';
  return differs(
    'contract',
    `the server has ${found}, the client expects ${contract.name}: ${advice}`,
  );
}

export interface HandshakeListener {
  onAdmitted(hello: Hello, principal: Principal): void;
  /**
   * The connection is to be closed with this code, after the client was sent
   * the reason, if there is more to report.
   */
  onRejected(code: number, reason: string, cause?: CorrectableError): void;
}

export class Handshake {
  readonly #host: GatewayContext;
  readonly #peer: Peer;
  readonly #listener: HandshakeListener;
  readonly #cancelTimer: () => void;
  #hasHello = false;
  #isOver = false;

  constructor(host: GatewayContext, peer: Peer, listener: HandshakeListener) {
    this.#host = host;
    this.#peer = peer;
    this.#listener = listener;
    const { helloTimeoutMs } = host.bounds;
    const onExpired = (): void =>
      listener.onRejected(
        CloseCode.helloTimeout,
        `no hello within ${helloTimeoutMs} ms`,
      );
    this.#cancelTimer = setPeerDeadline(peerClock, onExpired, helloTimeoutMs);
  }

  /** What the client says before it was let in. */
  onMessage(row: ClientMessage): void {
    if (row[KIND_AT] === 'hello' && !this.#hasHello)
      return this.#onHello(row[BODY_AT]);
    const reason =
      'the first message must be hello, and the next one wait for welcome';
    return this.#listener.onRejected(CloseCode.malformed, reason);
  }

  /** The client is in, or the connection has closed. */
  end(): void {
    this.#isOver = true;
    this.#cancelTimer();
  }

  #onHello(hello: Hello): void {
    this.#hasHello = true;
    // What follows has a time limit of its own.
    this.#cancelTimer();
    const rejection = validateHello(hello, this.#host);
    if (rejection !== undefined) {
      return this.#listener.onRejected(
        CloseCode.mismatch,
        'version, levels or contract differ',
        rejection,
      );
    }
    void checkToken(this.#host, hello.token, this.#peer).then((verdict) => {
      if (this.#isOver) return;
      if ('principal' in verdict)
        this.#listener.onAdmitted(hello, verdict.principal);
      else this.#listener.onRejected(verdict.code, verdict.reason);
    });
    return undefined;
  }
}
