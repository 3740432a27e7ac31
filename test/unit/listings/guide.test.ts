/** Pages of the documentation: their code runs and prints what they say. */
import { describe, expect, test } from 'vitest';
import { output } from './bundle.ts';
import { pageNames, readPage } from './guide.ts';

const pages = await pageNames();

describe('guide', () => {
  test.each(pages)('%s → its code prints what the page says', async (name) => {
    const { program, printed } = await readPage(name);
    expect(printed).not.toBe('');
    expect(await output(program, `${name}.md.ts`)).toBe(printed);
  });
});
