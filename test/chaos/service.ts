/** The service at the sites. */
import {
  blue,
  boundedCounter,
  cell,
  counter,
  defineService,
  log,
  queue,
  red,
  register,
  table,
  withMeta,
  type Service,
} from 'correctables/server';
import { chaos } from './contract.ts';

interface Payment {
  readonly account: string;
  readonly id: string;
  readonly amount: number;
}

interface Assignment {
  readonly key: string;
  readonly value: string;
}

/** With one red log it has no effect. */
const BY_KEY = { partition: 'key' } as const;

export const service: Service = defineService(chaos, {
  tables: {
    queues: table({ items: queue<unknown>() }, BY_KEY),
    accounts: table({ balance: counter(), ids: log<string>() }, BY_KEY),
    halls: table({ seats: boundedCounter({ min: 0 }), sold: log<string>() }, BY_KEY),
    values: table({ value: cell<string>() }, BY_KEY),
    profiles: table({ value: register<string>() }, BY_KEY),
  },
  shadowOperations: ({ queues, accounts, halls, values, profiles }) => {
    const pay = ({ account, id, amount }: Payment) => [
      accounts.row(account).balance.add(amount),
      accounts.row(account).ids.append(id),
    ];
    return {
      push: red((args: { queue: string; item: unknown }) => [
        queues.row(args.queue).items.push(args.item),
      ]),
      pop: red(
        (args: { queue: string }) => [queues.row(args.queue).items.pop()],
        ([popped]) =>
          withMeta(popped.found ? { item: popped.item } : null, { remaining: popped.remaining }),
      ),
      deposit: blue(pay),
      withdraw: red(({ amount, ...payment }: Payment) => pay({ ...payment, amount: -amount })),
      open: red(({ hall, seats }: { hall: string; seats: number }) => [
        halls.row(hall).seats.give(seats),
      ]),
      sell: blue(({ hall, id }: { hall: string; id: string }) => [
        halls.row(hall).seats.take(1),
        halls.row(hall).sold.append(id),
      ]),
      assign: red(({ key, value }: Assignment) => [values.row(key).value.assign(value)]),
      write: blue(({ key, value }: Assignment) => [profiles.row(key).value.write(value)]),
    };
  },
  generators: {
    enqueue: (args, { shadow }) => shadow.push(args, undefined),
    dequeue: (args, { shadow }) => shadow.pop(args),
    peek: ({ queue: name }, { tables }) => {
      const { items } = tables.queues.row(name);
      return items.size === 0 ? null : { item: items.at(0) };
    },
    deposit: (args, { shadow }) => shadow.deposit(args, null),
    withdraw: (args, { tables, shadow }) =>
      tables.accounts.row(args.account).balance >= args.amount
        ? shadow.withdraw(args, true)
        : false,
    open: (args, { shadow }) => shadow.open(args, null),
    sell: (args, { tables, shadow }) =>
      tables.halls.row(args.hall).seats.left === 0 ? false : shadow.sell(args, true),
    put: (args, { shadow }) => shadow.assign(args, null),
    swap: (args, { tables, shadow }) =>
      shadow.assign(args, tables.values.row(args.key).value ?? null),
    get: ({ key }, { tables }) => tables.values.row(key).value ?? null,
    write: (args, { shadow }) => shadow.write(args, null),
    read: ({ key }, { tables }) => tables.profiles.row(key).value ?? null,
    look: (args, { tables }) => ({
      accounts: args.accounts.map((account) => {
        const { balance, ids } = tables.accounts.row(account);
        return { balance, ids: [...ids] };
      }),
      halls: args.halls.map((hall) => {
        const { seats, sold } = tables.halls.row(hall);
        return { left: seats.left, sold: [...sold] };
      }),
      profiles: args.profiles.map((key) => tables.profiles.row(key).value ?? null),
      values: args.values.map((key) => tables.values.row(key).value ?? null),
    }),
  },
  alwaysRed: ['open'],
  invariants: {
    accounts: { 'a balance is never negative': ({ balance }) => balance >= 0 },
    halls: { 'no seat is sold twice': ({ seats }) => seats.value >= 0 },
  },
});
