/** Sessions of a store that notices when its primary has lost something. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { http } from '../../../../src/bindings/http/index.ts';
import { replicas, type ReplicasAlarm } from '../../../../src/bindings/replicas/index.ts';
import { defineContract, keyValueOperations } from '../../../../src/contract/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { httpHandler } from '../../../../src/http/index.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { ReplicatedMemory, type LogPosition } from '../../../support/replicated-memory.ts';

/** Its newest primary knows where its part of the log began. */
class NoticingMemory extends ReplicatedMemory {
  #began = 0;

  override promote(name: string): void {
    super.promote(name);
    this.#began = this.position.at;
  }

  hasLost(have: LogPosition, need: LogPosition): boolean {
    return have.epoch === need.epoch ? have.at < need.at : need.at > this.#began;
  }
}

function open() {
  const store = new NoticingMemory();
  const alarms: ReplicasAlarm[] = [];
  const binding = replicas(store, {
    tokenKey: 'a secret of all processes',
    onAlarm: (alarm) => alarms.push(alarm),
  });
  return { store, client: createClient(binding), alarms };
}

// @rule REPL-16
test('after a failover that has lost what a session has seen, all its views are marked, also elsewhere', async () => {
  const { store, client, alarms } = open();
  const session = client.session();
  await client.invoke(put('k', 1), { session });
  store.isFollowing = false;
  await client.invoke(put('k', 2), { session });
  store.promote('near');
  store.catchUp();
  store.isFollowing = true;

  const moved = client.session({ tokens: session.tokens });
  for (const at of [session, session, moved])
    expect(await client.invoke(get('k'), { session: at }).settle()).toMatchObject({
      value: 1,
      regressed: true,
    });
  const later = client.session({ tokens: moved.tokens });
  expect(await client.invoke(put('k', 3), { session: later }).settle()).toMatchObject({
    regressed: true,
  });
  expect(await client.invoke(get('k'), { session: client.session() }).settle()).not.toHaveProperty(
    'regressed',
  );
  expect(alarms).toMatchObject([{ code: 'lost-writes' }]);
});

// @rule REPL-16
test('a write after the failover notices the loss as well', async () => {
  const { store, client } = open();
  const session = client.session();
  store.isFollowing = false;
  await client.invoke(put('k', 1), { session });
  store.promote('near');
  await client.invoke(put('other', 1), { session });
  expect(await client.invoke(get('k'), { session }).settle()).toMatchObject({
    value: undefined,
    regressed: true,
  });
});

// @rule REPL-16
test('a failover that has lost nothing marks nothing', async () => {
  const { store, client, alarms } = open();
  const session = client.session();
  await client.invoke(put('k', 1), { session });
  store.promote('near');
  expect(await client.invoke(get('k'), { session }).settle()).not.toHaveProperty('regressed');
  expect(alarms).toEqual([]);
});

// @rule REPL-10
test('an answer of the old log that comes late does not lead the session back to it', async () => {
  const { store, client } = open();
  const session = client.session();
  await client.invoke(put('k', 1), { session });
  const read = store.read.bind(store);
  let answerOld = (): void => {};
  const isOld = new Promise<void>((resolve) => (answerOld = resolve));
  const old = store.position;
  store.read = async (...request) => {
    if (request[1] === 'primary') await isOld;
    return { ...(await read(...request)), position: old };
  };
  const late = client.invokeStrong(get('k'), { session });
  store.read = read;
  store.promote('near');
  await client.invoke(put('k', 2), { session });
  answerOld();
  await late;
  // The replica of the old log has what the late answer had, and not the write since then.
  const levels: string[] = [];
  for await (const { level, value } of client.invoke(get('k'), { session }))
    levels.push(`${level} ${String(value)}`);
  expect(levels).toEqual(['primary 2']);
});

// @rule REPL-16
test('the mark travels over HTTP, with the tokens of the session', async () => {
  const { store } = open();
  const values = defineContract('values', { ...keyValueOperations });
  const served = replicas(store, { tokenKey: 'a secret of all processes', onAlarm: () => {} });
  const handle = httpHandler(values, served, { onError: () => {} });
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const page = createClient(
    http(values, {
      url: `http://127.0.0.1:${port}/api`,
      levels: ['replica', 'primary'],
      hasSessions: true,
    }),
  );
  onTestFinished(() => page.close());
  const session = page.session();
  store.isFollowing = false;
  await page.invoke(values.put({ key: 'k', value: 1 }), { session });
  store.promote('near');
  for (let n = 0; n < 2; n += 1)
    expect(await page.invoke(values.get({ key: 'k' }), { session }).settle()).toMatchObject({
      regressed: true,
    });
});
