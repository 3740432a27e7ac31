/** Sites compare their rows: which messages they send, and what they report. */
// @rule STO-39
import { describe, expect, test } from 'vitest';
import type { ComparedRows } from '../../../../../src/server/site/core/site-core.ts';
import { bank, bankService } from '../services.ts';
import { Sites, type Given, type Sent } from '../sites.ts';
import { siteAt } from '../../../../support/origins.ts';

const INTERVAL_MS = 100;
const [A, B, C] = [0, 1, 2];

/** Sites that compare up to three rows each 100 ms, and what they report of it. */
class ComparingSites extends Sites {
  readonly compared: (readonly [site: number, compared: ComparedRows])[];

  constructor(siteCount = 2, options: Given = {}) {
    const compared: (readonly [number, ComparedRows])[] = [];
    super(bankService(), siteCount, {
      comparisons: { intervalMs: INTERVAL_MS, maxRows: 3 },
      getOwnOptions: (site) => ({
        observer: { onRowsCompared: (rows) => void compared.push([site, rows]) },
      }),
      ...options,
    });
    this.compared = compared;
    this.settle();
  }

  deposit(site: number, ...accounts: readonly string[]): void {
    for (const account of accounts) this.submit(site, bank.deposit({ account, amount: 5 }));
  }

  /** Changes a row of a site behind its back. */
  damage(site: number, account: string): void {
    const stamp = { time: 1, site: siteAt(site), entry: siteAt(site), version: 1, seen: [] };
    const effect = { table: 'accounts', key: account, field: 'balance', action: 'add', value: 1 };
    this.machines[site]?.state.store.apply(effect, stamp);
  }

  get differing(): readonly (readonly [site: number, keys: readonly string[]])[] {
    return this.compared.flatMap(([site, { differing }]) =>
      differing.length === 0 ? [] : [[site, differing] as const],
    );
  }

  get needTicks(): boolean {
    return this.machines.some((machine) => machine?.needsTicks);
  }
}

const isAboutRows = ({ message }: Sent): boolean => message.kind.startsWith('rows.');
const isDigestTo =
  (site: number) =>
  ({ to, message }: Sent): boolean =>
    to === site && message.kind === 'rows.digest';

describe('sites that are the same', () => {
  test('each compares all rows with each other one, then rests until something changes', () => {
    const sites = new ComparingSites(3);
    sites.deposit(A, 'a', 'b', 'c', 'd', 'e');
    sites.pass(2000);
    expect(sites.differing).toEqual([]);
    for (const site of [A, B, C]) {
      const own = sites.compared.filter(([at]) => at === site).map(([, rows]) => rows);
      const passes = own.filter(({ isLast }) => isLast);
      expect(new Set(passes.map(({ peer }) => peer)).size).toBe(2);
      expect(own.reduce((sum, { rows }) => sum + rows, 0)).toBeGreaterThanOrEqual(10);
    }
    expect(sites.needTicks).toBe(false);
    const count = sites.compared.length;
    sites.pass(2000);
    expect(sites.compared).toHaveLength(count);
    sites.deposit(B, 'f');
    sites.pass(2000);
    expect(sites.compared.length).toBeGreaterThan(count);
    expect(sites.needTicks).toBe(false);
  });

  test('a site alone → compares nothing', () => {
    const sites = new ComparingSites(1);
    sites.deposit(A, 'a');
    sites.pass(1000);
    expect([sites.compared, sites.needTicks]).toEqual([[], false]);
  });

  test('rows that change while a comparison runs, at each of its steps → no report', () => {
    const sites = new ComparingSites();
    sites.deposit(A, 'a', 'b', 'c');
    sites.settle();
    for (let step = 0; step < 100; step += 1) {
      sites.tick();
      for (const kind of ['rows.request', 'rows.digest']) {
        // Each site writes a row after the other one has sent its part.
        sites.deposit(A, 'a');
        sites.deposit(B, 'b');
        sites.sync(A);
        sites.deliver(({ message }) => message.kind === kind);
      }
      sites.settle();
    }
    expect(sites.compared.length).toBeGreaterThan(5);
    expect(sites.differing).toEqual([]);
  });

  test('a peer that is behind → answers once it has what the other one has', () => {
    const sites = new ComparingSites();
    sites.deposit(A, 'a');
    sites.sync(A);
    sites.pass(0);
    sites.sent = [];
    sites.nowMs += INTERVAL_MS;
    for (let time = 0; time <= INTERVAL_MS; time += 10) {
      sites.tick();
      sites.deliver(isAboutRows);
    }
    expect(sites.compared.filter(([site]) => site === A)).toEqual([]);
    sites.pass(1000);
    expect(sites.compared.some(([site]) => site === A)).toBe(true);
    expect(sites.differing).toEqual([]);
  });

  test('more rows change in a range than are noted → it is left out this time', () => {
    const sites = new ComparingSites();
    sites.deposit(A, 'a', 'z');
    sites.settle();
    const isHeld = isDigestTo(A);
    while (!sites.sent.some(isHeld)) {
      sites.tick();
      sites.settle(isHeld);
    }
    sites.deposit(A, 'b', 'c', 'd', 'e');
    sites.settle(isHeld);
    const before = sites.compared.filter(([site]) => site === A).length;
    sites.settle();
    expect(sites.compared.filter(([site]) => site === A)).toHaveLength(before);
    sites.pass(2000);
    expect(sites.compared.filter(([site]) => site === A).length).toBeGreaterThan(before);
  });
});

describe('sites that do not answer', () => {
  test('a site that is away → the others compare with each other, and it is asked again', () => {
    const sites = new ComparingSites(3);
    sites.deposit(A, 'a');
    sites.settle();
    sites.crash(C);
    sites.pass(10_000);
    expect(new Set(sites.compared.map(([site]) => site))).toEqual(new Set([A, B]));
    expect(sites.needTicks).toBe(true);
    sites.start(C);
    sites.pass(15_000);
    expect(sites.compared.some(([site]) => site === C)).toBe(true);
    expect([sites.differing, sites.needTicks]).toEqual([[], false]);
  });

  test('a digest that arrives twice, or late → counts once, and only for its range', () => {
    const sites = new ComparingSites();
    sites.deposit(A, 'a', 'b', 'c', 'd');
    sites.settle();
    for (let round = 0; round < 40; round += 1) {
      sites.tick();
      sites.deposit(B, round % 2 === 0 ? 'a' : 'd');
      sites.sync(B);
      const again = sites.sent.filter(isAboutRows);
      sites.settle();
      sites.sent.push(...again);
      sites.settle();
    }
    expect(sites.differing).toEqual([]);
  });
});

describe('sites that have diverged', () => {
  test('a row that differs → both sites report it, with its key', () => {
    const sites = new ComparingSites();
    sites.deposit(A, 'a', 'b', 'c', 'd');
    sites.settle();
    sites.damage(B, 'b');
    sites.pass(2000);
    expect(new Set(sites.differing.map(([site]) => site))).toEqual(new Set([A, B]));
    expect(new Set(sites.differing.flatMap(([, keys]) => keys))).toEqual(new Set(['b']));
  });

  test('a row that only one site has → it is reported', () => {
    const sites = new ComparingSites();
    sites.deposit(A, 'a');
    sites.settle();
    sites.damage(B, 'x');
    sites.damage(A, '0');
    sites.pass(2000);
    expect(new Set(sites.differing.flatMap(([, keys]) => keys))).toEqual(new Set(['x', '0']));
  });

  test('other rows of the range change meanwhile → the row is reported all the same', () => {
    const sites = new ComparingSites();
    sites.deposit(A, 'a', 'b');
    sites.settle();
    sites.damage(B, 'b');
    for (let round = 0; round < 200; round += 1) {
      sites.tick();
      sites.deposit(A, 'a');
      sites.settle();
    }
    expect(new Set(sites.differing.flatMap(([, keys]) => keys))).toEqual(new Set(['b']));
  });
});

test('a table that the other site does not have yet → both have no rows in it', () => {
  const sites = new ComparingSites();
  const vector = [...(sites.machines[A]?.state.stable ?? [])];
  const envelope = {
    deployment: 'test',
    rules: 1,
    from: { site: siteAt(B), partition: 0 },
    to: { site: siteAt(A), partition: 0 },
    term: 2,
    message: {
      kind: 'rows.request',
      range: { table: 'later', from: 'a' },
      seen: vector,
      isDetailed: true,
    },
  } as const;
  sites.machines[A]?.receive(envelope, sites.nowMs);
  const [answer] = sites.machines[A]?.takeReady().envelopes ?? [];
  expect(answer?.message).toEqual({
    kind: 'rows.digest',
    range: { table: 'later', from: 'a' },
    at: vector,
    sum: 0,
    rows: [],
  });
});
