/**
 * Sessions of tiers by their versions: no view is older than what the session has written or seen.
 */
import { describe, expect, test, vi } from 'vitest';
import { signedTokens } from '../../../../src/bindings/tiered/node.ts';
import {
  skipLevel,
  tiered,
  versionSessions,
  withDetails,
  type Tier,
  type TierContext,
  type VersionSessionsOptions,
} from '../../../../src/bindings/tiered/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { CorrectableError, isCorrectableError } from '../../../../src/correctable/errors.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { get, getMany, put, remove } from '../../../../src/operations/index.ts';
import { deferred, seen } from './set-up.ts';

const TOKEN_KEY = 'a secret of all processes';
const LEVELS = ['cache', 'origin'] as const;

interface Row {
  readonly value: unknown;
  readonly version?: unknown;
}

/** An origin, and a cache that has what the test puts there. */
class Rows {
  readonly origin = new Map<string, Row>();
  readonly cache = new Map<string, Row>();
  /** What the origin answers first, as an origin that is behind. */
  readonly late: Row[] = [];
  hasWriteVersions = true;
  originReads = 0;

  readonly tiers = {
    cache: ({ key = '' }: Operation): unknown => this.#show(this.cache.get(key), skipLevel),
    origin: (operation: Operation): unknown => {
      if (operation.access === 'write') return this.#write(operation);
      this.originReads += 1;
      return this.#show(this.late.shift() ?? this.origin.get(operation.key ?? ''), undefined);
    },
  };

  #show(row: Row | undefined, absent: unknown): unknown {
    return row === undefined ? absent : withDetails(row.value, { version: row.version });
  }

  #write({ name, key = '', args }: Operation): unknown {
    if (name === 'remove') return void this.origin.delete(key);
    const { value } = args as { value: unknown };
    const version = Number(this.origin.get(key)?.version ?? 0) + 1;
    this.origin.set(key, { value, version });
    return this.hasWriteVersions ? withDetails(undefined, { version }) : undefined;
  }
}

function open(options: VersionSessionsOptions = {}, rows = new Rows()) {
  const sessions = versionSessions({ tokens: signedTokens({ tokenKey: TOKEN_KEY }), ...options });
  const onError = vi.fn<(error: unknown) => void>();
  const client = createClient(tiered(LEVELS, rows.tiers, { sessions, onError }));
  return { rows, sessions, client, session: client.session(), onError };
}

describe('early views', () => {
  // @rule TIER-1
  test('a view that lacks a write of the session is skipped, and counted', async () => {
    const { rows, client, session, sessions } = open();
    rows.cache.set('k', { value: 'old', version: 0 });
    await client.invoke(put('k', 'new'), { session });
    expect(await seen(client.invoke(get('k'), { session }))).toEqual(['origin=new!']);
    expect(await seen(client.invoke(get('k')))).toEqual(['cache=old', 'origin=new!']);
    expect(sessions.stats).toEqual({ behindSession: 1, repeatedFinals: 0 });
    rows.cache.set('k', { value: 'new', version: 1 });
    expect(await seen(client.invoke(get('k'), { session }))).toEqual(['cache=new', 'origin=new!']);
  });

  // @rule TIER-1
  test('a view that is older than a view of the session is skipped', async () => {
    const { rows, client, session } = open();
    rows.cache.set('k', { value: 'newer', version: 5 });
    rows.origin.set('k', { value: 'newer', version: 5 });
    expect(await client.invokeWeak(get('k'), { session })).toBe('newer');
    rows.cache.set('k', { value: 'older', version: 4 });
    expect(await client.invokeWeak(get('k'), { session })).toBe('newer'); // by the origin
  });

  // @rule TIER-1
  test('a view without a version is skipped in a session', async () => {
    const { rows, client, session, sessions } = open();
    rows.cache.set('k', { value: 'unknown' });
    rows.origin.set('k', { value: 'known', version: 1 });
    expect(await seen(client.invoke(get('k'), { session }))).toEqual(['origin=known!']);
    expect(sessions.stats.behindSession).toBe(1);
  });

  test('levels between: a tier that is behind is replaced by the next one', async () => {
    const sessions = versionSessions();
    const version =
      (value: string, at: number): Tier =>
      () =>
        withDetails(value, { version: at });
    const tiers = { cache: version('c', 1), backup: version('b', 2), primary: version('p', 3) };
    const client = createClient(tiered(['cache', 'backup', 'primary'], tiers, { sessions }));
    const session = client.session();
    await client.invoke(get('x'), { session, levels: ['backup'] });
    expect(await seen(client.invoke(get('x'), { session }))).toEqual(['backup=b', 'primary=p!']);
    await client.invokeStrong(get('x'), { session });
    expect(await seen(client.invoke(get('x'), { session, levels: ['cache', 'backup'] }))).toEqual([
      'primary=p!',
    ]);
  });
});

describe('final views', () => {
  // @rule TIER-2
  test('an answer that is too old is asked for once more', async () => {
    const { rows, client, session, sessions } = open();
    await client.invoke(put('k', 'new'), { session });
    rows.late.push({ value: 'old', version: 0 });
    expect(await client.invoke(get('k'), { session })).toBe('new');
    expect(rows.originReads).toBe(2);
    expect(sessions.stats.repeatedFinals).toBe(1);
  });

  // @rule TIER-2
  test('an answer that is too old twice fails with REPLICA_BEHIND, which can be retried', async () => {
    const { rows, client, session } = open();
    await client.invoke(put('k', 'new'), { session });
    rows.late.push({ value: 'old', version: 0 }, { value: 'old', version: 0 });
    const error: unknown = await client
      .invoke(get('k'), { session })
      .catch((failure: unknown) => failure);
    expect(isCorrectableError(error, 'REPLICA_BEHIND') && error.retryable).toBe(true);
    expect(String(error)).toContain('the level "origin" is behind');
    expect(await client.invoke(get('k'), { session })).toBe('new');
  });

  // @rule TIER-2
  test('an answer that is older than the early view of the same read is too old', async () => {
    const { rows, client, session, sessions } = open();
    rows.cache.set('k', { value: 'new', version: 2 });
    rows.origin.set('k', { value: 'new', version: 2 });
    rows.late.push({ value: 'old', version: 1 });
    const client2 = createClient(tiered(LEVELS, rows.tiers, { sessions, mode: 'sequential' }));
    expect(await seen(client2.invoke(get('k'), { session: client2.session() }))).toEqual([
      'cache=new',
      'origin=new!',
    ]);
    expect(sessions.stats.repeatedFinals).toBe(1);
    expect(client.levels).toEqual(LEVELS);
    session.close();
  });

  // @rule TIER-2
  test('an early view that is newer than the final is not shown once the final is decided', async () => {
    const sessions = versionSessions();
    const answer = deferred<unknown>();
    const tiers = { cache: () => answer.promise, origin: () => withDetails('old', { version: 1 }) };
    const guarded = sessions.guard(get('k'), sessions.open('tiered', []), LEVELS, tiers);
    const context = { level: '', signal: new AbortController().signal } as TierContext;
    const early = guarded['cache']!(get('k'), context);
    await guarded['origin']!(get('k'), context); // It is not delivered yet.
    answer.resolve(withDetails('new', { version: 2 }));
    expect(await early).toBe(skipLevel);
    expect(sessions.stats.behindSession).toBe(0);
  });

  // @rule TIER-3
  test('after a write without a version, only the strongest level answers, once', async () => {
    const { rows, client, session } = open();
    rows.hasWriteVersions = false;
    rows.cache.set('k', { value: 'old', version: 0 });
    await client.invoke(put('k', 'new'), { session });
    expect(await seen(client.invoke(get('k'), { session }))).toEqual(['origin=new!']);
    rows.cache.set('k', { value: 'new', version: 1 });
    expect(await seen(client.invoke(get('k'), { session }))).toEqual(['cache=new', 'origin=new!']);
  });

  // @rule TIER-3
  test('a row that was deleted may begin at version 1 again', async () => {
    const { rows, client, session } = open();
    rows.origin.set('k', { value: 'first', version: 7 });
    await client.invoke(get('k'), { session });
    rows.origin.delete('k');
    rows.cache.set('k', { value: 'first', version: 7 });
    expect(await seen(client.invoke(get('k'), { session }))).toEqual([
      'cache=first',
      'origin=undefined!',
    ]);
    expect(await seen(client.invoke(get('k'), { session }))).toEqual(['origin=undefined!']);
    rows.origin.set('k', { value: 'second', version: 1 });
    expect(await client.invoke(get('k'), { session })).toBe('second');
  });
});

describe('a row that is deleted and created again, with versions from 1', () => {
  const lateRow = { value: 'first life', version: 5 };

  // @rule TIER-3
  test.each(['this session', 'another client'])(
    '%s removes it → the earlier row is not shown',
    async (remover) => {
      const { rows, client, session } = open();
      if (remover === 'this session') await client.invoke(remove('k'), { session });
      else expect(await client.invoke(get('k'), { session })).toBeUndefined();
      await client.invoke(put('k', 'second life'), { session });
      expect(await client.invoke(get('k'), { session })).toBe('second life');
      rows.cache.set('k', lateRow); // by a process that read it before
      for (const continued of [session, client.session({ tokens: session.tokens })]) {
        expect(await seen(client.invoke(get('k'), { session: continued }))).toEqual([
          'origin=second life!',
        ]);
        expect(await client.invokeStrong(get('k'), { session: continued })).toBe('second life');
      }
    },
  );

  // @rule TIER-3
  test('its own remove was made, and its answer is lost → the new row is read, not the earlier one', async () => {
    const { rows, sessions } = open();
    rows.origin.set('k', lateRow);
    const origin: Tier = async (operation) => {
      const result = rows.tiers.origin(operation);
      if (operation.name === 'remove') throw new CorrectableError('UNKNOWN', 'connection lost');
      return result;
    };
    const client = createClient(tiered(LEVELS, { cache: rows.tiers.cache, origin }, { sessions }));
    const own = client.session();
    await client.invoke(get('k'), { session: own });
    await expect(client.invoke(remove('k'), { session: own })).rejects.toMatchObject({
      code: 'UNKNOWN',
    });
    await client.invoke(put('k', 'second life'));
    rows.cache.set('k', lateRow);
    for (const session of [own, client.session({ tokens: own.tokens })])
      expect(await seen(client.invoke(get('k'), { session }))).toEqual(['origin=second life!']);
  });

  // @rule TIER-3
  test('a read in flight while it is removed → the new row is read', async () => {
    const { rows, sessions } = open();
    const first = deferred<unknown>();
    const answers: unknown[] = [first.promise];
    const origin: Tier = (operation) =>
      operation.access === 'read' && answers.length > 0
        ? answers.shift()
        : rows.tiers.origin(operation);
    const client = createClient(tiered(LEVELS, { cache: rows.tiers.cache, origin }, { sessions }));
    const own = client.session();
    const late = client.invokeStrong(get('k'), { session: own });
    await client.invoke(remove('k'), { session: own });
    first.resolve(withDetails('first life', { version: 5 }));
    expect(await late).toBe('first life');
    await client.invoke(put('k', 'second life'));
    expect(await client.invokeStrong(get('k'), { session: own })).toBe('second life');
  });

  // @rule TIER-3
  test('a token that has no room for the key → the earlier row is not shown', async () => {
    const { rows, client, session } = open();
    await client.invoke(remove('k'), { session });
    for (let n = 0; n < 50; n += 1)
      await client.invoke(put(`a key with a long name ${n}`, n), { session });
    await client.invoke(put('k', 'second life'));
    rows.cache.set('k', lateRow);
    const continued = client.session({ tokens: session.tokens });
    for (let n = 0; n < 2; n += 1)
      expect(await seen(client.invoke(get('k'), { session: continued }))).toEqual([
        'origin=second life!',
      ]);
  });

  // @rule TIER-3
  test('a version that survives the delete keeps early views', async () => {
    const { rows, client, session } = open();
    rows.origin.set('k', { value: undefined, version: 6 }); // deleted, and kept
    expect(await client.invoke(get('k'), { session })).toBeUndefined();
    await client.invoke(put('k', 'second life'), { session });
    rows.cache.set('k', lateRow);
    expect(await seen(client.invoke(get('k'), { session }))).toEqual(['origin=second life!']);
    rows.cache.set('k', { value: 'second life', version: 7 });
    expect(await seen(client.invoke(get('k'), { session }))).toEqual([
      'cache=second life',
      'origin=second life!',
    ]);
  });
});

describe('what a version belongs to', () => {
  // @rule TIER-4
  test('per key: a write of one key does not hide another one', async () => {
    const { rows, client, session } = open();
    rows.cache.set('other', { value: 'kept', version: 0 });
    rows.origin.set('other', { value: 'kept', version: 0 });
    await client.invoke(put('k', 'new'), { session });
    expect(await seen(client.invoke(get('other'), { session }))).toEqual([
      'cache=kept',
      'origin=kept!',
    ]);
  });

  // @rule TIER-4
  test('per store: a view of any key from before the write is too old', async () => {
    const { rows, client, session } = open({ per: 'store' });
    rows.cache.set('other', { value: 'kept', version: 0 });
    rows.origin.set('other', { value: 'kept', version: 2 });
    await client.invoke(put('k', 'new'), { session });
    expect(await seen(client.invoke(get('other'), { session }))).toEqual(['origin=kept!']);
  });

  // @rule TIER-4
  test('per key: a write without a key makes the strongest level answer next, for each key', async () => {
    const { rows, client, session } = open();
    for (const key of ['a', 'b']) {
      rows.cache.set(key, { value: key, version: 1 });
      rows.origin.set(key, { value: key, version: 1 });
    }
    await client.invoke(get('a'), { session });
    await client.invoke({ name: 'import', args: { value: 0 }, access: 'write' }, { session });
    for (const key of ['a', 'b']) {
      expect(await seen(client.invoke(get(key), { session }))).toEqual([`origin=${key}!`]);
      expect(await seen(client.invoke(get(key), { session }))).toEqual([
        `cache=${key}`,
        `origin=${key}!`,
      ]);
    }
  });

  // @rule TIER-4
  test('per key: a read of no key or of several has no early view in a session', async () => {
    const { rows, client, session } = open();
    for (const key of ['', 'a']) {
      rows.cache.set(key, { value: 'list', version: 3 });
      rows.origin.set(key, { value: 'list', version: 2 });
    }
    const list: Operation<unknown> = { name: 'list', args: {}, access: 'read' };
    for (const read of [list, getMany(['a', 'b'])])
      expect(await seen(client.invoke(read, { session }))).toEqual(['origin=list!']);
  });

  // @rule TIER-4
  test('per key: after a write of several keys, the strongest level answers next for each', async () => {
    const { rows, client, session } = open();
    for (const key of ['a', 'b', 'c']) {
      rows.cache.set(key, { value: key, version: 9 });
      rows.origin.set(key, { value: key, version: 9 });
    }
    await client.invoke(
      { name: 'putMany', args: { keys: ['a', 'b'], value: 0 }, access: 'write', key: 'x' },
      { session },
    );
    for (const key of ['a', 'b', 'c'])
      expect(await seen(client.invoke(get(key), { session }))).toHaveLength(key === 'c' ? 2 : 1);
  });
});

describe('versions', () => {
  test.each([
    ['bigints', 1n, 2n],
    ['dates', new Date(1), new Date(2)],
  ])('%s are compared by size, also in a token', async (_, older, newer) => {
    const { rows, client, session } = open();
    rows.cache.set('k', { value: 'old', version: older });
    rows.origin.set('k', { value: 'new', version: newer });
    await client.invokeStrong(get('k'), { session });
    for (const continued of [session, client.session({ tokens: session.tokens })]) {
      expect(await seen(client.invoke(get('k'), { session: continued }))).toEqual(['origin=new!']);
    }
  });

  // @rule TIER-6
  test('texts need a function: without it, a read in a session fails and names the fix', async () => {
    const { rows, client, session } = open();
    rows.origin.set('k', { value: 'new', version: '0/16B3748' });
    const error: unknown = await client
      .invoke(get('k'), { session })
      .catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: 'INVALID_VALUE', field: 'version' });
    expect(String(error)).toContain('pass "reached" to versionSessions');
    expect(await client.invoke(get('k'))).toBe('new');
  });

  // @rule TIER-6
  test('a write whose version cannot be compared is no failure', async () => {
    const origin: Tier = ({ access }) =>
      withDetails('v', { version: access === 'write' ? 'text' : 1 });
    const tiers = { cache: () => withDetails('c', { version: 1 }), origin };
    const client = createClient(tiered(LEVELS, tiers, { sessions: versionSessions() }));
    const session = client.session();
    await client.invoke(put('k', 1), { session });
    expect(await seen(client.invoke(get('k'), { session }))).toEqual(['origin=v!']);
  });

  test('reached: compares what has another order', async () => {
    const toNumber = (lsn: unknown): number => Number.parseInt(String(lsn).replace('/', ''), 16);
    const reached = vi.fn((have: unknown, need: unknown) => toNumber(have) >= toNumber(need));
    const { rows, client, session } = open({ per: 'store', reached });
    rows.cache.set('k', { value: 'old', version: '0/9' });
    rows.origin.set('k', { value: 'new', version: '0/10' });
    await client.invokeStrong(get('k'), { session });
    expect(await seen(client.invoke(get('k'), { session }))).toEqual(['origin=new!']);
    // A later view is dropped by the same order, and not by that of texts.
    expect(await seen(client.invoke(get('k')))).toEqual(['cache=old', 'origin=new!']);
    expect(reached).toHaveBeenCalled();
  });
});

describe('tokens', () => {
  // @rule TIER-5
  test.each(['key', 'store'] as const)(
    'per %s: a token carries a session to another process',
    async (per) => {
      const { rows, client, session } = open({ per });
      rows.cache.set('k', { value: 'old', version: 0 });
      await client.invoke(put('k', 'new'), { session });
      const other = open({ per }, rows).client;
      const there = other.session({ tokens: session.tokens });
      expect(await seen(other.invoke(get('k'), { session: there }))).toEqual(['origin=new!']);
      expect(await seen(other.invoke(get('k'), { session: other.session() }))).toEqual([
        'cache=old',
        'origin=new!',
      ]);
    },
  );

  // @rule TIER-5
  test('per key: a token has the latest keys. For the others, the strongest level answers first', async () => {
    const { rows, client, session } = open();
    for (let n = 0; n < 100; n += 1) {
      rows.cache.set(`key ${n}`, { value: n, version: 1 });
      rows.origin.set(`key ${n}`, { value: n, version: 1 });
      await client.invoke(get(`key ${n}`), { session });
    }
    const [token = ''] = session.tokens;
    expect(token.length).toBeLessThan(1_300);
    const other = open({}, rows).client;
    const there = other.session({ tokens: [token] });
    expect(await seen(other.invoke(get('key 99'), { session: there }))).toEqual([
      'cache=99',
      'origin=99!',
    ]);
    expect(await seen(other.invoke(get('key 0'), { session: there }))).toEqual(['origin=0!']);
    expect(await seen(other.invoke(get('key 0'), { session: there }))).toEqual([
      'cache=0',
      'origin=0!',
    ]);
  });

  // @rule TIER-5
  test('several tokens are one session', async () => {
    const { rows, client } = open();
    for (const key of ['a', 'b']) rows.cache.set(key, { value: 'old', version: 0 });
    const [first, second] = [client.session(), client.session()];
    await client.invoke(put('a', 'new'), { session: first });
    await client.invoke(put('b', 'new'), { session: second });
    const both = client.session({ tokens: [...first.tokens, ...second.tokens] });
    for (const key of ['a', 'b'])
      expect(await seen(client.invoke(get(key), { session: both }))).toEqual(['origin=new!']);
  });

  test('a token of another key, of another name or of other versions is refused', () => {
    const rows = new Rows();
    const [token = ''] = open({}, rows).session.tokens;
    const others = [
      open({ per: 'store' }, rows).client,
      open({ tokens: signedTokens({ tokenKey: 'another secret of all' }) }, rows).client,
    ];
    for (const client of others)
      expect(() => client.session({ tokens: [token] })).toThrow('not made by');
    const { client } = open({ tokens: signedTokens() }, rows);
    expect(() => client.session({ tokens: [token] })).toThrow('tokenKey');
  });

  test('without tokens, a session stays in its process', () => {
    const sessions = versionSessions();
    const client = createClient(tiered(LEVELS, new Rows().tiers, { sessions }));
    expect(client.session().tokens).toEqual([]);
    expect(() => client.session({ tokens: ['o0.x.y'] })).toThrow('signedTokens');
  });

  test('without sessions, a session is refused', () => {
    const client = createClient(tiered(LEVELS, new Rows().tiers));
    expect(() => client.session()).toThrow('has no sessions');
  });
});
