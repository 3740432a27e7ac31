/**
 * Pages of the documentation as programs: the `ts` blocks of a page, in order, and the output in
 * its `text` blocks. A block that does not run has the reason in its info string: the compiler
 * checks `ts check: WHY`, and nothing checks `ts fragment: WHY`.
 */
import { readdir, readFile } from 'node:fs/promises';

const docs = new URL('../../docs/', import.meta.url);

/** A block of a page that no program runs. */
export interface LeftOut {
  /** Where it begins in its page, counted from 1. */
  readonly line: number;
  readonly reason: string;
}

export interface Page {
  /** The blocks that run. */
  readonly program: string;
  /** The same with those marked `check`, which are type-checked only. */
  readonly checked: string;
  /** What the program prints. */
  readonly printed: string;
  /** Modules of their own, by name: blocks marked `ts name.ts`. */
  readonly files: ReadonlyMap<string, string>;
  /** Files of the example that the page leads to, by path: blocks such as `tsx src/bike.tsx`. */
  readonly example: ReadonlyMap<string, string>;
  /** Blocks without a language: components, drawings and messages. */
  readonly plain: readonly string[];
  /** Blocks of code that are not part of the program. */
  readonly leftOut: readonly LeftOut[];
  /** What no program sees: inline code, and the comments of the programs. */
  readonly mentioned: string;
}

/**
 * Pages whose programs need a store that is not at hand here: they are type-checked, and run with
 * the stores' own tests.
 */
export const pagesWithEngines: readonly string[] = [
  'bindings/cassandra',
  'bindings/causal-redis',
  'bindings/postgres',
  'bindings/valkey',
  'bindings/zookeeper',
  'guides/hosted-databases',
  'guides/redis-cache',
  'start/quick-start-cassandra',
];

/** The pages of the documentation that have code, by their paths in docs. */
export async function pagesWithCode(): Promise<string[]> {
  const files = await readdir(docs, { recursive: true });
  const pages = files
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length));
  const read = await Promise.all(
    pages.toSorted().map(async (name) => ({ name, page: await readPage(name) })),
  );
  return read
    .filter(({ page: { checked, leftOut } }) => checked !== '' || leftOut.length > 0)
    .map(({ name }) => name);
}

/** Those whose code runs here. */
export async function pageNames(): Promise<string[]> {
  const pages = await pagesWithCode();
  const programs = await Promise.all(pages.map(async (name) => (await readPage(name)).program));
  return pages.filter((name, at) => programs[at] !== '' && !pagesWithEngines.includes(name));
}

/** Reads a page of the documentation by its path in docs. */
export async function readPage(name: string): Promise<Page> {
  return parsePage(name, await readFile(new URL(`${name}.md`, docs), 'utf8'));
}

/** Throws where a block does not say what is to be done with it. */
export function parsePage(name: string, text: string): Page {
  const blocks = [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(
    ({ index, 1: info = '', 2: body = '' }) => {
      const [known, plain, file, left, reason, path] = INFO.exec(info) ?? [];
      if (known === undefined) throw new Error(`${name}: a block that no test looks at: ${info}`);
      const kind = plain ?? left ?? (file === undefined ? 'example' : 'file');
      return { kind, line: text.slice(0, index).split('\n').length, file, reason, path, body };
    },
  );
  const select = (...kinds: readonly string[]): string[] =>
    blocks.filter(({ kind }) => kinds.includes(kind)).map(({ body }) => body);
  const files = new Map(
    blocks.flatMap(({ file, body }) => (file === undefined ? [] : [[file, body] as const])),
  );
  const example = new Map(
    blocks.flatMap(({ path, body }) => (path === undefined ? [] : [[path, body] as const])),
  );
  const leftOut = blocks.flatMap(({ kind, line, reason }) => {
    const description = LEFT_OUT.get(kind);
    return description === undefined
      ? []
      : [{ line, reason: reason === undefined ? description : `${description}: ${reason}` }];
  });
  const checked = select('ts', 'check').join('');
  const inline = text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g);
  const comments = checked.matchAll(/\/\/ (.*)$/gm);
  const mentioned = [...inline, ...comments].map(([, words]) => words).join('\n');
  return {
    program: select('ts').join(''),
    checked,
    printed: select('text').join(''),
    files,
    example,
    plain: select(''),
    leftOut,
    mentioned,
  };
}

/** What stands behind the fence: nothing where there is a drawing, or a message. */
const INFO =
  /^(ts|text|sh|)$|^ts ([\w-]+\.ts)$|^ts (check|fragment): ([^`\s][^`]*)$|^(?:tsx?|html|json|sql) ([\w./-]+\.\w+)$/;

const LEFT_OUT: ReadonlyMap<string, string> = new Map([
  ['check', 'types only'],
  ['example', 'a file of an example'],
  ['fragment', 'a fragment'],
  ['sh', 'commands'],
]);
