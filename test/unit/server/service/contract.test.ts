/** Contracts and services: builders, fingerprints, checks, and types that flow from end to end. */
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { dequeue, enqueue, peek } from '../../../../src/operations/index.ts';
import { wasApplied, defineStatements } from '../../../../src/bindings/cassandra/index.ts';
import { checkOperation, parseArgs } from '../../../../src/contract/operation-registry.ts';
import { defineContract, operation } from '../../../../src/contract/contract.ts';
import { queueOperations } from '../../../../src/contract/portable-operations.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import { blue } from '../../../../src/server/service/shadow-operation.ts';
import { counter, queue, register, table } from '../../../../src/server/service/tables.ts';
import { bank, tickets } from '../site/services.ts';

const args = z.object({ key: z.string() });

test('a missing result → INVALID_VALUE that names where to return it', () => {
  const item = defineContract('one', { go: { access: 'write', args, result: z.boolean() } });
  const service = defineService(item, {
    tables: { rows: table({ n: counter() }) },
    shadowOperations: ({ rows }) => ({
      add: blue((a: { key: string }) => [rows.row(a.key).n.add(1)]),
    }),
    generators: { go: (value, { shadow }) => shadow.add(value, true) },
  });
  const message = expect.stringMatching(
    /received undefined.* beside the arguments: shadow\.x\(args, result\)/,
  );
  expect(() => service.resultChecks['go']!(undefined)).toThrow(
    expect.objectContaining({ code: 'INVALID_VALUE', field: 'result', message }),
  );
  expect(() => service.resultChecks['go']!(null)).toThrow(/received null\. Correct the service\.$/);
});

describe('contract', () => {
  test('builder → plain data with the effect, and a typed result', () => {
    const withdrawal = bank.withdraw({ account: 'a', amount: 5 });
    expect(withdrawal).toEqual({
      name: 'withdraw',
      args: { account: 'a', amount: 5 },
      access: 'write',
    });
    expectTypeOf(withdrawal).toExtend<Operation<{ paid: boolean }>>();
    // @ts-expect-error an amount is needed
    bank.withdraw({ account: 'a' });
  });

  test('portable builders: same name, arguments, effect and key as the contract', () => {
    const plain = ({ name, args: value, access, key }: Operation): unknown => ({
      name,
      args: value,
      effect: access,
      key,
    });
    expect(plain(enqueue('q', 1))).toEqual(plain(tickets.enqueue({ queue: 'q', item: 1 })));
    expect(plain(dequeue('q'))).toEqual(plain(tickets.dequeue({ queue: 'q' })));
    expect(plain(peek('q'))).toEqual(plain(tickets.peek({ queue: 'q' })));
  });

  test('dequeue: another item than the one guessed is another result', () => {
    expect(queueOperations.dequeue).not.toHaveProperty('equals');
  });

  /** An object with a member of this name, of `__proto__` too. */
  const having = <T>(name: string, value: T): Readonly<Record<string, T>> =>
    Object.fromEntries([[name, value]]);
  const read = { access: 'read', args, result: z.null() } as const;
  const fields = { n: counter() };

  describe.each(['then', '__proto__', '', '\ud800', 'a\udc00'])(
    'the name %j → INVALID_ARGUMENT that names it',
    (name) => {
      const update = defineContract('c', {});
      const operations = { tables: {}, shadowOperations: () => ({}), generators: {} };
      test.each<[what: string, field: string, define: () => unknown]>([
        ['an operation', 'operations', () => defineContract('c', having(name, read))],
        [
          'an error',
          'operations.get.errors',
          () => defineContract('c', { get: { ...read, errors: having(name, args) } }),
        ],
        ['a field', 'fields', () => table(having(name, counter()))],
        [
          'a table',
          'tables',
          () =>
            defineService(update, { ...operations, tables: having(name, table(fields)) } as never),
        ],
        [
          'a shadow operation',
          'shadowOperations',
          () =>
            defineService(update, {
              ...operations,
              shadowOperations: () =>
                having(
                  name,
                  blue(() => []),
                ),
            } as never),
        ],
        [
          'a statement',
          'statements',
          () =>
            defineStatements(
              having(name, { access: 'write', cql: 'INSERT', args, result: wasApplied() }),
            ),
        ],
      ])('of %s', (_, field, define) => {
        expect(define).toThrow(
          expect.objectContaining({
            code: 'INVALID_ARGUMENT',
            field: `${field}.${name}`,
            message: expect.stringContaining(`the name ${JSON.stringify(name)}`),
          }),
        );
      });
    },
  );

  test.each(['name', 'operations', 'hash'])(
    'the name %j of an operation, which the contract uses → refused',
    (name) => {
      const error = { code: 'INVALID_ARGUMENT', field: `operations.${name}` };
      expect(() => defineContract('c', having(name, read))).toThrow(expect.objectContaining(error));
    },
  );

  test('names of members that objects have anyway → builders and arguments as of others', () => {
    for (const name of [
      'constructor',
      'toString',
      'toJSON',
      'hasOwnProperty',
      'prototype',
      ' ',
      '💩',
    ]) {
      const named = defineContract('c', having(name, read));
      const made = named[name]?.({ key: 'k' });
      expect(made).toEqual({ name, access: 'read', args: { key: 'k' } });
      expect(parseArgs(named, made as Operation)).toEqual({ key: 'k' });
    }
  });

  test('an operation without a schema of its arguments → the error names the missing field', () => {
    const spec: object = { access: 'read', result: z.null() };
    const define = () => defineContract('shop', { get: spec as Parameters<typeof operation>[0] });
    expect(define).toThrow('operations.get.args: is missing: write z.object({ key: z.string() })');
  });

  test('key: made of the parsed arguments; what does not fit → none, and refused where it is checked', () => {
    const queues = defineContract('c', {
      push: operation({
        access: 'write',
        args: z.object({ queue: z.string().default('Main'), at: z.coerce.date() }),
        result: z.null(),
        key: ({ queue: name, at }) => `${name.toLowerCase()}/${at.getTime()}`,
      }),
    });
    expect(queues.push({ at: '2024-01-01' })).toMatchObject({
      key: 'main/1704067200000',
      args: { at: '2024-01-01' },
    });
    const bad = expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'args.queue' });
    const misfit = queues.push({ queue: 7 as never, at: 0 });
    expect(misfit).not.toHaveProperty('key');
    expect(() => checkOperation(queues, misfit)).toThrow(bad);
  });

  test('asynchronous schema, schema that throws → a typed error, for the client and the service', () => {
    const later = z.object({ at: z.number().refine(async () => true) });
    const broken = z.object({
      at: z.number().transform(() => Object.fromEntries(undefined as never)),
    });
    for (const [schema, code] of [
      [later, 'UNSUPPORTED'],
      [broken, 'INVALID_ARGUMENT'],
    ] as const) {
      const spec = { access: 'write', args: schema, result: z.null() } as const;
      const odd = defineContract('c', { plain: spec, keyed: { ...spec, key: () => 'k' } });
      expect(() => checkOperation(odd, odd.keyed({ at: 1 }))).toThrow(
        expect.objectContaining({ code, field: 'args' }),
      );
      const error = expect.objectContaining({ code, field: 'args' });
      expect(() => parseArgs(odd, odd.plain({ at: 1 }))).toThrow(error);
      expect(() => checkOperation(odd, odd.plain({ at: 1 }))).toThrow(error);
    }
  });
});

describe('service', () => {
  const contract = defineContract('c', { add: { access: 'write', args, result: z.number() } });
  const tables = {
    rows: table({ n: counter(), name: register<string>(), items: queue<number>() }),
  };

  test('types: tables → effects → shadow operations → generators', () => {
    defineService(contract, {
      tables,
      shadowOperations: ({ rows }) => ({
        add: blue((value: { key: string; by: number }) => [rows.row(value.key).n.add(value.by)]),
      }),
      generators: {
        add: (value, { tables: { rows }, shadow, uniqueId, now }) => {
          expectTypeOf(value).toEqualTypeOf<{ key: string }>();
          expectTypeOf(rows.row('k').n).toEqualTypeOf<number>();
          expectTypeOf(rows.row('k').name).toEqualTypeOf<string | undefined>();
          expectTypeOf(rows.row('k').items.at(0)).toEqualTypeOf<number | undefined>();
          expectTypeOf(uniqueId()).toEqualTypeOf<string>();
          expectTypeOf(now).toEqualTypeOf<number>();
          return shadow.add({ key: value.key, by: 1 }, rows.row(value.key).n + 1);
        },
      },
    });
    defineService(contract, {
      tables,
      shadowOperations: ({ rows }) => ({
        // @ts-expect-error a blue shadow operation may not pop
        pop: blue((value: { key: string }) => [rows.row(value.key).items.pop()]),
      }),
      // @ts-expect-error the result is a number
      generators: { add: () => 'one' },
    });
  });
});
