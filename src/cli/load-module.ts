/** Loads a module that a flag names, TypeScript included where `tsx` is installed. */
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { usageError } from './options.ts';
import { syntaxFault } from './syntax-error.ts';

/**
 * What a module exports.
 *
 * @param flag the flag that names it
 * @throws CorrectableError `INVALID_ARGUMENT` when there is no such module, or it or what it imports cannot be parsed, with
 * the file, the line and the column
 */
export async function loadModule(flag: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  const url = pathToFileURL(resolve(path)).href;
  try {
    if (/\.[mc]?tsx?$/.test(path)) await registerTypeScript(flag, path);
    return (await import(url)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (isNotFound(error, url)) throw usageError(flag, `names ${path}, and there is no such file`);
    const fault = await syntaxFault(error, url);
    if (fault === undefined) throw error;
    const { file, line, column, problem } = fault;
    throw usageError(flag, `names ${path}, which cannot be read: ${file}:${line}:${column}: ${problem}`);
  }
}

async function registerTypeScript(flag: string, path: string): Promise<void> {
  try {
    const loader = 'tsx/esm/api';
    const { register } = (await import(loader)) as { register: () => unknown };
    register();
  } catch {
    throw usageError(flag, `names ${path}, a TypeScript file: install tsx, or name the compiled file`);
  }
}

function isNotFound(error: unknown, url: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === 'ERR_MODULE_NOT_FOUND' &&
    // Loaders name it by its path or by its address.
    [fileURLToPath(url), url].some((name) => error.message.startsWith(`Cannot find module '${name}'`))
  );
}
