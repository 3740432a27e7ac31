/** Reads the markers of SQL text, and divides it into its statements. */
import type { ParsedText } from '../shared/statements/statement-catalog.ts';

/** Strings, quoted names in three forms, and comments. */
const WITHOUT_MARKERS = [
  /'(?:[^']|'')*'/,
  /"(?:[^"]|"")*"/,
  /`(?:[^`]|``)*`/,
  /\[[^\]]*\]/,
  /--[^\n\r]*/,
  /\/\*(?:[^*]|\*(?!\/))*\*\//,
];

/** `:name`, and `?` or `?1`. */
const MARKERS = [/(?<!\w):([A-Za-z_]\w*)/, /\?(\d*)/];

const toPattern = (...parts: readonly RegExp[]): RegExp =>
  new RegExp(parts.map(({ source }) => source).join('|'), 'g');

const QUOTED = toPattern(...WITHOUT_MARKERS);
const TOKENS = toPattern(...WITHOUT_MARKERS, ...MARKERS);
const SEPARATORS = toPattern(...WITHOUT_MARKERS, /(;)/);

/**
 * Returns the text with its markers as `?1`, `?2`, and their names. Markers of
 * one name are one parameter.
 */
export function parseSql(sql: string): ParsedText {
  const markers: (string | undefined)[] = [];
  const text = sql.replace(
    TOKENS,
    (token: string, name?: string, at?: string) => {
      if (at === '') return `?${markers.push(undefined)}`;
      if (at !== undefined) {
        while (markers.length < Number(at)) markers.push(undefined);
        return token;
      }
      if (name === undefined) return token;
      if (!markers.includes(name)) markers.push(name);
      return `?${markers.indexOf(name) + 1}`;
    },
  );
  return { text, markers };
}

/** Returns the text without strings, quoted names and comments. */
export function stripQuoted(text: string): string {
  return text.replace(QUOTED, ' ');
}

/** One statement of a text, and how many of the values it takes. */
export interface SqlPart {
  readonly text: string;
  readonly valueCount: number;
}

/** Returns the statements of a text whose markers are `?1`, `?2`. */
export function splitStatements(text: string): readonly SqlPart[] {
  const parts = [];
  let from = 0;
  for (const { index, 1: separator } of text.matchAll(SEPARATORS)) {
    if (separator === undefined) continue;
    parts.push(text.slice(from, index));
    from = index + 1;
  }
  parts.push(text.slice(from));
  return parts
    .filter((part) => stripQuoted(part).trim() !== '')
    .map((part) => ({ text: part.trim(), valueCount: countValues(part) }));
}

/** D1 wants exactly as many values as the highest marker. */
function countValues(text: string): number {
  const used = stripQuoted(text).matchAll(/\?(\d+)/g);
  return Math.max(0, ...Array.from(used, ([, at]) => Number(at)));
}
