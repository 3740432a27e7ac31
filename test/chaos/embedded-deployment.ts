/** Three sites in one process: what `correctables serve` does without `--cluster`. */
import { join } from 'node:path';
import { freePorts } from '../../engines/ports.ts';
import { SITES } from '../../engines/wan.ts';
import type { Build, ChaosDeployment } from './deployment.ts';
import type { FaultKind } from './faults/plan.ts';
import { ServerProcess } from './server-process.ts';

const KINDS: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'clients-cut',
  'kill',
  'end',
  'freeze',
  'clock',
  'full-disk',
  'second-process',
]);

export async function startEmbedded(
  folder: string,
  { cli, service, logs }: Build,
): Promise<ChaosDeployment> {
  const [port, secondPort] = (await freePorts(2)) as [number, number];
  const create = (name: string, directory: string, at: number): ServerProcess => {
    const what = [
      '--service',
      service,
      '--sites',
      SITES.join(','),
      '--latency',
      'eu-us',
      '--data',
      directory,
    ];
    const how = ['--port', String(at), '--log-level', 'warn', '--json', '--skip-color-check'];
    return new ServerProcess({
      name,
      cli,
      args: [...what, ...how],
      conditionsFile: join(folder, `${name}.json`),
      logs,
    });
  };
  const directory = join(folder, 'data');
  const server = create('server', directory, port);
  await server.begin();
  return {
    sites: SITES,
    leaders: [SITES[0]],
    kinds: KINDS,
    processes: [server],
    addressOf: () => `127.0.0.1:${port}`,
    pathOf: (site) => `/${site}`,
    processOf: () => server,
    directoryOf: () => directory,
    createSecondProcess: (_, at) => Promise.resolve(create('second', at, secondPort)),
    [Symbol.asyncDispose]: () => server.kill(),
  };
}
