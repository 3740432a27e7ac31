import { NoConnectionError } from '../../../../src/bindings/shared/redis/redis-errors.ts';
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../src/causal/limits.ts';
import type { CallName, PartitionCalls, Refusal } from '../../../../src/causal/partition-calls.ts';
import type {
  RedisArgument,
  ScriptConnection,
} from '../../../../src/bindings/causal-redis/driver.ts';
import { createRedisPartitionPort } from '../../../../src/bindings/causal-redis/redis-partition-port.ts';
import { encodeNumbers } from '../../../../src/bindings/causal-redis/version-codec.ts';

type Sent = readonly [command: string, script: string, keyCount: number, ...args: RedisArgument[]];

/** A connection that answers as the test says, and records what it is sent. */
function createConnection(
  answer: (command: string) => Promise<unknown>,
): ScriptConnection & { readonly sent: readonly Sent[] } {
  const sent: Sent[] = [];
  const record =
    (command: string) =>
    (script: string, keyCount: number, ...args: RedisArgument[]): Promise<unknown> => {
      sent.push([command, script, keyCount, ...args]);
      return answer(command);
    };
  return {
    sent,
    evalshaBuffer: record('evalsha'),
    evalBuffer: record('eval'),
    call: () => Promise.reject(new Error('not used')),
    callBuffer: () => Promise.reject(new Error('not used')),
    on: () => {},
    disconnect: () => {},
  };
}

function call<N extends CallName>(
  connection: ScriptConnection,
  name: N,
  request: PartitionCalls[N]['request'],
  requestTimeoutMs = 60_000,
): Promise<PartitionCalls[N]['reply'] | Refusal> {
  const port = createRedisPartitionPort({
    name: 'shop',
    connections: [connection, connection],
    siteCount: 2,
    limits: DEFAULT_LIMITS,
    requestTimeoutMs,
    getSiteView: () => {},
  });
  return new Promise((resolve) => port.call({ site: 1, partition: 7 }, name, request, resolve));
}

const readRequest = {
  keys: ['a'],
  snapshot: [5, 6],
  acceptsMissing: false,
  siteTime: 3,
  lastSeen: 4,
};

test('a call is sent by the hash of its script, with the key of the partition', async () => {
  const connection = createConnection(() => Promise.resolve([encodeNumbers([9]), Buffer.alloc(0)]));
  expect(await call(connection, 'read', readRequest)).toEqual({ clock: 9, versions: [undefined] });
  const [[command, sha, ...args]] = connection.sent as [Sent];
  expect([command, sha.length, ...args]).toEqual([
    'evalsha',
    40,
    1,
    '{shop:7}',
    encodeNumbers([3, 4, 0, 5, 6]),
    'v:a',
  ]);
});

test('a server that does not know the script gets its text', async () => {
  const connection = createConnection((command) =>
    command === 'evalsha'
      ? Promise.reject(new Error('NOSCRIPT No matching script.'))
      : Promise.resolve(encodeNumbers([2])),
  );
  expect(await call(connection, 'suspect', {})).toEqual({ suspicions: 2 });
  const [first, second] = connection.sent as [Sent, Sent];
  expect(second[0]).toBe('eval');
  expect(createHash('sha1').update(second[1]).digest('hex')).toBe(first[1]);
  expect(second.slice(2)).toEqual(first.slice(2));
});

test.each([
  [1, 'CLOCK'],
  [2, 'REWOUND'],
  [3, 'BEHIND'],
  [4, 'TOO_OLD'],
  [5, 'STALE'],
  [6, 'LOST'],
])('the number %i of a script is the refusal %s', async (code, refused) => {
  expect(
    await call(
      createConnection(() => Promise.resolve(code)),
      'read',
      readRequest,
    ),
  ).toEqual({ refused });
});

test.each([
  ["OOM command not allowed when used memory > 'maxmemory'.", 'FULL'],
  ['Connection is closed.', 'UNREACHABLE'],
  ["NOPERM ACL failure in script: User can't run 'hdel'", 'UNREACHABLE'],
  ["READONLY You can't write against a read only replica.", 'UNREACHABLE'],
  ['LOADING Redis is loading the dataset in memory', 'UNREACHABLE'],
  ['CLUSTERDOWN The cluster is down', 'UNREACHABLE'],
])('an error of the server is a refusal: %s', async (message, refused) => {
  const connection = createConnection(() => Promise.reject(new Error(message)));
  expect(await call(connection, 'read', readRequest)).toEqual({ refused });
});

test.each([
  ['NOREPLICAS', {}],
  ['MISCONF', {}],
  ['NOPERM', { code: 'FORBIDDEN' }],
])(
  '%s comes before the first write of a script, so the call was not executed',
  async (word, code) => {
    const message = `${word} as the server explains.`;
    const connection = createConnection(() => Promise.reject(new Error(message)));
    const detail = `the store answered "${word} as the server explains"`;
    expect(await call(connection, 'read', readRequest)).toEqual({
      refused: 'NOT_EXECUTED',
      detail,
      ...code,
    });
  },
);

test.each([
  ["READONLY You can't write against a read only replica.", {}],
  ['LOADING Redis is loading the dataset in memory', {}],
  ['CLUSTERDOWN The cluster is down', {}],
  ['BUSY Redis is busy running a script.', {}],
  ['ERR max number of clients reached', { code: 'OVERLOADED' }],
  ['NOAUTH Authentication required.', { code: 'UNAUTHENTICATED' }],
])(
  'a connection that sends each command once proves that it was not executed: %s',
  async (message, code) => {
    const error = Object.assign(new Error(message), { name: 'ReplyError' });
    const connection = Object.assign(
      createConnection(() => Promise.reject(error)),
      { sendsOnce: true },
    );
    expect(await call(connection, 'read', readRequest)).toMatchObject({
      refused: 'NOT_EXECUTED',
      ...code,
    });
  },
);

test('a key of another type was not written by this store, and is named', async () => {
  const message = 'WRONGTYPE Operation against a key holding the wrong kind of value';
  const connection = createConnection(() => Promise.reject(new Error(message)));
  expect(await call(connection, 'read', readRequest)).toMatchObject({
    refused: 'NOT_EXECUTED',
    code: 'INVALID_VALUE',
    detail: expect.stringContaining('{shop:7}'),
  });
});

test('without a connection, a call was not executed, and the cause is named', async () => {
  const cause = new Error('WRONGPASS invalid username-password pair or user is disabled.');
  const connection = Object.assign(
    createConnection(() => Promise.reject(new NoConnectionError('10.0.0.1:6379', cause))),
    { sendsOnce: true },
  );
  expect(await call(connection, 'read', readRequest)).toEqual({
    refused: 'NOT_EXECUTED',
    code: 'UNAUTHENTICATED',
    detail:
      'there is no connection to 10.0.0.1:6379: WRONGPASS invalid username-password pair or user is disabled',
  });
});

test('without a reply in time a call is UNREACHABLE, and a later reply changes nothing', async () => {
  let answer: ((reply: unknown) => void) | undefined;
  const connection = createConnection(() => new Promise((resolve) => (answer = resolve)));
  expect(await call(connection, 'suspect', {}, 1)).toEqual({ refused: 'UNREACHABLE' });
  answer?.(encodeNumbers([1]));
});

test('a value that is no bytes is an error of the caller', () => {
  const connection = createConnection(() => Promise.resolve(1));
  const request = {
    key: 'a',
    kind: 'value',
    value: 'text',
    ttl: 0,
    id: 'w',
    dependencies: [0, 0],
    stable: [0, 0],
  } as const;
  const put = () => call(connection, 'put', { ...request, siteTime: 0, lastSeen: 0 });
  return expect(put()).rejects.toThrow('a value must be bytes');
});

test('a site without a connection is UNREACHABLE', async () => {
  const port = createRedisPartitionPort({
    name: 'shop',
    connections: [],
    siteCount: 2,
    limits: DEFAULT_LIMITS,
    requestTimeoutMs: 60_000,
    getSiteView: () => {},
  });
  const reply = await new Promise((resolve) =>
    port.call({ site: 1, partition: 0 }, 'suspect', {}, resolve),
  );
  expect(reply).toEqual({ refused: 'UNREACHABLE' });
});
