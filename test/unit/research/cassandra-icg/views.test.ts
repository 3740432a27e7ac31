import { describe, expect, test } from 'vitest';
import { OPCODE } from '../../../../src/research/cassandra-icg/protocol.ts';
import { errorRest } from './bodies.ts';
import { removeMark } from '../../../../src/bindings/cassandra/prepared-texts.ts';
import type {
  ReadRequest,
  ReadStatement,
} from '../../../../src/bindings/cassandra/read-strategy.ts';
import { open, type Opened } from './reads.ts';
import { COLUMNS, ScriptedNode, SKIP_METADATA, type Script } from './scripted-node.ts';

const UNPREPARED = 0x2500;
const UNAVAILABLE = 0x1000;
const READ_TIMEOUT = 0x1200;
const ONE_REPLICA = { consistency: 'ONE', preliminaryConsistency: undefined };

describe('answers', () => {
  const cases: readonly {
    readonly name: string;
    readonly script: Script;
    readonly events: readonly string[];
  }[] = [
    {
      name: 'a preliminary, a confirmation → both views',
      script({ stream }, peer) {
        peer.rows(stream, ['a', 'b'], { icg: 1 });
        peer.confirm(stream);
      },
      events: ['preliminary a,b', 'confirm'],
    },
    {
      name: 'a preliminary, other rows → both views',
      script({ stream }, peer) {
        peer.rows(stream, ['a'], { icg: 1 });
        peer.rows(stream, ['b'], { icg: 3 });
      },
      events: ['preliminary a', 'final b'],
    },
    {
      name: 'a preliminary, the same rows → both views',
      script({ stream }, peer) {
        peer.rows(stream, [], { icg: 1 });
        peer.rows(stream, [], { icg: 4 });
      },
      events: ['preliminary ', 'final '],
    },
    {
      name: 'one normal answer → the final view',
      script: ({ stream }, peer) => peer.rows(stream, ['a']),
      events: ['final a'],
    },
    {
      name: 'more pages → their state',
      script({ stream }, peer) {
        peer.rows(stream, ['a'], { icg: 1, pageState: Buffer.of(1, 0xab) });
        peer.confirm(stream);
      },
      events: ['preliminary a more 01ab', 'confirm'],
    },
    {
      name: 'a preliminary, an error → the preliminary view stands, the final one fails with its code',
      script({ stream }, peer) {
        peer.rows(stream, ['a'], { icg: 1 });
        peer.error(stream, READ_TIMEOUT, errorRest.readTimeout(4, 1, 2));
      },
      events: ['preliminary a', 'fail SERVER 0x1200'],
    },
    {
      name: 'an error at once → only that',
      script: ({ stream }, peer) => peer.error(stream, 0x1001),
      events: ['fail SERVER 0x1001'],
    },
    {
      name: 'a confirmation of nothing → PROTOCOL',
      script: ({ stream }, peer) => peer.confirm(stream),
      events: ['fail PROTOCOL'],
    },
    {
      name: 'two preliminaries → PROTOCOL',
      script({ stream }, peer) {
        peer.rows(stream, ['a'], { icg: 1 });
        peer.rows(stream, ['b'], { icg: 1 });
      },
      events: ['preliminary a', 'fail PROTOCOL'],
    },
    {
      name: 'a preliminary, a normal answer → PROTOCOL',
      script({ stream }, peer) {
        peer.rows(stream, ['a'], { icg: 1 });
        peer.rows(stream, ['b']);
      },
      events: ['preliminary a', 'fail PROTOCOL'],
    },
    {
      name: 'an unknown number in the payload → PROTOCOL',
      script: ({ stream }, peer) => peer.rows(stream, ['a'], { icg: 9 }),
      events: ['fail PROTOCOL'],
    },
  ];

  test.each(cases)('$name', async ({ script, events: reported }) => {
    await using node = await ScriptedNode.start({ onExecute: script });
    await using opened = await open(node.address);
    expect(await opened.read().over).toEqual(reported);
    expect(opened.plain.requests).toEqual([]);
  });

  test('an error of a node → its number, and which node', async () => {
    await using node = await ScriptedNode.start({
      onExecute: ({ stream }, peer) =>
        peer.error(stream, READ_TIMEOUT, errorRest.readTimeout(4, 1, 2)),
    });
    await using opened = await open(node.address);
    const heard = opened.read({ preliminaryConsistency: undefined });
    await heard.over;
    expect(heard.error).toMatchObject({
      name: 'CqlError',
      node: node.address,
      server: { code: READ_TIMEOUT, message: 'scripted 0x1200' },
    });
  });

  test('too few replicas, and no preliminary → that of one replica stands, the final view fails', async () => {
    await using node = await ScriptedNode.start({
      onExecute: ({ stream }, peer) =>
        peer.error(stream, UNAVAILABLE, errorRest.unavailable(4, 2, 1)),
    });
    await using opened = await open(node.address);
    expect(await opened.read().over).toEqual(['preliminary plain', 'fail SERVER 0x1000']);
    opened.plain.failure = new Error('nor that');
    expect(await opened.read().over).toEqual([
      'preliminary failed undefined',
      'fail SERVER 0x1000',
    ]);
    expect(opened.plain.requests).toEqual([ONE_REPLICA, ONE_REPLICA]);
    expect(await opened.read({ preliminaryConsistency: undefined }).over).toEqual([
      'fail SERVER 0x1000',
    ]);
    expect(opened.plain.requests.length).toBe(2);
  });

  test('a preliminary view that cannot be read → only it fails, and a confirmation of it the read', async () => {
    const parameters = { columns: [{ name: 'v', type: { code: 0x77, type: null } }] } as const;
    await using node = await ScriptedNode.start(parameters);
    await using opened = await open(node.address);
    node.onExecute = ({ stream }, peer) => {
      peer.rows(stream, ['a'], { icg: 1 });
      peer.rows(stream, ['b'], { icg: 3, columns: COLUMNS });
    };
    expect(await opened.read().over).toEqual(['preliminary failed PROTOCOL', 'final b']);
    node.onExecute = ({ stream }, peer) => {
      peer.rows(stream, ['a'], { icg: 1 });
      peer.confirm(stream);
    };
    expect(await opened.read().over).toEqual(['preliminary failed PROTOCOL', 'fail PROTOCOL']);
    // What one statement's values are is no reason to part.
    expect(node.peers.length).toBe(1);
  });
});

describe('requests', () => {
  const answer: Script = ({ stream }, peer) => peer.rows(stream, ['a']);

  test('both views, or the final only → the payload requests them', async () => {
    await using node = await ScriptedNode.start({ onExecute: answer });
    await using opened = await open(node.address);
    await opened.read({ consistency: 'QUORUM' }).over;
    await opened.read({ consistency: 'ONE', preliminaryConsistency: undefined }).over;
    const requested = [0, 1]
      .map((n) => node.executed(n))
      .map(({ consistency, request: { icg } }) => [consistency, icg]);
    expect(requested).toEqual([
      [4, 1],
      [1, undefined],
    ]);
  });

  test('pages: size and state go out', async () => {
    await using node = await ScriptedNode.start({ onExecute: answer });
    await using opened = await open(node.address);
    await opened.read({ pageSize: 7, pageState: '01ab' }).over;
    const { request, flags } = node.executed();
    expect(flags & 0x0c).toBe(0x0c);
    expect(request.body.subarray(-10).toString('hex')).toBe('000000070000000201ab');
  });

  test('columns: never left out of the answer, since those of before may have become others', async () => {
    await using node = await ScriptedNode.start({ onExecute: answer });
    await using opened = await open(node.address);
    await opened.read({ cql: 'SELECT v FROM t' }).over;
    expect(node.executed().flags & SKIP_METADATA).toBe(0);
  });

  test('keyspace: chosen on each connection before anything else', async () => {
    await using node = await ScriptedNode.start({ onExecute: answer });
    await using opened = await open(node.address, { settings: { keyspace: 'My"Shop' } });
    await opened.read().over;
    const query = node.requests.find(({ opcode }) => opcode === OPCODE.query);
    expect(query?.body.toString('utf8', 4, 19)).toBe('USE "My""Shop"\0');
  });

  test('parameters that are none of the column → left to the driver, which looks whether the types have changed', async () => {
    await using node = await ScriptedNode.start({
      parameters: [{ name: 'n', type: { code: 0x09, type: null } }],
    });
    await using opened = await open(node.address);
    for (const params of [['one'], []])
      expect((await opened.read({ params }).over).at(-1)).toBe('final plain');
    expect(node.count(OPCODE.execute)).toBe(0);
  });
});

describe('statements', () => {
  test('many reads of a new statement → prepared once', async () => {
    await using node = await ScriptedNode.start({
      onExecute: ({ stream }, peer) => peer.rows(stream, ['a']),
    });
    await using opened = await open(node.address);
    await Promise.all(Array.from({ length: 50 }, () => opened.read().over));
    await opened.read().over;
    expect(node.count(OPCODE.prepare)).toBe(1);
    expect(removeMark(node.executed().id)).toBe('SELECT v FROM t');
  });

  test('one that cannot be prepared → the error of the node', async () => {
    await using node = await ScriptedNode.start({
      onRequest({ opcode, stream }, peer) {
        if (opcode !== OPCODE.prepare) return false;
        peer.error(stream, 0x2000);
        return true;
      },
    });
    await using opened = await open(node.address);
    expect(await opened.read().over).toEqual(['fail SERVER 0x2000']);
  });

  test('forgotten by the node → prepared again, once for all reads', async () => {
    const known = new Set<string>();
    await using node = await ScriptedNode.start({
      onRequest({ opcode }) {
        if (opcode === OPCODE.prepare) known.add('all');
        return false;
      },
      onExecute({ stream }, peer) {
        if (known.has('all')) peer.rows(stream, ['a']);
        else peer.error(stream, UNPREPARED, errorRest.unprepared(Buffer.from('SELECT v FROM t')));
      },
    });
    await using opened = await open(node.address);
    await opened.read().over;
    known.clear();
    const reads = Array.from({ length: 20 }, () => opened.read().over);
    expect(await Promise.all(reads)).toEqual(reads.map(() => ['final a']));
    expect(node.count(OPCODE.prepare)).toBe(2);
  });

  test('forgotten again and again → the error of the node', async () => {
    await using node = await ScriptedNode.start({
      onExecute: ({ stream }, peer) =>
        peer.error(stream, UNPREPARED, errorRest.unprepared(Buffer.of(1))),
    });
    await using opened = await open(node.address);
    expect(await opened.read().over).toEqual(['fail SERVER 0x2500']);
    expect(node.count(OPCODE.prepare)).toBe(2);
  });

  test('columns that became others under it, as many as before → read as what they are, not as what they were', async () => {
    await using node = await ScriptedNode.start({
      columns: [{ name: 'v', type: { code: 0x09, type: null } }],
    });
    await using opened = await open(node.address);
    const bytes = Buffer.alloc(4);
    bytes.writeFloatBE(1.5);
    const dropped = node.columns;
    node.onExecute = ({ stream }, peer) => {
      peer.rows(stream, [], { rows: [[bytes]], icg: 1 });
      peer.confirm(stream);
    };
    expect(await opened.read().over).toEqual([`preliminary ${bytes.readInt32BE()}`, 'confirm']);
    node.columns = [{ name: 'v', type: { code: 0x08, type: null } }];
    expect(await opened.read().over).toEqual(['preliminary 1.5', 'confirm']);
    expect(dropped).not.toEqual(node.columns);
    expect(node.count(OPCODE.prepare)).toBe(1);
  });
});

describe('statements that the coordinator answers once', () => {
  const once: Script = ({ stream }, peer) => peer.rows(stream, ['a']);
  const twice: Script = ({ stream }, peer) => {
    peer.rows(stream, ['a'], { icg: 1 });
    peer.confirm(stream);
  };
  /** Whether a read goes by two requests. */
  async function isPlain(
    opened: Opened,
    change: Partial<ReadStatement & ReadRequest> = {},
  ): Promise<boolean> {
    const before = opened.plain.requests.length;
    await opened.read(change).over;
    return opened.plain.requests.length > before;
  }
  async function many(count: number, read: () => Promise<boolean>): Promise<readonly boolean[]> {
    const seen: boolean[] = [];
    for (let n = 0; n < count; n += 1) seen.push(await read());
    return seen;
  }

  test('again and again → two requests, so that there are two views; others as before', async () => {
    await using node = await ScriptedNode.start({ onExecute: once });
    await using opened = await open(node.address);
    expect(new Set(await many(8, () => isPlain(opened)))).toEqual(new Set([false]));
    expect(new Set(await many(50, () => isPlain(opened)))).toEqual(new Set([true]));
    expect(await isPlain(opened, { preliminaryConsistency: undefined })).toBe(false);
    expect(await isPlain(opened, { cql: 'SELECT v FROM u' })).toBe(false);
    expect(await isPlain(opened, { pageState: '01' })).toBe(false);
  });

  test('another answer when retried → one request from then on', async () => {
    await using node = await ScriptedNode.start({ onExecute: once });
    await using opened = await open(node.address);
    await many(8, () => isPlain(opened));
    node.onExecute = twice;
    const seen = await many(300, () => isPlain(opened));
    expect(seen[0]).toBe(true);
    expect(seen.at(-1)).toBe(false);
  });

  test('a statement that had two answers before → one request, until there is one only for long', async () => {
    await using node = await ScriptedNode.start({ onExecute: twice });
    await using opened = await open(node.address);
    expect(await isPlain(opened)).toBe(false);
    node.onExecute = once;
    expect(new Set(await many(64, () => isPlain(opened)))).toEqual(new Set([false]));
    expect(await isPlain(opened)).toBe(true);
  });

  test('one key of `IN ?` has two answers, several have one → the several go by two requests all the same', async () => {
    const byKeys = {
      parameters: [
        { name: 'ids', type: { code: 0x20, type: null, info: { code: 0x0d, type: null } } },
      ],
    };
    await using node = await ScriptedNode.start({ ...byKeys, onExecute: twice });
    await using opened = await open(node.address);
    expect(await isPlain(opened, { params: [['a']] })).toBe(false);
    expect(await isPlain(opened, { params: [['a', 'a']] })).toBe(false);
    node.onExecute = once;
    await many(8, () => isPlain(opened, { params: [['a', 'b']] }));
    expect(await isPlain(opened, { params: [['c', 'd', 'e']] })).toBe(true);
    node.onExecute = twice;
    expect(await isPlain(opened, { params: [['b']] })).toBe(false);
  });

  test('only final views wanted → learns nothing', async () => {
    await using node = await ScriptedNode.start({ onExecute: once });
    await using opened = await open(node.address);
    await many(20, () => isPlain(opened, { preliminaryConsistency: undefined }));
    expect(await isPlain(opened)).toBe(false);
  });
});
