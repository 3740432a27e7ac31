/**
 * The real driver with two nodes: each prepares its own statements, and one may be overloaded, slow
 * or silent.
 */
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { cassandra, defineStatements, rows } from '../../../../src/bindings/cassandra/index.ts';
import { createClient } from '../../../../src/index.ts';
import { OPCODE } from '../../../../src/research/cassandra-icg/protocol.ts';
import * as bodies from '../../research/cassandra-icg/bodies.ts';
import {
  ScriptedNode,
  type Peer,
  type Request,
} from '../../research/cassandra-icg/scripted-node.ts';

const REGISTER = 0x0b;
const OVERLOADED = 0x1001;
const UNPREPARED = 0x2500;
const [UUID, TEXT, INET] = [0x0c, 0x0d, 0x10];

/** How a node answers a statement that it knows. */
type Answer = (request: Request, peer: Peer) => void;
const answerRow: Answer = ({ stream }, peer) => peer.rows(stream, ['x']);
const reportOverload: Answer = ({ stream }, peer) => peer.error(stream, OVERLOADED);
const keepSilent: Answer = () => {};

/** The body of a result with one row. */
function createRow(
  columns: readonly (readonly [name: string, code: number, value: Buffer])[],
): Buffer {
  return bodies.rowsBody({
    columns: columns.map(([name, code]) => ({ name, type: { code, type: null } as never })),
    rows: [columns.map(([, , value]) => value)],
  });
}

/** A node of a cluster of two. It knows only the statements that it has prepared. */
class TestNode {
  readonly address: string;
  readonly scripted: ScriptedNode;
  /** Each PREPARE and EXECUTE, with the first two words of its statement. */
  readonly log: string[] = [];
  readonly known = new Set<string>();
  answer: (cql: string) => Answer = () => answerRow;
  isSilent = false;
  readonly #number: number;

  constructor(scripted: ScriptedNode, number: number) {
    this.scripted = scripted;
    this.#number = number;
    this.address = `10.0.0.${number}`;
    scripted.onRequest = (request, peer) => this.isSilent || this.#answerRequest(request, peer);
    scripted.onExecute = (request, peer) => this.#execute(request, peer);
  }

  #describe(number: number): Buffer {
    return createRow([
      ['key', TEXT, Buffer.from('local')],
      ['peer', INET, Buffer.of(10, 0, 0, number)],
      ['rpc_address', INET, Buffer.of(10, 0, 0, number)],
      ['data_center', TEXT, Buffer.from('dc1')],
      ['rack', TEXT, Buffer.from('r1')],
      ['release_version', TEXT, Buffer.from('4.1.0')],
      ['host_id', UUID, Buffer.alloc(16, number)],
      ['cluster_name', TEXT, Buffer.from('test')],
      ['partitioner', TEXT, Buffer.from('Murmur3Partitioner')],
    ]);
  }

  /** Answers a request, or returns `false` if any node would answer it the same. */
  #answerRequest({ opcode, stream, body }: Request, peer: Peer): boolean {
    const cql = body.toString('utf8', 4);
    if (opcode === REGISTER) {
      peer.reply(stream, OPCODE.ready);
      return true;
    }
    if (opcode === OPCODE.query && !cql.startsWith('USE')) {
      const described = cql.includes('peers') ? 3 - this.#number : this.#number;
      peer.reply(stream, OPCODE.result, this.#describe(described));
      return true;
    }
    if (opcode === OPCODE.prepare) {
      // The id of a prepared statement is its text.
      this.known.add(cql);
      this.#record('PREPARE', cql);
    }
    return false;
  }

  #execute(request: Request, peer: Peer): void {
    const text = request.body.toString('utf8', 2, 2 + request.body.readUInt16BE(0));
    if (!this.known.has(text)) {
      this.#record('unknown', text);
      peer.error(request.stream, UNPREPARED, bodies.errorRest.unprepared(Buffer.from(text)));
      return;
    }
    this.#record('EXECUTE', text);
    this.answer(text)(request, peer);
  }

  #record(what: string, text: string): void {
    this.log.push(`${what} ${text.split(' ').slice(0, 2).join(' ')}`);
  }
}

const args = z.record(z.string(), z.unknown());
const result = rows(z.object({ v: z.string() }));
const statements = defineStatements({
  read: { access: 'read', cql: 'SELECT v FROM t', args, result },
  slow: { access: 'read', cql: 'SELECT slow FROM t', args, result },
  set: { access: 'write', cql: 'UPDATE t SET v = 1', args, isIdempotent: true },
  compare: { access: 'write', cql: 'UPDATE lwt SET v = 1 IF v = 2', args },
});

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const item of opened.splice(0).toReversed()) await item.close();
});

async function open({ requestTimeoutMs = 10_000 } = {}) {
  const scripted = [await ScriptedNode.start(), await ScriptedNode.start()] as const;
  for (const node of scripted) opened.push({ close: () => node.stop() });
  const [a, b] = [new TestNode(scripted[0], 1), new TestNode(scripted[1], 2)];
  const ports = new Map([a, b].map((node) => [node.address, node.scripted.address]));
  const binding = cassandra({
    contactPoints: [a.scripted.address, b.scripted.address],
    translateAddress: (address) => ports.get(address) ?? address,
    keyspace: 'shop',
    createTable: false,
    requestTimeoutMs,
    statements,
  });
  const client = createClient(binding, { timeoutMs: 20_000 });
  opened.push(client);
  await binding.whenConnected();
  // The second node answers only once the driver has connected to it.
  a.answer = () => reportOverload;
  await expect
    .poll(() => client.invokeStrong(statements.read({})).catch(() => {}))
    .toEqual([{ v: 'x' }]);
  a.answer = () => answerRow;
  for (const node of [a, b]) node.log.length = 0;
  return { a, b, client };
}

test('the first node is overloaded → the second one prepares the statement once, and answers', async () => {
  const { a, b, client } = await open();
  a.answer = () => reportOverload;
  await expect(client.invoke(statements.set({}))).resolves.toBeUndefined();
  expect(a.log).toEqual(['PREPARE UPDATE t', 'EXECUTE UPDATE t']);
  expect(b.log).toEqual(['unknown UPDATE t', 'PREPARE UPDATE t', 'EXECUTE UPDATE t']);
  await expect(client.invoke(statements.set({}))).resolves.toBeUndefined();
  expect(b.log.slice(3)).toEqual(['unknown UPDATE t', 'EXECUTE UPDATE t']);
  a.answer = () => answerRow;
  await expect(client.invoke(statements.set({}))).resolves.toBeUndefined();
  expect(a.log.slice(2)).toEqual(['EXECUTE UPDATE t', 'EXECUTE UPDATE t']);
});

test('both nodes are overloaded → OVERLOADED, after one attempt at each', async () => {
  const { a, b, client } = await open();
  for (const node of [a, b]) node.answer = () => reportOverload;
  await expect(client.invoke(statements.set({}))).rejects.toMatchObject({
    code: 'OVERLOADED',
    retryable: true,
  });
  for (const node of [a, b])
    expect(node.log.filter((line) => line.startsWith('EXECUTE'))).toHaveLength(1);
});

test('the second node forgets its statement → prepared there by another text, and the first node keeps its own', async () => {
  const { a, b, client } = await open();
  a.answer = () => reportOverload;
  await client.invokeStrong(statements.read({}));
  b.log.length = 0;
  b.known.clear();
  await expect(client.invokeStrong(statements.read({}))).resolves.toEqual([{ v: 'x' }]);
  expect(b.log).toEqual([
    'unknown SELECT v',
    'unknown SELECT v',
    'PREPARE SELECT v',
    'EXECUTE SELECT v',
  ]);
  expect(a.log).not.toContain('PREPARE SELECT v');
});

test('slow reads at a node that answers others → answered by the next node, and the connection stays', async () => {
  const { a, b, client } = await open({ requestTimeoutMs: 1_500 });
  let finish = (): void => {};
  const isWaiting = new Promise<void>((resolve) => {
    a.answer = (text) => {
      if (text.includes('slow')) return keepSilent;
      if (!text.includes('lwt')) return answerRow;
      return ({ stream }, peer) => {
        finish = () => peer.reply(stream, OPCODE.result, bodies.voidBody());
        resolve();
      };
    };
  });
  const connections = a.scripted.peers.length;
  const reads = Array.from({ length: 5 }, () => client.invokeStrong(statements.slow({})));
  // The write is on its way when the reads at the first node have timed out.
  await b.scripted.until(() => b.log.length > 0);
  const write = client.invoke(statements.compare({}));
  await isWaiting;
  expect(await Promise.all(reads)).toEqual(reads.map(() => [{ v: 'x' }]));
  finish();
  await expect(write).resolves.toBeUndefined();
  expect(a.scripted.peers).toHaveLength(connections);
  expect(a.scripted.peers.some(({ socket }) => socket.destroyed)).toBe(false);
});

test('a silent node → its connection is closed, and a new one is used', async () => {
  const { a, client } = await open({ requestTimeoutMs: 1_000 });
  await client.invokeStrong(statements.read({}));
  const connection = a.scripted.peers.at(-1);
  a.answer = () => keepSilent;
  a.isSilent = true;
  await expect(client.invokeStrong(statements.read({}))).resolves.toEqual([{ v: 'x' }]);
  await a.scripted.until(() => connection?.socket.destroyed === true);
  a.isSilent = false;
  a.answer = () => answerRow;
  a.log.length = 0;
  await expect
    .poll(() => client.invokeStrong(statements.read({})).then(() => a.log), { timeout: 10_000 })
    .toContain('EXECUTE SELECT v');
});
