/** What an application may export with its types inferred: each has to be something that a declaration can name. */
import { all, correctable, correctableOf, createClient } from 'correctables';
import { cached } from 'correctables/bindings/cache';
import { memory } from 'correctables/bindings/memory';
import { levels, primaryBackup } from 'correctables/bindings/primary-backup';
import { byContract, defineContract } from 'correctables/contract';
import { redblue } from 'correctables/bindings/redblue';
import { dequeue, get, put } from 'correctables/operations';
import { blue, counter, createEmbedded, defineService, red, table } from 'correctables/server';
import { checkService, plainService, scriptedBinding } from 'correctables/testing';
import { z } from 'zod';
export const store = createClient(memory());
export const read = () => store.invoke(get<number>('k'));
export const early = () => store.invoke(dequeue<string>('q')).settle({ withinMs: 5 });
export const mapped = () =>
  read()
    .map(String)
    .chain((v) => store.invoke(get<Date>(v)));
export const guess = () => read().speculate(async (v) => [v]);
export const joined = () => all([read(), mapped()]);
export const own = correctable(['quoted', 'charged'], (sink) => void sink.update(1, 'charged'));
export const known = correctableOf(3);
export const front = { ...cached(memory(), {}) };
export const behind = createClient(cached(memory()));
export const tiers = primaryBackup({ levels: ['weak', 'strong'], tiers: { weak: () => 1, strong: async () => 2 } });
export const named = levels(['cache', 'origin'], { cache: () => 1, origin: async () => 2 });
export const contract = defineContract('c', {
  add: {
    effect: 'update',
    colour: 'blue',
    args: z.object({ n: z.int() }),
    result: z.null(),
    errors: { no: z.object({ why: z.string() }) },
  },
  total: { effect: 'read', args: z.object({}), result: z.int() },
});
export const adding = byContract(contract, { add: ({ n }) => n, total: () => 0 });
export const tables = { rows: table({ n: counter() }) };
export const service = defineService(contract, {
  tables,
  shadowOperations: ({ rows }) => ({ add: blue((a: { n: number }) => [rows.row('r').n.add(a.n)]) }),
  generators: { add: (a, { shadow }) => shadow.add(a, null), total: (_, { tables: t }) => t.rows.row('r').n },
});
export const remote = createClient(redblue(contract, { url: 'ws://localhost/irl' }));
export const total = () => remote.invoke(contract.total({}));
export const embedded = createEmbedded(service, { sites: ['a', 'b'] });
export const site = createClient(embedded.site('a'));
export const plain = plainService(service);
export const scripted = scriptedBinding(['weak', 'strong']);
export { checkService, put, red };
