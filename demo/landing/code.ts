/**
 * Creates the code panes: the source of the four ways, with a mark at lines that other ways lack.
 */
import { readFile } from 'node:fs/promises';
import { WAY_NAMES, type WayName } from './ways/ways.ts';

export interface CodeLine {
  readonly text: string;
  /** Whether at least one of the other ways lacks this line. */
  readonly differs: boolean;
}

const FILES: Readonly<Record<WayName, string>> = {
  await: 'plain-await.ts',
  careless: 'buy-at-once.ts',
  careful: 'buy-held.ts',
  correctables: 'correctables.ts',
};

export async function readCode(): Promise<Readonly<Record<WayName, readonly CodeLine[]>>> {
  const read = async (way: WayName): Promise<readonly [WayName, readonly string[]]> => [
    way,
    shownLines(await readFile(new URL(`ways/${FILES[way]}`, import.meta.url), 'utf8')),
  ];
  const all = await Promise.all(WAY_NAMES.map(read));
  const marked = all.map(([way, lines]) => [
    way,
    lines.map((text) => ({ text, differs: differs(text, all) })),
  ]);
  return Object.fromEntries(marked) as Record<WayName, readonly CodeLine[]>;
}

/** Leaves out the comment and the imports at the top. */
function shownLines(source: string): readonly string[] {
  const lines = source.trimEnd().split('\n');
  return lines.slice(lines.findIndex((line) => line.startsWith('export ')));
}

function differs(text: string, all: readonly (readonly [WayName, readonly string[]])[]): boolean {
  return text !== '' && !all.every(([, lines]) => lines.includes(text));
}

const TOKEN = /('[^']*')|\b(export|const|async|await|if|null)\b|([&<>])/g;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Formats a line as HTML, with colored strings and keywords. */
export function toHtml(line: string): string {
  return line.replaceAll(TOKEN, (token, string?: string, keyword?: string) => {
    if (string !== undefined) return `<i class="string">${token}</i>`;
    return keyword === undefined ? (ENTITIES[token] as string) : `<i class="word">${token}</i>`;
  });
}
