/**
 * What a client has not acknowledged of its red operations stays: more than may be are refused
 * (exactly-once.md, rule 7).
 */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../../../src/contract/contract.ts';
import { CERTIFIER_LIMITS } from '../../../../../../src/server/site/lane/order/certifier.ts';
import { defineService } from '../../../../../../src/server/service/service.ts';
import { red } from '../../../../../../src/server/service/shadow-operation.ts';
import { log, table } from '../../../../../../src/server/service/tables.ts';
import { Sites } from '../../sites.ts';

const SITE = 1;
const PER_CLIENT = 3;

const contract = defineContract('lines', {
  order: { access: 'write', args: z.string(), result: z.string() },
  // Has a blue answer too, where there is nothing to do.
  note: { access: 'write', args: z.string(), result: z.string() },
  lines: { access: 'read', args: z.null(), result: z.array(z.string()) },
});

const service = defineService(contract, {
  tables: { books: table({ lines: log<string>() }) },
  shadowOperations: ({ books }) => ({
    write: red((line: string) => [books.row('one').lines.append(line)]),
  }),
  generators: {
    order: (line, { shadow }) => shadow.write(line, line),
    note: (line, { shadow }) => (line === '' ? 'nothing' : shadow.write(line, line)),
    lines: (_, { tables }) => [...tables.books.row('one').lines],
  },
  alwaysRed: ['order'],
});

type Ordered = { name: string; args: unknown };

function start(
  endings: { readonly maxBytesPerClient?: number } = { maxBytesPerClient: 1_000 },
): Sites {
  const limits = {
    maxOperations: 100,
    maxClients: 100,
    maxOperationsPerClient: PER_CLIENT,
    ...endings,
  };
  const sites = new Sites(service, 3, {
    maxAttempts: 5,
    retentionLimits: { ...CERTIFIER_LIMITS, maxOutcomes: limits },
  });
  // Whatever an earlier start has proposed is known from then on.
  sites.ask(SITE, contract.order('first'), { id: 'other/1', home: SITE });
  for (let n = 1; n <= PER_CLIENT; n += 1)
    sites.ask(SITE, contract.order('more'), { id: `full/${n}`, home: SITE });
  sites.settle();
  sites.ask(SITE, contract.order('more'), { id: 'full/9', home: SITE });
  sites.settle();
  return sites;
}

const lines = (sites: Sites): unknown => sites.read(SITE, contract.lines(null));
const requested = (sites: Sites, operation: Ordered, sequence: number, acknowledged = 0) =>
  sites.ask(SITE, operation, { id: `c/${sequence}`, home: SITE, acknowledged });

test.each([
  ['that is red in any case', contract.order],
  ['that may be red', contract.note],
] as const)(
  'one more %s than is kept for a client → rejected, and each earlier one still gets its result again',
  (_what, written) => {
    const sites = start();
    for (let n = 1; n <= PER_CLIENT; n += 1) requested(sites, contract.order(`l${n}`), n);
    sites.settle();
    const before = lines(sites);
    const more = requested(sites, written('l4'), 4);
    sites.settle();
    expect(more.code).toBe('OVERLOADED');
    const again = requested(sites, contract.order('l1'), 1);
    sites.settle();
    expect([again.value, lines(sites)]).toEqual(['l1', before]);
    const since = requested(sites, written('l4'), 4, 1);
    sites.settle();
    expect(since.value).toBe('l4');
  },
);

test('one more while the others are in flight → refused', () => {
  const sites = start();
  for (let n = 1; n <= PER_CLIENT; n += 1) requested(sites, contract.order(`l${n}`), n);
  const more = requested(sites, contract.order('l4'), 4);
  sites.settle();
  expect(more.code).toBe('OVERLOADED');
  const again = requested(sites, contract.order('l1'), 1);
  sites.settle();
  expect(again.value).toBe('l1');
});

test('replies of as many bytes as are kept for a client → one more is rejected, and the last one still gets its result again', () => {
  const sites = start({ maxBytesPerClient: 600 });
  requested(sites, contract.order('x'.repeat(500)), 1);
  sites.settle();
  requested(sites, contract.order('y'.repeat(90)), 2);
  sites.settle();
  const more = requested(sites, contract.order('l3'), 3);
  sites.settle();
  expect(more.code).toBe('OVERLOADED');
});

test('moved here → taken: its home has room for it or has not', () => {
  const sites = start();
  for (let n = 1; n <= PER_CLIENT; n += 1) requested(sites, contract.order(`l${n}`), n);
  sites.settle();
  const moved = sites.ask(SITE, contract.order('l4'), { id: 'c/4', home: 2, hop: 1 });
  sites.settle();
  expect(moved.value).toBe('l4');
});
