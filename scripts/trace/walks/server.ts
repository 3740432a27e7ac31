/** A server with a data directory, and a client in another process that writes to it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '../../../src/server/index.ts';
import { service } from './service.ts';
import type { Walk } from './walk.ts';

export type ServedOperation = 'renameAccount' | 'withdrawCents';

/** Starts one site, or three of which the client uses one that does not lead the red order. */
export async function startServerWalk(
  operation: ServedOperation,
  { siteCount }: { readonly siteCount: 1 | 3 },
): Promise<Walk> {
  const dataDir = await mkdtemp(join(tmpdir(), 'trace-'));
  const sites = ['ireland', 'frankfurt', 'virginia'].slice(0, siteCount) as ['ireland'];
  const server = await serve({
    service,
    sites,
    redLeader: 'ireland',
    dataDir,
    checkColors: false,
  });
  const url = server.siteUrl((sites.at(-1) ?? 'ireland') as 'ireland');
  const client = fork(process.env['TRACE_CLIENT'] as string, [url, operation], {
    execArgv: ['--import', 'tsx'],
  });
  const exited = once(client, 'exit').then(([code]) => {
    throw new Error(`the client ended with ${String(code)}`);
  });
  exited.catch(() => {});
  const receive = (): Promise<unknown> => Promise.race([once(client, 'message'), exited]);
  await receive();
  return {
    operation,
    run: () => {
      client.send('run');
      return receive();
    },
    close: async () => {
      client.disconnect();
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
