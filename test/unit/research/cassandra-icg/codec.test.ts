/**
 * The bytes of the protocol client, held to those of `cassandra-driver`: requests the same,
 * responses read the same.
 */
import cassandra from 'cassandra-driver';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CassandraDriver } from '../../../../src/bindings/cassandra/driver.ts';
import type { Column } from '../../../../src/research/cassandra-icg/columns.ts';
import { setStream } from '../../../../src/research/cassandra-icg/frame-writer.ts';
import { OPCODE } from '../../../../src/research/cassandra-icg/protocol.ts';
import * as requests from '../../../../src/research/cassandra-icg/requests.ts';
import { readResponse, type Response } from '../../../../src/research/cassandra-icg/responses.ts';
import { readPage } from '../../../../src/research/cassandra-icg/pending-read.ts';
import { ValueConverter } from '../../../../src/bindings/cassandra/value-converter.ts';
import { errorBody, errorRest, preparedBody, prelude, rowsBody, supportedBody } from './bodies.ts';
import { failureOf } from './reads.ts';
import { tables, type TypedValues } from './cql-columns.ts';
import {
  driverReader,
  driverRequests,
  driverValue,
  executionOptions,
  VERSION,
} from './driver-oracle.ts';
import { scaleRuns } from '../../../support/lane.ts';

const driver = cassandra as unknown as CassandraDriver;
const encoder = new driver.Encoder!(VERSION, { encoding: { map: Map } });
const values = new ValueConverter(driver);
const FLAG = { payload: 4, warning: 8 };

function columnsOf(columns: readonly TypedValues[]): Column[] {
  return columns.map(({ type }, n) => ({ name: `c${n}`, type }));
}

function encoded(value: unknown, type: Column['type']): Buffer | null {
  return encoder.encode(driverValue(value, type), type) as Buffer | null;
}

function read(opcode: number, body: Buffer, flags = 0): Response {
  return readResponse({ opcode, body, flags, stream: 0 });
}

function inStream(frame: Buffer, stream: number): Buffer {
  setStream(frame, stream);
  return frame;
}

describe('requests: the bytes of the driver', () => {
  const stream = fc.nat(32_767);
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 20 }).map((item) => Buffer.from(item));
  const settings = fc.record({
    id: bytes,
    consistency: fc.integer({ min: 1, max: 10 }),
    isIncremental: fc.boolean(),
    pageSize: fc.option(fc.integer({ min: 1 }), { nil: undefined }),
    pageState: fc.option(bytes, { nil: undefined }),
    stream,
  });

  test('EXECUTE: any parameters and settings → the same frame', () => {
    fc.assert(
      fc.property(
        tables,
        settings,
        ({ columns }, { id, consistency, isIncremental, pageSize, pageState, stream: at }) => {
          const input = columns.map((column) => column.values[0] ?? null);
          const frame = requests.encodeExecute({
            id,
            consistency,
            isIncremental,
            pageSize,
            pageState,
            values: requests.encodeParameters(input, columnsOf(columns), values),
          });
          const options = executionOptions({
            consistency,
            ...(isIncremental && { payload: { icg: Buffer.of(1) } }),
            ...(pageSize !== undefined && { pageSize }),
            ...(pageState !== undefined && { pageState }),
          });
          const meta = { columns: columnsOf(columns) };
          const params = input.map((value, at) => driverValue(value, columns[at]!.type));
          const theirs = new driverRequests.ExecuteRequest('', id, params, options, meta).write(
            encoder,
            at,
          );
          expect(inStream(frame, at).toString('hex')).toBe(theirs.toString('hex'));
        },
      ),
    );
  });

  test('EXECUTE: an unset value → the length -2', () => {
    const execution = {
      id: Buffer.of(1),
      consistency: 1,
      isIncremental: false,
      pageSize: undefined,
      pageState: undefined,
    };
    const frame = requests.encodeExecute({ ...execution, values: [undefined] });
    expect(frame.toString('hex')).toBe('040000000a0000000c0001010001010001fffffffe');
  });

  test('PREPARE, QUERY, OPTIONS, AUTH_RESPONSE: any text → the same frames', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), stream, (text, at) => {
        const cql = text.replaceAll('"', '""');
        const use = new driverRequests.QueryRequest(
          `USE "${cql}"`,
          null,
          executionOptions({ consistency: 1 }),
        );
        const token = Buffer.from(`\0${text}\0secret`);
        const pairs = [
          [requests.encodePrepare(text), new driverRequests.PrepareRequest(text)],
          [requests.encodeUse(text), use],
          [requests.encodeOptions(), driverRequests.options],
          [requests.encodeAuthResponse(token), new driverRequests.AuthResponseRequest(token)],
        ] as const;
        for (const [ours, theirs] of pairs) {
          expect(inStream(ours, at).toString('hex')).toBe(
            theirs.write(encoder, at).toString('hex'),
          );
        }
      }),
      { numRuns: scaleRuns(100) },
    );
  });

  test('parameters: too few, or none of the type → an error that names them', () => {
    const columns: Column[] = [{ name: 'n', type: { code: 0x09, type: null } }];
    expect(() => requests.encodeParameters([], columns, values)).toThrow(
      /params: 0 given, the statement has 1/,
    );
    expect(() => requests.encodeParameters(['one'], columns, values)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'args.n' }),
    );
  });
});

describe('responses: read as the driver reads them', () => {
  test('Rows: any types and values → the same rows and columns', () => {
    const states = fc.option(fc.uint8Array({ minLength: 1, maxLength: 9 }), { nil: undefined });
    fc.assert(
      fc.property(tables, states, ({ rowCount, columns }, pageState) => {
        const known = columnsOf(columns);
        const rows = Array.from({ length: rowCount }, (_, n) =>
          columns.map(({ type, values: all }) => encoded(all[n], type)),
        );
        const body = rowsBody({ columns: known, rows, pageState });
        const response = read(OPCODE.result, body);
        if (response.kind !== 'rows') throw new Error(response.kind);

        const theirs = driverReader(body, { opcode: OPCODE.result });
        theirs.readInt();
        const { columns: theirColumns, pageState: theirState } = theirs.readMetadata(2);
        expect(response.rows.metadata.columns).toEqual(theirColumns);
        const page = readPage(response.rows, values);
        expect(page.pageState).toBe(theirState?.toString('hex'));
        expect(page.rows).toEqual(
          Array.from({ length: rowCount }, (_, n) =>
            Object.fromEntries(columns.map(({ values: all }, at) => [`c${at}`, all[n]])),
          ),
        );
      }),
    );
  });

  test('Rows that come without their columns → PROTOCOL: that was not requested', () => {
    const response = read(OPCODE.result, rowsBody({ columns: [], rows: [], skipMetadata: true }));
    if (response.kind !== 'rows') throw new Error(response.kind);
    expect(failureOf(() => readPage(response.rows, values))).toBe('PROTOCOL');
  });

  test('Prepared: any parameters and columns are read as they were written', () => {
    fc.assert(
      fc.property(
        tables,
        tables,
        fc.uint8Array({ minLength: 1, maxLength: 16 }),
        (first, second, id) => {
          const body = preparedBody(id, columnsOf(first.columns), columnsOf(second.columns));
          const response = read(OPCODE.result, body);
          if (response.kind !== 'prepared') throw new Error(response.kind);
          const theirs = driverReader(body, { opcode: OPCODE.result });
          theirs.readInt();
          expect(response.id).toEqual(Buffer.from(theirs.readShortBytes()));
          expect(response.parameters).toEqual(theirs.readMetadata(4).columns);
        },
      ),
    );
  });

  test('ERROR: its number and message; what some have behind is passed over', () => {
    for (const behind of [
      errorRest.readTimeout(4, 1, 2),
      errorRest.unprepared(Buffer.of(7, 8)),
      Buffer.alloc(0),
    ]) {
      const error = { code: 0x1200, message: 'late' };
      expect(read(OPCODE.error, errorBody(0x1200, 'late', behind))).toMatchObject({
        kind: 'error',
        error,
      });
    }
  });

  test('SUPPORTED: any options are read as they were written, behind warnings and a payload too', () => {
    // The driver's maps are objects, which cannot hold this name.
    const name = fc.string().filter((item) => item !== '__proto__');
    const options = fc.dictionary(name, fc.array(fc.string(), { maxLength: 3 }), {
      maxKeys: 5,
      noNullPrototype: true,
    });
    const payloads = fc.dictionary(name, fc.uint8Array({ maxLength: 9 }), {
      maxKeys: 3,
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(
        options,
        payloads,
        fc.array(fc.string(), { maxLength: 2 }),
        (supported, payload, warnings) => {
          const flags = FLAG.payload | FLAG.warning;
          const body = Buffer.concat([prelude({ warnings, payload }), supportedBody(supported)]);
          const response = read(OPCODE.supported, body, flags);
          if (response.kind !== 'supported') throw new Error(response.kind);
          const reader = driverReader(body, { opcode: OPCODE.supported, flags });
          const info = reader.readFlagsInfo();
          expect(info.warnings).toEqual(warnings);
          expect(Object.fromEntries(response.payload!)).toEqual(info.customPayload);
          expect(Object.fromEntries(response.options)).toEqual(reader.readStringMultiMap());
        },
      ),
    );
  });
});

describe('responses: any bytes → a response or PROTOCOL, nothing else', () => {
  const opcodes = fc.constantFrom(...Object.values(OPCODE));
  const anyBody = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .tuple(fc.integer({ min: 1, max: 5 }), fc.uint8Array({ maxLength: 200 }))
      .map(([kind, remaining]) => Uint8Array.from([0, 0, 0, kind, ...remaining])),
  );

  test('any body of any kind', () => {
    fc.assert(
      fc.property(opcodes, fc.nat(15), anyBody, (opcode, flags, body) => {
        expect(failureOf(() => readAll(opcode, Buffer.from(body), flags))).toBeOneOf([
          undefined,
          'PROTOCOL',
        ]);
      }),
      { numRuns: scaleRuns(2_000) },
    );
  });

  test('a real body with bytes changed or cut off', () => {
    const damage = fc.record({ at: fc.nat(), to: fc.nat(255), cut: fc.nat(20) });
    fc.assert(
      fc.property(tables, damage, ({ rowCount, columns }, { at, to, cut }) => {
        const rows = Array.from({ length: rowCount }, (_, n) =>
          columns.map(({ type, values: all }) => encoded(all[n], type)),
        );
        const body = rowsBody({ columns: columnsOf(columns), rows });
        body[at % body.length] = to;
        const retained = body.subarray(0, Math.max(0, body.length - cut));
        // A timestamp that no Date can hold is a right answer that cannot be shown.
        expect(failureOf(() => readAll(OPCODE.result, retained, 0))).toBeOneOf([
          undefined,
          'PROTOCOL',
          'INVALID_VALUE',
        ]);
      }),
      { numRuns: scaleRuns(500) },
    );
  });

  test('a compressed frame, types within types without end → PROTOCOL', () => {
    expect(failureOf(() => read(OPCODE.ready, Buffer.alloc(0), 1))).toBe('PROTOCOL');
    const lists = Buffer.concat(Array.from({ length: 10_000 }, () => Buffer.of(0, 0x20)));
    const body = Buffer.concat([
      Buffer.of(0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0),
      lists,
    ]);
    expect(failureOf(() => read(OPCODE.result, body))).toBe('PROTOCOL');
  });

  function readAll(opcode: number, body: Buffer, flags: number): void {
    const response = read(opcode, body, flags);
    if (response.kind === 'rows') readPage(response.rows, values);
  }
});
