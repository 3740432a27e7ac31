/** Reads the markers of SQL text, and divides it into its statements. */
import { numberMarkers, toTokenPattern } from '../shared/statements/sql-markers.ts';
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
const MARKERS = [/(?<!\w):(?<name>[A-Za-z_]\w*)/, /\?(?<position>\d*)/];

const QUOTED = toTokenPattern(WITHOUT_MARKERS);
const TOKENS = toTokenPattern([...WITHOUT_MARKERS, ...MARKERS]);
const SEPARATORS = toTokenPattern([...WITHOUT_MARKERS, /(;)/]);

/** Returns the text with its markers as `?1`, `?2`, and their names. */
export function parseSql(sql: string): ParsedText {
  return numberMarkers(sql, { tokens: TOKENS, sign: '?' });
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
