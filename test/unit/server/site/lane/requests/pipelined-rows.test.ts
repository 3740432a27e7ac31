/**
 * Rows that can be removed, laid under runs while another site removes them or brings them back:
 * who reads them waits for what comes of it (docs/spec/redblue.md, RB-R11).
 */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../../../src/contract/contract.ts';
import { defineService } from '../../../../../../src/server/service/service.ts';
import { blue, red } from '../../../../../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../../../../../src/server/service/tables.ts';
import { Sites } from '../../sites.ts';

const none = z.object({});
const contract = defineContract('rows', {
  touch: { access: 'write', args: none, result: z.null() },
  bump: { access: 'write', args: none, result: z.null() },
  drop: { access: 'write', args: none, result: z.null() },
  dropRed: { access: 'write', args: none, result: z.null() },
  look: { access: 'write', args: none, result: z.boolean() },
  has: { access: 'read', args: none, result: z.boolean() },
});
const service = defineService(contract, {
  tables: { rows: table({ n: counter() }, { removable: true }), marks: table({ n: counter() }) },
  shadowOperations: ({ rows, marks }) => ({
    touch: blue((_args: object) => [rows.row('a').n.add(1)]),
    bump: red((_args: object) => [rows.row('a').n.add(1)]),
    drop: blue((_args: object) => [rows.remove('a')]),
    dropRed: red((_args: object) => [rows.remove('a')]),
    mark: red((_args: object) => [marks.row('m').n.add(1)]),
  }),
  generators: {
    touch: (_, { shadow }) => shadow.touch({}, null),
    bump: (_, { shadow }) => shadow.bump({}, null),
    drop: (_, { shadow }) => shadow.drop({}, null),
    dropRed: (_, { shadow }) => shadow.dropRed({}, null),
    look: (_, { shadow, tables }) => shadow.mark({}, tables.rows.has('a')),
    has: (_, { tables }) => tables.rows.has('a'),
  },
});
const [SITE, OTHER] = [1, 2] as const;

/**
 * SITE proposes two; then a blue one of OTHER comes, by a later time; then SITE looks, and all look
 * once it is over.
 */
function looksAfter(
  proposed: 'bump' | 'dropRed',
  then: 'bump' | 'look',
  meanwhile: 'drop' | 'touch',
): unknown {
  const sites = new Sites(service, 3, { maxAttempts: 5 });
  sites.submit(SITE, contract.touch({}));
  sites.settle();
  sites.pass(100);
  sites.aheadMs[OTHER] = 500;
  sites.submit(SITE, contract[proposed]({}));
  const second = sites.submit(SITE, contract[then]({}));
  sites.submit(OTHER, contract[meanwhile]({}));
  sites.sync(OTHER);
  sites.deliver(({ from, to }) => from === OTHER && to === SITE);
  sites.sync(SITE);
  // What the site shows by now has the blue one, and not yet the red ones.
  const look = sites.submit(SITE, contract.look({}));
  sites.settle();
  sites.pass(200);
  const atEnd = [SITE, OTHER].map((site) => sites.read(site, contract.has({})));
  return { second: second.value, look: look.value, atEnd };
}

test('another site removes a row that is in flight, by a later time → a reader sees it gone', () => {
  expect(looksAfter('bump', 'bump', 'drop')).toEqual({
    second: null,
    look: false,
    atEnd: [false, false],
  });
});

test('another site adds to a row whose removal is in flight, by a later time → a reader sees it there', () => {
  expect(looksAfter('dropRed', 'look', 'touch')).toEqual({
    second: false,
    look: true,
    atEnd: [true, true],
  });
});
