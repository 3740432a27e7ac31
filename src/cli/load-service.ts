/** Loads a service from a module, TypeScript included where `tsx` is installed. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Service } from '../server/redblue/service.ts';
import { usageError } from './options.ts';

/** @throws CorrectableError `INVALID_ARGUMENT` when there is no such module or it exports no service */
export async function loadService(path: string): Promise<Service> {
  const module = await load(path);
  const service = module['service'] ?? module['default'];
  if (isService(service)) return service;
  throw usageError(
    'service',
    `names ${path}, which exports no service: export one made by defineService as \`service\``,
  );
}

async function load(path: string): Promise<Readonly<Record<string, unknown>>> {
  const url = pathToFileURL(resolve(path)).href;
  try {
    if (/\.[mc]?tsx?$/.test(path)) await registerTypeScript(path);
    return (await import(url)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (isNotFound(error, url)) throw usageError('service', `names ${path}, and there is no such file`);
    throw error;
  }
}

async function registerTypeScript(path: string): Promise<void> {
  try {
    const loader = 'tsx/esm/api';
    const { register } = (await import(loader)) as { register: () => unknown };
    register();
  } catch {
    throw usageError('service', `names ${path}, a TypeScript file: install tsx, or name the compiled file`);
  }
}

function isNotFound(error: unknown, url: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === 'ERR_MODULE_NOT_FOUND' &&
    error.message.includes(new URL(url).pathname)
  );
}

function isService(value: unknown): value is Service {
  return typeof value === 'object' && value !== null && 'generators' in value && 'contract' in value;
}
