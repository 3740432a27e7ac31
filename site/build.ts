/** Builds the documentation site as static files: pages, their Markdown, a shop, and `llms.txt`. */
import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vitepress';
import { buildShop } from './build-shop.ts';
import type { Section } from './contents.ts';
import { OUTPUT, SOURCE } from './folders.ts';
import { prepareSource } from './prepare.ts';

/** Builds the site into `build/site/public`. */
export async function buildSite(progress: (text: string) => void): Promise<void> {
  const sections = await prepareSource(progress);
  progress('building the pages');
  await build(SOURCE);
  progress('building the React shop');
  await buildShop();
  copyMarkdown();
  writeFileSync(join(OUTPUT, 'llms.txt'), formatContents(sections));
}

/** Programs read Markdown better than pages. */
function copyMarkdown(): void {
  for (const path of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }))
    if (path.endsWith('.md') && !path.startsWith('.vitepress'))
      cpSync(join(SOURCE, path), join(OUTPUT, path));
}

/** The table of contents in the form of llmstxt.org. */
export function formatContents(sections: readonly Section[]): string {
  const parts = sections.map(({ title, pages }) => {
    const lines = pages.map((page) => `- [${page.title}](${page.path}): ${page.purpose}`);
    return [`## ${title}`, '', ...lines].join('\n');
  });
  const head = [
    '# Correctables',
    '> A TypeScript library: one call gives an early view of a result, then the final one that confirms or corrects it.',
  ];
  return `${[...head, ...parts].join('\n\n')}\n`;
}
