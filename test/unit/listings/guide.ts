/** The guide's pages as programs: the `ts` blocks of a page, in order, and what its `text` blocks say they print. */
import { readFile } from 'node:fs/promises';

export interface Page {
  /** The blocks that run. */
  readonly program: string;
  /** The same with those marked `check`, which are type-checked only. */
  readonly checked: string;
  /** What the program prints. */
  readonly printed: string;
}

/** Reads a page of docs/guide. */
export async function readPage(name: string): Promise<Page> {
  const text = await readFile(new URL(`../../../docs/guide/${name}.md`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info = '', body = '']) => ({ info, body }));
  const unknown = blocks.filter(({ info }) => !['ts', 'ts check', 'text'].includes(info));
  if (unknown.length > 0)
    throw new Error(`${name}: blocks that no test looks at: ${unknown.map(({ info }) => info).join()}`);
  const of = (...kinds: readonly string[]): string =>
    blocks
      .filter(({ info }) => kinds.includes(info))
      .map(({ body }) => body)
      .join('');
  return { program: of('ts'), checked: of('ts', 'ts check'), printed: of('text') };
}
