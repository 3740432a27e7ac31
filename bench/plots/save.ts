/** The plots of all results as files, and the page that shows them. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { listResults, readResult } from '../harness/results.ts';
import { drawResult } from './catalog.ts';
import type { Drawn } from './svg.ts';

const FOLDER = new URL('../../docs/figures/', import.meta.url);
const ENDING = '.svg';

/**
 * Draws the plots of the result of that name from its file and writes them. Returns the names of
 * the files.
 */
export function savePlots(name: string): string[] {
  return Object.entries(drawResult(name, readResult(name))).map(([file, { svg }]) => {
    writeFileSync(new URL(`${file}${ENDING}`, FOLDER), svg);
    return `docs/figures/${file}${ENDING}`;
  });
}

/** The plots of all results, by the name of the result. */
export type Plots = ReadonlyMap<string, Drawn>;

/** Draws the plots of all results from their files. */
export function drawAll(): Plots {
  return new Map(listResults().map((name) => [name, drawResult(name, readResult(name))]));
}

/**
 * Returns the files in docs/figures that differ from the plots of the results, and writes or
 * removes them if `isWriting`.
 */
export function updatePlots(plots: Plots, isWriting: boolean): string[] {
  const drawn = new Map<string, string>(
    [...plots.values()].flatMap((figures) =>
      Object.entries(figures).map(([file, { svg }]) => [`${file}${ENDING}`, svg]),
    ),
  );
  const existing = readdirSync(FOLDER).filter((file) => file.endsWith(ENDING));
  return [...new Set([...drawn.keys(), ...existing])].filter((file) => {
    const url = new URL(file, FOLDER);
    const svg = drawn.get(file);
    if (svg !== undefined && existsSync(url) && readFileSync(url, 'utf8') === svg) return false;
    if (isWriting && svg === undefined) rmSync(url);
    else if (isWriting) writeFileSync(url, svg as string);
    return true;
  });
}

/**
 * Returns the text of the appendix: each plot with its title and its description, under its
 * benchmark.
 */
export function formatPlots(plots: Plots): string {
  const parts = [...plots].flatMap(([name, figures]) => {
    const shown = Object.entries(figures).map(
      ([file, { title, see }]) => `![${title}](figures/${file}${ENDING})\n\n${see}`,
    );
    return shown.length === 0 ? [] : [`## \`${name}\`\n\n${shown.join('\n\n')}`];
  });
  return parts.join('\n\n');
}
