/**
 * Exactly once across sites: the eight clauses of docs/spec/exactly-once.md, and the ten stories in
 * which a simpler rule fails, each of which must end well.
 */
// @rule RB-P1, RB-R8, RB-R9, RB-S1
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../../../src/server/service/tables.ts';
import { lane } from '../../../support/lane.ts';
import { Sites } from './sites.ts';

const args = z.object({ amount: z.number() });
const contract = defineContract('till', {
  add: { access: 'write', args, result: z.number() },
  take: { access: 'write', args, result: z.boolean() },
  order: { access: 'write', args, result: z.null() },
  total: { access: 'read', args: z.object({}), result: z.number() },
});
/** Makes the generator of `add` throw. */
let isBroken = false;

const service = defineService(contract, {
  tables: { tills: table({ total: counter() }) },
  shadowOperations: ({ tills }) => ({
    add: blue((value: { amount: number }) => [tills.row('one').total.add(value.amount)]),
    take: red((value: { amount: number }) => [tills.row('one').total.add(-value.amount)]),
  }),
  generators: {
    add: (value, { shadow, uniqueId }) => {
      if (isBroken) throw new Error('no');
      return shadow.add(value, Number(uniqueId().split('.').at(-1)));
    },
    // Red, or without effects.
    take: (value, { tables, shadow }) =>
      tables.tills.row('one').total < value.amount ? false : shadow.take(value, true),
    order: (value, { shadow }) => shadow.take({ amount: -value.amount }, null),
    total: (_, { tables }) => tables.tills.row('one').total,
  },
  alwaysRed: ['order'],
});

const [H, S, T] = [0, 1, 2] as const;
const add = (amount: number) => contract.add({ amount });
const take = (amount: number) => contract.take({ amount });
const total = contract.total({});

/** Sites with something in the till, everywhere. */
function stocked(amount = 100): Sites {
  const sites = new Sites(service);
  sites.submit(H, add(amount));
  sites.settle();
  return sites;
}

/** What brings blue operations to other sites. */
const streams = ({ message }: { readonly message: { readonly kind: string } }): boolean =>
  message.kind.startsWith('blue.');

function totals(sites: Sites): unknown[] {
  sites.pass(50);
  return [H, S, T].map((site) => sites.read(site, total));
}

describe('exactly once: clauses', () => {
  test('1 home: asked elsewhere with its home → one effect, the same answer', () => {
    const sites = new Sites(service);
    const first = sites.ask(H, add(5), { id: 'c/1' });
    sites.settle();
    const second = sites.ask(T, add(5), { id: 'c/1', hop: 1 });
    expect(totals(sites)).toEqual([5, 5, 5]);
    expect(second.value).toEqual(first.value);
  });

  test('2 hops: a reconnect to the same site keeps the hop → joins what is in flight', () => {
    const sites = new Sites(service);
    const both = [sites.ask(H, add(5), { id: 'c/1' }), sites.ask(H, add(5), { id: 'c/1' })];
    expect(totals(sites)).toEqual([5, 5, 5]);
    expect(both.map(({ value }) => value)).toEqual([0, 0]);
  });

  test('3 slots: an original that arrives after a claim → void, and its caller learns that the client has moved on', () => {
    const sites = new Sites(service);
    const moved = sites.ask(S, add(5), { id: 'c/1', hop: 1 });
    sites.settle();
    const original = sites.ask(H, add(5), { id: 'c/1' });
    expect(totals(sites)).toEqual([5, 5, 5]);
    expect([moved.value, original.code]).toEqual([0, 'ABORTED']);
  });

  test('3 slots: sent twice while it waits for its session → executed once, and both callers get the same result', () => {
    const sites = new Sites(service, 3, { sessionTimeoutMs: 1000 });
    sites.submit(T, add(1));
    sites.sync(T);
    const sessionVector = [...(sites.machines[T]?.state.stable ?? [])];
    const both = [1, 2].map(() => sites.ask(S, add(1), { id: 'c/1', home: S }, { sessionVector }));
    sites.settle();
    expect(totals(sites)).toEqual([2, 2, 2]);
    expect(both.map(({ value }) => value)).toEqual([0, 0]);
  });

  test('4 walk: a result from another log → delivered once what it depends on is visible', () => {
    const sites = new Sites(service);
    sites.ask(H, add(5), { id: 'c/1' });
    sites.sync(H);
    const retained = sites.sent.filter(streams);
    sites.sent = [];
    const moved = sites.ask(S, add(5), { id: 'c/1', hop: 1 });
    sites.settle();
    for (let ticks = 0; ticks < 5; ticks += 1) {
      sites.tick();
      sites.settle(streams);
    }
    expect(moved).toEqual({});
    sites.sent.push(...retained);
    sites.settle();
    expect([moved.value, sites.read(S, total)]).toEqual([0, 5]);
  });

  test('4 walk: what the answer of another log depends on does not come → UNKNOWN, once it has been waited for', () => {
    const sites = new Sites(service);
    sites.ask(H, add(5), { id: 'c/1' });
    sites.sync(H);
    const moved = sites.ask(S, add(5), { id: 'c/1', hop: 1 });
    for (let ticks = 0; ticks < 12; ticks += 1) {
      sites.settle(streams);
      sites.tick();
    }
    expect(moved.code).toBe('UNKNOWN');
    expect(sites.ask(S, add(5), { id: 'c/1', hop: 1 })).toEqual({});
    expect(totals(sites)).toEqual([5, 5, 5]);
  });

  test('4 walk: two sites asked with the same hop → the one without the claim replies that the client has moved on', () => {
    const sites = new Sites(service);
    const requested = [S, T].map((site) => sites.ask(site, add(5), { id: 'c/1', hop: 1 }));
    sites.settle();
    expect(totals(sites)).toEqual([5, 5, 5]);
    expect(requested.map(({ code }) => code)).toEqual([undefined, 'ABORTED']);
  });

  test('5 red: an operation that is always red → any site proposes it, without its home', () => {
    const sites = stocked();
    sites.crash(T);
    const moved = sites.ask(S, contract.order({ amount: 5 }), { id: 'c/1', home: T, hop: 1 });
    sites.settle();
    expect([moved.value, sites.read(S, total)]).toEqual([null, 105]);
  });

  test('6 every final answer is an entry: a generator that throws → its failure, for ever', () => {
    const sites = new Sites(service);
    isBroken = true;
    const first = sites.ask(H, add(5), { id: 'c/1' });
    sites.settle();
    isBroken = false;
    const second = sites.ask(S, add(5), { id: 'c/1', hop: 1 });
    expect(totals(sites)).toEqual([0, 0, 0]);
    expect([first.code, second.code]).toEqual(['FINAL_FAILED', 'FINAL_FAILED']);
  });

  test('7 watermark: acknowledged → REPLY_EXPIRED, at home, elsewhere, and after a restart', () => {
    const sites = new Sites(service);
    sites.ask(H, add(5), { id: 'c/1' });
    sites.settle();
    sites.ask(H, add(5), { id: 'c/2', acknowledged: 1 });
    sites.settle();
    const late = [sites.ask(H, add(5), { id: 'c/1' }), sites.ask(S, add(5), { id: 'c/1', hop: 1 })];
    sites.settle();
    sites.crash(H);
    sites.start(H);
    late.push(sites.ask(H, add(5), { id: 'c/1' }));
    expect(totals(sites)).toEqual([10, 10, 10]);
    expect(late.map(({ code }) => code)).toEqual([
      'REPLY_EXPIRED',
      'REPLY_EXPIRED',
      'REPLY_EXPIRED',
    ]);
  });

  test('8 UNKNOWN: a log on the walk is out of reach → UNKNOWN; retried once it is back → the answer', () => {
    const sites = new Sites(service);
    sites.ask(H, add(5), { id: 'c/1' });
    sites.settle();
    sites.crash(H);
    const first = sites.ask(S, add(5), { id: 'c/1', hop: 1 });
    sites.pass(50);
    expect(first).toEqual({});
    sites.pass(100);
    expect(first.code).toBe('UNKNOWN');
    sites.start(H);
    const second = sites.ask(S, add(5), { id: 'c/1', hop: 1 });
    expect(totals(sites)).toEqual([5, 5, 5]);
    expect(second.value).toBe(0);
  });
});

describe('exactly once: runs that fail under simpler rules', () => {
  test('1 two moves, both claims before the record → one of the two executes', () => {
    const sites = new Sites(service);
    const requested = [
      sites.ask(S, add(5), { id: 'c/1', hop: 1 }),
      sites.ask(T, add(5), { id: 'c/1', hop: 2 }),
    ];
    sites.settle();
    expect(totals(sites)).toEqual([5, 5, 5]);
    expect(requested[1]?.value).toBe(0);
  });

  test('2 away and back home → an open slot is found there, no endless walk', () => {
    const sites = new Sites(service);
    sites.ask(S, add(5), { id: 'c/1', hop: 1 });
    sites.deliver();
    sites.sync(H);
    sites.crash(S);
    sites.sent = [];
    sites.start(S);
    const back = sites.ask(H, add(5), { id: 'c/1', hop: 2 });
    expect(totals(sites)).toEqual([5, 5, 5]);
    expect(back.value).toBe(0);
  });

  test('3 record appended but not synced when another site asks → no result is delivered before it counts', () => {
    const sites = new Sites(service);
    const first = sites.ask(H, add(5), { id: 'c/1' });
    const moved = sites.ask(S, add(5), { id: 'c/1', hop: 1 });
    sites.deliver();
    expect([first, moved]).toEqual([{}, {}]);
    sites.crash(H);
    sites.start(H);
    expect(totals(sites)).toEqual([5, 5, 5]);
    expect([first, moved.value]).toEqual([{}, 0]);
  });

  test('4 effects before their entry is synced → no reader sees them, and a crash leaves nothing', () => {
    const sites = new Sites(service);
    sites.ask(H, add(5), { id: 'c/1' });
    expect([sites.read(H, total), sites.sent]).toEqual([0, []]);
    sites.crash(H);
    sites.start(H);
    expect(totals(sites)).toEqual([0, 0, 0]);
  });

  test('5 red record in flight, crash, and the retry finds another path → still red, once', () => {
    const sites = stocked(100);
    sites.ask(S, take(70), { id: 'c/1', home: S });
    sites.sync(S);
    const proposals = sites.sent;
    sites.sent = [];
    sites.crash(S);
    sites.start(S);
    sites.submit(H, take(50));
    sites.settle();
    const retry = sites.ask(S, take(70), { id: 'c/1', home: S });
    sites.sent.push(...proposals);
    expect(totals(sites)).toEqual([50, 50, 50]);
    // Its snapshot was overtaken, and the only attempt allowed here was rejected: by a record in
    // the red log.
    expect(['CONFLICT', undefined]).toContain(retry.code);
    const again = sites.ask(T, take(70), { id: 'c/1', home: S, hop: 1 });
    sites.pass(20);
    expect([again.value, again.code]).toEqual([retry.value, retry.code]);
  });

  test('6 the result was "not enough", then there is enough → the second copy gets the same result', () => {
    const sites = new Sites(service);
    const first = sites.ask(H, take(70), { id: 'c/1' });
    sites.settle();
    sites.submit(H, add(100));
    sites.settle();
    const copies = [
      sites.ask(H, take(70), { id: 'c/1' }),
      sites.ask(S, take(70), { id: 'c/1', hop: 1 }),
    ];
    expect(totals(sites)).toEqual([100, 100, 100]);
    expect([first, ...copies].map(({ value }) => value)).toEqual([false, false, false]);
  });

  test('7 the result was CONFLICT → retried at any site, it stays CONFLICT', () => {
    const sites = stocked(100);
    const rivals = [
      sites.ask(S, take(30), { id: 'c/1', home: S }),
      sites.ask(T, take(30), { id: 'd/1', home: T }),
    ];
    sites.settle();
    const loser = rivals.findIndex(({ code }) => code === 'CONFLICT');
    expect(loser).toBeGreaterThanOrEqual(0);
    const [id, home] = (
      [
        ['c/1', S],
        ['d/1', T],
      ] as const
    )[loser] ?? ['', S];
    const again = sites.ask(H, take(30), { id, home, hop: 1 });
    expect(totals(sites)).toEqual([70, 70, 70]);
    expect(again.code).toBe('CONFLICT');
  });

  test('8 and 9 a copy comes after its identifier has left the red table → no second effect, at any site', () => {
    const sites = stocked(0);
    const order = contract.order({ amount: 5 });
    sites.ask(S, order, { id: 'c/1', home: S });
    sites.settle();
    sites.ask(S, order, { id: 'c/2', home: S, acknowledged: 1 });
    sites.settle();
    const late = [H, S, T].map((site) =>
      sites.ask(site, order, { id: 'c/1', home: S, hop: site === S ? 0 : 1 }),
    );
    expect(totals(sites)).toEqual([10, 10, 10]);
    expect(late.map(({ code }) => code)).toEqual([
      'REPLY_EXPIRED',
      'REPLY_EXPIRED',
      'REPLY_EXPIRED',
    ]);
  });

  test('10 restart → the table of identifiers is back with the state', () => {
    const sites = new Sites(service);
    const first = sites.ask(H, add(5), { id: 'c/1' });
    sites.settle();
    sites.crash(H);
    sites.start(H);
    const again = sites.ask(H, add(5), { id: 'c/1' });
    expect(totals(sites)).toEqual([5, 5, 5]);
    expect(again.value).toEqual(first.value);
  });
});

describe('sessions over sites', () => {
  test('write here, read there → waits for the write, and shows it', () => {
    const sites = new Sites(service);
    const write = sites.submit(H, add(5), { sessionVector: [0, 0, 0, 0] });
    sites.sync(H);
    const sessionVector = write.seen ?? [];
    const read = sites.submit(S, total, { sessionVector });
    expect(read).toEqual({});
    sites.settle();
    expect(read.value).toBe(5);
    expect(read.seen).toEqual(sessionVector);
  });

  test('what the session has seen does not come → REPLICA_BEHIND, and a write has done nothing', () => {
    const sites = new Sites(service);
    const write = sites.submit(H, add(5), { sessionVector: [0, 0, 0, 0] });
    sites.sync(H);
    sites.crash(H);
    sites.sent = [];
    const sessionVector = write.seen ?? [];
    const requested = [
      sites.submit(S, total, { sessionVector }),
      sites.ask(S, add(1), { id: 'c/1', home: S }, { sessionVector }),
    ];
    sites.pass(150);
    expect(requested.map(({ code }) => code)).toEqual(['REPLICA_BEHIND', 'REPLICA_BEHIND']);
    expect(sites.read(S, total)).toBe(0);
  });

  test('a session far ahead → moves neither the clock nor the snapshot of the site', () => {
    const sites = new Sites(service);
    const far = sites.submit(S, total, { sessionVector: [1e15, 0, 0, 0] });
    sites.pass(150);
    expect(far.code).toBe('REPLICA_BEHIND');
    sites.submit(S, add(1));
    sites.settle();
    expect(Math.max(...(sites.machines[S]?.state.stable ?? []))).toBeLessThan(1e9);
  });
});

// 50,000 operations: only outside the fast lane.
test.skipIf(lane === 'fast')(
  'a client that never acknowledges → its newcomer is refused, what it may ask for and what others may stays',
  () => {
    const sites = new Sites(service);
    const slow = { id: 'slow/1', home: S };
    sites.ask(S, add(1), slow);
    for (let sequence = 1; sequence <= 50_000; sequence += 1)
      sites.ask(S, add(0), { id: `never/${sequence}`, home: S });
    sites.sync(S);
    const refused = sites.ask(S, add(1), { id: 'never/50001', home: S });
    const again = [sites.ask(S, add(1), slow), sites.ask(S, add(0), { id: 'never/1', home: S })];
    const acknowledging = sites.ask(S, add(1), {
      id: 'never/50002',
      home: S,
      acknowledged: 50_000,
    });
    sites.sync(S);
    expect(refused.code).toBe('OVERLOADED');
    expect([...again, acknowledging].map(({ code }) => code)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(sites.read(S, total)).toBe(2);
  },
);

describe('sites that misbehave', () => {
  test('a clock beyond the limit → refused and alarmed, taken once it is set right', () => {
    const sites = new Sites(service);
    sites.aheadMs[T] = 5000;
    sites.submit(T, add(5));
    sites.settle();
    expect(sites.quarantined).toEqual([
      [H, T],
      [S, T],
    ]);
    expect(sites.machines[H]?.rejections.clock).toBeGreaterThan(0);
    expect([H, S, T].map((site) => sites.read(site, total))).toEqual([0, 0, 5]);
    sites.aheadMs[T] = 0;
    sites.pass(100);
    expect([H, S, T].map((site) => sites.read(site, total))).toEqual([5, 5, 5]);
  });

  test('all clocks set back by a minute → blue, red and what was lost go on as before', () => {
    const sites = new Sites(service);
    for (const site of [H, S, T]) sites.aheadMs[site] = 60_000;
    sites.submit(H, add(50));
    sites.settle();
    sites.submit(T, take(10));
    sites.settle();
    for (const site of [H, S, T]) sites.aheadMs[site] = 0;
    sites.submit(H, add(5));
    const paid = sites.submit(T, take(10));
    sites.sync(H);
    sites.sync(T);
    sites.sent = [];
    sites.pass(100);
    expect(paid.value).toBe(true);
    expect([H, S, T].map((site) => sites.read(site, total))).toEqual([35, 35, 35]);
    expect(sites.quarantined).toEqual([]);
  });

  test('one clock set back by a minute → that site takes what the others write, and they what it writes', () => {
    const sites = new Sites(service);
    for (const site of [H, S, T]) sites.aheadMs[site] = 60_000;
    sites.submit(H, add(50));
    sites.settle();
    sites.aheadMs[T] = 0;
    sites.submit(H, add(5));
    sites.submit(T, add(7));
    sites.settle();
    expect([H, S, T].map((site) => sites.read(site, total))).toEqual([62, 62, 62]);
    expect(sites.quarantined).toEqual([]);
  });

  test('lost for good after one survivor had its operation → the other gets it from there', () => {
    const sites = new Sites(service);
    sites.submit(T, add(5));
    sites.sync(T);
    sites.deliver(({ to }) => to === S);
    sites.crash(T);
    sites.sent = [];
    sites.pass(100);
    expect([H, S].map((site) => sites.read(site, total))).toEqual([5, 5]);
  });

  test('a red operation on a blue one that no other site has → not proposed before a second site has the blue one', () => {
    const sites = new Sites(service);
    sites.submit(S, add(100));
    sites.sync(S);
    sites.sent = [];
    const paid = sites.submit(S, take(70));
    expect(sites.sent.map(({ message }) => message.kind)).not.toContain('log.propose');
    expect(totals(sites)).toEqual([30, 30, 30]);
    expect(paid.value).toBe(true);
  });
});
