/**
 * What a site takes of its own generators, every other site takes of it: or all that comes after it
 * there would wait.
 */
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../../src/index.ts';
import { defineContract } from '../../../../src/contract/contract.ts';
import { createEmbedded } from '../../../../src/server/node/embedded/embedded.ts';
import type { Embedded } from '../../../../src/server/node/embedded/embedded.ts';
import type { Effect } from '../../../../src/server/service/records/effect.ts';
import { FIELD_KINDS } from '../../../../src/server/service/fields/field-kinds.ts';
import { EffectValidator } from '../../../../src/server/service/effect-validator.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import { blue } from '../../../../src/server/service/shadow-operation.ts';
import { createEffectTables } from '../../../../src/server/service/effect-builders.ts';
import {
  boundedCounter,
  cell,
  counter,
  log,
  queue,
  register,
  set,
  stock,
  table,
} from '../../../../src/server/service/tables.ts';
import { EDGE_CASE_VALUES } from '../../../support/edge-case-values.ts';

const fields = {
  c: counter(),
  r: register(),
  s: set(),
  l: log(),
  q: queue(),
  e: cell(),
  k: stock(),
  b: boundedCounter({ min: 0 }),
};
const tables = { t: table(fields) };
const known = new EffectValidator(tables);

type AnyEffects = Record<string, Record<string, (value: unknown) => Effect>>;

function built(field: string, action: string, value: unknown): Effect | undefined {
  try {
    return (createEffectTables(tables).t.row('key') as unknown as AnyEffects)[field]?.[action]?.(
      value,
    );
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', field: `t.${field}` });
    return undefined;
  }
}

test.each(Object.entries(fields))(
  '%s: whatever value an effect is built with, other sites take it',
  (field, { kind }) => {
    const { effects, isRedOnly } = FIELD_KINDS[kind];
    for (const action of Object.keys(effects)) {
      for (const value of [...EDGE_CASE_VALUES, undefined, 12n, new Date(0), new Uint8Array(2)]) {
        const effect = built(field, action, value);
        if (effect !== undefined) expect(known.describeProblem(effect, isRedOnly)).toBeUndefined();
      }
    }
  },
);

test('a set takes strings and numbers, which can be put in order; whatever else is in a log can be removed', () => {
  const of = (action: string, value: unknown): Effect => ({
    table: 't',
    key: 'key',
    field: 's',
    action,
    value,
  });
  for (const value of [null, true, 12n]) {
    expect(built('s', 'add', value)).toBeUndefined();
    expect(built('s', 'remove', value)).toMatchObject({ value });
    expect(known.describeProblem(of('add', value), false)).toMatch(/not for that value/);
    expect(known.describeProblem(of('remove', value), false)).toBeUndefined();
  }
  expect(known.describeProblem(of('add', { toString: 1 }), false)).toMatch(/not for that value/);
});

const args = z.object({ key: z.unknown(), tag: z.unknown() });
const update = { access: 'write', args, result: z.string() } as const;
const contract = defineContract('odd', {
  tag: update,
  show: { access: 'read', args: z.object({}), result: z.unknown() },
});
const service = defineService(contract, {
  tables: { t: table({ tags: set<never>() }) },
  shadowOperations: ({ t }) => ({
    tag: blue((a: z.infer<typeof args>) => [t.row(a.key as string).tags.add(a.tag as never)]),
  }),
  generators: {
    tag: (a, { shadow }) => shadow.tag(a, 'done'),
    show: (_, { tables: { t } }) => [...t.row('key').tags],
  },
});

let deployment: Embedded<'ireland' | 'frankfurt'> | undefined;
afterEach(async () => await deployment?.close());

test('an element or a key that is none → refused, with what it is; what its site writes next, others get', async () => {
  deployment = createEmbedded(service, { sites: ['ireland', 'frankfurt'] });
  const client = createClient(deployment.site('ireland'));
  await expect(client.invokeStrong(contract.tag({ key: 'key', tag: null }))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    field: 't.tags',
    message: expect.stringMatching(/strings and numbers, not null/),
  });
  await expect(client.invokeStrong(contract.tag({ key: 5, tag: 'a' }))).rejects.toMatchObject({
    code: 'INVALID_VALUE',
    message: expect.stringMatching(/key of a row is text, not number/),
  });
  await client.invokeStrong(contract.tag({ key: 'key', tag: 'b' }));
  const other = createClient(deployment.site('frankfurt'));
  await expect.poll(async () => await other.invokeWeak(contract.show({}))).toEqual(['b']);
});
