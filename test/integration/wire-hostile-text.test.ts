/** Text that no disk takes, sent by hand to sites that write down what they do. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../src/contract/index.ts';
import { counter, defineService, red, serve, table } from '../../src/server/index.ts';
import { RawClient } from '../support/wire.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const LEVELS = ['tentative', 'causal', 'strong'];
const args = z.object({ key: z.string() });
const contract = defineContract('hostile', {
  read: { access: 'write', args, result: z.null() },
  fail: { access: 'write', args, result: z.null() },
  scan: { access: 'write', args, result: z.null() },
});

/** What comes from the client gets into what generators read and say, and into no effect. They look at its first unit. */
const service = defineService(contract, {
  tables: { rows: table({ count: counter() }) },
  shadowOperations: ({ rows }) => ({
    count: red((_args: object) => [rows.row('all').count.add(1)]),
  }),
  generators: {
    read: ({ key }, { tables, shadow }) => {
      void tables.rows.row(key.slice(0, 1)).count;
      return shadow.count({}, null);
    },
    scan: ({ key }, { tables, shadow }) => {
      void [...tables.rows.keys({ prefix: key.slice(0, 1) })];
      return shadow.count({}, null);
    },
    fail: ({ key }) => {
      throw new Error(`no ${key.slice(0, 1)} here`);
    },
  },
});

// An escape, since as it is it would be no UTF-8; and text as it should be, of which the service takes a half.
const TEXTS = { sent: String.raw`\ud800`, 'made by the service': '😀' };

test.each(
  Object.entries(TEXTS).flatMap(([from, key]) => ['read', 'scan', 'fail'].map((name) => ({ from, key, name }))),
)('half of a surrogate pair, $from, $name → refused; the site goes on', async ({ key, name }) => {
  const dataDir = temporaryFolder();
  const options = { service, sites: ['ireland', 'frankfurt', 'virginia'], dataDir } as const;
  const server = await serve(options);
  {
    // Gone before the server is closed, which would wait for it.
    await using client = await RawClient.greeted(server.siteUrl('ireland'), { levels: LEVELS });
    client.sendText(`[[1,"submit","${name}","write",4,{"key":"${key}"}]]`);
    expect(await client.row()).toMatchObject([1, 'fail', expect.any(String), expect.any(String), null, {}]);
    client.send([2, 'submit', 'read', 'write', 4, { key: 'k' }]);
    expect(await client.row()).toMatchObject([2, 'view', 2, 0, null]);
  }
  await server.close();
  await (await serve(options)).close();
});
