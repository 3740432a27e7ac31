/** Reads the table of contents of the documentation: `docs/README.md` is its only source. */

export interface Page {
  readonly title: string;
  /** Relative to `docs`, with `.md`. */
  readonly path: string;
  /** What a reader uses the page for. */
  readonly purpose: string;
}

export interface Section {
  readonly title: string;
  readonly pages: readonly Page[];
}

const HEADING = /^## (.+)$/;
const ROW = /^\| \[([^\]]+)\]\(([^)]+\.md)\) \| (.+) \|$/;

/** Returns the sections that have pages, in their order. */
export function readContents(markdown: string): readonly Section[] {
  const sections: { title: string; pages: Page[] }[] = [];
  for (const line of markdown.split('\n')) {
    const [, title] = HEADING.exec(line) ?? [];
    if (title !== undefined) sections.push({ title, pages: [] });
    const [, name, path, purpose] = ROW.exec(line) ?? [];
    if (name !== undefined && path !== undefined && purpose !== undefined)
      sections.at(-1)?.pages.push({ title: name, path, purpose });
  }
  return sections.filter(({ pages }) => pages.length > 0);
}
