/** Loads a service from a module. */
import type { Service } from '../server/service/service.ts';
import { loadModule } from './load-module.ts';
import { usageError } from './options.ts';

/** @throws CorrectableError `INVALID_ARGUMENT` when there is no such module or it exports no service */
export async function loadService(path: string): Promise<Service> {
  const module = await loadModule('service', path);
  const service = module['service'] ?? module['default'];
  if (isService(service)) return service;
  throw usageError(
    'service',
    `names ${path}, which exports no service: export one made by defineService as \`service\``,
  );
}

export function isService(value: unknown): value is Service {
  return typeof value === 'object' && value !== null && 'generators' in value && 'contract' in value;
}
