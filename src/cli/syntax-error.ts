/**
 * Where a module cannot be parsed. Node knows, and says so only in what it prints when it ends for that reason: the error
 * that an `import()` rejects with has neither file nor line.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A place in a file, counted from 1, and what is wrong there. */
export interface SyntaxFault {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly problem: string;
}

/** Nobody waits for longer to hear of a mistake. */
const WITHIN_MS = 10_000;

/**
 * Parses a module and what it imports by its path, and runs none of it. What cannot be parsed ends the process, which then
 * prints where it is.
 */
const PARSE_ALL = `
  import { readFileSync } from 'node:fs';
  import { SourceTextModule } from 'node:vm';
  const found = new Set([process.argv[1]]);
  for (const url of found) {
    if (!/[.]m?js$/.test(url)) continue;
    const parsed = new SourceTextModule(readFileSync(new URL(url), 'utf8'), { identifier: url });
    for (const name of parsed.dependencySpecifiers) if (/^([.]|[/]|file:)/.test(name)) found.add(new URL(name, url).href);
  }
`;

/** Where the fault is that kept the module at `url` from being loaded; `undefined` where it is another, or not found. */
export async function syntaxFault(error: unknown, url: string): Promise<SyntaxFault | undefined> {
  if (!(error instanceof Error)) return undefined;
  const transformed = ofTransform(error.message);
  if (transformed !== undefined || error.name !== 'SyntaxError') return transformed;
  return ofPrinted(error.stack ?? '', error.message) ?? ofPrinted(await printedFor(url), error.message);
}

/** As the loader of TypeScript says it, columns counted from 0: `Transform failed …\n/a/b.ts:3:4: ERROR: …`. */
function ofTransform(message: string): SyntaxFault | undefined {
  const [, file, line, column, problem] = /^(\S.*):(\d+):(\d+): ERROR: (.+)$/m.exec(message) ?? [];
  if (file === undefined || problem === undefined) return undefined;
  return { file, line: Number(line), column: Number(column) + 1, problem };
}

/** As Node prints it: `file:///a/b.js:3`, the line itself, and a caret below what is wrong; at the end of a file none. */
function ofPrinted(printed: string, problem: string): SyntaxFault | undefined {
  const [, place, line, indent] = /^((?:file:|[/A-Z]).*):(\d+)\r?\n.*\r?\n([ \t]*)(?:\^|\r?$)/m.exec(printed) ?? [];
  if (place === undefined || indent === undefined) return undefined;
  const file = place.startsWith('file:') ? fileURLToPath(place) : place;
  return { file, line: Number(line), column: indent.length + 1, problem };
}

function printedFor(url: string): Promise<string> {
  const flags = ['--experimental-vm-modules', '--no-warnings', '--input-type=module'];
  return new Promise((resolve) => {
    const options = { timeout: WITHIN_MS };
    execFile(process.execPath, [...flags, '--eval', PARSE_ALL, url], options, (_error, _stdout, stderr) =>
      resolve(stderr),
    );
  });
}
