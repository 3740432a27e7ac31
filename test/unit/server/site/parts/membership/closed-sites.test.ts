/** What a closed site had of the deployment: rights, and a say in what may be forgotten. */
// @rule CLU-M12, CLU-M13
import { expect, test } from 'vitest';
import { get, put } from '../../../../../../src/operations/index.ts';
import { MemberWorld, siteAt } from '../../../../../support/member-world.ts';
import { countRemovals, service as orderService } from '../../lane/order/red-order-cases.ts';
import { contract, ledgerAt, service as saleService } from '../rights/sale.ts';

test('rights of a site that is closed → burn: the others take what they have, and then nothing is left', () => {
  const world = new MemberWorld({ service: saleService, maxAttempts: 5 });
  world.submit(0, contract.open({ seats: 9 }));
  world.pass(100);
  expect(ledgerAt(world, 0).getHolding(3 as never)).toBe(3);
  world.crash(2);
  world.changeMembers(0, 't', null);
  expect(world.read(0, contract.left({}))).toEqual([6, expect.any(Number)]);
  const sold = Array.from({ length: 8 }, (_, n) => {
    const outcome = world.submit(n % 2, contract.sell({ seats: 1 }));
    world.pass(60);
    return (outcome.value as { sold: boolean } | undefined)?.sold;
  });
  expect(sold).toEqual([true, true, true, true, true, true, false, false]);
  const blindly = world.submit(1, contract.sellBlindly({ seats: 1 }));
  world.pass(60);
  expect(blindly.code).toBe('FINAL_FAILED');
  expect([0, 1].map((site) => ledgerAt(world, site).takes)).toEqual([6, 6]);
});

test('rights of a site that is closed → each other site reports the amount once; what is given again is sold', () => {
  const world = new MemberWorld({ service: saleService, maxAttempts: 5 });
  world.submit(0, contract.open({ seats: 60 }));
  world.pass(100);
  world.submit(2, contract.sell({ seats: 3 }));
  world.pass(60);
  world.crash(2);
  const held = ledgerAt(world, 0).getHolding(3 as never);
  expect(held).toBeGreaterThan(0);
  world.changeMembers(0, 't', null);
  const row = { table: 'events', key: 'E' };
  const lost = [
    { ...row, field: 'seats', amount: held },
    { ...row, field: 'coats', amount: 20 },
  ];
  expect(world.lostRights.toSorted(([a], [b]) => a - b)).toEqual([
    [0, 3, lost],
    [1, 3, lost],
  ]);
  expect(world.read(0, contract.left({}))).toEqual([57 - held, expect.any(Number)]);
  world.submit(0, contract.open({ seats: held }));
  world.pass(100);
  expect(world.read(1, contract.left({}))).toEqual([57, expect.any(Number)]);
});

test('a read waits for what only a closed site had → it runs once the site is closed', () => {
  const world = new MemberWorld({});
  world.pass(50);
  const written = world.submit(2, put('k', 1), { sessionVector: [] });
  world.sync(2);
  world.drop();
  world.crash(2);
  const read = world.submit(0, get('k'), { sessionVector: written.seen });
  expect(read).toEqual({});
  world.change(0, { name: 't', directory: null });
  world.settle();
  expect(read.code).toBeUndefined();
  expect(read.seen).toBeDefined();
});

test('a closed site without rights → no report', () => {
  const world = new MemberWorld({ service: saleService, maxAttempts: 5 });
  world.crash(2);
  world.changeMembers(0, 't', null);
  expect(world.lostRights).toEqual([]);
});

test('a rebuilt site → gets its share of what is given later', () => {
  const world = new MemberWorld({ service: saleService, maxAttempts: 5 });
  world.crash(2);
  world.changeMembers(0, 't', 'new');
  const rebuilt = world.startFrom(0);
  world.pass(100);
  world.submit(0, contract.open({ seats: 9 }));
  world.pass(100);
  expect([0, 1, rebuilt].map((site) => world.read(site, contract.left({})))).toEqual([
    [9, 3],
    [9, 3],
    [9, 3],
  ]);
});

test('removals → forgotten without a site that is closed', () => {
  const world = new MemberWorld({ service: orderService, removalsPerWatermark: 1, maxAttempts: 3 });
  const change = (site: number, kind: string): void =>
    void world.submit(site, { name: 'changeBlue', args: { name: 'open', kind } });
  change(0, 'insert b');
  world.pass(100);
  world.crash(2);
  change(0, 'remove b');
  world.pass(100);
  const getRetained = (): number[] =>
    [0, 1].map((site) => countRemovals(world.machine(site).state.store));
  expect(getRetained()).toEqual([1, 1]);
  world.changeMembers(0, 't', null);
  // Other rows: a row that is written again keeps no removal.
  for (const [site, row] of [
    [0, 'bb'],
    [1, 'bb'],
    [0, 'b'],
    [1, 'bb'],
  ] as const) {
    change(site, `duty ${row} on`);
    world.pass(50);
    change(site, `remove ${row}`);
    world.pass(50);
  }
  expect(getRetained().every((count) => count <= 1)).toBe(true);
});

test('an answer of a closed site that rests on what no other site has → unknown at the site that was waiting for it', () => {
  const world = new MemberWorld({ redLeader: siteAt(2) });
  world.pass(50);
  world.ask(0, put('k', 1), { id: 'c/1', home: 0 });
  world.sync(0);
  world.drop();
  const moved = world.ask(1, put('k', 1), { id: 'c/1', home: 0, hop: 1 });
  while (world.deliver(({ envelope: { message } }) => message.kind.startsWith('slot.')));
  world.drop();
  world.crash(0);
  expect([moved.code, moved.value]).toEqual([undefined, undefined]);
  world.change(1, { name: 'h', directory: null });
  world.settle();
  world.submit(1, put('other', 1));
  world.settle();
  expect(world.statesAt(1)[0]).toBe('h 0 closed 0');
  expect(moved.code).toBe('UNKNOWN');
});
