/** A server process under load: the backend, or the plain service, behind the gateway. */
import { createGateway, listenGateways, serve } from 'correctables/server';
import { plainService } from 'correctables/testing';
import { cpuUsedUs, type Target } from './messages.ts';
import { load, service } from './service.ts';

const tell = (message: unknown): void => void process.send?.(message);

const target = JSON.parse(process.argv[2] as string) as Target;
tell({ url: await start() });

process.on('message', () => tell({ cpuUs: cpuUsedUs() }));
// Ends in the ordinary way, so that a profile asked for on the command line is written.
process.on('disconnect', () => process.exit());

async function start(): Promise<string> {
  if (target.kind === 'plain') {
    const gateway = createGateway({ binding: plainService(service), contract: load });
    return (await listenGateways({ sites: { a: gateway } })).siteUrl('a');
  }
  const sites = (['a', 'b', 'c'] as const).slice(0, target.kind === 'redblue' ? target.sites : 1);
  const server = await serve({ service, sites: sites as ['a', 'b', 'c'] });
  return server.siteUrl('a');
}
