/**
 * A binding of the application's own around a site, hosted by a gateway: nothing that it has in
 * hand is the site's.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { redblue } from '../../../../src/bindings/redblue/index.ts';
import type { InvocationContext, Sink } from '../../../../src/correctable/binding.ts';
import { createClient } from '../../../../src/index.ts';
import type { Binding } from '../../../../src/index.ts';
import { checkOperationOf } from '../../../support/checked-operation.ts';
import { defineContract } from '../../../../src/contract/contract.ts';
import type { RedBlueLevel, RedBlueLevels } from '../../../../src/protocol/redblue-levels.ts';
import { createEmbedded } from '../../../../src/server/node/embedded/embedded.ts';
import { createGateway } from '../../../../src/server/gateway/gateway.ts';
import {
  listenGateways,
  type GatewayListener,
} from '../../../../src/server/gateway/listen/listen.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import { red } from '../../../../src/server/service/shadow-operation.ts';
import { register, table } from '../../../../src/server/service/tables.ts';

/** How often a schema has made arguments of a `put`. */
let parses = 0;
const names = z.array(z.string());
const counted = z.object({ names }).transform((args) => {
  parses += 1;
  return args;
});
const contract = defineContract('wrapped', {
  put: { access: 'write', args: counted, result: z.unknown() },
  get: { access: 'read', args: z.object({}), result: names },
});
const service = defineService(contract, {
  tables: { rows: table({ names: register<readonly string[]>() }) },
  shadowOperations: ({ rows }) => ({
    put: red((args: { names: string[] }) => [rows.row('k').names.write(args.names)]),
  }),
  generators: {
    put: (args, { shadow }) => shadow.put(args, { bytes: new Uint8Array([1]), names: args.names }),
    get: (_, { tables }) => [...(tables.rows.row('k').names ?? [])],
  },
});

const deployment = createEmbedded(service, {
  sites: ['ireland'],
  generators: { determinismCheckRate: 0 },
  checkColors: false,
});
const site = deployment.site('ireland');

/** Adds to what it shows, and to the arguments that it has submitted. */
const adding: Binding<RedBlueLevels> = {
  name: 'adding',
  isExactlyOnce: true,
  consistencyLevels: () => site.consistencyLevels(),
  supports: (requested) => site.supports(requested),
  submitOperation: (requested, levels, sink, context) => {
    const view: typeof sink.view = (value, level, details) => {
      if (requested.access === 'write') Object.assign(value as object, { shownBy: 'adding' });
      return sink.view(value, level, details);
    };
    const confirm: typeof sink.confirm = (...args) => sink.confirm(...args);
    const fail: typeof sink.fail = (...args) => sink.fail(...args);
    site.submitOperation(requested, levels, { view, confirm, fail }, context);
    (requested.args as { names?: string[] }).names?.push('submitted');
  },
  close: async () => {},
};

let listener: GatewayListener;
beforeAll(async () => {
  const sites = {
    plain: createGateway({ binding: site, contract }),
    adding: createGateway({ binding: adding, contract }),
  };
  listener = await listenGateways({ sites });
});
afterAll(async () => {
  await listener.close({ drainMs: 0 });
  await deployment.close();
});

test.each([
  ['plain', {}, 1],
  ['adding', { shownBy: 'adding' }, 2],
])(
  'a gateway over it, %s → arguments as they came, results with %o, parsed %i times',
  async (name, added, times) => {
    const client = createClient(redblue(contract, { url: listener.siteUrl(name), WebSocket }));
    parses = 0;
    const put = await client.invokeStrong(contract.put({ names: [name] }));
    expect(put).toEqual({ bytes: new Uint8Array([1]), names: [name], ...added });
    // The client has parsed them too.
    expect(parses - 1).toBe(times);
    expect(await client.invokeStrong(contract.get({}))).toEqual([name]);
    await client.close();
  },
);

test('checked by a gateway, asked for thrice by one that changes its answers → the same each time', async () => {
  const ask = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const put = checkOperationOf('put', { names: ['a'] }, contract);
      const update = (value: unknown): number => {
        const { bytes } = value as { bytes: Uint8Array };
        bytes[0] = (bytes[0] ?? 0) + 1;
        resolve(bytes[0]);
        return 0;
      };
      const sink = { view: update, fail: reject, confirm: () => {} } as unknown as Sink<
        unknown,
        RedBlueLevel
      >;
      const context = {
        operationId: 'one',
        signal: new AbortController().signal,
      } as InvocationContext;
      site.submitOperation<unknown>(put as never, ['strong'], sink, context);
    });
  expect([await ask(), await ask(), await ask()]).toEqual([2, 2, 2]);
});
