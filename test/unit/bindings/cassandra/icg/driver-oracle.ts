/** The protocol as `cassandra-driver` speaks it, from inside the package: what this client's bytes are held to. */
import { createRequire } from 'node:module';
import type { DriverEncoder } from '../../../../../src/bindings/cassandra/driver.ts';

const require = createRequire(import.meta.url);

interface Header {
  readonly version: number;
  readonly flags: number;
  readonly opcode: number;
  readonly streamId: number;
  readonly bodyLength: number;
}

export interface DriverReader {
  readonly offset: number;
  readFlagsInfo(): { readonly warnings?: string[]; readonly customPayload?: Record<string, Buffer> };
  readInt(): number;
  readShortBytes(): Buffer;
  readMetadata(kind: number): { readonly columns: unknown[]; readonly pageState?: Buffer };
  readError(): Error & Record<string, unknown>;
  readStringMultiMap(): Record<string, string[]>;
}

interface DriverRequest {
  write(encoder: DriverEncoder, stream: number): Buffer;
}

interface Requests {
  readonly ExecuteRequest: new (
    query: string,
    id: Buffer,
    params: unknown[],
    options: unknown,
    meta: unknown,
  ) => DriverRequest;
  readonly PrepareRequest: new (query: string) => DriverRequest;
  readonly QueryRequest: new (query: string, params: unknown, options: unknown) => DriverRequest;
  readonly AuthResponseRequest: new (token: Buffer) => DriverRequest;
  readonly options: DriverRequest;
}

interface Readers {
  readonly FrameReader: new (header: Header, body: Buffer) => DriverReader;
}

export const driverRequests = require('cassandra-driver/lib/requests') as Requests;
const { FrameReader } = require('cassandra-driver/lib/readers') as Readers;

export const VERSION = 4;

/** The driver's reader of a body. */
export function driverReader(body: Buffer, { opcode, flags = 0 }: { opcode: number; flags?: number }): DriverReader {
  return new FrameReader({ version: VERSION, flags, opcode, streamId: 0, bodyLength: body.length }, body);
}

/** The part of the driver's `ExecutionOptions` that its requests ask. */
export function executionOptions(options: {
  readonly consistency: number;
  readonly payload?: Record<string, Buffer>;
  readonly pageSize?: number;
  readonly pageState?: Buffer;
}): object {
  return {
    getOrGenerateTimestamp: () => null,
    getConsistency: () => options.consistency,
    getCustomPayload: () => options.payload,
    getFetchSize: () => options.pageSize ?? 0,
    getPageState: () => options.pageState,
    getSerialConsistency: () => undefined,
    getKeyspace: () => undefined,
    getHints: () => undefined,
    isQueryTracing: () => false,
  };
}
