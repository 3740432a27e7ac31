/** The service at the sites. */
import {
  blue,
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
import { scene } from './contract.ts';

interface Payment {
  readonly account: string;
  readonly id: string;
  readonly amount: number;
}

interface Person {
  readonly rota: string;
  readonly who: string;
}

export const service: Service = defineService(scene, {
  tables: {
    queues: table({ items: queue<unknown>() }),
    notes: table({ lines: log<string>() }),
    accounts: table({ balance: counter(), ids: log<string>() }),
    values: table({ value: cell<string>() }),
    holds: table({ by: register<string>() }),
    doctors: table({ rota: register<string>() }, { indexes: ['rota'], removable: true }),
  },
  shadowOperations: ({ queues, notes, accounts, values, holds, doctors }) => {
    const pay = ({ account, id, amount }: Payment) => [
      accounts.row(account).balance.add(amount),
      accounts.row(account).ids.append(id),
    ];
    return {
      push: red((args: { queue: string; item: unknown }) => [queues.row(args.queue).items.push(args.item)]),
      pop: red(
        (args: { queue: string }) => [queues.row(args.queue).items.pop()],
        ([popped]) => withMeta(popped.found ? { item: popped.item } : null, { remaining: popped.remaining }),
      ),
      note: blue(({ row, id }: { row: string; id: string }) => [notes.row(row).lines.append(id)]),
      deposit: blue(pay),
      withdraw: red(({ amount, ...payment }: Payment) => pay({ ...payment, amount: -amount })),
      assign: red(({ key, value }: { key: string; value: string }) => [values.row(key).value.assign(value)]),
      hold: red(({ key, by }: { key: string; by: string }) => [holds.row(key).by.write(by)]),
      join: red(({ rota, who: caller }: Person) => [doctors.row(caller).rota.write(rota)]),
      leave: red(({ who: caller }: Person) => [doctors.remove(caller)]),
    };
  },
  generators: {
    enqueue: (args, { shadow }) => shadow.push(args, undefined),
    dequeue: (args, { shadow }) => shadow.pop(args),
    peek: ({ queue: name }, { tables }) => {
      const { items } = tables.queues.row(name);
      return items.size === 0 ? null : { item: items.at(0) };
    },
    note: (args, { shadow }) => shadow.note(args, null),
    deposit: (args, { shadow }) => shadow.deposit(args, null),
    withdraw: (args, { tables, shadow }) =>
      tables.accounts.row(args.account).balance >= args.amount ? shadow.withdraw(args, true) : false,
    put: (args, { shadow }) => shadow.assign(args, null),
    get: ({ key }, { tables }) => tables.values.row(key).value ?? null,
    claim: (args, { tables, shadow }) =>
      (tables.holds.row(args.key).by ?? '') === '' ? shadow.hold(args, true) : false,
    release: ({ key, by }, { tables, shadow }) =>
      tables.holds.row(key).by === by ? shadow.hold({ key, by: '' }, true) : false,
    join: (args, { shadow }) => shadow.join(args, null),
    leave: ({ rota, who: caller }, { tables, shadow }) => {
      const onDuty = tables.doctors.by.rota({ equals: rota });
      return onDuty.length >= 2 && onDuty.includes(caller) ? shadow.leave({ rota, who: caller }, true) : false;
    },
    look: ({ rows, accounts, rota }, { tables }) => ({
      lines: rows.map((row) => [...tables.notes.row(row).lines]),
      accounts: accounts.map((account) => {
        const { balance, ids } = tables.accounts.row(account);
        return { balance, ids: [...ids] };
      }),
      onDuty: [...tables.doctors.by.rota({ equals: rota })],
    }),
  },
});
