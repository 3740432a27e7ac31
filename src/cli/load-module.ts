/** Loads a module that a flag names, TypeScript included where `tsx` is installed. */
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { typedOf, usageError } from './options.ts';
import { syntaxFault } from './syntax-error.ts';
import { thrown } from './thrown.ts';

/** What Node ends with where a top-level `await` never settles and nothing is left that could settle it. */
const EXIT_UNSETTLED = 13;

/**
 * What a module exports.
 *
 * @param flag the flag or the word that names it
 * @throws CorrectableError `INVALID_ARGUMENT` when there is no such module, or it or what it imports cannot be parsed or
 * throws, with the file, the line and the column
 */
export async function loadModule(flag: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  const url = pathToFileURL(resolve(path)).href;
  if (/\.[mc]?tsx?$/.test(path)) await registerTypeScript(flag, path);
  const sayUnfinished = (code: number): void => {
    // Node 20 tells a thread's listeners 0.
    if (code !== EXIT_UNSETTLED && process.exitCode !== EXIT_UNSETTLED) return;
    console.error(`correctables: ${typedOf(flag)} names ${path}, which never finished loading (a top-level await)`);
  };
  process.once('exit', sayUnfinished);
  try {
    return (await import(url)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (isAbout(error, 'ERR_MODULE_NOT_FOUND', 'Cannot find module', url))
      throw usageError(flag, `names ${path}, and there is no such file`);
    if (isAbout(error, 'ERR_UNSUPPORTED_DIR_IMPORT', 'Directory import', url))
      throw usageError(flag, `names ${path}, which is a folder: name the file in it`);
    const fault = await syntaxFault(error, url);
    if (fault === undefined) throw usageError(flag, `names ${path}, which threw while it was loaded: ${thrown(error)}`);
    const { file, line, column, problem } = fault;
    throw usageError(flag, `names ${path}, which cannot be read: ${file}:${line}:${column}: ${problem}`);
  } finally {
    process.off('exit', sayUnfinished);
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

/** Whether the loader's error is about the module itself, and not about what it imports. */
function isAbout(error: unknown, code: string, problem: string, url: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === code &&
    // Loaders name it by its path or by its address.
    [fileURLToPath(url), url].some((name) => error.message.startsWith(`${problem} '${name}'`))
  );
}
