/** What the rows of a server do to the operations of a client, without a connection around them. */
import { describe, expect, test } from 'vitest';
import { CorrectableError } from '../../../../src/correctable/errors.ts';
import {
  InFlightOperation,
  type OperationConnection,
} from '../../../../src/transport/operations/in-flight-operation.ts';
import { InFlightOperations } from '../../../../src/transport/operations/in-flight-operations.ts';
import { Outage } from '../../../../src/transport/operations/outage.ts';
import { WireSession } from '../../../../src/transport/operations/submit-message.ts';
import { quietContext, SinkDouble } from '../../../support/wire.ts';

const STRONGEST = 2;

function carrier(value: Partial<OperationConnection> = {}): OperationConnection {
  return {
    memoryId: 'm',
    awaitedCount: 0,
    awaitedBytes: 0,
    isDraining: false,
    push: () => {},
    ...value,
  };
}

interface Begun {
  readonly operation: InFlightOperation;
  readonly sink: SinkDouble;
}

/** All operations of a client, and how one of them begins on a line. */
function client() {
  const inFlight = new InFlightOperations(['weak', 'causal', 'strong', 'linearizable']);
  const line = carrier();
  const begin = (
    on: OperationConnection | undefined = line,
    value: Partial<Begun['operation']> = {},
  ): Begun => {
    const sink = new SinkDouble();
    const { access = 'read', strongest = STRONGEST, context = quietContext() } = value;
    const parts = { id: inFlight.nextId(), name: 'get', access, strongest, sink, context };
    const operation = new InFlightOperation(parts, 'row' as never, new Outage(() => 0));
    inFlight.add(operation);
    operation.connection = on;
    if (on !== undefined) on.awaitedCount += 1;
    return { operation, sink };
  };
  return { inFlight, line, begin };
}

describe('a view', () => {
  test.each([
    ['nothing beside', [undefined, undefined], undefined],
    ['null beside', [null, null], undefined],
    ['a version', [7, undefined], { version: 7 }],
    ['facts', [undefined, { left: 3 }], { meta: { left: 3 } }],
    ['facts, and null for a version', [null, { left: 3 }], { meta: { left: 3 } }],
    ['both', [7, { left: 3 }], { version: 7, meta: { left: 3 } }],
  ] as const)('with %s → the sink gets just that', (_what, [version, meta], details) => {
    const { inFlight, line, begin } = client();
    const { operation, sink } = begin();
    inFlight.handleView([operation.id, 'view', 0, 0, 'value', version, meta] as never, line);
    expect(sink.calls).toStrictEqual([{ kind: 'write', value: 'value', level: 'weak', details }]);
    expect(inFlight.has(operation)).toBe(true);
  });

  test.each([
    ['view', STRONGEST, undefined],
    ['view', STRONGEST + 1, undefined],
    ['final', STRONGEST, undefined],
    ['final', 0, { version: undefined, meta: undefined, final: true }],
  ] as const)('%s at level %i → is the last', (kind, level, details) => {
    const { inFlight, line, begin } = client();
    const { operation, sink } = begin();
    inFlight.handleView([operation.id, kind, level, 0, 'value'] as never, line);
    expect(sink.calls).toMatchObject([{ kind: 'write', details }]);
    expect([inFlight.has(operation), inFlight.size, line.awaitedCount]).toEqual([false, 0, 0]);
  });

  test('an early final with a version and facts → has both', () => {
    const { inFlight, line, begin } = client();
    const { operation, sink } = begin();
    inFlight.handleView([operation.id, 'final', 0, 0, 'value', 7, { left: 3 }] as never, line);
    expect(sink.calls).toMatchObject([{ details: { version: 7, meta: { left: 3 }, final: true } }]);
    const other = begin();
    inFlight.handleView([other.operation.id, 'final', 0, 0, 'value', null, null] as never, line);
    const details = { version: undefined, meta: undefined, final: true };
    expect(other.sink.calls).toStrictEqual([
      { kind: 'write', value: 'value', level: 'weak', details },
    ]);
  });

  test('at a level that there is not → the operation ends, as of a server that breaks the rules', () => {
    const { inFlight, line, begin } = client();
    const { operation, sink } = begin();
    inFlight.handleView([operation.id, 'view', 9, 0, 'value'] as never, line);
    expect(sink.calls).toMatchObject([{ kind: 'fail', error: { code: 'PROTOCOL' } }]);
    expect(inFlight.has(operation)).toBe(false);
  });

  test('on another line than it was submitted on → nothing', () => {
    const { inFlight, begin } = client();
    const { operation, sink } = begin();
    inFlight.handleView([operation.id, 'view', 0, 0, 'value'] as never, carrier());
    expect([sink.calls, inFlight.has(operation)]).toEqual([[], true]);
  });

  test.each(['view', 'confirm'] as const)(
    '%s has what the session has seen → the session gets it, even if the operation was cancelled',
    (kind) => {
      for (const cancelled of [false, true]) {
        const { inFlight, line, begin } = client();
        const session = new WireSession();
        const { operation, sink } = begin(line, {
          context: quietContext({ session: session as never }),
        });
        inFlight.handleView([operation.id, 'view', 0, 0, 'value'] as never, line);
        operation.isCancelled = cancelled;
        const { length } = sink.calls;
        if (kind === 'view')
          inFlight.handleView(
            [operation.id, 'view', 1, 1, 'v', null, null, '0.token.s'] as never,
            line,
          );
        else
          inFlight.handleConfirm(
            [operation.id, 'confirm', 1, 0, null, null, '0.token.s'] as never,
            line,
          );
        expect(session.tokens).toEqual(['0.token.s']);
        expect(sink.calls.length - length).toBe(cancelled ? 0 : 1);
      }
    },
  );
});

describe('a confirmation', () => {
  test.each([
    [1, true],
    [STRONGEST, false],
    [STRONGEST + 1, false],
  ])('at level %i → still in flight: %s', (level, isLeft) => {
    for (const cancelled of [false, true]) {
      const { inFlight, line, begin } = client();
      const { operation, sink } = begin();
      inFlight.handleView([operation.id, 'view', 0, 0, 'value'] as never, line);
      operation.isCancelled = cancelled;
      inFlight.handleConfirm([operation.id, 'confirm', level, 0, 7] as never, line);
      expect(inFlight.has(operation)).toBe(isLeft);
      expect(sink.calls.length).toBe(cancelled ? 1 : 2);
      const confirmed = { kind: 'confirm', seq: 0, details: { version: 7 } };
      expect(sink.calls.slice(1)).toStrictEqual(
        cancelled ? [] : [expect.objectContaining(confirmed)],
      );
    }
  });

  test('of what never came → the operation ends', () => {
    const { inFlight, line, begin } = client();
    const { operation, sink } = begin();
    inFlight.handleConfirm([operation.id, 'confirm', 1, 5] as never, line);
    expect(sink.calls).toMatchObject([{ kind: 'fail', error: { code: 'PROTOCOL' } }]);
  });
});

describe('a failure', () => {
  const fail = (id: number, code: string, level?: number | null): never =>
    [id, 'fail', code, 'why', level] as never;

  test.each([
    [0, 'weak', true],
    [1, 'causal', true],
    [STRONGEST, undefined, false],
    [STRONGEST + 1, undefined, false],
    [undefined, undefined, false],
    [null, undefined, false],
  ])('of level %s → reported for that of %s; still in flight: %s', (level, name, isLeft) => {
    for (const cancelled of [false, true]) {
      const { inFlight, line, begin } = client();
      const { operation, sink } = begin();
      operation.isCancelled = cancelled;
      inFlight.handleFail(fail(operation.id, 'CONFLICT', level), line);
      expect(inFlight.has(operation)).toBe(isLeft);
      const error = expect.objectContaining({ code: 'CONFLICT' }) as unknown;
      expect(sink.calls).toEqual(cancelled ? [] : [{ kind: 'fail', error, level: name }]);
    }
  });

  test.each([
    ['UNAVAILABLE', true, false, true],
    ['UNAVAILABLE', false, false, false],
    ['CONFLICT', true, false, false],
    ['UNAVAILABLE', true, true, false],
  ])(
    '%s of a server that goes away (%s), given up (%s) → asked of the next one: %s',
    (code, isDraining, cancelled, again) => {
      const { inFlight, begin } = client();
      const line = carrier({ isDraining });
      const { operation, sink } = begin(line);
      operation.isCancelled = cancelled;
      operation.home = operation.site = 'ireland';
      inFlight.handleFail(fail(operation.id, code), line);
      expect(inFlight.takeRejected()).toEqual(again ? [operation] : []);
      expect(inFlight.takeRejected()).toEqual([]);
      expect([inFlight.has(operation), sink.calls.length]).toEqual([
        again,
        again || cancelled ? 0 : 1,
      ]);
      if (again)
        expect([operation.connection, operation.home, operation.site]).toEqual([
          undefined,
          undefined,
          undefined,
        ]);
    },
  );

  test('the same of one that another server may have begun with → it is known where that was', () => {
    const { inFlight, begin } = client();
    const line = carrier({ isDraining: true });
    const { operation } = begin(line);
    operation.home = operation.site = 'ireland';
    operation.wasSentBefore = true;
    inFlight.handleFail(fail(operation.id, 'UNAVAILABLE'), line);
    expect([operation.home, operation.site]).toEqual(['ireland', 'ireland']);
  });
});

describe('what ends', () => {
  test('is forgotten once, with what the caller keeps of it', () => {
    const { inFlight, line, begin } = client();
    let released = 0;
    const { operation } = begin();
    const other = begin();
    operation.removeAbortListener = () => void (released += 1);
    operation.context.submissionStatus = operation;
    other.operation.context.submissionStatus = operation;
    inFlight.remove(other.operation);
    // Its context refers to another operation by now.
    expect(other.operation.context.submissionStatus).toBe(operation);
    for (let times = 0; times < 2; times += 1) inFlight.remove(operation);
    expect([released, line.awaitedCount, operation.context.submissionStatus]).toEqual([
      1,
      0,
      undefined,
    ]);
  });

  test('all at once → in the order in which they began, without those that their ends begin', () => {
    const { inFlight, begin } = client();
    const ended: number[] = [];
    const all = [1, 2, 3].map(() => begin());
    for (const { operation, sink } of all) {
      sink.fail = () => {
        ended.push(operation.id);
        begin();
      };
    }
    inFlight.abandonAll(new CorrectableError('UNAVAILABLE', 'gone'));
    expect([ended, inFlight.size]).toEqual([[1, 2, 3], 3]);
  });

  test('its line is gone → what was given up is forgotten, the rest waits for another', () => {
    const { inFlight, line, begin } = client();
    const [first, second, elsewhere] = [begin(), begin(), begin(carrier())];
    first.operation.isCancelled = true;
    inFlight.handleConnectionLoss(line);
    expect([first, second, elsewhere].map(({ operation }) => inFlight.has(operation))).toEqual([
      false,
      true,
      true,
    ]);
    expect(inFlight.getUnsubmitted()).toEqual([second.operation]);
    expect(second.operation.wasSentBefore).toBe(true);
  });
});

describe('a confirmation', () => {
  const input = () => ({ list: [{ date: new Date(5) }, { bytes: new Uint8Array(1) }, 'c'] });
  type Given = ReturnType<typeof input>;

  test.each<[string, (view: Given) => unknown]>([
    ['the list', ({ list }) => list.splice(0, 1)],
    ['a date in it', ({ list }) => (list[0] as { date: Date }).date.setTime(6)],
    ['bytes in it', ({ list }) => (list[1] as { bytes: Uint8Array }).bytes.fill(1)],
  ])(
    'of a view of which its receiver has changed %s → the sink gets what the server gave',
    (_what, change) => {
      const { inFlight, line, begin } = client();
      const { operation, sink } = begin();
      const value = input();
      inFlight.handleView(
        [operation.id, 'view', 0, 0, value, 7, { left: 2, of: 9 }] as never,
        line,
      );
      change(value);
      inFlight.handleConfirm(
        [operation.id, 'confirm', STRONGEST, 0, null, { left: 3 }] as never,
        line,
      );
      const details = { version: 7, meta: { left: 3, of: 9 }, final: undefined };
      expect(sink.calls.slice(1)).toEqual([
        { kind: 'write', level: 'strong', value: input(), details },
      ]);
    },
  );

  test('at each of three levels, and changed each time → the last view has the value of the server, with all its details', () => {
    const { inFlight, line, begin } = client();
    const { operation, sink } = begin();
    const value = input();
    inFlight.handleView([operation.id, 'view', 0, 0, value, 7, { left: 2 }] as never, line);
    value.list.pop();
    inFlight.handleConfirm([operation.id, 'confirm', 1, 0, 8, { of: 9 }] as never, line);
    const again = sink.calls[1] as { value?: Given };
    expect(again.value).toEqual(input());
    again.value?.list.pop();
    inFlight.handleConfirm([operation.id, 'confirm', STRONGEST, 0] as never, line);
    const details = { version: 8, meta: { left: 2, of: 9 }, final: undefined };
    expect(sink.calls[2]).toEqual({ kind: 'write', level: 'strong', value: input(), details });
  });

  test('of a view that can no longer be read → the sink gets what the server gave', () => {
    const { inFlight, line, begin } = client();
    const { operation, sink } = begin();
    const value: object = input();
    inFlight.handleView([operation.id, 'view', 0, 0, value] as never, line);
    Object.defineProperty(value, 'list', {
      enumerable: true,
      get: () => expect.fail('it is over'),
    });
    inFlight.handleConfirm([operation.id, 'confirm', STRONGEST, 0] as never, line);
    expect(sink.calls[1]).toMatchObject({ kind: 'write', level: 'strong', value: input() });
  });
});
