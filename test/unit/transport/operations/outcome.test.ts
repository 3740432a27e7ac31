/**
 * The outcome of an operation that a server failed: it never denies what another server may have
 * done before.
 */
import { expect, test } from 'vitest';
import { CorrectableError, type ErrorCode } from '../../../../src/correctable/errors.ts';
import type { InFlightOperation } from '../../../../src/transport/operations/in-flight-operation.ts';
import { toOperationError } from '../../../../src/transport/operations/in-flight-operations.ts';

test.each<
  [
    wasSentBefore: boolean,
    code: ErrorCode,
    memoryId: string | undefined,
    isKnown: boolean,
    reported: ErrorCode,
  ]
>([
  [false, 'FORBIDDEN', undefined, false, 'FORBIDDEN'],
  [true, 'CONFLICT', undefined, false, 'CONFLICT'],
  [true, 'FORBIDDEN', undefined, false, 'UNKNOWN'],
  [true, 'FORBIDDEN', 'm', false, 'UNKNOWN'],
  [true, 'FORBIDDEN', 'm', true, 'FORBIDDEN'],
])(
  'a write, sent before: %s; %s of a server with the memory %s, which knows of it: %s → %s',
  (...values) => {
    const [wasSentBefore, code, memoryId, isKnown, reported] = values;
    const operation = {
      name: 'put',
      access: 'write',
      mayHaveBeenSent: true,
      wasSentBefore,
      connection: { memoryId },
    };
    const known = { ...operation, isUnknownTo: () => !isKnown };
    expect(
      toOperationError(known as unknown as InFlightOperation, new CorrectableError(code, 'why'))
        .code,
    ).toBe(reported);
  },
);
