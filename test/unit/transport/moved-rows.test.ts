/** A submission that is sent again: what the next server is told, so that an update happens once. */
import { describe, expect, test } from 'vitest';
import type { Access } from '../../../src/correctable/operation.ts';
import { jsonCodec } from '../../../src/protocol/codec/json-codec.ts';
import { submitFields } from '../../../src/protocol/rows/submit-fields.ts';
import { InFlightOperation, type OperationParts } from '../../../src/transport/operations/in-flight-operation.ts';
import { Outage } from '../../../src/transport/operations/outage.ts';
import { rowAt, type Destination } from '../../../src/transport/operations/submit-row.ts';

/** An operation under way, and its row as a server at a place reads it. */
function start(effect: Access, given: readonly unknown[] = [7, 'submit', 'put', effect, 3, ['k', 1], 'k']) {
  const row = jsonCodec.encodeRow(given, submitFields);
  const parts = { id: 7, name: 'put', effect, strongest: 1 } as unknown as OperationParts;
  const operation = new InFlightOperation(parts, row, new Outage(() => 0));
  const readAt = (place: Destination): unknown => {
    const [read] = jsonCodec.decode(jsonCodec.frame([rowAt(place, operation, jsonCodec)]));
    return read;
  };
  /** It is sent to a server of this memory, and the line is lost. */
  const losesLineOf = (memory: string | undefined): void => {
    operation.line = { memory, awaited: 1, awaitedBytes: 0, retired: false, push: () => {} };
    operation.unbind();
  };
  return { given, operation, readAt, losesLineOf };
}

const [IRL, FRK] = [
  { site: 'irl', memory: 'm' },
  { site: 'frk', memory: 'm' },
];
const rowWith = (given: readonly unknown[], ...rest: unknown[]): unknown[] => [...given, null, null, null, ...rest];

describe('an update', () => {
  test('sent to one site, and there again → as it was', () => {
    const { given, readAt, losesLineOf } = start('update');
    expect(readAt(IRL)).toEqual(given);
    losesLineOf('m');
    expect(readAt(IRL)).toEqual(given);
  });

  test('sent to other sites → says where it began, and how often it has moved', () => {
    const { given, operation, readAt } = start('update');
    readAt(IRL);
    expect(readAt(FRK)).toEqual(rowWith(given, ['irl', 1]));
    expect(readAt(FRK)).toEqual(rowWith(given, ['irl', 1]));
    expect(readAt(IRL)).toEqual(rowWith(given, ['irl', 2]));
    expect(operation).toMatchObject({ home: 'irl', site: 'irl', hop: 2 });
  });

  test('with a session → the move stands behind it', () => {
    const given = [7, 'submit', 'put', 'update', 3, ['k', 1], 'k', null, null, ['token']];
    const { readAt } = start('update', given);
    readAt(IRL);
    expect(readAt(FRK)).toEqual([...given, ['irl', 1]]);
  });

  test('with an idempotency key → keeps it behind the move, sent again or not', () => {
    const given = [7, 'submit', 'put', 'update', 3, ['k', 1], 'k', null, null, null, null, null, 'i'];
    const { readAt, losesLineOf } = start('update', given);
    readAt(IRL);
    expect(readAt(FRK)).toEqual([...given.slice(0, 10), ['irl', 1], null, 'i']);
    losesLineOf('other');
    expect(readAt(FRK)).toEqual([...given.slice(0, 10), ['irl', 1], true, 'i']);
  });

  test('sent before to a server that remembered something else → says that it is sent again, and no move', () => {
    const { given, readAt, losesLineOf } = start('update');
    readAt(IRL);
    losesLineOf('other');
    expect(readAt(IRL)).toEqual(rowWith(given, null, true));
    expect(readAt(FRK)).toEqual(rowWith(given, ['irl', 1], true));
  });

  test('sent to servers with two memories, one after the other → is known for certain to neither', () => {
    const { given, readAt, losesLineOf } = start('update');
    losesLineOf('one');
    losesLineOf('two');
    for (const memory of ['one', 'two'])
      expect(readAt({ site: undefined, memory })).toEqual(rowWith(given, null, true));
  });

  test('to a server without sites → no move', () => {
    const { given, operation, readAt } = start('update');
    expect(readAt({ site: undefined, memory: undefined })).toEqual(given);
    expect(operation).toMatchObject({ home: undefined, hop: 0 });
  });
});

test('a read, wherever it is sent again → as it was', () => {
  const { given, operation, readAt, losesLineOf } = start('read');
  readAt(IRL);
  losesLineOf('other');
  expect(readAt(FRK)).toEqual(given);
  expect(operation.hop).toBe(0);
});
