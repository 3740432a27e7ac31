/** From the opening of a connection to its client's coming in: `hello`, in time, and what its token is good for. */
import { CorrectableError } from '../../../correctable/errors.ts';
import { CloseCode } from '../../../protocol/close-codes.ts';
import { setPeerDeadline } from '../../../protocol/peer-deadline.ts';
import { BODY, KIND } from '../../../protocol/rows/define-row.ts';
import type { Hello } from '../../../protocol/rows/hello.ts';
import type { ClientRow } from '../../../protocol/rows/client-kinds.ts';
import type { GatewayHost, Peer, Principal } from '../host/host.ts';
import { peerClock } from '../limits/interval.ts';
import { checkToken } from './token-check.ts';
import { PROTOCOL_VERSION } from '../../../protocol/codec/version.ts';
import type { ServedContract, Welcome } from '../../../protocol/rows/welcome.ts';
import type { ClientRecord } from '../clients/client-table.ts';
import { tagOf } from '../host/principal.ts';

/** Who is let in. */
interface Arrival {
  readonly hello: Hello;
  readonly principal: Principal;
  readonly record: ClientRecord;
  readonly expiresInMs: number | undefined;
}

export function welcomeTo({ hello, principal, record, expiresInMs }: Arrival, host: GatewayHost): Welcome {
  const { frameBytesMax, inFlightMax } = host.bounds;
  return {
    version: PROTOCOL_VERSION,
    levels: host.levels,
    site: host.site,
    expiresInMs,
    principal: host.authenticated ? tagOf(principal) : undefined,
    memory: memoryOf(record, hello, host),
    contract: contractFor(hello, host),
    limits: { frameBytesMax, inFlightMax: Math.min(inFlightMax, Number.MAX_SAFE_INTEGER) },
  };
}

/**
 * Names what is remembered of the client. In front of a store that remembers updates itself nothing is kept from one
 * connection to the next: the name changes with it, so that no refusal counts as the word of one who would know.
 */
function memoryOf({ memory }: ClientRecord, { attempt }: Hello, { binding }: GatewayHost): string {
  return binding.executesOnce === true ? `${memory}.${attempt}` : memory;
}

/** Where the two ends differ, they compare operation by operation. */
function contractFor({ contract }: Hello, { catalogue }: GatewayHost): ServedContract | undefined {
  if (catalogue === undefined) return undefined;
  const { name, hash } = catalogue;
  if (contract === undefined || contract.hash === hash) return { name, hash };
  return { name, hash, operations: catalogue.operationHashes };
}

/** Why this client cannot be served, if so. */
function refuseHello(hello: Hello, { levels, catalogue }: GatewayHost): CorrectableError | undefined {
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
  if (contract === undefined || contract.name === catalogue?.name) return undefined;
  const found = catalogue === undefined ? 'no contract' : `the contract ${catalogue.name}`;
  const advice = 'connect to a server of that contract';
  return differs('contract', `the server has ${found}, the client expects ${contract.name}: ${advice}`);
}

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
    const { helloTimeoutMs } = parts.host.bounds;
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
