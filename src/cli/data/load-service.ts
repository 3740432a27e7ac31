/** Loads the service whose data a command reads. */
import type { Service } from '../../server/service/service.ts';
import { findService, loadModule } from '../load-module.ts';
import { redirectModuleOutput } from '../print.ts';

/** Only the result of the command goes to stdout, and not what the module prints. */
export async function loadService(path: string): Promise<Service> {
  const restoreOutput = redirectModuleOutput();
  const service = findService(await loadModule('service', path), 'service', path);
  restoreOutput();
  return service;
}
