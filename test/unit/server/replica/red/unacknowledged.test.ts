/** What a client has not acknowledged of its red operations stays: more than may be are refused (exactly-once.md, rule 7). */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../../src/protocol/contract/contract.ts';
import { CERTIFIER_LIMITS } from '../../../../../src/server/replica/red/certifier.ts';
import { defineService } from '../../../../../src/server/service/service.ts';
import { red } from '../../../../../src/server/service/shadow-operation.ts';
import { log, table } from '../../../../../src/server/service/tables.ts';
import { Sites } from '../sites.ts';

const SITE = 1;
const PER_CLIENT = 3;

const contract = defineContract('lines', {
  order: { effect: 'update', args: z.string(), result: z.string() },
  // Has a blue answer too, where there is nothing to do.
  note: { effect: 'update', args: z.string(), result: z.string() },
  lines: { effect: 'read', args: z.null(), result: z.array(z.string()) },
});

const service = defineService(contract, {
  tables: { books: table({ lines: log<string>() }) },
  shadowOperations: ({ books }) => ({ write: red((line: string) => [books.row('one').lines.append(line)]) }),
  generators: {
    order: (line, { shadow }) => shadow.write(line, line),
    note: (line, { shadow }) => (line === '' ? 'nothing' : shadow.write(line, line)),
    lines: (_, { tables }) => [...tables.books.row('one').lines],
  },
  alwaysRed: ['order'],
});

type Ordered = { name: string; args: unknown };

function start(endings: { readonly clientBytesMax?: number } = { clientBytesMax: 1_000 }): Sites {
  const limits = { operationsMax: 100, clientsMax: 100, perClientMax: PER_CLIENT, ...endings };
  const sites = new Sites(service, 3, { attemptsMax: 5, remembers: { ...CERTIFIER_LIMITS, endings: limits } });
  // Whatever an earlier start has proposed is known from then on.
  sites.ask(SITE, contract.order('first'), { id: 'other/1', home: SITE });
  for (let n = 1; n <= PER_CLIENT; n += 1) sites.ask(SITE, contract.order('more'), { id: `full/${n}`, home: SITE });
  sites.settle();
  sites.ask(SITE, contract.order('more'), { id: 'full/9', home: SITE });
  sites.settle();
  return sites;
}

const lines = (sites: Sites): unknown => sites.read(SITE, contract.lines(null));
const asked = (sites: Sites, operation: Ordered, sequence: number, acknowledged = 0) =>
  sites.ask(SITE, operation, { id: `c/${sequence}`, home: SITE, acknowledged });

test.each([
  ['that is red in any case', contract.order],
  ['that may be red', contract.note],
] as const)('one more %s than is kept of a client → refused, and each other is told again', (_what, written) => {
  const sites = start();
  for (let n = 1; n <= PER_CLIENT; n += 1) asked(sites, contract.order(`l${n}`), n);
  sites.settle();
  const before = lines(sites);
  const more = asked(sites, written('l4'), 4);
  sites.settle();
  expect(more.code).toBe('OVERLOADED');
  const again = asked(sites, contract.order('l1'), 1);
  sites.settle();
  expect([again.value, lines(sites)]).toEqual(['l1', before]);
  const since = asked(sites, written('l4'), 4, 1);
  sites.settle();
  expect(since.value).toBe('l4');
});

test('one more while the others are under way → refused', () => {
  const sites = start();
  for (let n = 1; n <= PER_CLIENT; n += 1) asked(sites, contract.order(`l${n}`), n);
  const more = asked(sites, contract.order('l4'), 4);
  sites.settle();
  expect(more.code).toBe('OVERLOADED');
  const again = asked(sites, contract.order('l1'), 1);
  sites.settle();
  expect(again.value).toBe('l1');
});

test('answers of so many bytes as are kept of a client → one more is refused, and the last is told again', () => {
  const sites = start({ clientBytesMax: 600 });
  asked(sites, contract.order('x'.repeat(500)), 1);
  sites.settle();
  asked(sites, contract.order('y'.repeat(90)), 2);
  sites.settle();
  const more = asked(sites, contract.order('l3'), 3);
  sites.settle();
  expect(more.code).toBe('OVERLOADED');
});

test('moved here → taken: its home has room for it or has not', () => {
  const sites = start();
  for (let n = 1; n <= PER_CLIENT; n += 1) asked(sites, contract.order(`l${n}`), n);
  sites.settle();
  const moved = sites.ask(SITE, contract.order('l4'), { id: 'c/4', home: 2, hop: 1 });
  sites.settle();
  expect(moved.value).toBe('l4');
});
