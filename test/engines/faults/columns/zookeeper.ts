import type { Column } from '../support/faults.ts';

export const zookeeper = {
  store: 'ZooKeeper',
  page: 'bindings/zookeeper.md',
  cells: {
    killed: {
      meanwhile:
        'Another server of `servers` takes over. Writes in flight are `UNKNOWN`. Without another server: `UNAVAILABLE` after `sessionTimeoutMs`, and nothing is sent',
      recovery: 'Within 2 s after a server serves',
    },
    frozen: {
      meanwhile:
        'After two thirds of `sessionTimeoutMs`, another server takes over. Writes in flight are `UNKNOWN`, reads in flight fail with `UNAVAILABLE` or `TIMEOUT`',
      recovery: 'Within 2 s after the server goes on',
    },
    cut: {
      meanwhile:
        'Operations in flight fail after two thirds of `sessionTimeoutMs`: reads with `UNAVAILABLE`, writes with `UNKNOWN`',
      recovery: 'The connection is closed, and the session goes on with another one',
    },
    halfOpen: {
      meanwhile: 'As for connections that are cut. The writes have arrived, and are `UNKNOWN`',
      recovery: 'The connection is closed, and the session goes on with another one',
    },
    demoted: { absentBecause: 'clients may use any server, and the ensemble elects its leader' },
    promoted: {
      absentBecause:
        'a leader without a majority cannot write, and a server that is behind a client refuses it',
    },
    moved: {
      meanwhile: 'Operations in flight fail as for connections that are cut',
      recovery: 'The name is looked up for each connection, so within 2 s',
    },
    crashed: {
      meanwhile:
        'Writes in flight are `UNKNOWN`. What was acknowledged is on the disks of a majority',
      recovery: 'Within 2 s after a majority serves',
    },
    restored: {
      meanwhile:
        'A warning to `onBackgroundError`. The first read in each session of the application fails with `REPLICA_BEHIND`. What the backup lacks is lost',
      recovery:
        'In new sessions: at once if most servers of the list serve, else within two session timeouts',
    },
    credentials: {
      meanwhile:
        '`FORBIDDEN` if the ACL names another identity, `UNAUTHENTICATED` if servers refuse the identity',
      recovery: 'With the next operation, or within 5 s if the identity was refused',
    },
    connections: {
      meanwhile:
        'Connections that are open go on. A new process gets `UNAVAILABLE` after `sessionTimeoutMs`, with the last reason',
      recovery: 'Within 2 s after the server accepts connections',
    },
    space: {
      meanwhile:
        'Above an enforced quota, writes fail with `OVERLOADED`, and nothing is written. Reads work',
      recovery: 'With the next operation',
    },
    readOnly: {
      meanwhile:
        'Servers without a majority serve no binding, because their data may be old: `UNAVAILABLE`, and nothing is sent',
      recovery: 'Within 2 s after a majority serves',
    },
    migration: { absentBecause: 'values have no schema' },
    foreignValue: {
      meanwhile: '`INVALID_VALUE` that names the key, for a value that is no JSON. Other keys work',
      recovery: 'A `put` of the key',
    },
    parsers: { absentBecause: 'the binding has its own client, which nothing else can change' },
    callerLeaves: {
      meanwhile:
        'A claim that was sent runs to its end: `UNKNOWN`. Before that: `ABORTED`, and nothing is taken',
      recovery: 'The next dequeue of the binding returns an item that was claimed',
    },
  },
} as const satisfies Column;
