/** The Valkey binding on a real primary and its replicas. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { ask } from '../../../engines/redis/ask.ts';
import { valkey, type ValkeyOptions } from '../../../src/bindings/valkey/index.ts';
import { createClient } from '../../../src/correctable/client/client.ts';
import { get, getMany, put, remove } from '../../../src/operations/index.ts';
import { runConformance } from '../../support/run-conformance.ts';
import { portOf, untilCaughtUp, withValkeyReplicas } from '../support/valkey-replicas.ts';

const TOKEN_KEY = 'a secret of all processes';

for (const server of ['redis', 'valkey'] as const) {
  describe(server, () => {
    const it = withValkeyReplicas(server);

    function openBinding(options: Partial<ValkeyOptions> = {}) {
      const { primary, replicas } = it.sites;
      return valkey({ primary, replicas, tokenKey: TOKEN_KEY, ...options });
    }

    function open(options: Partial<ValkeyOptions> = {}) {
      const binding = openBinding(options);
      onTestFinished(() => binding.close());
      return { binding, client: createClient(binding, { timeoutMs: 20_000 }) };
    }

    type Opened = ReturnType<typeof open>;

    async function collect(
      { client }: Pick<Opened, 'client'>,
      key: string,
      options = {},
    ): Promise<unknown[]> {
      const views: unknown[] = [];
      for await (const { level, value } of client.invoke(get(key), options))
        views.push([level, value]);
      return views;
    }

    let run = 0;
    runConformance({
      name: server,
      async createBinding() {
        run += 1;
        const prefix = `conformance ${run}:`;
        return {
          binding: openBinding({ prefix }),
          secondBinding: async () => openBinding({ prefix }),
        };
      },
      write: put('k', { n: 1 }),
      read: get('k'),
      expected: { n: 1 },
      weakLevelFails: {
        'are down': async () => ({
          binding: openBinding({ prefix: 'down:', replicas: ['127.0.0.1:9'] }),
        }),
      },
      async pausedWeakLevel() {
        const { sites } = it;
        const binding = openBinding({ prefix: 'paused:' });
        const before = createClient(openBinding({ prefix: 'paused:' }));
        await before.invoke(remove('k'));
        await before.close();
        await sites.resume();
        sites.hold();
        return { binding, resume: () => sites.resume(), release: () => sites.resume() };
      },
    });

    test('values, lists of keys, and values that expire', async () => {
      const { client } = open();
      await client.invoke(put('a', [1, { b: null }]));
      expect(await client.invoke(getMany(['a', 'none']))).toEqual([[1, { b: null }], undefined]);
      await client.invoke(put('brief', 1, { ttlMs: 50 }));
      await expect.poll(() => client.invokeStrong(get('brief'))).toBeUndefined();
      await client.invoke(remove('a'));
      expect(await client.invokeStrong(get('a'))).toBeUndefined();
      await expect(client.invoke(put('date', new Date()))).rejects.toMatchObject({
        code: 'INVALID_VALUE',
      });
    });

    // @rule REPL-5
    test('a session does not go back to a stale replica, also in another process', async () => {
      const opened = open();
      const session = opened.client.session();
      it.sites.hold();
      onTestFinished(() => it.sites.resume());
      await opened.client.invoke(put('mine', 1), { session });
      expect(await opened.client.invokeWeak(get('mine'))).toBeUndefined();
      const other = open();
      const there = other.client.session({ tokens: session.tokens });
      expect(await collect(other, 'mine', { session: there })).toEqual([['primary', 1]]);
      const before = other.binding.stats.behindSession;
      // It waits for the replica, and then asks the primary. A read of both may end without the
      // replica.
      expect(await other.client.invokeWeak(get('mine'), { session: there })).toBe(1);
      expect(other.binding.stats.behindSession).toBe(before + 1);
      await it.sites.resume();
      expect(await other.client.invokeWeak(get('mine'), { session: there })).toBe(1);
    });

    // @rule REPL-4
    test('a write waits for replicas, and is UNKNOWN if they do not acknowledge it', async () => {
      const { client } = open({ waitForReplicas: 2, waitTimeoutMs: 100 });
      await expect
        .poll(() =>
          client.invoke(put('copies', 1)).then(
            () => 'made',
            () => 'unknown',
          ),
        )
        .toBe('made');
      it.sites.hold();
      onTestFinished(() => it.sites.resume());
      await expect(client.invoke(put('copies', 2))).rejects.toMatchObject({ code: 'UNKNOWN' });
      expect(await client.invokeStrong(get('copies'))).toBe(2);
    });

    // @rule REPL-4
    test('a primary that is a replica refuses writes, and one that is down gets none', async () => {
      const wrong = open({ primary: it.sites.replicas[0]! });
      await expect(wrong.client.invoke(put('wrong', 1))).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
      const down = open({ primary: '127.0.0.1:9' });
      await expect(down.client.invoke(put('down', 1))).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
      expect(await down.client.invokeWeak(get('none'))).toBeUndefined();
    });

    // @rule REPL-10
    test('tokens hold over a promotion without a loss', async () => {
      const { primary, replicas } = it.sites;
      const [promoted = '', other = ''] = replicas;
      const before = open();
      const session = before.client.session();
      await before.client.invoke(put('promotion', 1), { session });
      await it.sites.resume();
      await ask(portOf(promoted), 'REPLICAOF', 'NO', 'ONE');
      await ask(portOf(other), 'REPLICAOF', '127.0.0.1', portOf(promoted));
      await untilCaughtUp(other, promoted);
      const after = open({ primary: promoted, replicas: [other] });
      const going = after.client.session({ tokens: session.tokens });
      expect(await after.client.invokeWeak(get('promotion'), { session: going })).toBe(1);
      expect(after.binding.stats).toMatchObject({ replicaViews: 1, behindSession: 0 });

      // What only the old primary got after that is lost: a session that has seen it starts again.
      const split = before.client.session();
      await before.client.invoke(put('promotion', 2), { session: split });
      const lost = after.client.session({ tokens: split.tokens });
      expect(await collect(after, 'promotion', { session: lost })).toEqual([['primary', 1]]);
      expect(primary).not.toBe(promoted);
    });
  });
}
