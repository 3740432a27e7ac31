/**
 * Looking at all data of a site: pages follow each other, what is broken is answer, and equal data
 * gives equal digests.
 */
import { createClient } from 'correctables';
import { defineContract } from 'correctables/contract';
import {
  blue,
  counter,
  createEmbedded,
  defineService,
  set,
  table,
  type Invariants,
} from 'correctables/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { auditAll, auditOperation, auditPages } from '../../../../research/case-studies/audit.ts';
import { ofAllRows, type Bonds } from '../../../../research/case-studies/cross-table-invariants.ts';
import { CountingStore } from '../../../../research/case-studies/user.ts';

const contract = defineContract('things', {
  add: {
    access: 'write',
    args: z.object({ keys: z.array(z.string()), amount: z.int() }),
    result: z.null(),
  },
  audit: auditOperation,
});
const tables = {
  things: table({ amount: counter(), tags: set<string>() }),
  others: table({ amount: counter() }),
};
const invariants: Invariants<typeof tables> = {
  things: { 'there is no less than nothing': ({ amount }) => amount >= 0 },
};
const bonds: Bonds<typeof tables> = {
  things: {
    'all are as many': (key, { things }) => things.row(key).amount === things.row('thing-0').amount,
  },
};

const service = defineService(contract, {
  tables,
  shadowOperations: ({ things }) => ({
    add: blue(({ keys, amount }: { readonly keys: readonly string[]; readonly amount: number }) =>
      keys.flatMap((key) => [things.row(key).amount.add(amount), things.row(key).tags.add('t')]),
    ),
  }),
  generators: {
    add: (args, { shadow }) => shadow.add(args, null),
    audit: auditPages({ tables, invariants, bonds }),
  },
  invariants,
  snapshotInvariants: ofAllRows(bonds),
});

/** More than fit on two pages. */
const KEYS = Array.from({ length: 1201 }, (_, n) => `thing-${n}`);

test('many rows, some of them broken → each is looked at once, and those are named', async () => {
  const deployment = createEmbedded(service, { sites: ['ue'], onAlarm: () => {} });
  const client = createClient(deployment.site('ue'));
  const audit = () => auditAll(service, contract.audit, new CountingStore(client));
  expect(await audit()).toMatchObject({ rows: 0, broken: [] });
  await client.invoke(contract.add({ keys: KEYS, amount: 1 }));
  const before = await audit();
  expect(before).toMatchObject({ rows: 1201, broken: [] });
  expect(await audit()).toEqual(before);
  await client.invoke(contract.add({ keys: ['thing-700'], amount: -2 }));
  const after = await audit();
  expect(after.broken).toEqual([
    "things 'thing-700' breaks 'there is no less than nothing'",
    "things 'thing-700' breaks 'all are as many'",
  ]);
  expect(after.digest).not.toBe(before.digest);
  await deployment.close();
});

test('exactly as many rows as a page has → all of them, and an end; no page takes much of what a generator may', async () => {
  const deployment = createEmbedded(service, { sites: ['ue'], generators: { maxSteps: 1000 } });
  const client = createClient(deployment.site('ue'));
  await client.invoke(contract.add({ keys: KEYS.slice(0, 100), amount: 1 }));
  expect(await auditAll(service, contract.audit, new CountingStore(client))).toMatchObject({
    rows: 100,
    broken: [],
  });
  await client.invoke(contract.add({ keys: KEYS, amount: 1 }));
  expect(await auditAll(service, contract.audit, new CountingStore(client))).toMatchObject({
    rows: 1201,
  });
  await deployment.close();
});
