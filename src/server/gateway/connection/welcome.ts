/** What a client is told when it is let in. */
import type { Hello } from '../../../protocol/rows/hello.ts';
import { PROTOCOL_VERSION } from '../../../protocol/codec/version.ts';
import type { ServedContract, Welcome } from '../../../protocol/rows/welcome.ts';
import type { ClientRecord } from '../clients/client-record.ts';
import type { GatewayHost, Principal } from '../host/host.ts';
import { tagOf } from '../host/principal.ts';

/** Who is let in. */
export interface Arrival {
  readonly hello: Hello;
  readonly principal: Principal;
  readonly record: ClientRecord;
  readonly expiresInMs: number | undefined;
}

export function welcomeTo({ hello, principal, record, expiresInMs }: Arrival, host: GatewayHost): Welcome {
  const { frameBytesMax, inFlightMax } = host.limits;
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
