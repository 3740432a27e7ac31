import type { Column } from '../support/faults.ts';

export const cassandra = {
  store: 'Cassandra',
  page: 'bindings/cassandra.md',
  cells: {
    killed: {
      meanwhile:
        'The next node of `contactPoints` coordinates. A write that was in flight is `UNKNOWN`, unless it may be sent twice. Without another node: `UNAVAILABLE`, and nothing is sent',
      recovery:
        'The node takes requests again within 2 s. If no node was left, the next operation connects',
    },
    frozen: {
      meanwhile:
        'After 1.5 s without any answer, the next node of `contactPoints` takes new operations, and after 3 s also the reads in flight. Without another node: `TIMEOUT`, or `UNKNOWN` for a write that was sent. If the frozen node is only a replica, Cassandra reads at another one in its place',
      recovery: 'As soon as the node answers anything',
    },
    cut: {
      meanwhile:
        'After about 3 s, reads, `put` and other writes with `isIdempotent` go on over another connection. Other writes are `UNKNOWN`',
      recovery: 'The connection is closed after about 3 s, and another is opened',
    },
    halfOpen: {
      meanwhile:
        'As for connections that are cut. The writes have arrived: a write that is sent twice is made once',
      recovery: 'The connection is closed after about 3 s, and another is opened',
    },
    demoted: { absentBecause: 'every node takes reads and writes' },
    promoted: { absentBecause: 'every node takes reads and writes' },
    moved: {
      meanwhile: '`UNAVAILABLE` until the name leads to the new address',
      recovery: 'The next operation looks the name up again',
    },
    crashed: {
      meanwhile: 'Of the writes in flight, each is acknowledged and stays, or is `UNKNOWN`',
      recovery: 'At once, through the next node',
    },
    restored: {
      meanwhile:
        'While a table or keyspace is missing: `FINAL_FAILED`. If it is made again with other types, values are encoded by the new types from the first write on',
      recovery: 'The next operation prepares its statement again',
    },
    credentials: {
      meanwhile:
        'Open connections go on. Then `UNAUTHENTICATED` (password, role) or `UNAVAILABLE` (certificate), both not `retryable`, and the alarm `access-refused`',
      recovery: 'The next operation connects',
    },
    connections: {
      meanwhile:
        'Open connections go on. A new process gets `UNAVAILABLE`, because the node closes its connection',
      recovery: 'The next operation connects',
    },
    space: {
      meanwhile:
        'With the guardrail `data_disk_usage_percentage_fail_threshold`: `OVERLOADED` for writes, and nothing is written. Reads work',
      recovery: 'When Cassandra measures the disk again',
    },
    readOnly: { absentBecause: 'Cassandra has no read-only mode' },
    migration: {
      meanwhile:
        'Columns and fields that are added can be read and written at once, by every process. A statement that names a missing column is `FINAL_FAILED`',
      recovery: 'The next operation prepares its statement again',
    },
    foreignValue: {
      meanwhile:
        'A value that is no JSON is `INVALID_VALUE` for reads of its key. Other keys work. A deletion with a time in the future hides later writes of its key until then',
      recovery: 'A `put` of the key',
    },
    parsers: {
      meanwhile: 'Nothing changes: other encodings in `clientOptions` do not reach the values',
      recovery: 'Not needed',
    },
    callerLeaves: {
      meanwhile:
        'A write that waits for the connection, or for its statement to be prepared, is not sent any more: `ABORTED`. After that it runs to its end: `UNKNOWN`',
      recovery: 'The next operation finds nothing left behind',
    },
  },
} as const satisfies Column;
