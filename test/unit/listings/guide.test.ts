/** The pages of docs/guide: their code runs and prints what they say. */
import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { output } from './bundle.ts';
import { readPage } from './guide.ts';

const files = await readdir(new URL('../../../docs/guide/', import.meta.url));
const pages = files.filter((file) => file.endsWith('.md')).map((file) => file.slice(0, -'.md'.length));

describe('guide', () => {
  test.each(pages)('%s → its code prints what the page says', async (name) => {
    const { program, printed } = await readPage(name);
    expect(printed).not.toBe('');
    expect(await output(program, `${name}.md.ts`)).toBe(printed);
  });
});
