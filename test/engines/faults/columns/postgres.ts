/**
 * What users of PostgreSQL see of each fault. The tests are in
 * `test/engines/faults/postgres.test.ts`.
 */
import type { Column } from '../support/faults.ts';

export const postgres = {
  store: 'PostgreSQL',
  page: 'bindings/postgres.md',
  cells: {
    killed: {
      meanwhile:
        'Reads have the view of a replica and fail with `UNAVAILABLE`. A write that was sent is `UNKNOWN`, any other is `UNAVAILABLE` and was not made.',
      recovery: 'With the next operation. Acknowledged writes are there.',
    },
    frozen: {
      meanwhile:
        'A frozen replica is left after a second at most, and the next replica or the primary answers. If the primary is frozen, reads and writes fail within about three seconds: a read with `UNAVAILABLE`, a write that was sent with `UNKNOWN`.',
      recovery: 'With the next operation. A replica is used again within four seconds.',
    },
    cut: {
      meanwhile:
        'Operations on the lost connections notice it after a quarter of their timeout, a second at most. A read is repeated on a new connection. A write is `UNKNOWN`. One lost connection ends the trust in all that were made before.',
      recovery:
        'With the next operation, on a new connection. A write with an `idempotencyKey` is sent again by itself.',
    },
    halfOpen: {
      meanwhile:
        'The same as for connections that were cut. The write may have been made, so it is `UNKNOWN`. With an `idempotencyKey` it is made once, and answered.',
      recovery: 'With the next operation, on a new connection.',
    },
    demoted: {
      meanwhile:
        'Reads and writes at the primary fail with `UNAVAILABLE`, which names the cause. There is no final view of a replica. Connections are made again, so the name is looked up again.',
      recovery: 'With the next operation after the name leads to a primary.',
    },
    promoted: {
      meanwhile:
        'A session that has seen the new primary fails with `UNAVAILABLE` at the old one. Nothing is written there. Without a session, the old primary answers as long as the address leads to it: fence it.',
      recovery: 'With the next operation after the name leads to the new primary.',
    },
    moved: {
      meanwhile: 'Operations fail as above while the old server is gone.',
      recovery:
        'With the next operation: the first connection that fails ends the trust in all others.',
    },
    crashed: {
      meanwhile: 'As if the process was killed.',
      recovery: 'With the next operation. Acknowledged writes are there, and sessions go on.',
    },
    restored: {
      meanwhile:
        'Clients go on with the data that is there. Final views of a session that has seen more have `regressed: true`, and the alarm `lost-writes` is raised.',
      recovery: 'With the next operation.',
    },
    credentials: {
      meanwhile:
        'Open connections work on, as PostgreSQL decides it. New ones fail with `UNAUTHENTICATED` and the words of the server, and there is the alarm `access-refused`. Nothing was sent.',
      recovery: 'With the next operation after the role may log in again.',
    },
    connections: {
      meanwhile: 'An operation that finds no connection fails with `OVERLOADED`. Nothing was sent.',
      recovery: 'With the next operation after there is room.',
    },
    space: {
      meanwhile:
        'A write that the server has no room for fails with `OVERLOADED`. Nothing was written. Reads work.',
      recovery: 'With the next operation after there is room.',
    },
    readOnly: {
      meanwhile:
        'Writes fail with `UNAVAILABLE`, which names the cause. Nothing was written. Reads work.',
      recovery: 'With the next operation after the server accepts writes.',
    },
    migration: {
      meanwhile:
        'A statement whose columns have changed is prepared again by itself. If a table is missing, the operation fails with `FINAL_FAILED`, and the replica is not left.',
      recovery: 'At once: no operation fails.',
    },
    foreignValue: {
      meanwhile:
        'Rows that do not fit fail their own operation. No replica is left for it, and other reads go on.',
      recovery: 'With the next operation after the row is corrected.',
    },
    parsers: {
      meanwhile:
        'Values of the tables of the binding do not pass the parsers of other libraries. Columns of your own statements do.',
      recovery: 'There is nothing to recover from.',
    },
    callerLeaves: {
      meanwhile:
        'A read is canceled at the server. A write that was sent runs to its end, and its outcome is `UNKNOWN` to the caller that has left.',
      recovery: 'At once: the connection is used again, or closed.',
    },
  },
} as const satisfies Column;
