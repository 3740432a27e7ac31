/**
 * What leaves a site of an error in a generator (docs/spec/redblue.md, RB-V5 and RB-V6): declared
 * errors, and our own words.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../../../src/correctable/client/client.ts';
import type { Client } from '../../../../../src/correctable/client/client.ts';
import { CorrectableError } from '../../../../../src/correctable/errors.ts';
import type { Operation } from '../../../../../src/correctable/operation.ts';
import { defineContract } from '../../../../../src/contract/contract.ts';
import { createEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
import { defineService } from '../../../../../src/server/service/service.ts';
import { blue, red } from '../../../../../src/server/service/shadow-operation.ts';
import type { RedBlueLevels } from '../../../../../src/protocol/redblue-levels.ts';
import {
  counter,
  queue,
  register,
  stock,
  table,
} from '../../../../../src/server/service/tables.ts';
import type { SiteAlarm } from '../../../../../src/server/node/alarms/site-alarm.ts';
import { singleSiteService } from '../../../../../src/testing/single-site-service.ts';

const SECRET = 'ann@example.org';
const args = z.object({ n: z.number() });
const update = { access: 'write', args, result: z.null() } as const;
const read = { access: 'read', args, result: z.unknown() } as const;

const shop = defineContract('shop', {
  typed: { ...update, errors: { gone: z.object({}) } },
  typedRead: read,
  typedBlue: { ...update, color: 'blue' },
  typedRed: { ...update, color: 'red' },
  borrowed: update,
  returned: update,
  reworded: update,
  getter: { ...read, result: z.unknown() },
  replied: update,
  repliedTyped: update,
  tried: update,
  spend: update,
  sell: update,
  keep: update,
  scan: read,
  wide: update,
});

const secret = (): never => {
  throw new CorrectableError('OVERLOADED', `${SECRET} has no money`, {
    field: SECRET,
    retryAfterMs: 7,
  });
};
let borrowed: unknown;

const service = defineService(shop, {
  tables: {
    rows: table({ n: counter(), s: stock(), q: queue<number>(), any: register<object>() }),
  },
  shadowOperations: ({ rows }) => ({
    add: blue((a: { n: number }) => [rows.row('r').n.add(a.n)]),
    write: blue((a: { any: object }) => [rows.row('r').any.write(a.any)]),
    take: red((a: { n: number }) => [rows.row('r').s.take(a.n)]),
    keep: red((a: { n: number }) => [rows.row('r').s.take(1, { atLeast: a.n })]),
    throws: red(
      (_a: object) => [rows.row('r').q.push(1)],
      (): null => {
        throw new Error(SECRET);
      },
    ),
    throwsTyped: red(
      (_a: object) => [rows.row('r').q.push(1)],
      (): null => secret(),
    ),
  }),
  generators: {
    typed: (_, { errors }) => {
      borrowed = errors.gone({});
      return secret();
    },
    typedRead: secret,
    typedBlue: secret,
    typedRed: secret,
    borrowed: () => {
      throw borrowed;
    },
    // An untyped program may.
    returned: () => borrowed as null,
    reworded: (a, { shadow }) => {
      try {
        return shadow.add(a, null);
      } catch (error) {
        (error as Error).message = `${SECRET}: ${(error as Error).message}`;
        throw error;
      }
    },
    getter: () => ({
      get name() {
        return secret();
      },
    }),
    replied: (_, { shadow }) => shadow.throws({}),
    repliedTyped: (_, { shadow }) => shadow.throwsTyped({}),
    tried: (_, { shadow, scratchpad }) => scratchpad.apply(shadow.throwsTyped({})),
    spend: (a, { shadow }) => shadow.add(a, null),
    sell: (a, { shadow }) => shadow.take(a, null),
    keep: (a, { shadow }) => shadow.keep(a, null),
    scan: (a, { tables }) => tables.rows.keys({ limit: a.n }),
    wide: (_, { shadow }) => shadow.write({ any: { [SECRET]: () => 1 } }, null),
  },
});

interface Site {
  readonly client: Client<RedBlueLevels>;
  readonly alarms: readonly SiteAlarm[];
}

const ways = {
  'a site': (): Site => {
    const alarms: SiteAlarm[] = [];
    const deployment = createEmbedded(service, {
      sites: ['a'],
      onAlarm: (alarm) => void alarms.push(alarm),
    });
    onTestFinished(() => deployment.close());
    return { client: createClient(deployment.site('a')), alarms };
  },
  'the plain service': (): Site => {
    const alarms: SiteAlarm[] = [];
    return {
      client: createClient(
        singleSiteService(service, { onAlarm: (alarm) => void alarms.push(alarm) }),
      ),
      alarms,
    };
  },
};

/** All that a client gets of an error, its causes too. */
const collectText = (error: unknown): string =>
  error instanceof Error
    ? `${JSON.stringify(error)} ${error.message} ${collectText(error.cause)}`
    : String(error);

async function failureOf(
  client: Client<RedBlueLevels>,
  operation: Operation,
): Promise<CorrectableError> {
  const failure: unknown = await client.invoke(operation).then(
    (value) => new Error(`it succeeded: ${String(value)}`),
    (error: unknown) => error,
  );
  return failure as CorrectableError;
}

describe.each(Object.entries(ways))('%s, its generator throws', (_, start) => {
  test.each(['typed', 'typedRead', 'typedBlue', 'typedRed', 'tried'] as const)(
    '%s: a CorrectableError of its own → FINAL_FAILED without any of it; the alarm has it',
    async (name) => {
      const { client, alarms } = start();
      const failure = await failureOf(client, shop[name]({ n: 1 }));
      expect(failure).toMatchObject({
        code: 'FINAL_FAILED',
        field: `generators.${name}`,
        retryable: false,
      });
      expect(failure.retryAfterMs).toBeUndefined();
      expect(collectText(failure)).not.toContain(SECRET);
      expect(alarms).toContainEqual(
        expect.objectContaining({
          kind: 'generator-error',
          message: expect.stringMatching(new RegExp(`'${name}'.*OVERLOADED.*${SECRET}`)),
          cause: expect.objectContaining({ code: 'OVERLOADED' }),
        }),
      );
    },
  );

  test.each(['borrowed', 'returned'] as const)(
    '%s: an error of the domain that another operation declares → like any other throw',
    async (name) => {
      const { client } = start();
      await failureOf(client, shop.typed({ n: 1 }));
      const failure = await failureOf(client, shop[name]({ n: 1 }));
      expect(failure.code).toBe('FINAL_FAILED');
      expect(failure.domain).toBeUndefined();
    },
  );

  test.each(['replied', 'repliedTyped'] as const)(
    '%s: the reply of its shadow operation throws → the write takes effect, and the client does not see the thrown error',
    async (name) => {
      const { client, alarms } = start();
      const failure = await failureOf(client, shop[name]({ n: 1 }));
      expect(failure).toMatchObject({ code: 'FINAL_FAILED', retryable: false });
      expect(failure.message).toContain('has taken effect');
      expect(collectText(failure)).not.toContain(SECRET);
      expect(
        alarms.some(({ kind, message }) => kind === 'generator-error' && message.includes(SECRET)),
      ).toBe(true);
    },
  );

  test('a getter of its result throws a typed error → FINAL_FAILED without it', async () => {
    const { client, alarms } = start();
    const failure = await failureOf(client, shop.getter({ n: 1 }));
    expect(failure.code).toBe('FINAL_FAILED');
    expect(collectText(failure)).not.toContain(SECRET);
    expect(alarms.map(({ kind }) => kind)).toContain('generator-error');
  });

  test.each([
    ['spend', 0.123, 'INVALID_ARGUMENT', 'rows.n'],
    ['sell', -7.123, 'INVALID_ARGUMENT', 'rows.s'],
    ['keep', 0.123, 'INVALID_ARGUMENT', 'rows.s.atLeast'],
    ['scan', 0.123, 'INVALID_ARGUMENT', 'rows.limit'],
    ['reworded', 0.123, 'INVALID_ARGUMENT', 'rows.n'],
  ] as const)(
    '%s: what we throw at its arguments → our code and words, no data',
    async (name, n, code, field) => {
      const { client, alarms } = start();
      const failure = await failureOf(client, shop[name]({ n }));
      expect(failure).toMatchObject({ code, field, message: expect.stringContaining('integer') });
      expect(collectText(failure)).not.toMatch(/\.123|example/);
      expect(alarms).toEqual([]);
    },
  );

  test('an effect that cannot be written down → named by its place, not by the keys of its value', async () => {
    const { client } = start();
    const failure = await failureOf(client, shop.wide({ n: 1 }));
    expect(failure).toMatchObject({ code: 'INVALID_VALUE', field: 'effects.0.value' });
    expect(collectText(failure)).not.toContain(SECRET);
  });
});
