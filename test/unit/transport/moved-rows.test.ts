/**
 * A submission that is sent again: what it has for the next server, so that a write happens once.
 */
import { describe, expect, test } from 'vitest';
import type { Access } from '../../../src/correctable/operation.ts';
import { jsonCodec } from '../../../src/protocol/codec/json-codec.ts';
import { submitFields } from '../../../src/protocol/messages/submit-fields.ts';
import {
  InFlightOperation,
  type OperationParts,
} from '../../../src/transport/operations/in-flight-operation.ts';
import { Outage } from '../../../src/transport/operations/outage.ts';
import {
  createMessageFor,
  type Destination,
} from '../../../src/transport/operations/submit-message.ts';

/** An operation under way, and its row as a server at a place reads it. */
function start(
  access: Access,
  value: readonly unknown[] = [7, 'submit', 'put', access, 3, ['k', 1], 'k'],
) {
  const row = jsonCodec.encodeMessage(value, submitFields);
  const parts = { id: 7, name: 'put', access, strongest: 1 } as unknown as OperationParts;
  const operation = new InFlightOperation(parts, row, new Outage(() => 0));
  const readAt = (place: Destination): unknown => {
    const [read] = jsonCodec.decode(
      jsonCodec.frame([createMessageFor(place, operation, jsonCodec)]),
    );
    return read;
  };
  /** It is sent to a server of this memory, and the line is lost. */
  const losesLineOf = (memoryId: string | undefined): void => {
    operation.connection = {
      memoryId,
      awaitedCount: 1,
      awaitedBytes: 0,
      isDraining: false,
      push: () => {},
    };
    operation.handleConnectionLoss();
  };
  return { values: value, operation, readAt, losesLineOf };
}

const [IRL, FRK] = [
  { site: 'ireland', memoryId: 'm' },
  { site: 'frankfurt', memoryId: 'm' },
];
const rowWith = (value: readonly unknown[], ...rest: unknown[]): unknown[] => [
  ...value,
  null,
  null,
  null,
  ...rest,
];

describe('a write', () => {
  test('sent to one site, and there again → as it was', () => {
    const { values: value, readAt, losesLineOf } = start('write');
    expect(readAt(IRL)).toEqual(value);
    losesLineOf('m');
    expect(readAt(IRL)).toEqual(value);
  });

  test('sent to other sites → names its home, and the number of moves', () => {
    const { values: value, operation, readAt } = start('write');
    readAt(IRL);
    expect(readAt(FRK)).toEqual(rowWith(value, ['ireland', 1]));
    expect(readAt(FRK)).toEqual(rowWith(value, ['ireland', 1]));
    expect(readAt(IRL)).toEqual(rowWith(value, ['ireland', 2]));
    expect(operation).toMatchObject({ home: 'ireland', site: 'ireland', hop: 2 });
  });

  test('with a session → the move stands behind it', () => {
    const value = [7, 'submit', 'put', 'write', 3, ['k', 1], 'k', null, null, ['token']];
    const { readAt } = start('write', value);
    readAt(IRL);
    expect(readAt(FRK)).toEqual([...value, ['ireland', 1]]);
  });

  test('with an idempotency key → keeps it behind the move, sent again or not', () => {
    const value = [
      7,
      'submit',
      'put',
      'write',
      3,
      ['k', 1],
      'k',
      null,
      null,
      null,
      null,
      null,
      'i',
    ];
    const { readAt, losesLineOf } = start('write', value);
    readAt(IRL);
    expect(readAt(FRK)).toEqual([...value.slice(0, 10), ['ireland', 1], null, 'i']);
    losesLineOf('other');
    expect(readAt(FRK)).toEqual([...value.slice(0, 10), ['ireland', 1], true, 'i']);
  });

  test('sent before to a server with another memory → marked as sent again, without a move', () => {
    const { values: value, readAt, losesLineOf } = start('write');
    readAt(IRL);
    losesLineOf('other');
    expect(readAt(IRL)).toEqual(rowWith(value, null, true));
    expect(readAt(FRK)).toEqual(rowWith(value, ['ireland', 1], true));
  });

  test('sent to servers with two memories, one after the other → is known for certain to neither', () => {
    const { values: value, readAt, losesLineOf } = start('write');
    losesLineOf('one');
    losesLineOf('two');
    for (const memoryId of ['one', 'two'])
      expect(readAt({ site: undefined, memoryId })).toEqual(rowWith(value, null, true));
  });

  test('to a server without sites → no move', () => {
    const { values: value, operation, readAt } = start('write');
    expect(readAt({ site: undefined, memoryId: undefined })).toEqual(value);
    expect(operation).toMatchObject({ home: undefined, hop: 0 });
  });
});

test('a read, wherever it is sent again → as it was', () => {
  const { values: value, operation, readAt, losesLineOf } = start('read');
  readAt(IRL);
  losesLineOf('other');
  expect(readAt(FRK)).toEqual(value);
  expect(operation.hop).toBe(0);
});
