/** Values and queues, in versions that differ as a service may over the years. */
import { defineContract } from '../../../../../src/contract/contract.ts';
import {
  keyValueOperations,
  queueOperations,
} from '../../../../../src/contract/portable-operations.ts';
import { defineService } from '../../../../../src/server/service/service.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
import { blue, red } from '../../../../../src/server/service/shadow-operation.ts';
import { cell, queue, register, table } from '../../../../../src/server/service/tables.ts';

interface Put {
  readonly key: string;
  readonly value: unknown;
}
interface Queue {
  readonly queue: string;
}
interface Push extends Queue {
  readonly item: unknown;
}

const values = {
  register: table({ value: register<unknown>() }),
  cell: table({ value: cell<unknown>() }),
};

/** The service: blue writes of values, red queues. */
export function notesService(name = 'notes'): Service {
  return defineService(defineContract(name, { ...keyValueOperations, ...queueOperations }), {
    tables: { values: values.register, queues: table({ items: queue<unknown>() }) },
    shadowOperations: (tables) => ({
      write: blue((a: Put) => [tables.values.row(a.key).value.write(a.value)]),
      push: red((a: Push) => [tables.queues.row(a.queue).items.push(a.item)]),
      pop: red(
        (a: Queue) => [tables.queues.row(a.queue).items.pop()],
        ([popped]) => (popped.found ? { item: popped.item } : null),
      ),
    }),
    generators: {
      get: ({ key }, { tables }) => tables.values.row(key).value,
      getMany: ({ keys }, { tables }) => keys.map((key) => tables.values.row(key).value),
      put: ({ key, value }, { shadow }) => shadow.write({ key, value }, undefined),
      enqueue: ({ queue: to, item }, { shadow }) => shadow.push({ queue: to, item }, undefined),
      dequeue: ({ queue: from }, { shadow }) => shadow.pop({ queue: from }),
      peek: () => null,
    },
  });
}

/** The same without queues. */
export function valuesService(): Service {
  return defineService(defineContract('notes', { ...keyValueOperations }), {
    tables: { values: values.register },
    shadowOperations: (tables) => ({
      write: blue((a: Put) => [tables.values.row(a.key).value.write(a.value)]),
    }),
    generators: {
      get: ({ key }, { tables }) => tables.values.row(key).value,
      getMany: ({ keys }, { tables }) => keys.map((key) => tables.values.row(key).value),
      put: ({ key, value }, { shadow }) => shadow.write({ key, value }, undefined),
    },
  });
}

/** The same, with the values in fields of another kind. */
export function cellsService(): Service {
  return defineService(defineContract('notes', { ...keyValueOperations }), {
    tables: { values: values.cell, queues: table({ items: queue<unknown>() }) },
    shadowOperations: (tables) => ({
      write: red((a: Put) => [tables.values.row(a.key).value.assign(a.value)]),
    }),
    generators: {
      get: ({ key }, { tables }) => tables.values.row(key).value,
      getMany: ({ keys }, { tables }) => keys.map((key) => tables.values.row(key).value),
      put: ({ key, value }, { shadow }) => shadow.write({ key, value }, undefined),
    },
  });
}
