/** A binding is its connection, and what a store adds to that. */
import { expect, test } from 'vitest';
import { createRemoteBinding } from '../../../src/transport/remote-binding.ts';
import type { RemoteBindingParts, RemoteBinding } from '../../../src/transport/remote-binding.ts';
import { LEVELS, quietContext, readX, SinkDouble, type TestLevels } from '../../support/wire.ts';
import type { FakePlatform } from './fake-platform.ts';
import { start, startOpen } from './set-up.ts';

function bind(
  { connection: client, platform }: Awaited<ReturnType<typeof startOpen>>,
  more: Partial<RemoteBindingParts<TestLevels>> = {},
): { readonly binding: RemoteBinding<TestLevels>; readonly platform: FakePlatform } {
  const parts = { name: 'double', levels: LEVELS, client, hasSessions: true };
  return { binding: createRemoteBinding<TestLevels>({ ...parts, ...more }), platform };
}

test('the connection is lost, and the network is back → wake() connects at once', async () => {
  const { binding, platform } = bind(await startOpen());
  platform.socket.lose();
  expect([binding.connectionState, platform.sockets.length]).toEqual(['waiting', 1]);
  binding.wake();
  expect([binding.connectionState, platform.sockets.length]).toEqual(['connecting', 2]);
});

test('closed → closes the connection, and `ready` rejects', async () => {
  const { binding } = bind(start());
  await binding.close();
  expect(binding.connectionState).toBe('closed');
  await expect(binding.ready).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('submitted, and the contract has no such operation → it is not sent', async () => {
  const { binding, platform } = bind(await startOpen(), {
    contract: { name: 'shop', hash: '', operations: {} },
  });
  const submit = (): unknown =>
    binding.submitOperation(readX, ['weak'], new SinkDouble(), quietContext());
  expect(submit).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  platform.tick();
  expect([binding.supports(readX), platform.socket.rows('submit')]).toEqual([false, []]);
});

test.each([true, false])(
  'the store keeps sessions: %s → they can be opened just then, with the tokens of before',
  (hasSessions) => {
    const { binding } = bind(start(), { hasSessions });
    expect(binding.openSession?.(['a.token']).tokens).toEqual(
      hasSessions ? ['a.token'] : undefined,
    );
  },
);

test.each([[undefined], [() => 'ann']])(
  'the option `principal`: %s → the binding has the same',
  (principal) => {
    const { binding } = bind(start({ ...(principal && { principal }) }));
    expect(binding.principal?.()).toBe(principal?.());
    expect('principal' in binding).toBe(principal !== undefined);
  },
);
