import type { Column, NoCell } from '../support/faults.ts';

const CLOUDFLARE: NoCell = {
  absentBecause: 'Cloudflare runs the servers, and a test cannot do that to them',
};

export const d1 = {
  store: 'Cloudflare D1',
  page: 'bindings/d1.md',
  cells: {
    killed: CLOUDFLARE,
    frozen: CLOUDFLARE,
    cut: {
      meanwhile:
        'If the answer of D1 is lost: `UNAVAILABLE` for a read, `UNKNOWN` for a write. With `isIdempotent` it is sent again first',
      recovery: 'With the next operation',
    },
    halfOpen: CLOUDFLARE,
    demoted: CLOUDFLARE,
    promoted: CLOUDFLARE,
    moved: CLOUDFLARE,
    crashed: CLOUDFLARE,
    restored: CLOUDFLARE,
    credentials: { absentBecause: 'a Worker has its database without a password' },
    connections: CLOUDFLARE,
    space: CLOUDFLARE,
    readOnly: CLOUDFLARE,
    migration: {
      meanwhile:
        'A column that is added changes nothing. While a table is missing: `FINAL_FAILED`, and nothing is written',
      recovery: 'With the next operation',
    },
    foreignValue: {
      meanwhile: '`INVALID_VALUE` that names the key, for a value that is no JSON. Other keys work',
      recovery: 'A `put` of the key',
    },
    parsers: { absentBecause: 'D1 has no type parsers' },
    callerLeaves: {
      meanwhile: 'D1 cannot cancel a statement. A write that was sent runs to its end: `UNKNOWN`',
      recovery: 'Not needed',
    },
  },
} as const satisfies Column;
