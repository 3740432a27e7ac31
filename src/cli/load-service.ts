/** Services in modules that were loaded. */
import type { Service } from '../server/service/service.ts';
import { usageError } from './options.ts';

/**
 * The service that a module exports.
 *
 * @param flag what names the module
 * @throws CorrectableError `INVALID_ARGUMENT` when there is none
 */
export function serviceIn(module: Readonly<Record<string, unknown>>, flag: string, path: string): Service {
  const service = module['service'] ?? module['default'];
  if (isService(service)) return service;
  throw usageError(flag, `names ${path}, which exports no service: export one made by defineService as \`service\``);
}

export function isService(value: unknown): value is Service {
  return typeof value === 'object' && value !== null && 'generators' in value && 'contract' in value;
}
