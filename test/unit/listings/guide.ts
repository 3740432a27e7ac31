/** Pages of the documentation as programs: the `ts` blocks of a page, in order, and what its `text` blocks say they print. */
import { readdir, readFile } from 'node:fs/promises';

const docs = new URL('../../../docs/', import.meta.url);

export interface Page {
  /** The blocks that run. */
  readonly program: string;
  /** The same with those marked `check`, which are type-checked only. */
  readonly checked: string;
  /** What the program prints. */
  readonly printed: string;
  /** Modules of their own, by name: blocks marked `ts name.ts`. */
  readonly files: ReadonlyMap<string, string>;
  /** What no program sees: inline code, and the comments of the programs. */
  readonly mentioned: string;
}

/** Pages whose programs need a store that is not at hand here: they are type-checked, and run with the stores' own tests. */
export const pagesWithEngines: readonly string[] = ['bindings/cassandra'];

/** The pages whose code runs, by their paths in docs: the whole guide, and others that are programs too. */
export async function pageNames(): Promise<string[]> {
  const files = await readdir(new URL('guide/', docs));
  const pages = files.filter((file) => file.endsWith('.md')).map((file) => `guide/${file.slice(0, -'.md'.length)}`);
  return [...pages, 'redblue'];
}

/** Reads a page of the documentation by its path in docs. */
export async function readPage(name: string): Promise<Page> {
  const text = await readFile(new URL(`${name}.md`, docs), 'utf8');
  const blocks = [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info = '', body = '']) => ({ info, body }));
  const unknown = blocks.filter(({ info }) => !['ts', 'ts check', 'text', 'sh'].includes(info) && !FILE.test(info));
  if (unknown.length > 0)
    throw new Error(`${name}: blocks that no test looks at: ${unknown.map(({ info }) => info).join()}`);
  const of = (...kinds: readonly string[]): string =>
    blocks
      .filter(({ info }) => kinds.includes(info))
      .map(({ body }) => body)
      .join('');
  const files = new Map(
    blocks.flatMap(({ info, body }) => (FILE.test(info) ? [[info.slice('ts '.length), body]] : [])),
  );
  const checked = of('ts', 'ts check');
  const inline = text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g);
  const comments = checked.matchAll(/\/\/ (.*)$/gm);
  const mentioned = [...inline, ...comments].map(([, words]) => words).join('\n');
  return { program: of('ts'), checked, printed: of('text'), files, mentioned };
}

const FILE = /^ts [\w-]+\.ts$/;
