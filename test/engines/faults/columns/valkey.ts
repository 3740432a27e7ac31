import type { Column } from '../support/faults.ts';

export const valkey = {
  store: 'Valkey and Redis',
  page: 'bindings/valkey.md',
  cells: {
    killed: {
      meanwhile:
        '`UNAVAILABLE` with the cause, and nothing is sent. A write in flight is `UNKNOWN`. Replicas go on to answer reads',
      recovery: 'Within 1 s, at the next operation',
    },
    frozen: {
      meanwhile:
        'After 2 s of silence the connection is abandoned: `UNKNOWN` for writes that were sent, `UNAVAILABLE` for reads. Other replicas and the primary answer for a frozen replica',
      recovery: 'At the next operation',
    },
    cut: {
      meanwhile: 'After 2 s of silence the connection is abandoned, as for a frozen server',
      recovery:
        'The next operation opens another connection. An idle one is found by a probe within 7 s',
    },
    halfOpen: {
      meanwhile: 'As for connections that are cut. The writes have arrived, and are `UNKNOWN`',
      recovery: 'The next operation opens another connection',
    },
    demoted: {
      meanwhile:
        '`UNAVAILABLE` for reads and writes at the primary: nothing is read or written there',
      recovery: 'Within 1 s after the server is the primary again, or the name leads to one',
    },
    promoted: {
      meanwhile:
        'Once the process or a session has seen the new primary, the old one is refused with `UNAVAILABLE`. A process that has never seen it cannot know',
      recovery: 'Within 1 s after the name leads to the new primary',
    },
    moved: {
      meanwhile: '`UNAVAILABLE` while the name leads to the demoted server',
      recovery: 'At once: the refusal gives the connection up, and the name is looked up again',
    },
    crashed: {
      meanwhile:
        'With an append-only file that is synced at each write, each acknowledged write is there. A write in flight is `UNKNOWN`',
      recovery: 'Within 1 s after the server runs',
    },
    restored: {
      meanwhile:
        'The server has lost what it did not keep. Sessions go on with what is there, their views have `regressed: true`, and there is the alarm `lost-writes`',
      recovery: 'Within 1 s after the server runs',
    },
    credentials: {
      meanwhile:
        'Open connections go on. Then `UNAUTHENTICATED` with the words of the server, and the alarm `access-refused`. A missing right is `FORBIDDEN`, and a certificate that is not trusted or has expired is `UNAVAILABLE`, not `retryable`',
      recovery: 'Within 1 s after the password fits. `redisOptions` are read for each connection',
    },
    connections: {
      meanwhile: 'Open connections go on. A new process gets `OVERLOADED`: nothing is sent',
      recovery: 'Within 1 s after the server has room',
    },
    space: {
      meanwhile: '`OVERLOADED` for writes, and nothing is written. Reads and removes go on',
      recovery: 'At the next operation',
    },
    readOnly: {
      meanwhile:
        '`UNAVAILABLE` for writes, and nothing is written, for example with `min-replicas-to-write` (`NOREPLICAS`) or a full disk (`MISCONF`). Reads go on',
      recovery: 'At the next operation',
    },
    migration: { absentBecause: 'there is no schema' },
    foreignValue: {
      meanwhile:
        '`INVALID_VALUE` that names the key, for a value that is no JSON and for a key of another type. All other reads go on at the same replica',
      recovery: 'Once the key is written again',
    },
    parsers: {
      meanwhile:
        'Nothing: transformers of replies that another library has set for `ioredis` do not apply',
      recovery: 'Not needed',
    },
    callerLeaves: {
      meanwhile:
        'A write that was not sent is not made. A write that was sent is `UNKNOWN`, and the connection stays usable',
      recovery: 'Not needed',
    },
  },
} as const satisfies Column;
