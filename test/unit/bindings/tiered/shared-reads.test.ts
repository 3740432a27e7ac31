/** Equal reads of the origin of a cache: those that wait share the next one. */
import { describe, expect, test } from 'vitest';
import { openCacheAside } from '../../../../src/bindings/tiered/cache-aside/cache-aside.ts';
import { tiered, type Tier, type TierContext } from '../../../../src/bindings/tiered/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import type { CorrectableError } from '../../../../src/correctable/errors.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { get } from '../../../../src/operations/index.ts';
import { withPrincipal } from '../../../../src/server/index.ts';
import { virtualClock } from '../../../../src/testing/virtual-clock.ts';
import { settle, SharedCache } from './set-up.ts';

const LEVELS = ['cache', 'origin'] as const;

const codeOf = (error: unknown): unknown => (error as CorrectableError).code;
const messageOfCause = (error: unknown): unknown =>
  ((error as CorrectableError).cause as Error).message;

describe('equal reads at once', () => {
  /** Holds each read of the origin until the test answers it. */
  function openHeld() {
    const reads: {
      answer: (value: unknown) => void;
      fail: (error: unknown) => void;
      context: TierContext;
    }[] = [];
    const origin: Tier = ({ access }, context) =>
      access === 'write'
        ? undefined
        : new Promise((answer, fail) => reads.push({ answer, fail, context }));
    const cache = new SharedCache();
    const clock = virtualClock(1_000_000);
    const options = { ...cache.functions, ttlMs: 60_000, onError: () => {}, origin };
    const tiers = openCacheAside(options, clock);
    return {
      reads,
      cache,
      clock,
      tiers,
      client: createClient(tiered(LEVELS, tiers, { onError: () => {} }), { clock }),
    };
  }

  // @rule TIER-12
  test('a hundred reads are two of the origin, and fill the cache', async () => {
    const { reads, client, cache } = openHeld();
    const all = Array.from({ length: 100 }, () => client.invoke(get('k')));
    await settle();
    expect(reads).toHaveLength(1);
    reads[0]!.answer('first');
    expect(await all[0]).toBe('first');
    await settle();
    expect(reads).toHaveLength(2);
    reads[1]!.answer('second');
    expect(new Set(await Promise.all(all.slice(1)))).toEqual(new Set(['second']));
    await settle();
    expect(cache.texts.get('k')).toContain('second');
  });

  // @rule TIER-12
  test('a read does not get the answer of one that began before it', async () => {
    const { reads, client } = openHeld();
    const early = client.invokeStrong(get('k'));
    await settle(); // Another process writes now, and a caller learns of that.
    const late = client.invokeStrong(get('k'));
    await settle();
    reads[0]!.answer('before the write');
    expect(await early).toBe('before the write');
    await settle();
    reads[1]!.answer('after the write');
    expect(await late).toBe('after the write');
  });

  // @rule TIER-12
  test('other arguments, principals and levels are read apart', async () => {
    const { reads, client, tiers } = openHeld();
    const read = (args: object): Operation => ({ name: 'page', args, access: 'read', key: 'k' });
    const as = (id: string) => createClient(withPrincipal(tiered(LEVELS, tiers), { id }));
    const other = createClient(
      tiered(['cache', 'database'], { cache: tiers.cache, database: tiers.origin }),
    );
    const all = [
      client.invoke(read({ page: 1 })),
      client.invoke(read({ page: 2 })),
      as('ada').invoke(read({ page: 1 })),
      as('bob').invoke(read({ page: 1 })),
      other.invoke(read({ page: 1 })),
    ];
    await settle();
    expect(reads.map(({ context }) => `${context.level} ${context.principal?.id ?? ''}`)).toEqual([
      'origin ',
      'origin ',
      'origin ada',
      'origin bob',
      'database ',
    ]);
    reads.forEach(({ answer }, n) => answer(n));
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
  });

  // @rule TIER-12
  test('a caller that leaves does not cancel the read of others, and the last one does', async () => {
    const { reads, client } = openHeld();
    const controllers = [0, 1, 2].map(() => new AbortController());
    const first = client.invoke(get('k'));
    await settle();
    const others = controllers.map(({ signal }) =>
      client.invoke(get('k'), { signal }).catch(codeOf),
    );
    await settle();
    controllers[0]!.abort();
    reads[0]!.answer('first');
    await first;
    await settle();
    expect(reads).toHaveLength(2);
    const { signal } = reads[1]!.context;
    controllers[1]!.abort();
    expect(signal.aborted).toBe(false);
    reads[1]!.answer('second');
    expect(await Promise.all(others)).toEqual(['ABORTED', 'ABORTED', 'second']);

    const controller = new AbortController();
    const last = ['a', 'b', 'c'].map((_, n) =>
      client.invoke(get('k'), n === 0 ? {} : { signal: controller.signal }).catch(codeOf),
    );
    await settle();
    reads[2]!.answer('third');
    await last[0];
    await settle();
    controller.abort();
    expect(reads[3]!.context.signal.aborted).toBe(true);
    expect(await Promise.all(last)).toEqual(['third', 'ABORTED', 'ABORTED']);
  });

  test('if all callers leave while they wait, the origin is not asked', async () => {
    const { reads, client } = openHeld();
    const first = client.invoke(get('k'));
    await settle();
    const controller = new AbortController();
    const left = client.invoke(get('k'), { signal: controller.signal }).catch(codeOf);
    await settle();
    controller.abort();
    reads[0]!.answer('first');
    await first;
    expect(await left).toBe('ABORTED');
    await settle();
    const later = client.invoke(get('k'));
    await settle();
    expect(reads).toHaveLength(2);
    reads[1]!.answer('second');
    expect(await later).toBe('second');
  });

  // @rule TIER-12
  test('a failure is shared, and not cached', async () => {
    const { reads, client, cache } = openHeld();
    const first = client.invoke(get('k'));
    const all = [0, 1].map(() => client.invoke(get('k')).catch(messageOfCause));
    await settle();
    reads[0]!.answer('first');
    await first;
    await settle();
    cache.texts.clear();
    reads[1]!.fail(new Error('the database is down'));
    expect(await Promise.all(all)).toEqual(['the database is down', 'the database is down']);
    await settle();
    expect(cache.texts.size).toBe(0);
    const later = client.invoke(get('k'));
    await settle();
    reads[2]!.answer('back');
    expect(await later).toBe('back');
  });

  // @rule TIER-12
  test('an origin that does not answer one read holds later ones for a second', async () => {
    const { reads, client, clock } = openHeld();
    const stuck = client.invoke(get('k'));
    await settle();
    const later = client.invoke(get('k'));
    await settle();
    await clock.advance(999);
    expect(reads).toHaveLength(1);
    await clock.advance(1);
    expect(reads).toHaveLength(2);
    const third = client.invoke(get('k'));
    await settle();
    reads[0]!.answer('stuck');
    expect(await stuck).toBe('stuck');
    await settle();
    expect(reads).toHaveLength(2);
    reads[1]!.answer('later');
    expect(await later).toBe('later');
    await settle();
    reads[2]!.answer('third');
    expect(await third).toBe('third');
  });

  // @rule TIER-12
  test('a read waits for the one in flight for at most a quarter of what it has left', async () => {
    const { reads, client, clock } = openHeld();
    const views = Array.from({ length: 4 }, () => client.invoke(get('k'), { timeoutMs: 400 }));
    await settle();
    await clock.advance(99);
    expect(reads).toHaveLength(1);
    await clock.advance(1);
    await settle();
    expect(reads).toHaveLength(2);
    await clock.advance(200); // The origin takes 300 ms.
    reads[0]!.answer('first');
    await clock.advance(90);
    reads[1]!.answer('second');
    expect(await Promise.all(views)).toEqual(['first', 'second', 'second', 'second']);
  });

  // @rule TIER-12
  test('the reader that has the least time left begins the next read for all', async () => {
    const { reads, client, clock } = openHeld();
    void client.invoke(get('k'));
    await settle();
    const patient = client.invoke(get('k'));
    await settle();
    await clock.advance(100);
    const hasty = client.invoke(get('k'), { timeoutMs: 400 });
    await settle();
    const later = client.invoke(get('k'), { timeoutMs: 4_000 });
    await settle();
    await clock.advance(100);
    await settle();
    expect(reads).toHaveLength(2);
    reads[1]!.answer('shared');
    expect(await Promise.all([patient, hasty, later])).toEqual(['shared', 'shared', 'shared']);
    reads[0]!.answer('first');
  });
});
