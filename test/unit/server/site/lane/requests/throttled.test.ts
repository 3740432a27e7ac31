/**
 * Paced operations: so many of a site under way, each place once in a turn, and previews that say
 * what that bounds.
 */
// @rule RB-T1
import { afterEach, describe, expect, test } from 'vitest';
import { createClient } from '../../../../../../src/correctable/client/client.ts';
import { getSafeThreshold } from '../../../../../../src/operations/index.ts';
import { createEmbedded } from '../../../../../../src/server/node/embedded/embedded.ts';
import type { Embedded } from '../../../../../../src/server/node/embedded/embedded.ts';
import { defineService } from '../../../../../../src/server/service/service.ts';
import type { Service } from '../../../../../../src/server/service/service.ts';
import { ThrottledRequests } from '../../../../../../src/server/site/lane/requests/throttled-requests.ts';
import type { RedRequest } from '../../../../../../src/server/site/lane/requests/red-requests.ts';
import { Origins } from '../../../../../../src/server/service/records/origin.ts';
import { tickets, ticketServiceAt } from '../../services.ts';
import { Sites } from '../../sites.ts';
import type { Outcome } from '../../sites.ts';

const PACE = { maxInFlight: 2, minSlotIntervalMs: 30 };

const shop = (pace = PACE): Service => ticketServiceAt(pace);

const dequeue = { name: 'dequeue', args: { queue: 'q' } };
const enqueue = (item: string) => ({ name: 'enqueue', args: { queue: 'q', item } });
const items = (outcomes: readonly Outcome[]): unknown[] =>
  outcomes.map(({ value }) => (value as { item: unknown } | undefined)?.item);

function stocked(): Sites {
  const sites = new Sites(shop());
  for (const item of ['a', 'b', 'c', 'd', 'e']) sites.submit(0, enqueue(item));
  sites.settle();
  return sites;
}

describe('places', () => {
  test('window full → the next waits until one has ended and its turn is over', () => {
    const sites = stocked();
    const sales = [1, 2, 3].map(() => sites.submit(1, dequeue));
    expect(sites.sent.filter(({ message }) => message.kind === 'log.propose')).toHaveLength(2);
    sites.settle();
    expect(items(sales)).toEqual(['a', 'b', undefined]);
    expect(sites.machines[1]?.wakeAtMs).toBe(30);
    sites.pass(20);
    expect(items(sales)).toEqual(['a', 'b', undefined]);
    sites.pass(10);
    expect(items(sales)).toEqual(['a', 'b', 'c']);
    expect(sites.machines[1]?.wakeAtMs).toBeUndefined();
  });

  test('turn over before the end → the next begins at the end', () => {
    const sites = stocked();
    const sales = [1, 2, 3].map(() => sites.submit(1, dequeue));
    sites.nowMs += 40;
    expect(sites.machines[1]?.wakeAtMs).toBeUndefined();
    sites.settle();
    expect(items(sales)).toEqual(['a', 'b', 'c']);
  });

  test('each site has its own; what is not paced needs none', () => {
    const sites = stocked();
    const sales = [0, 1].flatMap((site) => [
      sites.submit(site, dequeue),
      sites.submit(site, dequeue),
    ]);
    const put = sites.submit(1, enqueue('f'));
    sites.settle();
    expect(items(sales).toSorted()).toEqual(['a', 'b', 'c', 'd']);
    expect(put).toHaveProperty('seen');
  });

  test('retried while it waits → one answer for both, one item taken', () => {
    const sites = stocked();
    for (const id of ['x/1', 'x/2']) sites.ask(1, dequeue, { id });
    const [first, again] = [
      sites.ask(1, dequeue, { id: 'x/3' }),
      sites.ask(1, dequeue, { id: 'x/3' }),
    ];
    sites.settle();
    sites.pass(30);
    expect(items([first, again])).toEqual(['c', 'c']);
    expect(sites.read(1, { name: 'peek', args: { queue: 'q' } })).toEqual({ item: 'd' });
  });

  test('sent again so often while it waits that the first copy has ended → no preliminary view after that', () => {
    const sites = stocked();
    for (const sequence of [1, 2]) sites.ask(1, dequeue, { id: `c/${sequence}` });
    const wantedStages = { tentative: true, causal: false, strong: true };
    const requested = [1, 2, 3, 4, 5].map(() =>
      sites.ask(1, dequeue, { id: 'c/3' }, { wantedStages }),
    );
    expect(requested[0]?.code).toBe('UNKNOWN');
    const firstSerial = sites.lastSerial - 4;
    const reported: number[] = [];
    const machine = sites.machines[1];
    const take = machine?.takeReady.bind(machine);
    if (machine === undefined || take === undefined) throw new Error('the site is down');
    machine.takeReady = () => {
      const ready = take();
      for (const { kind, serial } of ready.answers) if (kind === 'view') reported.push(serial);
      return ready;
    };
    sites.settle();
    sites.pass(40);
    expect(items(requested.slice(1))).toEqual(['c', 'c', 'c', 'c']);
    expect(reported).not.toContain(firstSerial);
  });

  test('ended by another site while it waits → answered, and its turn goes to the next', () => {
    const sites = stocked();
    for (const id of ['x/1', 'x/2']) sites.ask(1, dequeue, { id });
    const [here, there] = [
      sites.ask(1, dequeue, { id: 'x/3' }),
      sites.ask(2, dequeue, { id: 'x/3', home: 1, hop: 1 }),
    ];
    const next = sites.ask(1, dequeue, { id: 'x/4' });
    sites.settle();
    expect(here.value).toEqual(there.value);
    sites.pass(30);
    expect(items([next])).toEqual(['d']);
    expect(sites.read(1, { name: 'peek', args: { queue: 'q' } })).toEqual({ item: 'e' });
  });
});

test('so many wait that later ones had to wait for long → rejected at once, and nothing is done', () => {
  const sites = stocked();
  const waiting = Array.from({ length: 2 + 8 * 2 }, (_, n) =>
    sites.ask(1, dequeue, { id: `x/${n + 1}` }),
  );
  const sent = sites.sent.length;
  expect(sites.submit(1, dequeue).code).toBe('OVERLOADED');
  expect(sites.sent).toHaveLength(sent);
  // The red order decides whether a client may send it again: after that, no copy of the request is
  // executed.
  const late = sites.ask(1, dequeue, { id: 'x/99' });
  sites.settle();
  expect(late.code).toBe('OVERLOADED');
  const again = sites.ask(2, dequeue, { id: 'x/99', home: 1, hop: 1 });
  sites.settle();
  expect(again.code).toBe('OVERLOADED');
  expect(items(waiting.slice(0, 2))).toEqual(['a', 'b']);
  for (let turn = 0; turn < 9; turn += 1) sites.pass(30);
  expect(waiting.every((outcome) => 'seen' in outcome)).toBe(true);
  expect(sites.read(1, { name: 'peek', args: { queue: 'q' } })).toBeNull();
});

describe('agreement time', () => {
  const paced = (): ThrottledRequests =>
    new ThrottledRequests(shop(), Origins.create(['h', 's', 't']));
  const request = { submission: { plan: { isThrottled: true } } } as RedRequest;

  test('ended by what this site proposed → learnt; by what another one did → not', () => {
    const requests = paced();
    requests.enter(request, 0);
    requests.release(request, 3, false);
    requests.enter(request, 100);
    expect(requests.getConcurrentWriters(request, 100)).toBeUndefined();
    requests.release(request, 180, true);
    requests.enter(request, 200);
    expect(requests.getConcurrentWriters(request, 200)?.commitLatencyMs).toBeGreaterThan(80);
  });
});

describe('previews', () => {
  const deployments: Embedded[] = [];
  afterEach(async () => {
    for (const deployment of deployments.splice(0)) await deployment.close();
  });

  async function guesses(
    service: Service,
    sites: readonly [string, ...string[]],
  ): Promise<number[]> {
    const deployment = createEmbedded(service, { sites });
    deployments.push(deployment);
    const client = createClient(deployment.site(sites[0]));
    const thresholds: number[] = [];
    for (const item of ['a', 'b']) await client.invoke(tickets.enqueue({ queue: 'q', item }));
    for (let n = 0; n < 2; n += 1) {
      await client
        .invoke(tickets.dequeue({ queue: 'q' }))
        .onUpdate((_item, view) => thresholds.push(getSafeThreshold(view)));
    }
    return thresholds;
  }

  test('the first → cannot say yet; the next → what the other sites may take within the time that it took', async () => {
    const [first, second] = await guesses(shop(), ['ireland', 'frankfurt', 'virginia']);
    expect(first).toBe(Infinity);
    expect(second).toBeGreaterThanOrEqual(8);
    expect((second as number) % 4).toBe(0);
  });

  test('a site alone → nothing is unknown', async () => {
    expect(await guesses(shop(), ['ireland'])).toEqual([0, 0]);
  });
});

test.each([
  { maxInFlight: 0, minSlotIntervalMs: 30 },
  { maxInFlight: 1.5, minSlotIntervalMs: 30 },
  { maxInFlight: 2, minSlotIntervalMs: 0 },
  { maxInFlight: 2, minSlotIntervalMs: Infinity },
])('pace %j → INVALID_ARGUMENT', (pace) => {
  expect(() => shop(pace)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'throttled' }),
  );
});

test('paced: a read, or no operation at all → INVALID_ARGUMENT', () => {
  const { tables, generators } = shop();
  const define = (operation: string): unknown =>
    defineService(tickets, {
      tables,
      generators: generators as never,
      shadowOperations: () => ({}),
      throttled: { operations: [operation as 'dequeue'], ...PACE },
    });
  for (const name of ['peek', 'toString'])
    expect(() => define(name)).toThrow(/throttled.operations/);
});
