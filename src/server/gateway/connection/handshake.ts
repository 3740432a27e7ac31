/**
 * Handles a connection until the client is accepted: `hello` must arrive in time, and its token
 * must be valid.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import { CloseCode } from '../../../protocol/close-codes.ts';
import { setPeerDeadline } from '../../../protocol/peer-deadline.ts';
import { BODY_AT, KIND_AT } from '../../../protocol/messages/define-message.ts';
import type { Hello } from '../../../protocol/messages/hello.ts';
import type { ClientMessage } from '../../../protocol/messages/client-messages.ts';
import type { GatewayContext, Peer, Principal } from '../context/gateway-context.ts';
import { peerClock } from '../limits/repeat.ts';
import { checkToken } from './token-check.ts';
import { PROTOCOL_VERSION } from '../../../protocol/codec/version.ts';
import type { ServedContract, Welcome } from '../../../protocol/messages/welcome.ts';
import type { ClientRecord } from '../clients/client-table.ts';
import { hashPrincipal } from '../context/principal.ts';

export function createWelcome(
  context: GatewayContext,
  { memory }: ClientRecord,
  hello: Hello,
  principal: Principal,
  expiresInMs: number | undefined,
): Welcome {
  const { maxFrameBytes, maxInFlight } = context.internalLimits;
  return {
    version: PROTOCOL_VERSION,
    levels: context.levels,
    site: context.site,
    expiresInMs,
    principal: context.requiresAuthentication ? hashPrincipal(principal) : undefined,
    // A store that is exactly once remembers writes itself, so the gateway keeps nothing between
    // connections. Each connection reports another `memoryId`, so that a client never takes a
    // refusal as proof that its write was not executed.
    memoryId: context.binding.isExactlyOnce === true ? `${memory}.${hello.attempt}` : memory,
    contract: describeContract(hello, context),
    limits: {
      maxFrameBytes,
      maxInFlight: Math.min(maxInFlight, Number.MAX_SAFE_INTEGER),
    },
  };
}

/** If the contracts differ, client and server compare them operation by operation. */
function describeContract(
  { contract }: Hello,
  { hostedContract }: GatewayContext,
): ServedContract | undefined {
  if (hostedContract === undefined) return undefined;
  const { name, hash, operationHashes } = hostedContract;
  if (contract === undefined || contract.hash === hash) return { name, hash };
  return { name, hash, operations: operationHashes };
}

/** Returns the reason if this client cannot be served. */
function validateHello(
  hello: Hello,
  { levels, hostedContract }: GatewayContext,
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
  if (contract === undefined || contract.name === hostedContract?.name) return undefined;
  const found =
    hostedContract === undefined ? 'no contract' : `the contract ${hostedContract.name}`;
  const advice = 'connect to a server of that contract';
  return differs(
    'contract',
    `the server has ${found}, the client expects ${contract.name}: ${advice}`,
  );
}

export interface HandshakeListener {
  onAdmitted(hello: Hello, principal: Principal): void;
  /**
   * Called if the connection must be closed with this code. If there is a `cause`, it is sent to
   * the client first.
   */
  onRejected(code: number, reason: string, cause?: CorrectableError): void;
}

export class Handshake {
  readonly #context: GatewayContext;
  readonly #peer: Peer;
  readonly #listener: HandshakeListener;
  readonly #cancelTimer: () => void;
  #hasHello = false;
  #isOver = false;

  constructor(context: GatewayContext, peer: Peer, listener: HandshakeListener) {
    this.#context = context;
    this.#peer = peer;
    this.#listener = listener;
    const { helloTimeoutMs } = context.internalLimits;
    const onExpired = (): void =>
      listener.onRejected(CloseCode.helloTimeout, `no hello within ${helloTimeoutMs} ms`);
    this.#cancelTimer = setPeerDeadline(peerClock, onExpired, helloTimeoutMs);
  }

  /** Handles what the client sends before it is accepted. */
  onMessage(message: ClientMessage): void {
    if (message[KIND_AT] === 'hello' && !this.#hasHello) return this.#onHello(message[BODY_AT]);
    const reason = 'the first message must be hello, and the next one wait for welcome';
    return this.#listener.onRejected(CloseCode.malformed, reason);
  }

  /** Called when the client is accepted, or the connection has closed. */
  end(): void {
    this.#isOver = true;
    this.#cancelTimer();
  }

  #onHello(hello: Hello): void {
    this.#hasHello = true;
    // The check of the token has a time limit of its own.
    this.#cancelTimer();
    const rejection = validateHello(hello, this.#context);
    if (rejection !== undefined) {
      return this.#listener.onRejected(
        CloseCode.mismatch,
        'version, levels or contract differ',
        rejection,
      );
    }
    void checkToken(this.#context, hello.token, this.#peer).then((verdict) => {
      if (this.#isOver) return;
      if ('principal' in verdict) this.#listener.onAdmitted(hello, verdict.principal);
      else this.#listener.onRejected(verdict.code, verdict.reason);
    });
    return undefined;
  }
}
