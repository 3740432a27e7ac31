/**
 * A page and its server with different versions of zod: each operation of the contract is served.
 */
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { remote } from '../../src/bindings/remote/index.ts';
import { defineContract } from '../../src/contract/index.ts';
import { createClient } from '../../src/index.ts';
import { LEVELS, startGateway, StoreDouble } from '../support/wire.ts';
import { CHECKED, COMMON, VERSIONS } from '../support/zod-schemas.ts';

type Version = keyof typeof VERSIONS;
type Flavor = 'full' | 'mini';

/** One operation for each schema, which is that of its arguments' field and of its result. */
function contractOf(version: Version, flavor: Flavor) {
  const z = VERSIONS[version][flavor] as (typeof VERSIONS)['newest']['full'];
  const schemas = [
    ...Object.values(COMMON).map((make) => make(z)),
    ...Object.values(CHECKED).map(([full, mini]) =>
      flavor === 'full' ? full(z) : mini(z as never),
    ),
  ];
  const specs = schemas.map((schema, index) => {
    const args = z.object({ name: z.string(), value: z.optional(schema as never) });
    return [`op${index}`, { access: 'read', args, result: schema }] as const;
  });
  return defineContract('zoo', Object.fromEntries(specs));
}

test.each<[page: Version, pageHas: Flavor, server: Version, serverHas: Flavor]>([
  ['oldest', 'full', 'newest', 'full'],
  ['oldest', 'mini', 'newest', 'full'],
  ['newest', 'full', 'oldest', 'full'],
  ['newest', 'mini', 'oldest', 'mini'],
])(
  'a page with the %s zod (%s), a server with the %s (%s) → all is served',
  async (page, pageHas, server, serverHas) => {
    const store = new StoreDouble();
    store.answer = ({ sink, operation }) => sink.view(operation.name, 'strong');
    await using gateway = await startGateway({ store, contract: contractOf(server, serverHas) });
    const contract = contractOf(page, pageHas);
    const client = createClient(remote({ url: gateway.url, levels: LEVELS, contract, WebSocket }));
    const names = Object.keys(contract.operations);
    const answers = names.map((name) => client.invokeStrong(contract[name]?.({ name }) as never));
    expect(await Promise.all(answers)).toEqual(names);
    await client.close();
  },
);
