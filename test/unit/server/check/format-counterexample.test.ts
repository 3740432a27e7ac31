/** Stories and values as people read them. */
import { describe, expect, test } from 'vitest';
import { formatValue, formatFields } from '../../../../src/server/check/values/format-values.ts';
import { formatBrokenInvariant, formatCall } from '../../../../src/server/check/color-report.ts';

describe('values', () => {
  test.each<[unknown, string]>([
    ["it's", "'it\\'s'"],
    [-1, '-1'],
    [2n ** 64n, '18446744073709551616n'],
    [undefined, 'undefined'],
    [{}, '{}'],
    [{ a: [1, null], 'b c': true }, "{ a: [1, null], 'b c': true }"],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [new Uint8Array(3), '<3 bytes>'],
    ['x'.repeat(300), `'${'x'.repeat(199)}…`],
  ])('%o', (value, text) => {
    expect(formatValue(value)).toBe(text);
  });

  test('fields of a row', () => {
    expect(formatFields({ balance: -1, owner: 'a' })).toBe("balance is -1, owner is 'a'");
  });
});

describe('sentences', () => {
  const row = { table: 'accounts', key: 'a', fields: { balance: -1 } };

  test('what does not hold of a row, of all tables, and where the condition threw', () => {
    const broken = { invariant: 'notOverdrawn', isOfRow: true, rows: [row] };
    expect(formatBrokenInvariant(broken)).toBe(
      "Then accounts 'a' breaks 'notOverdrawn': balance is -1.",
    );
    expect(formatBrokenInvariant({ ...broken, error: 'threw: no owner' })).toBe(
      "Then accounts 'a' breaks 'notOverdrawn': it threw: no owner.",
    );
    expect(
      formatBrokenInvariant({
        ...broken,
        isOfRow: false,
        rows: [row, { ...row, key: 'b', fields: {} }],
      }),
    ).toBe("Then 'notOverdrawn' does not hold: accounts 'a' with balance is -1; no accounts 'b'.");
  });

  test('a call with arguments and one without', () => {
    expect(formatCall({ operation: 'close', args: undefined })).toBe('close');
    expect(formatCall({ operation: 'open', args: { hall: 'a' } })).toBe("open { hall: 'a' }");
  });
});
