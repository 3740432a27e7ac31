/** The server of the ledger, in a process of its own. */
import { fileURLToPath } from 'node:url';
import { ServeProcess } from '../shared/serve-process.ts';
import { SITES } from './sites.ts';

/** @param data the directory of its data */
export function startServer({
  data,
  port,
}: {
  readonly data: string;
  readonly port: number;
}): ServeProcess {
  const service = fileURLToPath(new URL('service.ts', import.meta.url));
  const args = [
    '--service',
    service,
    '--sites',
    SITES.join(','),
    '--data',
    data,
    '--port',
    String(port),
  ];
  return new ServeProcess({ args, onLog: (line) => process.stderr.write(`${line}\n`) });
}
