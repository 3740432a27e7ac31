/** The table of states and events of a page of docs/spec, cell by cell. */
import { readFileSync } from 'node:fs';

export interface Cell {
  readonly state: string;
  readonly event: string;
  readonly outcome: string;
}

/** Reads the first table of `docs/spec/NAME.md`. */
export function readStateTable(name: string): readonly Cell[] {
  const text = readFileSync(new URL(`../../docs/spec/${name}.md`, import.meta.url), 'utf8');
  const [table = ''] = text.match(/(^\|.*\|\n)+/m) ?? [];
  const rows =
    table.match(/^\|.*\|$/gm)?.map((row) =>
      row
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    ) ?? [];
  const [[, ...states] = [], , ...events] = rows;
  return events.flatMap(([event = '', ...cells]) =>
    cells.map((outcome, at) => ({ state: states[at] ?? '', event, outcome })),
  );
}
