/**
 * Each checker of a round refuses a history that is wrong, and accepts the same one without the
 * fault.
 */
import { describe, expect, test } from 'vitest';
import { CHECKS, checkRound } from '../../chaos/check-round.ts';
import type { Overview } from '../../chaos/contract.ts';
import { NOT_MADE, overview, RoundBuilder, UNKNOWN } from './build.ts';

function faultsOf(check: string, round: RoundBuilder): readonly string[] {
  return CHECKS[check]?.(round.evidence) ?? ['no such checker'];
}

const none: readonly string[] = [];

describe('outcomes', () => {
  test('accepts the codes of sites that fail', () => {
    const round = new RoundBuilder()
      .deposit('a', 0, UNKNOWN)
      .deposit('b', 20, NOT_MADE)
      .deposit('c', 40);
    expect(faultsOf('outcomes', round)).toEqual(none);
  });

  test('refuses a call without an answer, and a code that no failure explains', () => {
    const round = new RoundBuilder()
      .deposit('a', 0, { isOpen: true })
      .deposit('b', 20, { outcome: 'FINAL_FAILED' });
    expect(faultsOf('outcomes', round)).toEqual([
      'rich: deposit of s at 0 ms was never answered',
      'rich: deposit of s at 20 ms ended with FINAL_FAILED',
    ]);
  });
});

describe('exactly once', () => {
  const made = (...ids: string[]): RoundBuilder => {
    const round = new RoundBuilder();
    for (const [n, id] of ids.entries()) round.deposit(id, n * 20);
    return round;
  };

  test('accepts an unknown update that is there, and one that is not', () => {
    const round = made('a').deposit('b', 100, UNKNOWN).deposit('c', 120, UNKNOWN);
    expect(faultsOf('exactly once', round.settled(overview({ ids: ['a', 'b'] })))).toEqual(none);
  });

  test('refuses an acknowledged update that is missing', () => {
    const faults = faultsOf('exactly once', made('a', 'b').settled(overview({ ids: ['b'] })));
    expect(faults).toEqual(['site0 in the end: "a" is missing, acknowledged to s at 10 ms']);
  });

  test('refuses an update that is there twice', () => {
    const faults = faultsOf('exactly once', made('a').settled(overview({ ids: ['a', 'a'] })));
    expect(faults).toEqual(['site0 in the end: has "a" twice']);
  });

  test('refuses an update that was reported not to be made', () => {
    const round = new RoundBuilder().deposit('a', 0, NOT_MADE).settled(overview({ ids: ['a'] }));
    expect(faultsOf('exactly once', round)).toEqual([
      'site0 in the end: has "a", reported not to be made (UNAVAILABLE)',
    ]);
  });

  test('accepts it if another attempt of the same name was acknowledged', () => {
    const round = new RoundBuilder()
      .deposit('a', 0, { ...NOT_MADE, operationId: 'x' })
      .deposit('a', 20, { operationId: 'x' })
      .settled(overview({ ids: ['a'] }));
    expect(faultsOf('exactly once', round)).toEqual(none);
  });

  test('refuses an update that no user submitted', () => {
    const faults = faultsOf('exactly once', made().look(overview({ ids: ['z'] }), 50));
    expect(faults[0]).toBe('s at 60 ms, strong: has "z", which no user submitted');
  });

  test('refuses a balance below zero, and one that its payments do not explain', () => {
    const below = overview({ accounts: [{ balance: -1, ids: [] }] });
    expect(faultsOf('exactly once', made().settled(below))).toEqual([
      'site0 in the end: rich has a balance of -1',
      'site0 in the end: rich has a balance of -1, and its payments add up to 0',
    ]);
  });

  test('refuses more sales than there are seats', () => {
    const round = new RoundBuilder();
    for (const [n, id] of ['a', 'b', 'c'].entries())
      round.call('sell', 'gala', n * 20, { input: id, output: true });
    const sold = overview({ halls: [{ left: 0, sold: ['a', 'b', 'c'] }] });
    expect(faultsOf('exactly once', round.settled(sold))[0]).toBe(
      'site0 in the end: gala is oversold: 3 of 2 seats',
    );
  });

  test('refuses a sale after "sold out"', () => {
    const round = new RoundBuilder()
      .call('sell', 'gala', 0, { input: 'a', output: false })
      .call('sell', 'gala', 20, { input: 'b', output: true });
    expect(faultsOf('exactly once', round)).toEqual([
      'gala: "b" was sold, and "a" was answered before that nothing is left',
    ]);
  });

  test('refuses a strong view without an acknowledged red update', () => {
    const round = made('a').call('withdraw', 'rich', 20, {
      input: { id: 'w', amount: 1 },
      output: true,
    });
    expect(faultsOf('exactly once', round.look(overview({ ids: ['a'] }), 50))).toEqual([
      's at 50 ms: the strong view lacks "w"',
    ]);
  });

  test('excuses what a site alone had when it lost its directory, and nothing else', () => {
    const lossOf = (site: string): RoundBuilder =>
      new RoundBuilder().deposit('a', 100, { site }).lost('site1', 50, 200).settled(overview());
    expect(faultsOf('exactly once', lossOf('site1'))).toEqual(none);
    expect(faultsOf('exactly once', lossOf('site0'))).toHaveLength(1);
    const before = new RoundBuilder()
      .deposit('a', 0, { site: 'site1' })
      .lost('site1', 50, 200)
      .settled(overview());
    expect(faultsOf('exactly once', before)).toHaveLength(1);
  });
});

test('repeats: two answers to one operation are refused', () => {
  const repeated = (second: boolean): RoundBuilder =>
    new RoundBuilder()
      .call('withdraw', 'rich', 0, {
        operationId: 'x',
        input: { id: 'w', amount: 1 },
        output: true,
      })
      .call('withdraw', 'rich', 20, {
        operationId: 'x',
        input: { id: 'w', amount: 1 },
        output: second,
      });
  expect(faultsOf('repeats', repeated(true))).toEqual(none);
  expect(faultsOf('repeats', repeated(false))).toEqual([
    'rich: withdraw "x" was answered true and false',
  ]);
});

test('queues: a ticket sold twice is refused', () => {
  const sold = (second: string): RoundBuilder =>
    new RoundBuilder()
      .call('enqueue', 'concert', 0, { input: 'a' })
      .call('enqueue', 'concert', 20, { input: 'b' })
      .call('dequeue', 'concert', 40, { output: { item: 'a' } })
      .call('dequeue', 'concert', 60, { output: { item: second } });
  expect(faultsOf('queues', sold('b'))).toEqual(none);
  expect(faultsOf('queues', sold('a'))).toContain(
    'concert: "a" was handed out twice: to s at 50 ms and to s at 70 ms',
  );
});

describe('red registers', () => {
  test('refuses a read of what was overwritten', () => {
    const read = (value: string): RoundBuilder =>
      new RoundBuilder()
        .call('put', 'v1', 0, { input: 'a' })
        .call('put', 'v1', 20, { input: 'b' })
        .call('get', 'v1', 40, { output: value });
    expect(faultsOf('red registers', read('b'))).toEqual(none);
    expect(faultsOf('red registers', read('a'))).toHaveLength(1);
  });

  test('refuses two swaps that both replaced one value', () => {
    const swapped = (before: string): RoundBuilder =>
      new RoundBuilder()
        .call('put', 'v1', 0, { input: 'a' })
        .call('swap', 'v1', 20, { input: 'b', output: 'a', lastsMs: 100 })
        .call('swap', 'v1', 30, { input: 'c', output: before, lastsMs: 100, session: 't' });
    expect(faultsOf('red registers', swapped('b'))).toEqual(none);
    expect(faultsOf('red registers', swapped('a'))).toEqual([
      'v1: no order of 3 operations explains more than 2 of them',
    ]);
  });

  test('refuses sites that end with another value', () => {
    const round = new RoundBuilder().call('put', 'v1', 0, { input: 'a' });
    expect(faultsOf('red registers', round.settled(overview({ values: [null] })))).toHaveLength(1);
  });
});

describe('causal registers', () => {
  const write = (
    round: RoundBuilder,
    key: string,
    value: string,
    atMs: number,
    session: string,
  ): RoundBuilder => round.call('write', key, atMs, { input: value, session, level: 'causal' });
  const read = (
    round: RoundBuilder,
    key: string,
    value: string | null,
    atMs: number,
    session: string,
  ): RoundBuilder => round.call('read', key, atMs, { output: value, session, level: 'causal' });

  test('refuses a session that does not see its own write', () => {
    const round = (value: string | null): RoundBuilder =>
      read(write(new RoundBuilder(), 'p1', 'a', 0, 's'), 'p1', value, 20, 's');
    expect(faultsOf('causal registers', round('a'))).toEqual(none);
    expect(faultsOf('causal registers', round(null))).toEqual([
      'p1: s read "null" at 20 ms, and its session knew the later "a"',
    ]);
  });

  test('refuses a session that goes back', () => {
    const written = (): RoundBuilder =>
      write(write(new RoundBuilder(), 'p1', 'a', 0, 's'), 'p1', 'b', 20, 's');
    const round = (first: string, second: string): RoundBuilder =>
      read(read(written(), 'p1', first, 40, 't'), 'p1', second, 60, 't');
    expect(faultsOf('causal registers', round('a', 'b'))).toEqual(none);
    expect(faultsOf('causal registers', round('b', 'a'))).toHaveLength(1);
  });

  test('refuses an effect without its cause, over two sessions and two keys', () => {
    const withEffect = (): RoundBuilder => {
      const caused = read(write(new RoundBuilder(), 'p1', 'cause', 0, 's'), 'p1', 'cause', 20, 't');
      return read(write(caused, 'p2', 'effect', 40, 't'), 'p2', 'effect', 60, 'u');
    };
    expect(faultsOf('causal registers', read(withEffect(), 'p1', 'cause', 80, 'u'))).toEqual(none);
    expect(faultsOf('causal registers', read(withEffect(), 'p1', null, 80, 'u'))).toHaveLength(1);
    expect(faultsOf('causal registers', read(withEffect(), 'p1', null, 80, 'v'))).toEqual(none);
  });

  test('accepts concurrent writes in either order', () => {
    const written = write(write(new RoundBuilder(), 'p1', 'a', 0, 's'), 'p1', 'b', 0, 't');
    const round = read(read(written, 'p1', 'b', 20, 'u'), 'p1', 'a', 40, 'u');
    expect(faultsOf('causal registers', round)).toEqual(none);
  });

  test('refuses a value that was reported not to be written', () => {
    const round = new RoundBuilder().call('write', 'p1', 0, { input: 'a', ...NOT_MADE });
    expect(faultsOf('causal registers', read(round, 'p1', 'a', 20, 't'))).toHaveLength(1);
  });
});

describe('causal views', () => {
  const shown = (...ids: string[]): Overview => overview({ ids });

  test('refuses a session that does not see what it has seen', () => {
    const round = (second: Overview): RoundBuilder =>
      new RoundBuilder()
        .deposit('a', 0)
        .look(shown('a'), 20, { session: 't' })
        .look(second, 40, { session: 't' });
    expect(faultsOf('causal views', round(shown('a')))).toEqual(none);
    expect(faultsOf('causal views', round(shown()))).toHaveLength(1);
  });

  test('refuses a view with an update and without its cause', () => {
    const round = (view: Overview): RoundBuilder =>
      new RoundBuilder().deposit('a', 0).deposit('b', 20).look(view, 40, { session: 't' });
    expect(faultsOf('causal views', round(shown('a', 'b')))).toEqual(none);
    expect(faultsOf('causal views', round(shown('b')))).toHaveLength(1);
  });
});

describe('convergence', () => {
  test('refuses sites that differ, a site that does not answer, and a round without an end', () => {
    const faults = (...overviews: readonly (Overview | null)[]): readonly string[] =>
      faultsOf('convergence', new RoundBuilder().settled(...overviews));
    expect(faults(overview(), overview())).toEqual(none);
    expect(faults(overview(), overview({ ids: ['a'] }))[0]).toMatch(
      /^sites differ in the end: site0 .* and site1 /,
    );
    expect(faults(overview(), null)).toEqual(['site1 does not answer']);
    expect(faults()).toEqual(['the round did not come to its end']);
  });
});

test('a round is refused with the name of the checker', () => {
  const round = new RoundBuilder().deposit('a', 0).settled(overview(), overview());
  expect(checkRound(round.evidence)).toEqual([
    'exactly once: site0 in the end: "a" is missing, acknowledged to s at 10 ms',
    'exactly once: site1 in the end: "a" is missing, acknowledged to s at 10 ms',
  ]);
});
