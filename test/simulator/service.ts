/** The service that simulations run: queues and accounts, with fields of every kind. */
import { z } from 'zod/v4';
import { defineContract } from '../../src/contract/contract.ts';
import { uncertified, withMeta } from '../../src/server/service/records/reply.ts';
import { defineService } from '../../src/server/service/service.ts';
import type { Service } from '../../src/server/service/service.ts';
import { blue, red } from '../../src/server/service/shadow-operation.ts';
import {
  cell,
  counter,
  log,
  queue,
  register,
  set,
  stock,
  table,
} from '../../src/server/service/tables.ts';

const key = z.object({ key: z.string() });
const amount = z.object({ key: z.string(), amount: z.number() });
const text = z.object({ key: z.string(), text: z.string() });

const operations = {
  enqueue: { access: 'write', args: text, result: z.void() },
  dequeue: { access: 'write', args: key, result: z.string().nullable() },
  size: { access: 'read', args: key, result: z.number() },
  deposit: { access: 'write', args: amount, result: z.null() },
  withdraw: {
    access: 'write',
    args: amount.extend({ here: z.boolean() }),
    result: z.object({ paid: z.boolean() }),
  },
  adjust: { access: 'write', args: key, result: z.object({ added: z.number() }) },
  balance: { access: 'read', args: key, result: z.number() },
  write: { access: 'write', args: text, result: z.null() },
  tag: { access: 'write', args: text, result: z.null() },
  untag: { access: 'write', args: text, result: z.null() },
  note: { access: 'write', args: text, result: z.null() },
  assign: { access: 'write', args: text, result: z.string().nullable() },
  sign: { access: 'write', args: text, result: z.object({ before: z.string() }) },
  draft: { access: 'write', args: text, result: z.null() },
  discard: { access: 'write', args: key, result: z.null() },
  reserve: { access: 'write', args: text, result: z.object({ reserved: z.boolean() }) },
  // Of two keys, which may be in two partitions.
  transfer: {
    access: 'write',
    args: amount.extend({ to: z.string() }),
    result: z.object({ paid: z.boolean() }),
  },
  balances: { access: 'read', args: key.extend({ to: z.string() }), result: z.array(z.number()) },
  // It writes rows of up to three keys, and reads nothing.
  post: {
    access: 'write',
    args: text.extend({ to: z.string(), also: z.string() }),
    result: z.null(),
  },
  // It reads a row of the second key, and writes one of the first.
  copy: {
    access: 'write',
    args: key.extend({ to: z.string() }),
    result: z.object({ copied: z.string() }),
  },
  // They take without a look at what is left.
  move: { access: 'write', args: amount.extend({ to: z.string() }), result: z.null() },
  sell: { access: 'write', args: amount, result: z.null() },
  restock: { access: 'write', args: amount, result: z.null() },
  posts: {
    access: 'read',
    args: key.extend({ to: z.string() }),
    result: z.array(z.array(z.string())),
  },
} as const;

/** A seat, as keys of reservations begin: with its partition, if there are several. */
const SEAT = /^(?:p\d\/)?[^/]*/;

interface Named {
  readonly key: string;
}
interface Amount extends Named {
  readonly amount: number;
}
interface Text extends Named {
  readonly text: string;
}

interface Transfer extends Amount {
  readonly to: string;
}
interface Post extends Text {
  readonly to: string;
  readonly also: string;
}

type Operations = typeof operations;

/** Orders each operation by the partition of its key. */
function partitionByKey(): Operations {
  const partitioned = Object.entries(operations).map(([name, spec]) => [
    name,
    { ...spec, partitionBy: 'key' },
  ]);
  return Object.fromEntries(partitioned) as Operations;
}

/**
 * The service. If it is partitioned, the part of a key before the first `/` names its partition.
 */
export function simulatedService(isPartitioned = false): Service {
  const contract = defineContract('simulated', isPartitioned ? partitionByKey() : operations);
  const partition = isPartitioned ? ({ partition: 'key' } as const) : {};
  return defineService(contract, {
    tables: {
      queues: table({ items: queue<string>() }, partition),
      accounts: table({ balance: counter() }, partition),
      drafts: table(
        { title: register<string>(), edits: counter() },
        { indexes: ['title'], removable: true, ...partition },
      ),
      seats: table({}, partition),
      stores: table({ left: stock() }, partition),
      notes: table(
        {
          signed: register<string>(),
          title: register<string>(),
          tags: set<string>(),
          lines: log<string>(),
          owner: cell<string>(),
        },
        partition,
      ),
    },
    shadowOperations: ({ queues, accounts, notes, drafts, seats, stores }) => ({
      push: red((a: Text) => [queues.row(a.key).items.push(a.text)]),
      pop: red(
        (a: Named) => [queues.row(a.key).items.pop()],
        ([popped]) => withMeta(popped.found ? popped.item : null, { remaining: popped.remaining }),
      ),
      deposit: blue((a: Amount) => [accounts.row(a.key).balance.add(a.amount)]),
      withdraw: red((a: Amount) => [accounts.row(a.key).balance.add(-a.amount)]),
      transfer: red((a: Transfer) => [
        accounts.row(a.key).balance.add(-a.amount),
        accounts.row(a.to).balance.add(a.amount),
      ]),
      move: red((a: Transfer) => [
        stores.row(a.key).left.take(a.amount),
        stores.row(a.to).left.add(a.amount),
      ]),
      sell: red((a: Amount) => [stores.row(a.key).left.take(a.amount)]),
      restock: red((a: Amount) => [stores.row(a.key).left.add(a.amount)]),
      post: red((a: Post) =>
        [...new Set([a.key, a.to, a.also])].flatMap((name) => [
          notes.row(name).title.write(a.text),
          notes.row(name).lines.append(a.text),
        ]),
      ),
      copy: red((a: Text) => [notes.row(a.key).signed.write(a.text)]),
      write: blue((a: Text) => [notes.row(a.key).title.write(a.text)]),
      tag: blue((a: Text) => [notes.row(a.key).tags.add(a.text)]),
      untag: blue((a: Text) => [notes.row(a.key).tags.remove(a.text)]),
      note: blue((a: Text) => [notes.row(a.key).lines.append(a.text)]),
      sign: red((a: Text) => [
        notes.row(a.key).title.write(a.text),
        notes.row(a.key).signed.write(a.text),
      ]),
      draft: blue((a: Text) => [
        drafts.row(a.key).title.write(a.text),
        drafts.row(a.key).edits.add(1),
      ]),
      discard: blue((a: Named) => [drafts.remove(a.key)]),
      reserve: red((a: Text) => [seats.insert(`${a.key}/${a.text}`)]),
      assign: red(
        (a: Text) => [notes.row(a.key).owner.assign(a.text)],
        ([previous]) => previous ?? null,
      ),
    }),
    generators: {
      enqueue: (args, { shadow }) => shadow.push(args, undefined),
      dequeue: (args, { shadow }) => shadow.pop(args),
      size: (args, { tables }) => tables.queues.row(args.key).items.size,
      deposit: (args, { shadow }) => shadow.deposit(args, null),
      // A refusal that is certified, or one for which the site's own snapshot will do.
      withdraw: ({ here, ...args }, { tables, shadow }) => {
        if (tables.accounts.row(args.key).balance >= args.amount)
          return shadow.withdraw(args, { paid: true });
        return here ? uncertified({ paid: false }) : { paid: false };
      },
      // Blue or red, as the balance is: what a retry must not choose again.
      adjust: ({ key: name }, { tables, shadow }) =>
        tables.accounts.row(name).balance < 50
          ? shadow.deposit({ key: name, amount: 25 }, { added: 25 })
          : shadow.withdraw({ key: name, amount: 10 }, { added: -10 }),
      balance: (args, { tables }) => tables.accounts.row(args.key).balance,
      transfer: (args, { tables, shadow }) =>
        tables.accounts.row(args.key).balance >= args.amount && args.key !== args.to
          ? shadow.transfer(args, { paid: true })
          : { paid: false },
      balances: ({ key: first, to }, { tables }) =>
        [first, to].map((name) => tables.accounts.row(name).balance),
      move: (args, { shadow }) => shadow.move(args, null),
      sell: (args, { shadow }) => shadow.sell(args, null),
      restock: (args, { shadow }) => shadow.restock(args, null),
      post: (args, { shadow }) => shadow.post(args, null),
      copy: ({ key: name, to }, { tables, shadow }) => {
        const title = tables.notes.row(to).title ?? '';
        return shadow.copy({ key: name, text: title }, { copied: title });
      },
      posts: ({ key: first, to }, { tables }) =>
        [first, to].map((name) => [...tables.notes.row(name).lines]),
      write: (args, { shadow }) => shadow.write(args, null),
      tag: (args, { shadow }) => shadow.tag(args, null),
      untag: (args, { shadow }) => shadow.untag(args, null),
      note: (args, { shadow }) => shadow.note(args, null),
      // Its reply has the title that it found: also that of a blue write.
      sign: (args, { tables, shadow }) => {
        const { title, signed } = tables.notes.row(args.key);
        return shadow.sign(args, { before: `${title ?? ''} ${signed ?? ''}` });
      },
      draft: (args, { shadow }) => shadow.draft(args, null),
      discard: (args, { shadow }) => shadow.discard(args, null),
      // One reservation a seat, which is seen by a scan that finds nothing.
      reserve: (args, { tables, shadow }) =>
        tables.seats.keys({ prefix: `${args.key}/`, limit: 1 }).length > 0
          ? { reserved: false }
          : shadow.reserve(args, { reserved: true }),
      assign: (args, { shadow }) => shadow.assign(args),
    },
    alwaysRed: ['enqueue', 'dequeue'],
    throttled: { operations: ['dequeue'], maxInFlight: 1, minSlotIntervalMs: 30 },
    invariants: { accounts: { 'the balance is never negative': (row) => row.balance >= 0 } },
    // Each reservation is a row of its own: no row shows that a seat has two.
    snapshotInvariants: {
      'no seat is reserved twice': ({ seats }) => {
        const reserved = seats.keys().map((name) => SEAT.exec(name)?.[0]);
        return new Set(reserved).size === reserved.length;
      },
    },
  });
}
