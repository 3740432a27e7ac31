/**
 * The protocol as `cassandra-driver` speaks it, from inside the package: what this client's bytes
 * are held to.
 */
import { createRequire } from 'node:module';
import cassandra from 'cassandra-driver';
import type { DriverEncoder } from '../../../../src/bindings/cassandra/driver.ts';

const require = createRequire(import.meta.url);

interface Header {
  readonly version: number;
  readonly flags: number;
  readonly opcode: number;
  readonly streamId: number;
  readonly readBodyLength: number;
}

export interface DriverReader {
  readonly offset: number;
  readFlagsInfo(): {
    readonly warnings?: string[];
    readonly customPayload?: Record<string, Buffer>;
  };
  readInt(): number;
  readShortBytes(): Buffer;
  readMetadata(kind: number): { readonly columns: unknown[]; readonly pageState?: Buffer };
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
export function driverReader(
  body: Buffer,
  { opcode, flags = 0 }: { opcode: number; flags?: number },
): DriverReader {
  return new FrameReader(
    { version: VERSION, flags, opcode, streamId: 0, readBodyLength: body.length },
    body,
  );
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

const { types } = cassandra;

/**
 * A plain value in the driver's own classes, made by nothing of the package: what the driver is to
 * write.
 */
export function driverValue(
  value: unknown,
  type: { readonly code: number; readonly info?: unknown },
): unknown {
  if (value === null) return null;
  const info = type.info as never;
  switch (type.code) {
    case 0x00: {
      const name = info as string;
      if (name.includes('DurationType')) return durationOf(value as string);
      const [, of = ''] = /VectorType\([\w.]*\.(\w+)/.exec(name) ?? [];
      const code = CODES[of]!;
      return new types.Vector((value as unknown[]).map((item) => driverValue(item, { code })));
    }
    case 0x02:
    case 0x05:
      return types.Long.fromString(String(value));
    case 0x03:
      return Buffer.from(value as Uint8Array);
    case 0x06:
      return decimalOf(value as string);
    case 0x0e:
      return types.Integer.fromString(String(value));
    case 0x20:
    case 0x22:
      return (value as unknown[]).length === 0
        ? Buffer.alloc(4)
        : (value as unknown[]).map((item) => driverValue(item, info));
    case 0x21: {
      const [key, item] = info as [{ code: number }, { code: number }];
      const entries = Array.isArray(value)
        ? (value as [unknown, unknown][])
        : Object.entries(value as object);
      return new Map(
        entries.map(([of, entry]) => [driverValue(of, key), driverValue(entry, item)]),
      );
    }
    case 0x30: {
      const { fields } = info as { fields: { name: string; type: { code: number } }[] };
      const input = value as Record<string, unknown>;
      return Object.fromEntries(
        fields.map((field) => [field.name, driverValue(input[field.name], field.type)]),
      );
    }
    case 0x31:
      return types.Tuple.fromArray(
        (value as unknown[]).map((item, at) =>
          driverValue(item, (info as { code: number }[])[at]!),
        ),
      );
    default:
      return value;
  }
}

const CODES: Readonly<Record<string, number>> = {
  FloatType: 0x08,
  Int32Type: 0x09,
  LongType: 0x02,
  UTF8Type: 0x0d,
  UUIDType: 0x0c,
  ShortType: 0x13,
  DecimalType: 0x06,
};

function decimalOf(text: string): unknown {
  const [mantissa = '', exponent = '0'] = text.split('E');
  const [whole = '', fraction = ''] = mantissa.split('.');
  // Its types know of numbers only.
  const unscaled = types.Integer.fromString(whole + fraction) as unknown as number;
  return new types.BigDecimal(unscaled, fraction.length - Number(exponent));
}

/** The driver reads durations right, but for a mistake in how it writes years. */
function durationOf(text: string): unknown {
  return text === '0s' ? new types.Duration(0, 0, 0) : types.Duration.fromString(text);
}
