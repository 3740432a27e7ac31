/** Loads a module that a flag names, including TypeScript if `tsx` is installed. */
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { formatFlagOrArgument, createUsageError } from './options.ts';
import { formatThrownWithLocation } from './format-error.ts';
import { printError } from './print.ts';
import { execFile } from 'node:child_process';
import type { Service } from '../server/service/service.ts';

/**
 * The exit code of Node if a top-level `await` never settles, and no pending work could settle it.
 */
const EXIT_UNSETTLED_AWAIT = 13;

/**
 * Returns what a module exports. Throws `INVALID_ARGUMENT` if it is missing or broken, with the
 * place.
 */
export async function loadModule(
  flag: string,
  path: string,
): Promise<Readonly<Record<string, unknown>>> {
  const url = pathToFileURL(resolve(path)).href;
  if (/\.[mc]?tsx?$/.test(path)) await registerTypeScript(flag, path);
  const logUnfinished = (code: number): void => {
    // In a thread, Node 20 passes 0 to the listeners and sets only `process.exitCode`.
    if (code !== EXIT_UNSETTLED_AWAIT && process.exitCode !== EXIT_UNSETTLED_AWAIT) return;
    printError(
      `${formatFlagOrArgument(flag)} names ${path}, which never finished loading (a top-level await)`,
    );
  };
  process.once('exit', logUnfinished);
  try {
    return (await import(url)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (isLoaderErrorFor(error, 'ERR_MODULE_NOT_FOUND', 'Cannot find module', url))
      throw createUsageError(flag, `names ${path}, and there is no such file`);
    if (isLoaderErrorFor(error, 'ERR_UNSUPPORTED_DIR_IMPORT', 'Directory import', url))
      throw createUsageError(flag, `names ${path}, which is a directory: name the file in it`);
    const fault = await findSyntaxError(error, url);
    if (fault === undefined)
      throw createUsageError(
        flag,
        `names ${path}, which threw while it was loaded: ${formatThrownWithLocation(error)}`,
      );
    const { file, line, column, problem } = fault;
    throw createUsageError(
      flag,
      `names ${path}, which cannot be read: ${file}:${line}:${column}: ${problem}`,
    );
  } finally {
    process.off('exit', logUnfinished);
  }
}

async function registerTypeScript(flag: string, path: string): Promise<void> {
  try {
    const loader = 'tsx/esm/api';
    const { register } = (await import(loader)) as { register: () => unknown };
    register();
  } catch {
    throw createUsageError(
      flag,
      `names ${path}, a TypeScript file: install tsx, or name the compiled file`,
    );
  }
}

/** Whether the loader's error is about the module itself, and not about what it imports. */
function isLoaderErrorFor(error: unknown, code: string, problem: string, url: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === code &&
    // Loaders name the module by its path or by its file URL.
    [fileURLToPath(url), url].some((name) => error.message.startsWith(`${problem} '${name}'`))
  );
}

/** A place in a file, counted from 1, and the error there. */
interface SyntaxErrorLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly problem: string;
}

/**
 * The time limit of the search for the place of a syntax error. The error is then reported without
 * it.
 */
const PARSE_TIMEOUT_MS = 10_000;

/**
 * Parses a module and its relative imports without running them. A syntax error ends the process,
 * which prints its place.
 */
const PARSE_SCRIPT = `
  import { readFileSync } from 'node:fs';
  import { SourceTextModule } from 'node:vm';
  const found = new Set([process.argv[1]]);
  for (const url of found) {
    if (!/[.]m?js$/.test(url)) continue;
    const parsed = new SourceTextModule(readFileSync(new URL(url), 'utf8'), { identifier: url });
    for (const name of parsed.dependencySpecifiers) if (/^([.]|[/]|file:)/.test(name)) found.add(new URL(name, url).href);
  }
`;

/**
 * Finds the place of a syntax error. Node only prints the place: the error of `import()` has no
 * file and line.
 */
async function findSyntaxError(
  error: unknown,
  url: string,
): Promise<SyntaxErrorLocation | undefined> {
  if (!(error instanceof Error)) return undefined;
  const transformed = parseTransformError(error.message);
  if (transformed !== undefined || error.name !== 'SyntaxError') return transformed;
  return (
    parsePrintedError(error.stack ?? '', error.message) ??
    parsePrintedError(await printSyntaxError(url), error.message)
  );
}

/**
 * Reads the error message of the TypeScript loader, which counts columns from 0: `Transform failed
 * …\n/a/b.ts:3:4: ERROR: …`.
 */
function parseTransformError(message: string): SyntaxErrorLocation | undefined {
  const [, file, line, column, problem] = /^(\S.*):(\d+):(\d+): ERROR: (.+)$/m.exec(message) ?? [];
  if (file === undefined || problem === undefined) return undefined;
  return { file, line: Number(line), column: Number(column) + 1, problem };
}

/**
 * Reads the output of Node: `file:///a/b.js:3`, then the line itself, then a caret below the error.
 * At the end of a file there is no caret.
 */
function parsePrintedError(printed: string, problem: string): SyntaxErrorLocation | undefined {
  const [, place, line, indent] =
    /^((?:file:|[/A-Z]).*):(\d+)\r?\n.*\r?\n([ \t]*)(?:\^|\r?$)/m.exec(printed) ?? [];
  if (place === undefined || indent === undefined) return undefined;
  const file = place.startsWith('file:') ? fileURLToPath(place) : place;
  return { file, line: Number(line), column: indent.length + 1, problem };
}

function printSyntaxError(url: string): Promise<string> {
  const flags = ['--experimental-vm-modules', '--no-warnings', '--input-type=module'];
  return new Promise((resolve) => {
    const options = { timeout: PARSE_TIMEOUT_MS };
    execFile(
      process.execPath,
      [...flags, '--eval', PARSE_SCRIPT, url],
      options,
      (_error, _stdout, stderr) => resolve(stderr),
    );
  });
}

/** Returns the service that a module exports. Throws `INVALID_ARGUMENT` if there is none. */
export function findService(
  module: Readonly<Record<string, unknown>>,
  flag: string,
  path: string,
): Service {
  const service = module['service'] ?? module['default'];
  if (isService(service)) return service;
  throw createUsageError(
    flag,
    `names ${path}, which exports no service: export one made by defineService as \`service\``,
  );
}

export function isService(value: unknown): value is Service {
  return (
    typeof value === 'object' && value !== null && 'generators' in value && 'contract' in value
  );
}
