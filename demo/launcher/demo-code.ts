/** Shows the code of a demo on its page, read from its source files. */
import { readFile } from 'node:fs/promises';
import { toHtml } from '../landing/code.ts';

const ROOT = new URL('../../', import.meta.url);

export interface ShownCode {
  readonly title: string;
  /** Path in a checkout. */
  readonly file: string;
  /** The function or method to show. */
  readonly name: string;
}

/** Formats the functions as HTML. @throws Error if a file no longer has the function */
export async function formatCode(all: readonly ShownCode[]): Promise<string> {
  const panes = all.map(async ({ title, file, name }) => {
    const lines = findFunction(await readFile(new URL(file, ROOT), 'utf8'), name);
    if (lines.length === 0) throw new Error(`${file} has no function ${name}`);
    const code = lines.map((line) => `<span>${toHtml(line)}\n</span>`).join('');
    return `<div><h3>${title}</h3><pre tabindex="0" aria-label="Code: ${title}"><code>${code}</code></pre></div>`;
  });
  const shown = (await Promise.all(panes)).join('');
  return `<section class="demo-code" aria-labelledby="demo-code-title"><h2 id="demo-code-title">The code that runs above</h2><div>${shown}</div></section>`;
}

/**
 * Returns a function's source, from the line with its name to its closing brace, without
 * indentation.
 */
export function findFunction(source: string, name: string): readonly string[] {
  const lines = source.split('\n');
  const start = lines.findIndex((line) =>
    new RegExp(`^ *(export )?(async )?(function )?${name}(: )?\\(`).test(line),
  );
  const indentation = /^ */.exec(lines[start] ?? '')?.[0] ?? '';
  const end = lines.findIndex(
    (line, n) => n > start && [`${indentation}}`, `${indentation}},`].includes(line),
  );
  return start < 0 || end < 0
    ? []
    : lines.slice(start, end + 1).map((line) => line.slice(indentation.length));
}
