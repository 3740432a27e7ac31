/** Sessions, as the client hands them to its binding. */
import { expect, test, vi } from 'vitest';
import type { BindingSession } from '../../../src/index.ts';
import { createClient } from '../../../src/index.ts';
import { get } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { LEVELS } from './support.ts';

interface Opened extends BindingSession {
  readonly continues: readonly string[] | undefined;
}

/** A client, and the sessions that its binding has opened for it. */
function setUp() {
  const opened: Opened[] = [];
  const openSession = (continues?: readonly string[]): Opened => {
    const session = { continues, tokens: ['ireland.1'], close: vi.fn() };
    opened.push(session);
    return session;
  };
  const binding = Object.assign(scriptedBinding(LEVELS), { openSession });
  return { binding, client: createClient(binding), opened };
}

const REFUSED = { code: 'INVALID_ARGUMENT', field: 'session' };

test('an operation in a session → the binding gets what it opened, and nothing of others', async () => {
  const { client, binding, opened } = setUp();
  const [item, other] = [client.session(), client.session()];
  for (const session of [item, other, undefined]) client.invoke(get('k'), { session });
  expect(binding.calls.map(({ context }) => context.session)).toEqual([
    opened[0],
    opened[1],
    undefined,
  ]);
  expect(binding.calls[0]!.context.session).toBe(opened[0]);
  expect(binding.calls[1]!.context.session).toBe(opened[1]);
  for (const call of binding.calls) call.view(1, 'strong');
});

test('a session that goes on with another → the binding gets its tokens', () => {
  const { client, opened } = setUp();
  const { tokens } = client.session();
  expect(tokens).toEqual(['ireland.1']);
  client.session({ tokens });
  expect(opened.map(({ continues }) => continues)).toEqual([undefined, ['ireland.1']]);
});

test('COR-14: a session of another client → INVALID_ARGUMENT, nothing sent', async () => {
  const { client, binding } = setUp();
  const foreign = setUp().client.session();
  await expect(client.invoke(get('k'), { session: foreign })).rejects.toMatchObject(REFUSED);
  expect(binding.calls).toEqual([]);
});

test('COR-14: a session that was closed, twice or by its scope → closed once, without tokens, and refused', async () => {
  const { client, binding, opened } = setUp();
  const session = client.session();
  session.close();
  session.close();
  session[Symbol.dispose]();
  expect(opened[0]!.close).toHaveBeenCalledOnce();
  expect(session.tokens).toEqual([]);
  await expect(client.invoke(get('k'), { session })).rejects.toMatchObject(REFUSED);
  expect(binding.calls).toEqual([]);
});
