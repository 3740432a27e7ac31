/** The service of the benchmark of large tables, with the package of any checkout. */
import type * as contractApi from 'correctables/contract';
import type * as core from 'correctables';
import type * as serverApi from 'correctables/server';
import * as z from 'zod';
import type { SiteOrder } from './messages.ts';

/** One site, which is called in its own process. */
export interface RowsStore {
  write(key: string, text: string): Promise<unknown>;
  read(key: string): Promise<string | null>;
  /** Returns the number of keys that were found from this one on. */
  scan(from: string, limit: number): Promise<number>;
  close(): Promise<void>;
}

/** Loads the package of a checkout. Returns a function that starts the site. */
export async function loadStore({ dataDir, dist }: SiteOrder): Promise<() => Promise<RowsStore>> {
  const [library, contractEntry, server] = await Promise.all([
    import(new URL('index.js', dist).href) as Promise<typeof core>,
    import(new URL('contract/index.js', dist).href) as Promise<typeof contractApi>,
    import(new URL('server/index.js', dist).href) as Promise<typeof serverApi>,
  ]);
  const { contract, service } = defineRows(contractEntry, server);
  return async () => {
    // Another checkout may open a directory by `createEmbedded`.
    const open =
      (server.openEmbedded as OpenEmbedded | undefined) ?? (server.createEmbedded as never);
    const options = { sites: ['a'], dataDir, checkColors: false } as const;
    const site = await open(service, options);
    const client = library.createClient(site.site('a'));
    return {
      write: async (key, text) => client.invoke(contract.write({ key, text })),
      read: async (key) => client.invokeWeak(contract.read({ key })),
      scan: async (from, limit) => client.invokeWeak(contract.scan({ from, limit })),
      close: () => site.close(),
    };
  };
}

type OpenEmbedded = typeof serverApi.openEmbedded;

function defineRows(
  { defineContract }: typeof contractApi,
  { blue, defineService, register, table }: typeof serverApi,
) {
  const key = z.string();
  const contract = defineContract('rows', {
    write: { access: 'write', args: z.object({ key, text: z.string() }), result: z.null() },
    read: { access: 'read', args: z.object({ key }), result: z.string().nullable() },
    scan: { access: 'read', args: z.object({ from: key, limit: z.int() }), result: z.int() },
  });
  const service = defineService(contract, {
    tables: { rows: table({ text: register<string>() }) },
    shadowOperations: ({ rows }) => ({
      write: blue((a: { key: string; text: string }) => [rows.row(a.key).text.write(a.text)]),
    }),
    generators: {
      write: (args, { shadow }) => shadow.write(args, null),
      read: (args, { tables }) => tables.rows.row(args.key).text ?? null,
      scan: (args, { tables }) => tables.rows.keys(args).length,
    },
  });
  return { contract, service };
}
