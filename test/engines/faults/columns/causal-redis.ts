import type { Column } from '../support/faults.ts';

export const causalRedis = {
  store: 'Causal store on Redis',
  page: 'bindings/causal-redis.md',
  cells: {
    killed: {
      meanwhile:
        'Operations wait for up to `siteTimeoutMs`, then reads and writes that were not sent are `UNAVAILABLE`. A write in flight is repeated with its id. Other sites go on',
      recovery: 'Within 1 s after the server runs',
    },
    frozen: {
      meanwhile:
        'After 2 s of silence the connection is abandoned, and the other nodes are asked for the master',
      recovery: 'At the next operation, or once the cluster has promoted a replica',
    },
    cut: {
      meanwhile:
        'After 2 s of silence the connection is abandoned. Operations wait, and writes are repeated with their id',
      recovery: 'The operation itself goes on over another connection',
    },
    halfOpen: {
      meanwhile: 'As for connections that are cut. A write that has arrived is made once',
      recovery: 'The operation itself goes on over another connection',
    },
    demoted: {
      meanwhile: '`UNAVAILABLE` for reads and writes: nothing is done there',
      recovery: 'Within 1 s after the server is a master again, or the name leads to one',
    },
    promoted: {
      meanwhile:
        'If the name leads back to the old master, the processes of the site notice that it lacks writes, copy them from the other sites, and report what none has as `lost-writes`',
      recovery: 'After the copy',
    },
    moved: {
      meanwhile: 'Operations wait while the name leads to the demoted server',
      recovery: 'At once: `READONLY` abandons the connection, and the name is looked up again',
    },
    crashed: {
      meanwhile:
        'With an append-only file that is synced at each write, each acknowledged write is there. Writes in flight are repeated with their id',
      recovery: 'Within 1 s after the server runs',
    },
    restored: {
      meanwhile:
        'The partitions are refused and copied from the other sites. What no other site had is lost, with the alarm `lost-writes`',
      recovery: 'After the copy',
    },
    credentials: {
      meanwhile:
        'Open connections go on. Then `UNAUTHENTICATED` with the words of the server, and the alarm `access-refused`. A missing right is `FORBIDDEN`, and a certificate that is not trusted or has expired is `UNAVAILABLE`, not `retryable`',
      recovery: 'Within 1 s after the password fits. `redisOptions` are read for each connection',
    },
    connections: {
      meanwhile:
        'Open connections go on. A new process gets `OVERLOADED` or `UNAVAILABLE`: nothing is done',
      recovery: 'Within 1 s after the server has room',
    },
    space: {
      meanwhile: '`OVERLOADED` for writes, and nothing is written. Reads go on',
      recovery: 'At the next operation',
    },
    readOnly: {
      meanwhile:
        'Writes wait for up to `siteTimeoutMs`, then they are `UNAVAILABLE` with the words of the server. Nothing is written',
      recovery: 'At the next operation',
    },
    migration: { absentBecause: 'there is no schema' },
    foreignValue: {
      meanwhile: '`INVALID_VALUE` that names the key in Redis, for the keys of that partition only',
      recovery: 'Once that key is removed, the partition is restored from the other sites',
    },
    parsers: {
      meanwhile:
        'Nothing: transformers of replies that another library has set for `ioredis` do not apply',
      recovery: 'Not needed',
    },
    callerLeaves: {
      meanwhile: 'A write whose caller has left may be made, once. The connection stays usable',
      recovery: 'Not needed',
    },
  },
} as const satisfies Column;
